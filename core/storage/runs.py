"""Statements about FlowRuns and FlowSteps: the truth against which the engine's store is a cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from core.storage.columns import table_of
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


def run(tx: Transaction, run_id: str) -> RunFacts | None:
    """Return one run."""
    row = tx.first(select(*_RUN_COLUMNS).where(_run.c.id == run_id))
    return RunFacts(**row._mapping) if row else None


def newest(tx: Transaction, work_id: str) -> RunFacts | None:
    """Return the newest run of a Work."""
    row = tx.first(select(*_RUN_COLUMNS).where(_run.c.work_id == work_id).order_by(_run.c.attempt.desc()))
    return RunFacts(**row._mapping) if row else None


def unfinished(tx: Transaction) -> list[RunFacts]:
    """Return every run that the engine should be executing, oldest first."""
    query = select(*_RUN_COLUMNS).where(_run.c.status.in_(OPEN)).order_by(_run.c.created_at, _run.c.id)
    return [RunFacts(**row._mapping) for row in tx.all(query)]


def due(tx: Transaction, now: datetime) -> list[RunFacts]:
    """Return sleeping runs whose time has come, and parked ones whose deadline is over."""
    sleeping = (_run.c.status == "sleeping") & (_run.c.resume_at <= now)
    overdue = _run.c.status.in_(PARKED) & (_run.c.deadline_at <= now)
    where = (_run.c.status.in_(PARKED), sleeping | overdue)
    return [RunFacts(**row._mapping) for row in tx.all(select(*_RUN_COLUMNS).where(*where))]


def next_wake(tx: Transaction) -> datetime | None:
    """Return when the next parked run resumes or runs out of time."""
    row = tx.first(select(func.min(_run.c.resume_at), func.min(_run.c.deadline_at)).where(_run.c.status.in_(PARKED)))
    instants = [instant for instant in row or () if instant is not None]
    return min(instants) if instants else None


def insert_runs(tx: Transaction, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store new runs; one that exists already stays as it is."""
    tx.run(upsert(_run).on_conflict_do_nothing(), rows)


def set_run(tx: Transaction, run_id: str, *, was: Iterable[str], **values: Any) -> bool:
    """Change a run that is in one of the statuses `was`; return whether it was."""
    where = (_run.c.id == run_id, _run.c.status.in_(list(was)))
    return bool(tx.run(update(_run).where(*where).values(**values)).rowcount == 1)


def steps(tx: Transaction, run_id: str) -> dict[int, StepFacts]:
    """Return the steps of a run that have begun, by position."""
    query = select(*_STEP_COLUMNS).where(_step.c.run_id == run_id).order_by(_step.c.position)
    return {row.position: StepFacts(**row._mapping) for row in tx.all(query)}


def in_flight(tx: Transaction) -> list[StepFacts]:
    """Return every step that is marked as running."""
    return [StepFacts(**row._mapping) for row in tx.all(select(*_STEP_COLUMNS).where(_step.c.status == "running"))]


def new_step(run_id: str, position: int, *, step_id: str, kind: str) -> StepFacts:
    """Return a step that has not begun."""
    nothing = (None, None, None, None, None, None, None)
    return StepFacts(run_id, position, step_id, kind, "pending", 0, *nothing)


def put_step(tx: Transaction, known: StepFacts, *, fresh: bool, **values: Any) -> None:
    """Store a step that has no row yet (`fresh`), or change its row."""
    if fresh:
        keys = {"run_id": known.run_id, "position": known.position, "step_id": known.step_id, "kind": known.kind}
        tx.run(insert(_step).values({"attempt": 0, **keys, **values}))
        return
    tx.run(update(_step).where(_step.c.run_id == known.run_id, _step.c.position == known.position).values(**values))


def set_step(tx: Transaction, run_id: str, position: int, *, was: Iterable[str], **values: Any) -> bool:
    """Change a step that is in one of the statuses `was`; return whether it was."""
    where = (_step.c.run_id == run_id, _step.c.position == position, _step.c.status.in_(list(was)))
    return bool(tx.run(update(_step).where(*where).values(**values)).rowcount == 1)


def end_steps(tx: Transaction, run_id: str, *, was: Iterable[str], **values: Any) -> None:
    """Change every step of a run that is in one of the statuses `was`."""
    tx.run(update(_step).where(_step.c.run_id == run_id, _step.c.status.in_(list(was))).values(**values))


def fact(tx: Transaction, name: str) -> str | None:
    """Return one named fact of this database."""
    value: str | None = tx.scalar(select(_fact.c.value).where(_fact.c.name == name))
    return value


def set_fact(tx: Transaction, name: str, value: str) -> None:
    """Store one named fact of this database."""
    statement = upsert(_fact).values(name=name, value=value)
    tx.run(statement.on_conflict_do_update(index_elements=["name"], set_={"value": value}))
