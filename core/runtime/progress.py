"""Decides, inside one transaction, what a run does next, and records how its steps went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from core.access.service import authorise_many
from core.flows.expressions import ExpressionError, holds
from core.flows.steps import Ask, FlowDefinition, Step, Wait
from core.runtime import uncertain
from core.runtime.context import StepError, StepResult
from core.runtime.port import Progress
from core.runtime.steps import ask, wait
from core.storage import runs
from core.storage import work as works
from core.storage.store import Transaction
from core.storage.work import WorkFacts
from core.work.ending import finish, move
from core.work.statuses import OUTCOME_UNKNOWN, WAITING_FOR

DONE = frozenset({"completed", "skipped"})


@dataclass(slots=True)
class Walk:
    """A run in the middle of its Flow, as one transaction sees it."""

    work: WorkFacts
    run: runs.RunFacts
    flow: FlowDefinition
    steps: dict[int, runs.StepFacts]
    now: datetime

    def position(self) -> int | None:
        """Return the position of the first step that is not done."""
        for position in range(len(self.flow.steps)):
            step = self.steps.get(position)
            if step is None or step.status not in DONE:
                return position
        return None

    def values(self, occurrence: Mapping[str, Any]) -> dict[str, Any]:
        """Return what expressions see."""
        steps = {row.step_id: {"output": row.output, "status": row.status} for row in self.steps.values()}
        return {"input": self.work.input or {}, "occurrence": dict(occurrence), "steps": steps}

    def timeout_s(self, step: Step) -> float | None:
        """Return how long a try may take: its own timeout, cut by the run's deadline."""
        bounds = [step.timeout] if step.timeout is not None else []
        deadline = self.deadline()
        if deadline is not None:
            bounds.append(deadline - self.now)
        return max(0.001, min(bounds).total_seconds()) if bounds else None

    def deadline(self) -> datetime | None:
        """Return when the whole run has to be over."""
        if self.run.deadline_at is not None:
            return self.run.deadline_at
        return self.now + self.flow.timeout if self.flow.timeout is not None else None


# -- the run -------------------------------------------------------------------------------------------------------


def open_run(tx: Transaction, walk: Walk, worker_id: str) -> Progress | None:
    """Mark run and Work as running, authorised again before the first step; ENDED where it may not run (any more)."""
    first = walk.run.started_at is None
    if first and (why := _refusal(tx, walk.work)):
        finish(tx, walk.work, walk.run, "cancelled", walk.now, code="denied", message=why)
        return Progress.ENDED
    if walk.run.deadline_at is not None and walk.run.deadline_at <= walk.now:
        return overdue(tx, walk)
    if walk.run.status == "queued":
        values: dict[str, Any] = {"status": "running", "worker_id": worker_id, "resume_at": None}
        if first:
            values |= {"started_at": walk.now, "deadline_at": walk.deadline()}
        runs.set_run(tx, walk.run.id, was=("queued",), **values)
        works.mark_queued(tx, [walk.work.id], walk.now)
        _work_runs(tx, walk, first=first)
    return None


def _refusal(tx: Transaction, work: WorkFacts) -> str:
    pair = (work.workspace_id, work.principal_id)
    verdict = authorise_many(tx, [pair])[pair]
    return "" if verdict else f"not run: {verdict.why}"


def _work_runs(tx: Transaction, walk: Walk, *, first: bool) -> None:
    values = {"attempts": walk.run.attempt}
    if first:
        values |= {"started_at": walk.now}  # type: ignore[dict-item]
    move(tx, walk.work.id, "running", **values)
    tx.changed(walk.work.workspace_id, "work", walk.work.id)
    if first:
        tx.changed(walk.work.workspace_id, "occurrence", walk.work.id)


def cancel(tx: Transaction, walk: Walk) -> Progress:
    """End a run that somebody asked to cancel."""
    by = works.principal_name(tx, walk.work.cancel_requested_by or "")
    message = f"cancelled by {by}" if by else "cancelled"
    finish(tx, walk.work, walk.run, "cancelled", walk.now, code="cancelled", message=message)
    return Progress.ENDED


def overdue(tx: Transaction, walk: Walk) -> Progress:
    """End a run whose time is over."""
    message = "the run took longer than the flow's timeout"
    unsure = any(row.error_code == OUTCOME_UNKNOWN for row in walk.steps.values())
    result = OUTCOME_UNKNOWN if unsure else ""
    finish(tx, walk.work, walk.run, "failed", walk.now, result=result, code="deadline", message=message)
    return Progress.ENDED


