"""Statements behind the frame, the inbox, the notifications and Health."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select

from core.storage.columns import table_of
from core.storage.store import Transaction
from core.storage.tables import (
    AuditEvent,
    Fact,
    FlowRun,
    FlowStep,
    LogLine,
    Notification,
    PendingAction,
    Principal,
    Work,
    WorkerBeat,
)
from core.views import ActionRow, LogRow, NotificationRow, RunView

_action = table_of(PendingAction).c
_audit = table_of(AuditEvent).c
_beat = table_of(WorkerBeat).c
_log = table_of(LogLine).c
_note = table_of(Notification).c
_principal = table_of(Principal).c
_run = table_of(FlowRun).c
_step = table_of(FlowStep).c
_work = table_of(Work).c

_ACTION_COLUMNS = (
    "id",
    "work_id",
    "trigger_name",
    "step_id",
    "kind",
    "title",
    "status",
    "created_at",
    "expires_at",
    "snoozed_until",
    "decision",
    "answered_by",
    "ended_at",
)


def runs_of(tx: Transaction, work_id: str) -> list[RunView]:
    """Return a Work's runs, oldest first."""
    columns = (_run.id, _run.attempt, _run.status, _run.segment, _run.started_at, _run.ended_at)
    rows = tx.all(
        select(*columns, func.coalesce(_run.error_message, _run.error_code))
        .where(_run.work_id == work_id)
        .order_by(_run.attempt)
    )
    return [RunView(*row) for row in rows]


def steps_of(tx: Transaction, run_id: str) -> list[dict[str, Any]]:
    """Return the step rows of a run as mappings, in order."""
    rows = tx.all(select(table_of(FlowStep)).where(_step.run_id == run_id).order_by(_step.position))
    return [dict(row._mapping) for row in rows]


def log_lines(tx: Transaction, work_id: str, *, after: int, limit: int) -> list[LogRow]:
    """Return log lines with an id above `after`, oldest first."""
    columns = (_log.id, _log.at, _log.step_id, _log.stream, _log.text)
    rows = tx.all(select(*columns).where(_log.work_id == work_id, _log.id > after).order_by(_log.id).limit(limit))
    return [LogRow(*row) for row in rows]


def last_log_lines(tx: Transaction, work_id: str, limit: int) -> list[LogRow]:
    """Return the newest `limit` log lines, oldest first."""
    columns = (_log.id, _log.at, _log.step_id, _log.stream, _log.text)
    rows = tx.all(select(*columns).where(_log.work_id == work_id).order_by(_log.id.desc()).limit(limit))
    return [LogRow(*row) for row in reversed(rows)]


def actions(
    tx: Transaction,
    workspace_id: str,
    *,
    status: str | None = None,
    work_id: str | None = None,
    namespace: str | None = None,
) -> list[ActionRow]:
    """Return questions, oldest first."""
    statement = _actions().where(_action.workspace_id == workspace_id)
    if namespace is not None:
        statement = statement.where(_work.namespace == namespace)
    if status is not None:
        statement = statement.where(_action.status == status)
    if work_id is not None:
        statement = statement.where(_action.work_id == work_id)
    return [_action_row(row) for row in tx.all(statement.order_by(_action.created_at, _action.id))]


def find_actions(tx: Transaction, workspace_id: str, prefix: str) -> list[tuple[ActionRow, dict[str, Any]]]:
    """Return at most two questions whose id starts with `prefix`, each with the rest of its row."""
    extra = (_action.message, _action.form, _action["values"], _action.trigger_uid, _principal.name)
    statement = (
        _actions(*extra)
        .where(_action.workspace_id == workspace_id, _action.id >= prefix, _action.id < prefix + "\U0010ffff")
        .limit(2)
    )
    names = ("message", "form", "values", "trigger_uid", "principal")
    width = len(_ACTION_COLUMNS)
    return [(_action_row(row[:width]), dict(zip(names, row[width:], strict=True))) for row in tx.all(statement)]


def count_pending(tx: Transaction, workspace_id: str, now: datetime) -> int:
    """Return how many questions wait and are not snoozed."""
    awake = or_(_action.snoozed_until.is_(None), _action.snoozed_until <= now)
    wanted = (_action.workspace_id == workspace_id, _action.status == "pending", awake)
    return int(tx.scalar(select(func.count()).select_from(PendingAction).where(*wanted)))


def notifications(tx: Transaction, workspace_id: str, *, after: int, limit: int) -> list[NotificationRow]:
    """Return the newest notifications with an id above `after`, newest first."""
    columns = (_note.id, _note.at, _note.kind, _note.severity, _note.title, _note.work_id, _note.action_id)
    wanted = (_note.workspace_id == workspace_id, _note.id > after)
    rows = tx.all(select(*columns).where(*wanted).order_by(_note.id.desc()).limit(limit))
    return [NotificationRow(*row) for row in rows]


def beats(tx: Transaction) -> list[dict[str, Any]]:
    """Return every worker's heartbeat row as a mapping, newest first."""
    rows = tx.all(select(table_of(WorkerBeat)).order_by(_beat.beat_at.desc()))
    return [dict(row._mapping) for row in rows]


def newest_beat(tx: Transaction) -> tuple[str, datetime] | None:
    """Return state and time of the newest heartbeat of a worker that has not stopped."""
    beats = select(_beat.state, _beat.beat_at).where(_beat.state != "stopped")
    row = tx.first(beats.order_by(_beat.beat_at.desc()).limit(1))
    return (row[0], row[1]) if row else None


def audit_events(tx: Transaction, workspace_id: str, limit: int) -> list[dict[str, Any]]:
    """Return the newest audit events as mappings, newest first."""
    statement = (
        select(table_of(AuditEvent), _principal.name.label("principal"))
        .select_from(table_of(AuditEvent).outerjoin(table_of(Principal), _principal.id == _audit.principal_id))
        .where(_audit.workspace_id == workspace_id)
        .order_by(_audit.id.desc())
        .limit(limit)
    )
    return [dict(row._mapping) for row in tx.all(statement)]


def fact(tx: Transaction, name: str) -> str | None:
    """Return a named fact of this database."""
    value: str | None = tx.scalar(select(table_of(Fact).c.value).where(table_of(Fact).c.name == name))
    return value


def put_fact(tx: Transaction, name: str, value: str) -> None:
    """Set a named fact of this database."""
    facts = table_of(Fact)
    if tx.run(facts.update().where(facts.c.name == name).values(value=value)).rowcount == 0:
        tx.run(facts.insert(), [{"name": name, "value": value}])


def _actions(*extra: Any) -> Any:
    columns: Sequence[Any] = [
        _work.trigger_name if name == "trigger_name" else _action[name] for name in _ACTION_COLUMNS
    ]
    joined = (
        table_of(PendingAction)
        .outerjoin(table_of(Work), _work.id == _action.work_id)
        .outerjoin(table_of(Principal), _principal.id == _work.principal_id)
    )
    return select(*columns, *extra).select_from(joined)


def _action_row(row: Any) -> ActionRow:
    fields: dict[str, Any] = dict(zip(_ACTION_COLUMNS, row, strict=True))
    return ActionRow(**{**fields, "trigger_name": fields["trigger_name"] or ""})
