"""The outbox's transactions: what is due, claiming pending Work, marking what the runtime took."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core import failpoints
from core.flows.canonical import fingerprint
from core.runtime.port import Segment
from core.storage import runs
from core.storage import work as works
from core.storage.store import Store, Transaction
from core.storage.work import ActionFacts, WorkFacts
from core.work.ending import finish, move
from core.work.service import wake_run

RunIds = frozenset[str]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a pass found: runs whose segment has to be cancelled, runs to hand over, and when to look again."""

    cancels: tuple[str, ...]
    open_runs: tuple[Segment, ...]
    next_wake: datetime | None


def unfinished(store: Store) -> list[Segment]:
    """Return the segments that ought to be executing."""
    with store.read() as tx:
        return [_segment(run) for run in runs.unfinished(tx)]


def look(store: Store, now: datetime, active: RunIds) -> Outlook:
    """Expire, wake and end what is due, and return what the runtime has to be told."""
    with store.read() as tx:
        overdue = bool(works.expired_actions(tx, now, 1) or runs.due(tx, now) or works.cancel_requested(tx))
    cancels: tuple[str, ...] = ()
    if overdue:
        with store.write() as tx:
            _expire(tx, now)
            _wake(tx, now)
            cancels = _cancel(tx, now, active)
            failpoints.reach("dispatch.waking")
        failpoints.reach("dispatch.woken")
    with store.read() as tx:
        opened = tuple(_segment(run) for run in runs.unfinished(tx) if run.id not in active)
        instants = [instant for instant in (works.next_expiry(tx), runs.next_wake(tx)) if instant is not None]
    return Outlook(cancels, opened, min(instants) if instants else None)


def claim(store: Store, now: datetime, limit: int) -> dict[str, Segment]:
    """Make a run for each of the oldest pending Works; return their first segments by Work id."""
    with store.read() as tx:
        if not works.pending(tx, 1):
            return {}
    with store.write() as tx:
        pending = works.pending(tx, limit)
        rows = [_run_row(work, runs.newest(tx, work.id), now) for work in pending]
        if rows:
            runs.insert_runs(tx, rows)
        failpoints.reach("dispatch.claiming")
    return {row["work_id"]: Segment(row["id"], 0, row["input_hash"]) for row in rows}


def mark(store: Store, work_ids: list[str], now: datetime) -> None:
    """Record that the runtime took this Work."""
    with store.write(durable=False) as tx:
        workspaces = {work.id: work.workspace_id for work_id in work_ids if (work := works.work(tx, work_id))}
        works.mark_queued(tx, work_ids, now)
        for work_id, workspace_id in workspaces.items():
            tx.changed(workspace_id, "work", work_id)
            tx.changed(workspace_id, "occurrence", work_id)
        failpoints.reach("dispatch.marking")
    failpoints.reach("dispatch.mark_committed")


def refuse(store: Store, segment: Segment, now: datetime) -> None:
    """Fail Work whose run id is taken by a run with another input."""
    with store.write() as tx:
        run = runs.run(tx, segment.run_id)
        work = works.work(tx, run.work_id) if run is not None else None
        if work is not None:
            message = "a run with this identity and another input exists already"
            finish(tx, work, run, "failed", now, code="conflict", message=message)


def _segment(run: runs.RunFacts) -> Segment:
    return Segment(run.id, run.segment, run.input_hash)


def _run_row(work: WorkFacts, newest: runs.RunFacts | None, now: datetime) -> dict[str, Any]:
    """Return the next run; a claim that a crash cut short is made again under the same id."""
    attempt = 1 if newest is None else newest.attempt + (newest.status not in runs.OPEN)
    return {
        "id": f"{work.id}.{attempt}",
        "work_id": work.id,
        "attempt": attempt,
        "segment": 0,
        "status": "queued",
        "input_hash": input_hash(work),
        "created_at": now,
        "principal_id": work.principal_id,
    }


def input_hash(work: WorkFacts) -> str:
    """Return the hash of everything that a run of this Work runs with."""
    return fingerprint([work.flow_uid, work.flow_version, work.input or {}, work.principal_id])


def _expire(tx: Transaction, now: datetime) -> None:
    for action in works.expired_actions(tx, now):
        if works.end_action(tx, action.id, "expired", now, still_due=False):
            _note_expiry(tx, action, now)
            wake_run(tx, action, now)


def _note_expiry(tx: Transaction, action: ActionFacts, now: datetime) -> None:
    title = f"Nobody answered {action.title!r} in time"[:300]
    row = {"workspace_id": action.workspace_id, "at": now, "kind": "action_expired", "severity": "warning"}
    works.notify(tx, {**row, "title": title, "work_id": action.work_id})
    tx.changed(action.workspace_id, "notification", action.id)


def _wake(tx: Transaction, now: datetime) -> None:
    """Queue the next segment of each parked run whose time has come, or is over."""
    for run in runs.due(tx, now):
        queued = {"status": "queued", "segment": run.segment + 1, "resume_at": None}
        if runs.set_run(tx, run.id, was=runs.PARKED, **queued) and run.status == "waiting":
            move(tx, run.work_id, "running")


def _cancel(tx: Transaction, now: datetime, active: RunIds) -> tuple[str, ...]:
    """End cancelled Work that executes nowhere; return the runs whose segment has to be told."""
    told = []
    for work in works.cancel_requested(tx):
        run = runs.newest(tx, work.id)
        if run is not None and run.id in active:
            told.append(run.id)
            continue
        by = works.principal_name(tx, work.cancel_requested_by or "")
        finish(tx, work, run, "cancelled", now, code="cancelled", message=f"cancelled by {by}" if by else "cancelled")
    return tuple(told)
