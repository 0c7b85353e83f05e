"""The loop: decide what is due, hand over what was decided, wait for the next thing to do.

A turn is one admission pass and one execution pass. A wait ends at the next due time, when somebody changed something,
when the wall clock jumped, when the worker is to stop, and after 30 s at the latest. The wall clock is read again at
every look, so no wait is measured by anything else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from core.admission.pipeline import PassReport, Pipeline
from core.clock import Clock
from core.errors import Precondition, StorageUnusable
from core.failpoints import reach
from core.storage import changes
from core.storage.store import Store
from core.worker.audit import record_jump
from core.worker.deadman import Deadman
from core.worker.jumps import JumpWatch
from core.worker.log import Log
from core.worker.pulse import EVERY_S, Pulse
from core.worker.tending import Tending

LOOK_S = 0.1
LONGEST_WAIT = timedelta(seconds=30)
PASS_BUDGET_S = 0.5
LONGEST_RETRY_S = 15.0
PRUNE_EVERY_S = 600.0


class Executes(Protocol):
    """What the loop needs of the runtime side."""

    async def pass_once(self) -> datetime | None:
        """Hand over what is pending; return when there is something to do again."""
        ...


@dataclass(slots=True)
class Loop:
    """One worker's main loop; `stop` ends it after the turn that runs, `nudge` ends a wait.

    Upkeep is done in the waits; `refused` says why the loop ended by itself.
    """

    store: Store
    clock: Clock
    pipeline: Pipeline
    execution: Executes
    pulse: Pulse
    log: Log
    tending: Tending | None = None
    deadman: Deadman | None = None
    stopping: bool = False
    refused: Precondition | None = None
    turned: Callable[[], None] = field(default=lambda: None)
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _seen: int = -1
    _version: int = -1
    _late: bool = False
    _ailing: bool = False
    _prune_from_s: float = 0.0

    def stop(self) -> None:
        """End the loop after the turn that runs."""
        self.stopping = True
        self._woken.set()

    def nudge(self) -> None:
        """Look again at once: a slot is free."""
        self._woken.set()

    async def run(self) -> None:
        """Turn and wait until told to stop; a storage that cannot be used is waited for."""
        watch, retry_s = JumpWatch(self.clock), 1.0
        beating = asyncio.create_task(self._beat_until_stopped())
        try:
            while not self.stopping:
                try:
                    wake = await self.turn()
                    self._recovered()
                    if self.deadman is not None:
                        self.deadman.after_pass()
                    retry_s = 1.0
                except StorageUnusable as error:
                    self._suffer(error)
                    wake, retry_s = self._again(retry_s)
                except Exception as error:  # noqa: BLE001 - a worker that died of it would fire nothing at all
                    self._fault("turn_failed", error)
                    wake, retry_s = self._again(retry_s)
                self.turned()
                await self._wait(wake, watch)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)

    def _again(self, retry_s: float) -> tuple[datetime, float]:
        """Return when to try again, and how long to wait after that one fails as well."""
        return self.clock.now() + timedelta(seconds=retry_s), min(LONGEST_RETRY_S, retry_s * 2)

    async def turn(self) -> datetime:
        """Make one pass of each kind; return when the next one is due."""
        self._seen, self._version = await asyncio.to_thread(self._newest), self.store.data_version()
        report = await asyncio.to_thread(self.pipeline.pass_once, PASS_BUDGET_S)
        self.pulse.note_pass(report)
        self._tell(report)
        reach("worker.admitted")
        wakes = [report.next_due_at, await self.execution.pass_once()]
        reach("worker.turned")
        return min([self.clock.now() + LONGEST_WAIT, *(wake for wake in wakes if wake is not None)])

    async def _wait(self, until: datetime, watch: JumpWatch) -> None:
        """Wait for the earliest of all reasons to look again."""
        while not self.stopping:
            jumped = watch.look()
            if jumped is not None:
                await self._note_jump(jumped)
                return
            left_s = (until - self.clock.now()).total_seconds()
            if left_s <= 0 or await self.moved():
                return
            if left_s > LOOK_S and self.tending is not None and self.tending.due():
                await self._tend(self.tending)
            if self.stopping or await self._woken_within(min(LOOK_S, left_s)):
                return

    async def _tend(self, tending: Tending) -> None:
        """Do one piece of upkeep; a database that was replaced by an older copy of itself ends the worker."""
        try:
            await asyncio.to_thread(tending.step)
        except Precondition as refused:
            self.log.problem("older_copy", message=refused.sentence(), admitting=False)
            self.refused = refused
            self.stop()
        except StorageUnusable as error:
            self._suffer(error)
        except Exception as error:  # noqa: BLE001 - history that grows is better than a worker that is dead
            self._fault("upkeep_failed", error)

    async def _woken_within(self, seconds: float) -> bool:
        """Wait so many seconds at most; return whether somebody nudged."""
        timer = asyncio.get_running_loop().call_later(seconds, self._timed_out)
        await self._woken.wait()
        timer.cancel()
        self._woken.clear()
        nudged, self._late = not self._late, False
        return nudged

    def _timed_out(self) -> None:
        self._late = True
        self._woken.set()

    async def moved(self) -> bool:
        """Say whether somebody changed something that this loop has not looked at; heartbeats and logs do not count."""
        try:
            version = self.store.data_version()
            if version == self._version:
                return False
            self._version = version
            return await asyncio.to_thread(self._newest) != self._seen
        except StorageUnusable:
            return False  # the turn will meet it again and tell

    def _newest(self) -> int:
        with self.store.read() as tx:
            return changes.latest(tx)

    # -- telling -------------------------------------------------------------------------------------------------------

    def _tell(self, report: PassReport) -> None:
        """Log a pass that did something."""
        if report.admitted or report.ranges:
            self.log.info(
                "pass",
                admitted=report.admitted,
                submitted=len(report.submitted),
                ranges=report.ranges,
                duration_ms=round(report.duration_ms, 1),
                lag_ms=round(max(report.lags_ms, default=0.0), 1),
            )
        for trouble in report.errors:
            self.log.warning(
                "trigger_degraded",
                trigger=trouble.trigger_name,
                uid=trouble.trigger_uid,
                code=trouble.code,
                message=trouble.message,
            )

    async def _note_jump(self, jumped: timedelta) -> None:
        seconds = round(jumped.total_seconds(), 3)
        self.log.warning("clock_jumped", seconds=seconds)
        self.pulse.note_error("clock_jumped", f"the wall clock jumped by {seconds:+.1f} s")
        try:
            await asyncio.to_thread(record_jump, self.store, jumped)
        except StorageUnusable as error:
            self._suffer(error)

    def _suffer(self, error: StorageUnusable) -> None:
        """Say once that nothing can be admitted, and why."""
        if not self._ailing:
            self.log.problem("storage_unusable", message=error.sentence(), admitting=False)
            self.pulse.note_error(error.code, error.sentence())
        self._ailing = True

    def _fault(self, event: str, error: Exception) -> None:
        """Tell of a fault of our own, with where it happened; Health shows it."""
        self.log.problem(event, error=error)
        self.pulse.note_error("internal_error", f"{type(error).__name__}: {error}"[:500])

    def _recovered(self) -> None:
        if self._ailing:
            self.log.info("storage_usable", admitting=True)
        self._ailing = False

    # -- beating -------------------------------------------------------------------------------------------------------

    async def _beat_until_stopped(self) -> None:
        """Write a heartbeat every 1.5 s; one that cannot be written is tried again at the next."""
        while True:
            try:
                await asyncio.to_thread(self.pulse.beat)
                await asyncio.to_thread(self._prune)
            except StorageUnusable as error:
                self._suffer(error)
            except Exception as error:  # noqa: BLE001 - without a heartbeat a healthy worker looks dead
                self._fault("beat_failed", error)
            await asyncio.sleep(EVERY_S)

    def _prune(self) -> None:
        elapsed_s = self.clock.monotonic()
        if elapsed_s < self._prune_from_s:
            return
        self._prune_from_s = elapsed_s + PRUNE_EVERY_S
        with self.store.write(durable=False) as tx:
            changes.prune(tx)
