"""Statements about FlowRuns and FlowSteps: the truth against which the engine's store is a cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, func, or_, select
from sqlalchemy.dialects.sqlite import insert as upsert

from core.storage.columns import Instant, table_of
from core.storage.prepared import Query, Rows, given
from core.storage.store import Transaction
from core.storage.tables import Fact, FlowRun, FlowStep

_run = table_of(FlowRun)
_step = table_of(FlowStep)
_fact = table_of(Fact)

OPEN: tuple[str, ...] = ("queued", "running")
PARKED: tuple[str, ...] = ("waiting", "sleeping")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run as it stands."""

    id: str
    work_id: str
    attempt: int
    segment: int
    status: str
    input_hash: str
    resume_at: datetime | None
    deadline_at: datetime | None
    started_at: datetime | None
    principal_id: str
    worker_id: str | None


@dataclass(frozen=True, slots=True)
class StepFacts:
    """One step of a run as it stands; no row at all means that it has not begun."""

    run_id: str
    position: int
    step_id: str
    kind: str
    status: str
    attempt: int
    started_at: datetime | None
    resume_at: datetime | None
    output: Any
    error_code: str | None
    error_message: str | None
    pid: int | None
    pid_started_at: float | None


_RUN_COLUMNS = tuple(_run.c[name] for name in RunFacts.__dataclass_fields__)
_STEP_COLUMNS = tuple(_step.c[name] for name in StepFacts.__dataclass_fields__)
_NOW = given("now", Instant())
_RUN_ID, _WORK_ID = given("run_id"), given("work_id")
_PARKED = _run.c.status.in_(PARKED)
_IS_DUE = or_(and_(_run.c.status == "sleeping", _run.c.resume_at <= _NOW), and_(_PARKED, _run.c.deadline_at <= _NOW))
_ONE = Query(select(*_RUN_COLUMNS).where(_run.c.id == _RUN_ID))
_NEWEST = Query(select(*_RUN_COLUMNS).where(_run.c.work_id == _WORK_ID).order_by(_run.c.attempt.desc()).limit(1))
_UNFINISHED = Query(select(*_RUN_COLUMNS).where(_run.c.status.in_(OPEN)).order_by(_run.c.created_at, _run.c.id))
_DUE = Query(select(*_RUN_COLUMNS).where(_PARKED, _IS_DUE))
_NEXT_WAKE = Query(select(func.min(_run.c.resume_at), func.min(_run.c.deadline_at)).where(_PARKED))
_STEPS = Query(select(*_STEP_COLUMNS).where(_step.c.run_id == _RUN_ID).order_by(_step.c.position))
_IN_FLIGHT = Query(select(*_STEP_COLUMNS).where(_step.c.status == "running"))
_RUNS, _STEP, _STEPS_OF_RUN = Rows(FlowRun, "id"), Rows(FlowStep, "run_id", "position"), Rows(FlowStep, "run_id")


def run(tx: Transaction, run_id: str) -> RunFacts | None:
    """Return one run."""
    row = _ONE.first(tx, run_id=run_id)
    return RunFacts(*row) if row else None


def newest(tx: Transaction, work_id: str) -> RunFacts | None:
    """Return the newest run of a Work."""
    row = _NEWEST.first(tx, work_id=work_id)
    return RunFacts(*row) if row else None


def unfinished(tx: Transaction) -> list[RunFacts]:
    """Return every run that the engine should be executing, oldest first."""
    return [RunFacts(*row) for row in _UNFINISHED.all(tx)]


def due(tx: Transaction, now: datetime) -> list[RunFacts]:
    """Return sleeping runs whose time has come, and parked ones whose deadline is over."""
    return [RunFacts(*row) for row in _DUE.all(tx, now=now)]


def next_wake(tx: Transaction) -> datetime | None:
    """Return when the next parked run resumes or runs out of time."""
    return min((instant for instant in _NEXT_WAKE.first(tx) or () if instant is not None), default=None)


def insert_runs(tx: Transaction, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store new runs; one that exists already stays as it is."""
    tx.run(upsert(_run).on_conflict_do_nothing(), rows)


def set_run(tx: Transaction, run_id: str, *, was: Iterable[str], **values: Any) -> bool:
    """Change a run that is in one of the statuses `was`; return whether it was."""
    return _RUNS.change(tx, run_id, was=was, **values) == 1


def steps(tx: Transaction, run_id: str) -> dict[int, StepFacts]:
    """Return the steps of a run that have begun, by position."""
    found = (StepFacts(*row) for row in _STEPS.all(tx, run_id=run_id))
    return {step.position: step for step in found}


def in_flight(tx: Transaction) -> list[StepFacts]:
    """Return every step that is marked as running."""
    return [StepFacts(*row) for row in _IN_FLIGHT.all(tx)]


def new_step(run_id: str, position: int, *, step_id: str, kind: str) -> StepFacts:
    """Return a step that has not begun."""
    nothing = (None, None, None, None, None, None, None)
    return StepFacts(run_id, position, step_id, kind, "pending", 0, *nothing)


def put_step(tx: Transaction, known: StepFacts, *, fresh: bool, **values: Any) -> None:
    """Store a step that has no row yet (`fresh`), or change its row."""
    if fresh:
        keys = {"run_id": known.run_id, "position": known.position, "step_id": known.step_id, "kind": known.kind}
        _STEP.insert(tx, **{"attempt": 0, **keys, **values})
        return
    _STEP.change(tx, known.run_id, known.position, **values)


def set_step(tx: Transaction, run_id: str, position: int, *, was: Iterable[str], **values: Any) -> bool:
    """Change a step that is in one of the statuses `was`; return whether it was."""
    return _STEP.change(tx, run_id, position, was=was, **values) == 1


def end_steps(tx: Transaction, run_id: str, *, was: Iterable[str], **values: Any) -> None:
    """Change every step of a run that is in one of the statuses `was`."""
    _STEPS_OF_RUN.change(tx, run_id, was=was, **values)


def fact(tx: Transaction, name: str) -> str | None:
    """Return one named fact of this database."""
    value: str | None = tx.scalar(select(_fact.c.value).where(_fact.c.name == name))
    return value


def set_fact(tx: Transaction, name: str, value: str) -> None:
    """Store one named fact of this database."""
    statement = upsert(_fact).values(name=name, value=value)
    tx.run(statement.on_conflict_do_update(index_elements=["name"], set_={"value": value}))