def complete(tx: Transaction, walk: Walk, *, no_work: bool = False) -> Progress:
    """End a run well."""
    finish(tx, walk.work, walk.run, "completed", walk.now, result="no_work" if no_work else "success")
    return Progress.ENDED


# -- one step ------------------------------------------------------------------------------------------------------


def decide(tx: Transaction, walk: Walk, position: int, occurrence: Mapping[str, Any]) -> int | Progress | None:
    """Bring the step at `position` on: return its attempt where it has to be executed now.

    None means that it is done (skipped, or its wait is over) and the next one is to be decided; ENDED that the
    segment is over.
    """
    step, row = walk.flow.steps[position], walk.steps.get(position)
    if row is not None and row.status == "failed":
        return _fail(tx, walk, step, StepError(row.error_code or "failed", row.error_message or "failed"))
    try:
        return _decide(tx, walk, position, walk.values(occurrence))
    except ExpressionError as error:
        return _failed(tx, walk, position, StepResult(error=StepError("expression_failed", str(error))))


def _decide(tx: Transaction, walk: Walk, position: int, values: Mapping[str, Any]) -> int | Progress | None:
    step, row = walk.flow.steps[position], walk.steps.get(position)
    if row is None and step.when is not None and not holds(step.when, values):
        _put(tx, walk, position, status="skipped", started_at=walk.now, ended_at=walk.now)
        return None
    if isinstance(step.action, Ask):
        return _ask(tx, walk, position, step.action, values)
    if isinstance(step.action, Wait):
        return _wait(tx, walk, position, step.action, values)
    if row is not None and row.status == "waiting":
        return _told(tx, walk, position, row)
    return _start_try(tx, walk, position, row)


def _told(tx: Transaction, walk: Walk, position: int, row: runs.StepFacts) -> int | Progress:
    """Go on as a person said of a step that a crash interrupted."""
    asked = works.step_actions(tx, walk.run.id, position)
    action = next((one for one in asked if uncertain.is_about(one, row)), None)
    if action is not None and action.status == "pending":
        return _park(tx, walk, action.kind)
    if action is not None and uncertain.wants_another_try(action):
        return _start_try(tx, walk, position, replace(row, resume_at=None))
    result = uncertain.outcome(action)
    return _failed(tx, walk, position, result) if result.error else _succeeded(tx, walk, position, result)


def _start_try(tx: Transaction, walk: Walk, position: int, row: runs.StepFacts | None) -> int | Progress:
    if row is not None and row.resume_at is not None and row.resume_at > walk.now:
        return _sleep(tx, walk, row.resume_at)
    attempt = (row.attempt if row is not None else 0) + 1
    started = {"started_at": walk.now, "ended_at": None, "resume_at": None, "pid": None, "pid_started_at": None}
    if row is not None and row.error_code == OUTCOME_UNKNOWN:
        started |= {"error_code": None, "error_message": None}
    _put(tx, walk, position, status="running", attempt=attempt, **started)
    tx.changed(walk.work.workspace_id, "work", walk.work.id)
    return attempt


def settle(tx: Transaction, walk: Walk, position: int, attempt: int, result: StepResult) -> Progress:
    """Record how a try of a step went, and what that means for the run."""
    step, error = walk.flow.steps[position], result.error
    if error is None:
        return _succeeded(tx, walk, position, result)
    if error.code == "cancelled":
        _put(tx, walk, position, **_ended(walk, "cancelled", result))
        return cancel(tx, walk)
    if walk.run.deadline_at is not None and walk.run.deadline_at <= walk.now:
        _put(tx, walk, position, **_ended(walk, "failed", result))
        return overdue(tx, walk)
    if error.retryable and attempt < step.retry.attempts:
        resume_at = walk.now + step.retry.pause_after(attempt)
        _put(tx, walk, position, **{**_ended(walk, "pending", result), "resume_at": resume_at})
        return _sleep(tx, walk, resume_at)
    return _failed(tx, walk, position, result)


def _succeeded(tx: Transaction, walk: Walk, position: int, result: StepResult) -> Progress:
    _put(tx, walk, position, **_ended(walk, "completed", result))
    last = position == len(walk.flow.steps) - 1
    if result.no_work:
        _skip_after(tx, walk, position)
    if last or result.no_work:
        return complete(tx, walk, no_work=result.no_work)
    tx.changed(walk.work.workspace_id, "work", walk.work.id)
    return Progress.MORE


def _skip_after(tx: Transaction, walk: Walk, position: int) -> None:
    for later in range(position + 1, len(walk.flow.steps)):
        _put(tx, walk, later, status="skipped", started_at=walk.now, ended_at=walk.now)


