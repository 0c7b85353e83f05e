"""Statements of the worker process: its heartbeat row, and the few facts that its loop asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.dialects.sqlite import insert as upsert

from core.storage.columns import table_of
from core.storage.store import Transaction
from core.storage.tables import Principal, WorkerBeat, Workspace

_beat = table_of(WorkerBeat).c
_workspace = table_of(Workspace).c
_principal = table_of(Principal).c


@dataclass(frozen=True, slots=True)
class Beat:
    """One worker process as it was at its last heartbeat (`core.storage.tables.WorkerBeat`)."""

    worker_id: str
    pid: int
    host: str
    version: str
    zone_data: str
    state: str
    started_at: datetime
    beat_at: datetime
    last_pass_at: datetime | None
    pass_ms: float
    lags_ms: Sequence[float]
    slots: int
    running: int
    errors: Sequence[dict[str, Any]]


def save_beat(tx: Transaction, beat: Beat) -> None:
    """Overwrite this worker's row."""
    values = asdict(beat)
    statement = upsert(table_of(WorkerBeat)).values(values)
    tx.run(statement.on_conflict_do_update(index_elements=["worker_id"], set_=values))


def forget_beats(tx: Transaction, before: datetime) -> int:
    """Delete the rows of workers that were last heard of before an instant; return how many."""
    return int(tx.run(delete(table_of(WorkerBeat)).where(_beat.beat_at < before)).rowcount)


def end_others(tx: Transaction, worker_id: str) -> int:
    """Mark every other worker of this database as stopped: the one that holds the lock is the only one."""
    others = table_of(WorkerBeat).update().where(_beat.worker_id != worker_id, _beat.state != "stopped")
    return int(tx.run(others.values(state="stopped")).rowcount)


def beat_of_pid(tx: Transaction, pid: int) -> tuple[str, datetime] | None:
    """Return (state, time) of the newest heartbeat of a process."""
    row: Any = tx.first(
        select(_beat.state, _beat.beat_at).where(_beat.pid == pid).order_by(_beat.started_at.desc()).limit(1)
    )
    return None if row is None else (row[0], row[1])


def last_seen(tx: Transaction, worker_id: str) -> datetime | None:
    """Return when a worker was last alive, None where its row is gone."""
    at: datetime | None = tx.scalar(select(_beat.beat_at).where(_beat.worker_id == worker_id))
    return at


def places_of(tx: Transaction, user: str) -> list[tuple[str, str]]:
    """Return (workspace, principal) for every workspace; the principal is the user's, or empty where it has none."""
    known = (_principal.tenant_id == _workspace.tenant_id) & (_principal.name == user)
    joined = table_of(Workspace).outerjoin(table_of(Principal), known)
    rows: Any = tx.all(select(_workspace.id, _principal.id).select_from(joined))
    return [(row[0], row[1] or "") for row in rows]
