"""Ends Work and its run together, whoever ends them: the runtime, a person, a revoked right."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from core.storage import runs
from core.storage import work as works
from core.storage.store import Transaction
from core.storage.work import WorkFacts
from core.work.statuses import sources_of

RESULTS = {"completed": "success", "failed": "failed", "cancelled": "cancelled"}
UNFINISHED_STEP = ("pending", "running", "waiting")


def move(tx: Transaction, work_id: str, status: str, **values: Any) -> bool:
    """Move Work to a status from one that may lead there; return whether it moved."""
    return works.move(tx, work_id, status, was=sources_of(status), **values)


def finish(
    tx: Transaction,
    work: WorkFacts,
    run: runs.RunFacts | None,
    status: str,
    now: datetime,
    *,
    result: str = "",
    code: str | None = None,
    message: str | None = None,
) -> bool:
    """End a Work, its run, its unfinished steps and its open questions; return whether it was still active."""
    ended = move(
        tx,
        work.id,
        status,
        result=result or RESULTS[status],
        ended_at=now,
        error_code=code,
        error_message=message,
    )
    if not ended:
        return False
    if run is not None:
        _finish_run(tx, run, status, now, code=code, message=message)
    works.drop_occurrences(tx, work.id, message or f"{status} before it was dispatched")
    tx.changed(work.workspace_id, "work", work.id)
    tx.changed(work.workspace_id, "occurrence", work.id)
    if status == "failed":
        _notify_failure(tx, work, message or "", now)
    return True


def _finish_run(
    tx: Transaction, run: runs.RunFacts, status: str, now: datetime, *, code: str | None, message: str | None
) -> None:
    values = {"status": status, "ended_at": now, "error_code": code, "error_message": message, "resume_at": None}
    runs.set_run(tx, run.id, was=(*runs.OPEN, *runs.PARKED), **values)
    end = "failed" if status == "failed" else "cancelled"
    runs.end_steps(tx, run.id, was=UNFINISHED_STEP, **{**values, "status": end})
    for action in works.open_actions(tx, [run.id]):
        if works.end_action(tx, action.id, "cancelled", now, still_due=False):
            tx.changed(action.workspace_id, "action", action.id)


def _notify_failure(tx: Transaction, work: WorkFacts, message: str, now: datetime) -> None:
    title = f"{work.title or work.trigger_name or work.flow_name} failed: {message}"[:300]
    row = {"workspace_id": work.workspace_id, "at": now, "kind": "work_failed", "severity": "error", "title": title}
    works.notify(tx, {**row, "work_id": work.id, "trigger_uid": work.trigger_uid or None})
    tx.changed(work.workspace_id, "notification", work.id)