def _failed(tx: Transaction, walk: Walk, position: int, result: StepResult) -> Progress:
    _put(tx, walk, position, **_ended(walk, "failed", result))
    return _fail(tx, walk, walk.flow.steps[position], result.error or StepError("failed", "failed"))


def _fail(tx: Transaction, walk: Walk, step: Step, error: StepError) -> Progress:
    message = f"step {step.id}: {error.message}"
    result = OUTCOME_UNKNOWN if error.code == OUTCOME_UNKNOWN else ""
    finish(tx, walk.work, walk.run, "failed", walk.now, result=result, code=error.code, message=message)
    return Progress.ENDED


def _ended(walk: Walk, status: str, result: StepResult) -> dict[str, Any]:
    return {
        "status": status,
        "ended_at": walk.now,
        "resume_at": None,
        "output": result.output,
        "exit_code": result.exit_code,
        "error_code": result.error.code if result.error else None,
        "error_message": result.error.message if result.error else None,
    }


def _put(tx: Transaction, walk: Walk, position: int, **values: Any) -> None:
    """Store a step's row and have the walk see it."""
    step = walk.flow.steps[position]
    known = walk.steps.get(position)
    fresh = known is None
    if known is None:
        known = runs.new_step(walk.run.id, position, step_id=step.id, kind=step.kind)
    runs.put_step(tx, known, fresh=fresh, **values)
    seen = {name: value for name, value in values.items() if name in runs.StepFacts.__dataclass_fields__}
    walk.steps[position] = replace(known, **seen)


# -- waiting -------------------------------------------------------------------------------------------------------


def _ask(tx: Transaction, walk: Walk, position: int, asked: Ask, values: Mapping[str, Any]) -> Progress | None:
    action = works.step_action(tx, walk.run.id, position)
    if action is None:
        _raise_question(tx, walk, position, asked, values)
        return Progress.ENDED
    result = ask.outcome(asked, action)
    if result is None:
        return _park(tx, walk, asked.kind)
    if result.error is not None:
        return _failed(tx, walk, position, result)
    _put(tx, walk, position, **_ended(walk, "completed", result))
    return None


def _raise_question(tx: Transaction, walk: Walk, position: int, asked: Ask, values: Mapping[str, Any]) -> None:
    step = walk.flow.steps[position]
    question = ask.question(
        asked, walk.work, values, step_id=step.id, run_id=walk.run.id, position=position, now=walk.now
    )
    ask_person(tx, walk, position, question, attempt=1, started_at=walk.now)


def ask_person(tx: Transaction, walk: Walk, position: int, question: Mapping[str, Any], **step: Any) -> None:
    """Write a question (a row without its id), its one notification, its step and the parked run together."""
    work, row = walk.work, {"id": tx.clock.new_id(), **question}
    works.insert_action(tx, row)
    line = {"workspace_id": work.workspace_id, "at": walk.now, "kind": "action", "severity": "warning"}
    keys = {"work_id": work.id, "action_id": row["id"], "trigger_uid": work.trigger_uid or None}
    works.notify(tx, {**line, **keys, "title": row["title"]})
    _put(tx, walk, position, status="waiting", **step)
    _park(tx, walk, row["kind"])
    tx.changed(work.workspace_id, "action", row["id"])
    tx.changed(work.workspace_id, "notification", row["id"])


def _park(tx: Transaction, walk: Walk, kind: str) -> Progress:
    runs.set_run(tx, walk.run.id, was=runs.OPEN, status="waiting", resume_at=None)
    move(tx, walk.work.id, WAITING_FOR[kind])
    tx.changed(walk.work.workspace_id, "work", walk.work.id)
    return Progress.ENDED


def _wait(tx: Transaction, walk: Walk, position: int, pause: Wait, values: Mapping[str, Any]) -> Progress | None:
    row = walk.steps.get(position)
    resume_at = row.resume_at if row is not None else None
    if resume_at is None:
        resume_at = wait.resume_instant(pause, values, walk.now)
        _put(tx, walk, position, status="waiting", attempt=1, started_at=walk.now, resume_at=resume_at)
    if resume_at > walk.now:
        return _sleep(tx, walk, resume_at)
    _put(tx, walk, position, status="completed", ended_at=walk.now)
    return None


def _sleep(tx: Transaction, walk: Walk, resume_at: datetime) -> Progress:
    runs.set_run(tx, walk.run.id, was=runs.OPEN, status="sleeping", resume_at=resume_at)
    tx.changed(walk.work.workspace_id, "work", walk.work.id)
    return Progress.ENDED
