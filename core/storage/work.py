"""Statements about Work, its questions and its notifications; the pending Work is the outbox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from core.storage.columns import Instant, table_of
from core.storage.prepared import Command, Query, Rows, as_list, given, listed
from core.storage.store import Transaction
from core.storage.tables import Notification, Occurrence, PendingAction, Principal, Work
from core.views import ACTIVE_WORK

_work = table_of(Work)
_occurrence = table_of(Occurrence)
_action = table_of(PendingAction)
_notification = table_of(Notification)
_principal = table_of(Principal)


@dataclass(frozen=True, slots=True)
class WorkFacts:
    """What running or steering one Work needs to know of it."""

    id: str
    workspace_id: str
    trigger_uid: str
    trigger_name: str
    title: str
    flow_uid: str
    flow_name: str
    flow_version: int
    input: Mapping[str, Any]
    status: str
    attempts: int
    cancel_requested_at: datetime | None
    cancel_requested_by: str | None
    principal_id: str


@dataclass(frozen=True, slots=True)
class ActionFacts:
    """A question as it stands."""

    id: str
    workspace_id: str
    work_id: str
    run_id: str
    position: int
    step_id: str
    kind: str
    title: str
    form: Mapping[str, Any]
    status: str
    expires_at: datetime
    ended_at: datetime | None
    decision: str | None
    values: Any
    answered_by: str | None


_WORK_COLUMNS = tuple(_work.c[name] for name in WorkFacts.__dataclass_fields__)
_ACTION_COLUMNS = tuple(_action.c[name] for name in ActionFacts.__dataclass_fields__)
_OCCURRENCE_NAMES = (
    "id", "kind", "nominal_at", "due_at", "reason", "count", "first_at", "last_at", "namespace", "trigger_name",
)  # fmt: skip
_ID, _RUN_ID, _POSITION = given("id"), given("run_id"), given("position", Integer())
_NOW, _MOST = given("now", Instant()), given("most", Integer())
_UNASKED = _work.c.cancel_requested_at.is_(None)
_BEYOND = (_action.c.status == "pending", _action.c.expires_at <= _NOW)
_ONE_WORK = Query(select(*_WORK_COLUMNS).where(_work.c.id == _ID))
_PENDING = Query(
    select(*_WORK_COLUMNS)
    .where(_work.c.status == "pending", _UNASKED)
    .order_by(_work.c.created_at, _work.c.id)
    .limit(_MOST)
)
_CANCELLING = Query(select(*_WORK_COLUMNS).where(_work.c.status.in_(ACTIVE_WORK), ~_UNASKED))
_OCCURRENCE = Query(select(*(_occurrence.c[name] for name in _OCCURRENCE_NAMES)).where(_occurrence.c.id == _ID))
_NAME = Query(select(_principal.c.name).where(_principal.c.id == _ID))
_ONE_ACTION = Query(select(*_ACTION_COLUMNS).where(_action.c.id == _ID))
_STEP_ACTIONS = Query(
    select(*_ACTION_COLUMNS)
    .where(_action.c.run_id == _RUN_ID, _action.c.position == _POSITION)
    .order_by(_action.c.created_at.desc())
)
_OPEN_ACTIONS = Query(select(*_ACTION_COLUMNS).where(listed(_action.c.run_id), _action.c.status == "pending"))
_EXPIRED = Query(select(*_ACTION_COLUMNS).where(*_BEYOND).limit(_MOST))
_NEXT_EXPIRY = Query(select(func.min(_action.c.expires_at)).where(_action.c.status == "pending"))
_QUEUE = Command(update(_work).where(listed(_work.c.id), _work.c.status == "pending").values(status="queued"))
_DISPATCH = Command(
    update(_occurrence)
    .where(listed(_occurrence.c.id), _occurrence.c.outcome == "pending")
    .values(outcome="submitted", dispatched_at=_NOW)
)
_DROP = Command(
    update(_occurrence)
    .where(_occurrence.c.id == given("work_id"), _occurrence.c.outcome == "pending")
    .values(outcome="dropped", message=given("why"))
)
_WORKS = Rows(Work, "id")


# -- work ----------------------------------------------------------------------------------------------------------


def work(tx: Transaction, work_id: str) -> WorkFacts | None:
    """Return one Work."""
    row = _ONE_WORK.first(tx, id=work_id)
    return WorkFacts(*row) if row else None


def pending(tx: Transaction, limit: int) -> list[WorkFacts]:
    """Return the oldest Work that nobody has dispatched or asked to cancel."""
    return [WorkFacts(*row) for row in _PENDING.all(tx, most=limit)]


def cancel_requested(tx: Transaction) -> list[WorkFacts]:
    """Return active Work that somebody asked to cancel."""
    return [WorkFacts(*row) for row in _CANCELLING.all(tx)]


def move(tx: Transaction, work_id: str, status: str, *, was: Iterable[str], **values: Any) -> bool:
    """Move Work to a status from one of the statuses `was`; return whether it moved."""
    return _WORKS.change(tx, work_id, was=was, status=status, **values) == 1


def mark_queued(tx: Transaction, work_ids: Sequence[str], now: datetime) -> None:
    """Record that the runtime took this Work, unless that is recorded already."""
    _QUEUE.run(tx, listed=as_list(work_ids))
    _DISPATCH.run(tx, listed=as_list(work_ids), now=now)


def drop_occurrences(tx: Transaction, work_id: str, message: str) -> None:
    """Record of an occurrence that was never dispatched that it will not be."""
    _DROP.run(tx, work_id=work_id, why=message)


def request_cancel(tx: Transaction, work_id: str, principal_id: str, now: datetime) -> None:
    """Note that somebody asked to cancel; the first asker stays."""
    where = (_work.c.id == work_id, _work.c.cancel_requested_at.is_(None), _work.c.status.in_(ACTIVE_WORK))
    tx.run(update(_work).where(*where).values(cancel_requested_at=now, cancel_requested_by=principal_id))


def insert_work(tx: Transaction, row: Mapping[str, Any]) -> None:
    """Store one Work."""
    tx.run(insert(_work).values(**row))


def insert_occurrence(tx: Transaction, row: Mapping[str, Any]) -> None:
    """Store one occurrence."""
    tx.run(insert(_occurrence).values(**row))


def occurrence_facts(tx: Transaction, work_id: str) -> dict[str, Any]:
    """Return what a step may know of the occurrence behind a Work."""
    row = _OCCURRENCE.first(tx, id=work_id)
    return dict(zip(_OCCURRENCE_NAMES, row, strict=True)) if row else {}


def principal_name(tx: Transaction, principal_id: str) -> str:
    """Return the name of a principal, or its id where it is gone."""
    return str(_NAME.scalar(tx, id=principal_id) or principal_id)


# -- questions -----------------------------------------------------------------------------------------------------


def insert_action(tx: Transaction, row: Mapping[str, Any]) -> None:
    """Store one question."""
    tx.run(insert(_action).values(**row))


def action(tx: Transaction, action_id: str) -> ActionFacts | None:
    """Return one question."""
    row = _ONE_ACTION.first(tx, id=action_id)
    return ActionFacts(*row) if row else None


def step_action(tx: Transaction, run_id: str, position: int) -> ActionFacts | None:
    """Return the newest question that a step of a run asked."""
    row = _STEP_ACTIONS.first(tx, run_id=run_id, position=position)
    return ActionFacts(*row) if row else None


def step_actions(tx: Transaction, run_id: str, position: int) -> list[ActionFacts]:
    """Return every question that a step of a run asked, newest first."""
    return [ActionFacts(*row) for row in _STEP_ACTIONS.all(tx, run_id=run_id, position=position)]


def end_action(
    tx: Transaction, action_id: str, status: str, now: datetime, *, still_due: bool = True, **values: Any
) -> bool:
    """End a question that is pending (and, where `still_due`, not expired yet); return whether it was."""
    where = [_action.c.id == action_id, _action.c.status == "pending"]
    if still_due:
        where.append(_action.c.expires_at > now)
    return bool(tx.run(update(_action).where(*where).values(status=status, ended_at=now, **values)).rowcount == 1)


def open_actions(tx: Transaction, run_ids: Iterable[str]) -> list[ActionFacts]:
    """Return the pending questions of runs."""
    return [ActionFacts(*row) for row in _OPEN_ACTIONS.all(tx, listed=as_list(run_ids))]


def expired_actions(tx: Transaction, now: datetime, limit: int = 200) -> list[ActionFacts]:
    """Return pending questions whose time is over."""
    return [ActionFacts(*row) for row in _EXPIRED.all(tx, now=now, most=limit)]


def next_expiry(tx: Transaction) -> datetime | None:
    """Return when the next pending question expires."""
    instant: datetime | None = _NEXT_EXPIRY.scalar(tx)
    return instant


def snooze(tx: Transaction, action_id: str, until: datetime, now: datetime) -> bool:
    """Hide a pending question until an instant; return whether it was pending."""
    where = (_action.c.id == action_id, _action.c.status == "pending", _action.c.expires_at > now)
    return bool(tx.run(update(_action).where(*where).values(snoozed_until=until)).rowcount == 1)


def notify(tx: Transaction, row: Mapping[str, Any]) -> None:
    """Write one notification; a question's is written once, whatever repeats."""
    tx.run(upsert(_notification).values(**row).on_conflict_do_nothing())
