"""Statements of the doctor: how the machinery stands, in a handful of small questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select

from core.storage.columns import table_of
from core.storage.store import Transaction
from core.storage.tables import Change, Occurrence, TriggerState, Work, WorkerBeat
from core.views import ACTIVE_WORK

_state = table_of(TriggerState).c
_work = table_of(Work).c
_beat = table_of(WorkerBeat).c
_change = table_of(Change).c


@dataclass(frozen=True, slots=True)
class Pages:
    """How the file is filled, in bytes."""

    size_bytes: int
    unused_bytes: int


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """A worker's newest heartbeat."""

    worker_id: str
    pid: int
    state: str
    version: str
    zone_data: str
    beat_at: datetime
    last_pass_at: datetime | None


def future_marks(tx: Transaction, after: datetime, limit: int, workspace_id: str | None) -> list[tuple[str, datetime]]:
    """Return enabled Triggers whose mark lies beyond an instant, the farthest first."""
    query = select(_state.name, _state.mark_at).where(_state.enabled, _state.mark_at > after, *_within(workspace_id))
    return [(row[0], row[1]) for row in tx.all(query.order_by(_state.mark_at.desc()).limit(limit))]


def overdue(tx: Transaction, before: datetime, limit: int, workspace_id: str | None) -> list[tuple[str, datetime]]:
    """Return enabled Triggers that were due before an instant and are not decided, the longest due first."""
    due = (_state.enabled, _state.next_due_at < before, *_within(workspace_id))
    query = select(_state.name, _state.next_due_at).where(*due)
    return [(row[0], row[1]) for row in tx.all(query.order_by(_state.next_due_at).limit(limit))]


def degraded(tx: Transaction, limit: int, workspace_id: str | None) -> list[tuple[str, str]]:
    """Return enabled Triggers that do not fire as they should, with the sentence that says why."""
    ill = (_state.enabled, _state.last_error_code.is_not(None), *_within(workspace_id))
    query = select(_state.name, func.coalesce(_state.last_error_message, _state.last_error_code)).where(*ill)
    return [(row[0], row[1]) for row in tx.all(query.order_by(_state.name).limit(limit))]


def newest_instant(tx: Transaction) -> datetime | None:
    """Return the newest instant at which anything was written: a change or a heartbeat."""
    changed = tx.scalar(select(_change.at).order_by(_change.seq.desc()).limit(1))
    beaten = tx.scalar(select(func.max(_beat.beat_at)))
    return max((at for at in (changed, beaten) if at is not None), default=None)


def workers(tx: Transaction) -> list[WorkerFacts]:
    """Return every worker's newest heartbeat, newest first."""
    names = WorkerFacts.__dataclass_fields__
    rows = tx.all(select(*(_beat[name] for name in names)).order_by(_beat.beat_at.desc()))
    return [WorkerFacts(**row._mapping) for row in rows]


def counts(tx: Transaction, workspace_id: str | None) -> dict[str, int]:
    """Return how many Triggers, enabled ones, active Works and occurrences there are; the last one by estimate."""
    mine = _within(workspace_id)
    works = [_work.status.in_(ACTIVE_WORK)] + ([] if workspace_id is None else [_work.workspace_id == workspace_id])
    span = tx.connection.exec_driver_sql("SELECT max(rowid) - min(rowid) + 1 FROM occurrence").scalar()
    return {
        "triggers": _count(tx, TriggerState, *mine),
        "enabled": _count(tx, TriggerState, _state.enabled, *mine),
        "active_work": _count(tx, Work, *works),
        "occurrences_at_most": int(span or 0),
    }


def pages(tx: Transaction) -> Pages:
    """Return how the file is filled."""
    size, count, free = (
        int(tx.connection.exec_driver_sql(f"PRAGMA {name}").scalar() or 0)
        for name in ("page_size", "page_count", "freelist_count")
    )
    return Pages(size * count, size * free)


def trigger_of(tx: Transaction, uid: str) -> tuple[str, str] | None:
    """Return (workspace, name) of a Trigger that has a state."""
    row = tx.first(select(_state.workspace_id, _state.name).where(_state.trigger_uid == uid))
    return (row[0], row[1]) if row else None


def newest_decision(tx: Transaction, uid: str) -> datetime | None:
    """Return the newest nominal time of a Trigger that is decided."""
    table = table_of(Occurrence)
    decided = (table.c.trigger_uid == uid, table.c.kind == "scheduled")
    at: datetime | None = tx.scalar(select(func.max(table.c.at)).where(*decided))
    return at


def raise_mark(tx: Transaction, uid: str, mark: datetime) -> bool:
    """Move a mark that lies before an instant up to it; return whether it did."""
    behind = (_state.trigger_uid == uid, _state.mark_at < mark)
    return bool(tx.run(table_of(TriggerState).update().where(*behind).values(mark_at=mark, mark_wall=None)).rowcount)


def _count(tx: Transaction, model: Any, *where: ColumnElement[bool]) -> int:
    return int(tx.scalar(select(func.count()).select_from(table_of(model)).where(*where)) or 0)


def _within(workspace_id: str | None) -> list[ColumnElement[bool]]:
    return [] if workspace_id is None else [_state.workspace_id == workspace_id]
