"""Statements of the checker: what contradicts what. Nothing here writes.

Each query names the rows that should not exist, so that a sound database answers with nothing. Instants of the
history are read as whole epoch seconds, since there may be millions of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Row, Select, Text, and_, cast, func, or_, select, type_coerce

from core.storage.columns import table_of
from core.storage.runs import OPEN, PARKED
from core.storage.store import Transaction
from core.storage.tables import (
    FlowRun,
    FlowStep,
    Occurrence,
    PendingAction,
    Resource,
    Revision,
    TriggerState,
    Work,
    WorkerBeat,
)
from core.views import ACTIVE_WORK

_state = table_of(TriggerState).c
_resource = table_of(Resource).c
_revision = table_of(Revision).c
_occurrence = table_of(Occurrence).c
_work = table_of(Work).c
_run = table_of(FlowRun).c
_step = table_of(FlowStep).c
_action = table_of(PendingAction).c
_beat = table_of(WorkerBeat).c

MICROSECONDS = 1_000_000
WAITING_WORK = ("waitingForInput", "waitingForApproval")
WITHOUT_WORK = ("skipped", "failed")
WITH_WORK = ("pending", "submitted")


@dataclass(frozen=True, slots=True)
class TriggerFacts:
    """A Trigger's state and its definition as text; `definition` None where the resource is gone."""

    uid: str
    workspace_id: str
    name: str
    enabled: bool
    generation: int | None
    definition: str | None
    mark_at: datetime | None
    decided_from: datetime | None
    next_nominal_at: datetime | None
    next_due_at: datetime | None
    fingerprint: str | None
    retry_at: datetime | None


@dataclass(frozen=True, slots=True)
class RevisionFacts:
    """When a generation came into force, and what it said."""

    uid: str
    generation: int
    definition: str
    mark_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DecidedTimes:
    """Nominal times `first_s` to `last_s` that were decided together, in epoch seconds."""

    trigger_uid: str
    id: str
    first_s: int
    last_s: int
    count: int
    reason: str
    generation: int


