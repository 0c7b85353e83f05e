"""Logs of steps: bounded for each step, masked, and written in batches within a quarter of a second."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from core import failpoints
from core.clock import Clock
from core.errors import StorageUnusable
from core.runtime.secrets import mask
from core.storage import logs
from core.storage.store import Store

log = logging.getLogger(__name__)
FLUSH_AFTER_S = 0.2
LINES_LIMIT = 10_000
BYTES_LIMIT = 1_048_576
LINE_LIMIT = 8_192
BUFFER_LIMIT = 5_000


class LogWriter:
    """Collects the lines of all steps and writes them together; a full buffer makes the writers wait."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lines: list[dict[str, Any]] = []
        self._writing = asyncio.Lock()
        self._timer: asyncio.Task[None] | None = None

    async def add(self, line: dict[str, Any]) -> None:
        """Take one line; it is stored within FLUSH_AFTER_S."""
        self._lines.append(line)
        if len(self._lines) >= BUFFER_LIMIT:
            await self.settle()
        elif self._timer is None:
            self._timer = asyncio.create_task(self._flush_later())

    async def flush(self) -> None:
        """Store every line taken so far."""
        async with self._writing:
            lines, self._lines = self._lines, []
            if lines:
                await asyncio.to_thread(self._write, lines)

    async def settle(self) -> None:
        """Store what there is; a database that cannot be written now costs these lines, not the step."""
        try:
            await self.flush()
        except StorageUnusable as error:
            log.warning("log.lost", extra={"reason": error.sentence()})

    async def close(self) -> None:
        """Store what is left and stop."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            await asyncio.gather(timer, return_exceptions=True)
        await self.settle()

    async def _flush_later(self) -> None:
        await asyncio.sleep(FLUSH_AFTER_S)
        self._timer = None
        await self.settle()

    def _write(self, lines: list[dict[str, Any]]) -> None:
        with self._store.write(durable=False) as tx:
            logs.append(tx, lines)
            failpoints.reach("step.logging")
        failpoints.reach("step.logged")


class StepLog:
    """The log of one try of one step."""

    def __init__(
        self, writer: LogWriter, clock: Clock, *, work_id: str, run_id: str, step_id: str, attempt: int
    ) -> None:
        self._writer = writer
        self._clock = clock
        self._keys = {"work_id": work_id, "run_id": run_id, "step_id": step_id, "attempt": attempt}
        self._secrets: list[str] = []
        self._lines = 0
        self._bytes = 0
        self._full = False

    def hide(self, secret: str) -> None:
        """Mask a value in every later line."""
        self._secrets.append(secret)

    def masked(self, text: str) -> str:
        """Return text without the secrets of this step."""
        return mask(text, self._secrets)

    async def line(self, stream: str, text: str) -> None:
        """Take a line of a step's output; beyond the bounds it is dropped, which one note says."""
        if self._full:
            return
        self._lines += 1
        self._bytes += len(text.encode(errors="replace"))
        if self._lines > LINES_LIMIT or self._bytes > BYTES_LIMIT:
            self._full = True
            await self.note(f"the log ends here: more than {LINES_LIMIT:,} lines or {BYTES_LIMIT // 1024:,} KiB")
            return
        await self._put(stream, text)

    async def note(self, text: str) -> None:
        """Take a remark of the runtime's own; these are few and never dropped."""
        await self._put("note", text)

    async def flush(self) -> None:
        """Have everything taken so far stored."""
        await self._writer.settle()

    async def _put(self, stream: str, text: str) -> None:
        line = {**self._keys, "at": self._clock.now(), "stream": stream, "text": self.masked(text)}
        await self._writer.add(line)
