"""The world outside: what steps do there, for simulated minutes and hours, and a journal of every time they did it.

The journal is the judge of effects. A try may begin only where the rows say that it runs; never beside another try of
the same Work; never again after it finished and that was recorded; after a crash, only as `onCrash` says; and a run's
first one only where the principal holds the right.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.runtime.context import StepContext, StepError, StepResult
from tests.simulation.faults import Faults

Look = Callable[..., list[tuple[Any, ...]]]
State = Literal["running", "done", "failed", "cancelled", "lost"]
AGAIN = "run it again"
_PRESENT = (
    "SELECT w.status, r.status, s.status, s.attempt FROM flow_step s JOIN flow_run r ON r.id = s.run_id"
    " JOIN work w ON w.id = r.work_id WHERE s.run_id = ? AND s.position = ?"
)
_TOLD = (
    "SELECT 1 FROM pending_action WHERE run_id = ? AND position = ? AND status = 'completed'"
    " AND json_extract(form, '$.attempt') = ? AND json_extract(\"values\", '$.choice') = ?"
)


@dataclass
class Try:
    """One time that a step was really done; `life` is the worker's that did it."""

    work_id: str
    attempt: int
    life: int
    on_crash: str
    state: State = "running"
    recorded: bool = False


class Outside:
    """Does steps and keeps the journal; `harm` collects what should never have been done."""

    def __init__(self, seed: int, faults: Faults, look: Look, denied: Callable[[str], bool]) -> None:
        self._draw = random.Random(seed * 2 + 7_000_001)
        self._faults = faults
        self._look = look
        self._denied = denied
        self.life = 0
        self.tries: dict[tuple[str, int], list[Try]] = defaultdict(list)
        self.retries: Counter[str] = Counter()
        self.harm: list[str] = []
        self.done: Counter[str] = Counter()

    async def run(self, context: StepContext, _command: Any) -> StepResult:
        """Do a step in the stead of a program; it ends as drawn, when it is cancelled, or with the worker."""
        mine = self._begin(context)
        ended: StepResult | None = None
        try:
            self._faults.crash_at("outside.begun")
            ended = await self._work(context)
            self._faults.crash_at("outside.ended")
        finally:
            mine.state = "lost" if ended is None else _state(ended)
            self.done[f"steps {mine.state}"] += 1
        return ended

    def end_life(self) -> None:
        """Note which finished tries were recorded before the worker ended."""
        for (run_id, position), tries in self.tries.items():
            last = tries[-1]
            if last.state == "done" and last.life == self.life:
                rows = self._look(_PRESENT, run_id, position)
                last.recorded = bool(rows) and rows[0][2] == "completed"
        self.life += 1

    async def _work(self, context: StepContext) -> StepResult:
        lasts_s = self._lasts_s()
        limit_s = context.timeout_s
        try:
            await asyncio.wait_for(context.cancel.wait(), lasts_s if limit_s is None else min(lasts_s, limit_s))
        except TimeoutError:
            if limit_s is not None and lasts_s >= limit_s:
                return StepResult(error=StepError("timeout", "it took too long"))
            return self._result()
        return StepResult(error=StepError("cancelled", "the step was cancelled", retryable=False))

    def _lasts_s(self) -> float:
        kind = self._draw.random()
        if kind < 0.3:
            return 0.001
        return float(self._draw.randrange(20, 3_600)) if kind < 0.75 else float(self._draw.randrange(3_600, 40_000))

    def _result(self) -> StepResult:
        kind = self._draw.random()
        if kind < 0.75:
            return StepResult(output={"rows": self._draw.randrange(100)}, exit_code=0)
        if kind < 0.85:
            return StepResult(output={"noWork": True}, exit_code=0, no_work=True)
        return StepResult(exit_code=3, error=StepError("exit_status", "the program ended with status 3"))

    # -- judging ------------------------------------------------------------------------------------------------------

    def _begin(self, context: StepContext) -> Try:
        key = (context.run_id, context.position)
        mine = Try(context.work_id, context.attempt, self.life, context.step.on_crash)
        for wrong in (*self._against_rows(context), *self._against_journal(context)):
            self.harm.append(f"step {context.step.id} of {context.run_id}, try {context.attempt}: {wrong}")
        self.tries[key].append(mine)
        return mine

    def _against_rows(self, context: StepContext) -> Sequence[str]:
        rows = self._look(_PRESENT, context.run_id, context.position)
        expected = [("running", "running", "running", context.attempt)]
        wrong = [] if rows == expected else [f"it begins though the rows say {rows}"]
        if context.position == 0 and context.attempt == 1 and self._denied(context.work_id):
            wrong.append("its run began though its principal held no right")
        number = int(context.run_id.rpartition(".")[2])
        if number > 1 + self.retries[context.work_id]:
            wrong.append(f"run {number} of Work that was retried {self.retries[context.work_id]} times")
        return wrong

    def _against_journal(self, context: StepContext) -> Sequence[str]:
        beside = [
            key
            for key, tries in self.tries.items()
            if key[0].startswith(context.work_id) and tries[-1].state == "running" and tries[-1].life == self.life
        ]
        wrong = [f"it begins while {beside} still runs"] if beside else []
        earlier = self.tries.get((context.run_id, context.position))
        if earlier:
            wrong += self._after(context, earlier[-1])
        return wrong

    def _after(self, context: StepContext, last: Try) -> Sequence[str]:
        """Say why a try may not follow the last one of the same step of the same run."""
        if context.attempt <= last.attempt:
            return [f"try {last.attempt} was made before"]
        if last.state == "cancelled":
            return ["it had been cancelled"]
        if last.state == "done" and (last.recorded or last.life == self.life):
            return ["it had finished, and that was recorded"]
        if last.state == "failed":
            return []
        if last.on_crash == "fail":
            return ["it may not run again after a crash"]
        asked = last.on_crash == "ask"
        told = asked and self._look(_TOLD, context.run_id, context.position, last.attempt, AGAIN)
        return ["nobody said after a crash that it may run again"] if asked and not told else []


def _state(result: StepResult) -> State:
    if result.error is None:
        return "done"
    return "cancelled" if result.error.code == "cancelled" else "failed"
