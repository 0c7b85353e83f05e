"""What the worker drives: takes pending Work from the outbox, wakes what waited, expires and cancels.

The outbox is Work with status `pending`. A pass claims some (a FlowRun row under a deterministic id), hands the
segments to the runtime, and marks Work and occurrence as taken. A crash anywhere in between is repaired by the next
pass, since every part may be repeated: same Work, same run, same segment.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from core import failpoints
from core.clock import Clock, SystemClock
from core.runtime import outbox
from core.runtime.context import Tools
from core.runtime.folders import StepFolders
from core.runtime.guard import Guard
from core.runtime.interpreter import Interpreter
from core.runtime.logs import LogWriter
from core.runtime.port import Progress, Runtime, Segment, Submission
from core.runtime.recovery import recover
from core.runtime.secrets import Secrets
from core.storage.store import Store

log = logging.getLogger(__name__)
RETRY_AFTER = timedelta(seconds=5)
DEFAULT_SLOTS = 16


class Execution:
    """Everything between admitted Work and its end, in this process."""

    def __init__(
        self,
        store: Store,
        clock: Clock | None,
        runtime: Runtime,
        slots: int = DEFAULT_SLOTS,
        *,
        worker_id: str = "worker",
        on_wake: Callable[[], None] | None = None,
        secrets: Secrets | None = None,
        kill_after_s: float = 5.0,
    ) -> None:
        self._store = store
        self._clock = clock or SystemClock()
        self._runtime = runtime
        self.slots = slots
        self.woken = asyncio.Event()
        self._on_wake = on_wake
        self._guard = Guard()
        self._logs = LogWriter(store)
        self._folders = StepFolders(store.path)
        tools = Tools(self._clock, secrets or Secrets(), self._guard, self._logs, self._folders, kill_after_s)
        self._interpreter = Interpreter(store, tools, worker_id=worker_id)
        self._active: dict[str, Segment] = {}
        self._postponed: dict[str, float] = {}  # monotonic seconds: a clock that is set back holds nothing up
        self._accepting = True

    @property
    def running(self) -> int:
        """Return how many slots are taken."""
        return len(self._active)

    async def start(self) -> int:
        """Put right what a dead worker left, then begin; return how many steps had been in flight."""
        found = await asyncio.to_thread(recover, self._store, self._clock.now())
        await asyncio.to_thread(self._folders.clear)
        failpoints.reach("start.recovered")
        left = await asyncio.to_thread(outbox.unfinished, self._store)
        self._active = {segment.run_id: segment for segment in left}
        await self._runtime.start(self._advance, self._gave_up)
        failpoints.reach("start.engine_started")
        await self._runtime.reconcile(left)
        failpoints.reach("start.resumed")
        return found

    async def pass_once(self) -> datetime | None:
        """Do everything that is due; return when something next will be, None where nothing is foreseen."""
        self.woken.clear()
        now, postponed = self._clock.now(), frozenset(self._postponed)
        view = await asyncio.to_thread(outbox.look, self._store, now, frozenset(self._active))
        for run_id in view.cancels:
            await self._runtime.cancel(run_id)
            failpoints.reach("dispatch.cancel_told")
        if self._accepting:
            await self._resubmit(view.open_runs)
            await self._dispatch(now)
        for run_id in postponed.difference(segment.run_id for segment in view.open_runs):
            self._postponed.pop(run_id, None)  # it ended otherwise; one that was postponed meanwhile stays
        elapsed_s = self._clock.monotonic()
        later = [now + timedelta(seconds=at - elapsed_s) for at in self._postponed.values() if at > elapsed_s]
        return min([*later, *([view.next_wake] if view.next_wake is not None else [])], default=None)

    async def drain(self, timeout_s: float) -> bool:
        """Take nothing new and wait for what executes; return whether all of it ended in time."""
        self._accepting = False
        return await self._runtime.drain(timeout_s)

    async def stop(self) -> None:
        """Abandon what still executes, ending its process groups; the next start treats it as crashed."""
        self._accepting = False
        await self._runtime.stop()
        await self._guard.close()
        await self._logs.close()
        await asyncio.to_thread(self._folders.clear)

    async def _resubmit(self, open_runs: tuple[Segment, ...]) -> None:
        """Hand over runs that were queued before: answered questions, ended waits, tries that a fault ended."""
        elapsed_s = self._clock.monotonic()
        for segment in open_runs:
            if self.running >= self.slots:
                return
            if segment.run_id in self._active or self._postponed.get(segment.run_id, elapsed_s) > elapsed_s:
                continue
            self._postponed.pop(segment.run_id, None)
            failpoints.reach("dispatch.before_resume")
            with self._handing_over(segment):
                await self._runtime.reconcile([segment])
            failpoints.reach("dispatch.resumed")

    async def _dispatch(self, now: datetime) -> None:
        """Claim pending Work up to the free slots, submit it, and mark it as taken."""
        free = self.slots - self.running
        if free <= 0:
            return
        failpoints.reach("dispatch.before_claim")
        claimed = await asyncio.to_thread(outbox.claim, self._store, now, free)
        if not claimed:
            return
        failpoints.reach("dispatch.claimed")
        for segment in claimed.values():
            with self._handing_over(segment):
                answer = await self._runtime.submit(segment)
            if answer is Submission.CONFLICT:
                log.error("run.conflict", extra={"run_id": segment.run_id})
                self._active.pop(segment.run_id, None)
                await asyncio.to_thread(outbox.refuse, self._store, segment, self._clock.now())
        failpoints.reach("dispatch.submitted")
        await asyncio.to_thread(outbox.mark, self._store, list(claimed), self._clock.now())
        failpoints.reach("dispatch.marked")

    @contextmanager
    def _handing_over(self, segment: Segment) -> Iterator[None]:
        """Count a segment as active; where the engine cannot take it, the next pass hands it over again."""
        self._active[segment.run_id] = segment
        try:
            yield
        except BaseException:
            self._active.pop(segment.run_id, None)
            raise

    def _gave_up(self, segment: Segment) -> None:
        """Postpone a run whose segment the engine gave up."""
        if self._accepting and self._active.get(segment.run_id) == segment:
            log.warning("run.given_up", extra={"run_id": segment.run_id})
            self._postpone(segment)
            self._ended(segment)

    async def _advance(self, segment: Segment, cancel: asyncio.Event) -> Progress:
        """Advance a segment for the runtime; a fault of ours postpones the run instead of losing it."""
        try:
            done = await self._interpreter.advance(segment, cancel)
        except Exception:  # the fault is logged with its trace and the run is tried again
            log.exception("run.fault", extra={"run_id": segment.run_id})
            self._postpone(segment)
            done = Progress.ENDED
        if done is Progress.ENDED:
            self._ended(segment)
        return done

    def _postpone(self, segment: Segment) -> None:
        self._postponed[segment.run_id] = self._clock.monotonic() + RETRY_AFTER.total_seconds()

    def _ended(self, segment: Segment) -> None:
        if self._active.get(segment.run_id) == segment:
            self._active.pop(segment.run_id)
        self.woken.set()
        if self._on_wake is not None:
            self._on_wake()