@dataclass(frozen=True, slots=True)
class ActiveFacts:
    """Active Work with the generation that it was admitted under."""

    trigger_uid: str
    trigger_name: str
    work_id: str
    generation: int
    retried: bool


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A row that should not be: its id, the name that people know, a word or two on how it stands, and whose it is."""

    id: str
    name: str
    detail: str
    workspace_id: str


# -- Triggers and their past -----------------------------------------------------------------------------------------


def triggers_after(tx: Transaction, uid: str, limit: int, workspace_id: str | None = None) -> list[TriggerFacts]:
    """Return up to `limit` Triggers in the order of their uid, above `uid`."""
    joined = table_of(TriggerState).outerjoin(
        table_of(Resource), and_(_resource.uid == _state.trigger_uid, _resource.deleted_at.is_(None))
    )
    query = (
        select(
            _state.trigger_uid,
            _state.workspace_id,
            _state.name,
            _state.enabled,
            _resource.generation,
            type_coerce(_resource.definition, Text),
            _state.mark_at,
            _state.decided_from,
            _state.next_nominal_at,
            _state.next_due_at,
            _state.fingerprint,
            _state.retry_at,
        )
        .select_from(joined)
        .where(_state.trigger_uid > uid, *_within(_state.workspace_id, workspace_id))
        .order_by(_state.trigger_uid)
    )
    return [TriggerFacts(*_values(row)) for row in tx.all(query.limit(limit))]


def revisions_of(tx: Transaction, uids: Sequence[str]) -> dict[str, list[RevisionFacts]]:
    """Return the generations of these resources, oldest first."""
    text = type_coerce(_revision.definition, Text)
    columns = (_revision.uid, _revision.generation, text, _revision.mark_at, _revision.created_at)
    query = select(*columns).where(_revision.uid.in_(uids)).order_by(_revision.uid, _revision.generation)
    found: dict[str, list[RevisionFacts]] = {}
    for uid, generation, definition, mark_at, created_at in map(_values, tx.all(query)):
        found.setdefault(uid, []).append(RevisionFacts(uid, generation, definition or "{}", mark_at, created_at))
    return found


def decided_times(tx: Transaction, trigger_uid: str, after: datetime) -> Iterator[DecidedTimes]:
    """Yield the nominal times of a Trigger decided above an instant, newest first; read while they are asked for."""
    last = type_coerce(_occurrence.at, BigInteger)
    first = type_coerce(func.coalesce(_occurrence.first_at, _occurrence.nominal_at, _occurrence.at), BigInteger)
    columns = (_occurrence.id, first, last, _occurrence["count"], _occurrence.reason, _occurrence.generation)
    query = (
        select(*columns)
        .where(_occurrence.trigger_uid == trigger_uid, _occurrence.kind == "scheduled", _occurrence.at > after)
        .order_by(_occurrence.at.desc(), _occurrence.id.desc())
    )
    for row in tx.connection.execute(query.execution_options(yield_per=1_000)):
        yield DecidedTimes(trigger_uid, row[0], row[1] // MICROSECONDS, row[2] // MICROSECONDS, *row[3:])


def newest_decided(tx: Transaction, trigger_uid: str) -> dict[int, int]:
    """Return the newest nominal time decided under each generation, pauses aside, in epoch seconds."""
    query = (
        select(_occurrence.generation, func.max(type_coerce(_occurrence.at, BigInteger)))
        .where(_occurrence.trigger_uid == trigger_uid, _occurrence.kind == "scheduled", _occurrence.reason != "paused")
        .group_by(_occurrence.generation)
    )
    return {generation: newest // MICROSECONDS for generation, newest in map(_values, tx.all(query))}


def active_work(tx: Transaction, workspace_id: str | None = None) -> list[ActiveFacts]:
    """Return the active Work of Triggers by Trigger, oldest first; test fires aside.

    Active Work was retried if a run of it has ended, or if it was given up before its first one.
    """
    ended = select(_run.id).where(_run.work_id == _work.id, _run.status.not_in((*OPEN, *PARKED)))
    retried = or_(ended.correlate(table_of(Work)).exists(), _occurrence.outcome == "dropped")
    query = (
        select(_work.trigger_uid, _work.trigger_name, _work.id, _occurrence.generation, retried)
        .select_from(table_of(Work).join(table_of(Occurrence), _occurrence.id == _work.occurrence_id))
        .where(_work.status.in_(ACTIVE_WORK), _work.is_test.is_(False), _work.trigger_uid != "")
        .where(*_within(_work.workspace_id, workspace_id))
        .order_by(_work.trigger_uid, _work.created_at, _work.id)
    )
    return [ActiveFacts(*_values(row)) for row in tx.all(query)]


# -- Work against occurrences ----------------------------------------------------------------------------------------


def work_without_occurrence(tx: Transaction, limit: int, workspace_id: str | None = None) -> list[Contradiction]:
    """Return Work that no decision stands behind; test fires aside."""
    query = (
        _works(_work.status)
        .select_from(table_of(Work).outerjoin(table_of(Occurrence), _occurrence.id == _work.occurrence_id))
        .where(_occurrence.id.is_(None), _work.is_test.is_(False))
    )
    return _contradictions(tx, query.where(*_within(_work.workspace_id, workspace_id)), limit)


def work_of_refused(tx: Transaction, limit: int, workspace_id: str | None = None) -> list[Contradiction]:
    """Return Work of an occurrence that was decided to have none."""
    query = (
        _works(_occurrence.reason)
        .select_from(table_of(Work).join(table_of(Occurrence), _occurrence.id == _work.occurrence_id))
        .where(or_(_occurrence.outcome.in_(WITHOUT_WORK), _occurrence.is_range))
    )
    return _contradictions(tx, query.where(*_within(_work.workspace_id, workspace_id)), limit)


def admitted_without_work(tx: Transaction, limit: int, workspace_id: str | None = None) -> list[Contradiction]:
    """Return occurrences that were admitted and have no Work."""
    query = (
        select(_occurrence.id, _occurrence.trigger_name, _occurrence.outcome, _occurrence.workspace_id)
        .select_from(table_of(Occurrence).outerjoin(table_of(Work), _work.occurrence_id == _occurrence.id))
        .where(_occurrence.outcome.in_(WITH_WORK), _work.id.is_(None))
    )
    return _contradictions(tx, query.where(*_within(_occurrence.workspace_id, workspace_id)), limit)


def work_named_otherwise(tx: Transaction, limit: int, workspace_id: str | None = None) -> list[Contradiction]:
    """Return Work whose identity is not that of its occurrence, so that a second one would be possible."""
    query = _works(_work.occurrence_id).where(_work.id != _work.occurrence_id, _work.is_test.is_(False))
    return _contradictions(tx, query.where(*_within(_work.workspace_id, workspace_id)), limit)


# -- runs, steps, questions ------------------------------------------------------------------------------------------


def work_without_run(tx: Transaction, limit: int, workspace_id: str | None = None) -> list[Contradiction]:
    """Return Work that says it runs or waits though none of its runs does."""
    unfinished = select(_run.id).where(_run.work_id == _work.id, _run.status.in_((*OPEN, *PARKED)))
    started = tuple(status for status in ACTIVE_WORK if status != "pending")
    query = _works(_work.status).where(_work.status.in_(started), ~unfinished.correlate(table_of(Work)).exists())
    return _contradictions(tx, query.where(*_within(_work.workspace_id, workspace_id)), limit)


def runs_of_ended_work(tx: Transaction, limit: int, workspace_id: str | None = None) -> list[Contradiction]:
    """Return runs that have not ended though their Work has, or is gone."""
    query = (
        select(_run.id, func.coalesce(_work.trigger_name, ""), _run.status, _work.workspace_id)
        .select_from(table_of(FlowRun).outerjoin(table_of(Work), _work.id == _run.work_id))
        .where(_run.status.in_((*OPEN, *PARKED)), or_(_work.id.is_(None), _work.status.not_in(ACTIVE_WORK)))
    )
    return _contradictions(tx, query.where(*_within(_work.workspace_id, workspace_id)), limit)


def runs_without_owner(
    tx: Transaction, alive_since: datetime, limit: int, workspace_id: str | None = None
) -> list[Contradiction]:
    """Return running runs whose worker shows no sign of life since `alive_since` though another worker does."""
    alive = select(_beat.worker_id).where(_beat.beat_at >= alive_since, _beat.state != "stopped")
    oldest = select(func.min(_beat.started_at)).where(_beat.beat_at >= alive_since, _beat.state != "stopped")
    query = (
        select(_run.id, _work.trigger_name, func.coalesce(_run.worker_id, ""), _work.workspace_id)
        .select_from(table_of(FlowRun).join(table_of(Work), _work.id == _run.work_id))
        .where(_run.status == "running", alive.exists(), oldest.scalar_subquery() < alive_since)
        .where(or_(_run.worker_id.is_(None), _run.worker_id.not_in(alive)))
    )
    return _contradictions(tx, query.where(*_within(_work.workspace_id, workspace_id)), limit)


def steps_of_ended_runs(tx: Transaction, limit: int, workspace_id: str | None = None) -> list[Contradiction]:
    """Return steps (`run/position`) that say they run or wait though their run has ended or is gone."""
    unfinished = (*OPEN, *PARKED)
    name = _step.run_id + "/" + cast(_step.position, Text)
    query = (
        select(name, func.coalesce(_work.trigger_name, ""), _step.status, _work.workspace_id)
        .select_from(
            table_of(FlowStep)
            .outerjoin(table_of(FlowRun), _run.id == _step.run_id)
            .outerjoin(table_of(Work), _work.id == _run.work_id)
        )
        .where(_step.status.in_(("running", "waiting")), or_(_run.id.is_(None), _run.status.not_in(unfinished)))
    )
    return _contradictions(tx, query.where(*_within(_work.workspace_id, workspace_id)), limit)


def questions_without_run(tx: Transaction, limit: int, workspace_id: str | None = None) -> list[Contradiction]:
    """Return pending questions that no waiting run asks."""
    query = (
        select(_action.id, _action.title, func.coalesce(_run.status, "gone"), _action.workspace_id)
        .select_from(table_of(PendingAction).outerjoin(table_of(FlowRun), _run.id == _action.run_id))
        .where(_action.status == "pending", or_(_run.id.is_(None), _run.status.not_in((*OPEN, *PARKED))))
    )
    return _contradictions(tx, query.where(*_within(_action.workspace_id, workspace_id)), limit)


def waiting_without_question(tx: Transaction, limit: int, workspace_id: str | None = None) -> list[Contradiction]:
    """Return Work that waits for an answer though no question of it was ever asked, or all are ended and taken up."""
    question = select(_action.id).where(_action.work_id == _work.id).correlate(table_of(Work))
    query = _works(_work.status).where(_work.status.in_(WAITING_WORK), ~question.exists())
    return _contradictions(tx, query.where(*_within(_work.workspace_id, workspace_id)), limit)


# -- the file --------------------------------------------------------------------------------------------------------


def broken_references(tx: Transaction, limit: int) -> list[str]:
    """Return the tables whose rows name rows that are not there."""
    rows = tx.connection.exec_driver_sql('SELECT DISTINCT "table" FROM pragma_foreign_key_check').all()
    return [str(row[0]) for row in rows[:limit]]


def _works(detail: ColumnElement[Any]) -> Select[Any]:
    return select(_work.id, _work.trigger_name, detail, _work.workspace_id)


def _within(column: ColumnElement[Any], workspace_id: str | None) -> list[ColumnElement[bool]]:
    return [] if workspace_id is None else [column == workspace_id]


def _contradictions(tx: Transaction, query: Select[Any], limit: int) -> list[Contradiction]:
    found = map(_values, tx.all(query.limit(limit)))
    return [Contradiction(str(id_), name, detail or "", place or "") for id_, name, detail, place in found]


def _values(row: Row[Any]) -> tuple[Any, ...]:
    return tuple(row)
