"""An engine that forgets everything when it stops; tests use it, and the conformance suite holds it to the port."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from core.runtime.port import Abandoned, Advance, Executing, Progress, Segment, Submission


class MemoryRuntime:
    """Executes segments as tasks of the running loop."""

    def __init__(self) -> None:
        self._hashes: dict[str, str] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._executing = Executing()
        self._advance: Advance | None = None

    async def start(self, advance: Advance, abandoned: Abandoned | None = None) -> None:  # noqa: ARG002 - it never fails
        """Begin to execute."""
        self._advance = advance

    async def submit(self, segment: Segment) -> Submission:
        """Take a segment once."""
        known = self._hashes.get(segment.id)
        if known is not None:
            return Submission.DUPLICATE if known == segment.input_hash else Submission.CONFLICT
        self._begin(segment)
        return Submission.ACCEPTED

    async def cancel(self, run_id: str) -> None:
        """Ask a run's segment to end."""
        self._executing.cancel(run_id)

    async def reconcile(self, unfinished: Iterable[Segment]) -> dict[str, Submission]:
        """Execute each segment that is not being executed."""
        answers = {}
        for segment in unfinished:
            if segment.id not in self._executing and self._hashes.get(segment.id) == segment.input_hash:
                self._hashes.pop(segment.id)
            answers[segment.id] = await self.submit(segment)
        return answers

    async def drain(self, timeout_s: float) -> bool:
        """Wait until no segment executes."""
        return await self._executing.idle(timeout_s)

    async def stop(self) -> None:
        """Abandon what still executes."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._hashes.clear()
        self._advance = None

    def _begin(self, segment: Segment) -> None:
        self._hashes[segment.id] = segment.input_hash
        cancel = self._executing.enter(segment)
        task = asyncio.create_task(self._execute(segment, cancel), name=segment.id)
        self._tasks[segment.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(segment.id, None))

    async def _execute(self, segment: Segment, cancel: asyncio.Event) -> None:
        if self._advance is None:
            raise RuntimeError("the runtime was not started")
        try:
            while await self._advance(segment, cancel) is Progress.MORE:
                pass
        finally:
            self._executing.leave(segment)
