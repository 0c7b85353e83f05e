"""Walks the steps of one immutable Flow version, one at a time; the truth is in our rows, never in the engine.

`advance` does one step: a transaction that decides and marks what runs now, the step itself, a transaction that
records how it went. A step whose row is finished is never run again. What has to wait (a question, an instant, a
longer pause before another try) is written down and ends the segment.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core import failpoints
from core.errors import Invalid, StorageUnusable
from core.flows.definition import parse_flow
from core.flows.expressions import ExpressionError
from core.flows.steps import Ask, Command, FlowDefinition, Http, Python, Step
from core.runtime import progress
from core.runtime.context import StepContext, StepError, StepFailed, StepResult, Tools, occurrence_values
from core.runtime.logs import StepLog
from core.runtime.port import Progress, Segment
from core.runtime.progress import Walk
from core.storage import flows, runs
from core.storage import work as works
from core.storage.store import Store, Transaction
from core.storage.work import WorkFacts
from core.work.ending import finish

log = logging.getLogger(__name__)
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 10.0
_CACHED_FLOWS = 256


@dataclass(frozen=True, slots=True)
class Try:
    """One try of one step that has been marked as running."""

    walk: Walk
    step: Step
    position: int
    attempt: int
    timeout_s: float | None
    occurrence: dict[str, Any]


class Interpreter:
    """Advances runs; one instance serves all of a worker's segments."""

    def __init__(self, store: Store, tools: Tools, *, worker_id: str) -> None:
        self._store = store
        self._tools = tools
        self._clock = tools.clock
        self._worker_id = worker_id
        self._flows: dict[tuple[str, int], FlowDefinition] = {}

    async def advance(self, segment: Segment, cancel: asyncio.Event) -> Progress:
        """Do the next step of a segment; ENDED where the run is over, waits, or is no longer this segment's."""
        begun = await asyncio.to_thread(self._begin, segment, cancel.is_set())
        if isinstance(begun, Progress):
            return begun
        failpoints.reach("step.started")
        result = await self._execute(begun, cancel)
        failpoints.reach("step.executed")
        settled = await self._settle_patiently(begun, result)
        failpoints.reach("step.settled")
        return settled

    # -- deciding ---------------------------------------------------------------------------------------------------

    def _begin(self, segment: Segment, cancelled: bool) -> Try | Progress:
        with self._store.write(durable=False) as tx:
            try:
                walk = self._walk(tx, segment)
            except Invalid as error:
                return self._refuse(tx, segment, error)
            if walk is None:
                return Progress.ENDED
            if cancelled or walk.work.cancel_requested_at is not None:
                return progress.cancel(tx, walk)
            if refused := progress.open_run(tx, walk, self._worker_id):
                return refused
            begun = self._next(tx, walk)
            failpoints.reach("step.starting")
            return begun

    def _walk(self, tx: Transaction, segment: Segment) -> Walk | None:
        """Return the run with its Flow and steps; None where the segment is not what this run is at."""
        run = runs.run(tx, segment.run_id)
        if run is None or run.status not in runs.OPEN or run.segment != segment.number:
            return None
        work = works.work(tx, run.work_id)
        if work is None:
            return None
        return Walk(work, run, self._flow(tx, work), runs.steps(tx, run.id), self._clock.now())

    def _refuse(self, tx: Transaction, segment: Segment, error: Invalid) -> Progress:
        """Fail the Work of a version that is gone or that this release cannot read."""
        run = runs.run(tx, segment.run_id)
        work = works.work(tx, run.work_id) if run is not None else None
        if work is not None:
            message = f"version {work.flow_version} of flow {work.flow_name} cannot be run: {error.message}"
            finish(tx, work, run, "failed", self._clock.now(), code="target_unresolved", message=message)
        return Progress.ENDED

    def _flow(self, tx: Transaction, work: WorkFacts) -> FlowDefinition:
        key = (work.flow_uid, work.flow_version)
        if key not in self._flows:
            definition = flows.definition_of(tx, *key)
            if len(self._flows) >= _CACHED_FLOWS:
                self._flows.clear()
            self._flows[key] = parse_flow(definition or {})
        return self._flows[key]

    def _next(self, tx: Transaction, walk: Walk) -> Try | Progress:
        """Mark the next step as running; skip, park or finish where that is what comes next."""
        facts = works.occurrence_facts(tx, walk.work.id)
        occurrence = occurrence_values(facts)
        while (position := walk.position()) is not None:
            decided = progress.decide(tx, walk, position, occurrence)
            if decided is None:
                continue
            if isinstance(decided, Progress):
                return decided
            timeout_s = walk.timeout_s(walk.flow.steps[position])
            return Try(walk, walk.flow.steps[position], position, decided, timeout_s, occurrence)
        return progress.complete(tx, walk)

    # -- executing --------------------------------------------------------------------------------------------------

    async def _execute(self, attempt: Try, cancel: asyncio.Event) -> StepResult:
        context = self._context(attempt, cancel)
        try:
            result = await _run(context)
        except StepFailed as failure:
            result = StepResult(error=failure.error)
        except ExpressionError as error:
            result = StepResult(error=StepError("expression_failed", str(error), retryable=False))
        except StorageUnusable:
            raise  # nothing is known to be wrong with the step: the run is tried again later
        except Exception as error:  # a fault of ours fails the step rather than repeating it for ever
            log.exception("step.fault", extra={"run_id": context.run_id, "step": context.step.id})
            what = f"{type(error).__name__}: {error}"
            result = StepResult(error=StepError("internal", f"the worker failed to run it ({what})", retryable=False))
        if result.error is not None:
            await context.log.note(result.error.message)
            masked = StepError(result.error.code, context.log.masked(result.error.message), result.error.retryable)
            result = StepResult(result.output, result.exit_code, masked, result.no_work)
        await context.log.flush()
        return result

    def _context(self, attempt: Try, cancel: asyncio.Event) -> StepContext:
        walk, tools = attempt.walk, self._tools
        keys = {"work_id": walk.work.id, "run_id": walk.run.id, "step_id": attempt.step.id}
        return StepContext(
            step=attempt.step,
            position=attempt.position,
            work_id=walk.work.id,
            run_id=walk.run.id,
            attempt=attempt.attempt,
            trigger_name=walk.work.trigger_name,
            input=walk.work.input or {},
            occurrence=attempt.occurrence,
            values=walk.values(attempt.occurrence),
            timeout_s=attempt.timeout_s,
            cancel=cancel,
            log=StepLog(tools.logs, self._clock, attempt=attempt.attempt, **keys),
            tools=tools,
            record_pid=lambda pid, started: asyncio.to_thread(self._record_pid, attempt, pid, started),
        )

    def _record_pid(self, attempt: Try, pid: int, started: float) -> None:
        with self._store.write(durable=False) as tx:
            values = {"pid": pid, "pid_started_at": started}
            runs.set_step(tx, attempt.walk.run.id, attempt.position, was=("running",), **values)
            failpoints.reach("step.recording")

    # -- recording --------------------------------------------------------------------------------------------------

    async def _settle_patiently(self, attempt: Try, result: StepResult) -> Progress:
        """Record a result however long the database cannot be written: to forget it would run the step again."""
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                return await asyncio.to_thread(self._settle, attempt, result)
            except StorageUnusable as error:
                log.warning("step.unrecorded", extra={"run_id": attempt.walk.run.id, "reason": error.sentence()})
            await asyncio.sleep(pause_s)
            pause_s = min(LONGEST_PAUSE_S, pause_s * 2)

    def _settle(self, attempt: Try, result: StepResult) -> Progress:
        failpoints.reach("step.before_commit")
        with self._store.write() as tx:
            run = runs.run(tx, attempt.walk.run.id)
            work = works.work(tx, attempt.walk.work.id)
            if run is None or work is None or run.status != "running" or run.segment != attempt.walk.run.segment:
                return Progress.ENDED
            steps = runs.steps(tx, run.id)
            walk = Walk(work, run, attempt.walk.flow, steps, self._now(attempt))
            settled = progress.settle(tx, walk, attempt.position, attempt.attempt, result)
            failpoints.reach("step.settling")
            return settled

    def _now(self, attempt: Try) -> datetime:
        """Return the time, never before the step began: a clock may have been set back in between."""
        return max(self._clock.now(), attempt.walk.now)


async def _run(context: StepContext) -> StepResult:
    """Run a step by its kind; each module is loaded when its first step runs."""
    action = context.step.action
    if isinstance(action, Command):
        from core.runtime.steps import command

        return await command.run(context, action)
    if isinstance(action, Python):
        from core.runtime.steps import python

        return await python.run(context, action)
    if isinstance(action, Http):
        from core.runtime.steps import http

        return await http.run(context, action)
    kind = "ask" if isinstance(action, Ask) else "wait"
    raise RuntimeError(f"a step of kind {kind} is never executed, it is parked")
