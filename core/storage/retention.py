"""Statements of retention: which ended rows are old enough to go, and how they go together.

Candidates are read in the order of an index, a bounded number at a time after a key, so that rows that have to stay
are passed over once and not again with each batch. A decision that goes raises `decided_from` of its Trigger: from
there on, and no earlier, the kept history is complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, exists, func, literal, or_, select, tuple_, update

from core.storage.columns import Instant, table_of
from core.storage.store import Transaction
from core.storage.tables import (
    AuditEvent,
    Change,
    FlowRun,
    FlowStep,
    LogLine,
    Notification,
    Occurrence,
    PendingAction,
    TriggerState,
    Work,
    Workspace,
)
from core.views import ACTIVE_WORK

_occurrence = table_of(Occurrence).c
_work = table_of(Work).c
_run = table_of(FlowRun).c
_step = table_of(FlowStep).c
_action = table_of(PendingAction).c
_log = table_of(LogLine).c
_state = table_of(TriggerState).c
_workspace = table_of(Workspace).c
_newer = table_of(Occurrence).alias("newer")

Key = tuple[datetime, str]
AGED = {"notification": table_of(Notification), "audit_event": table_of(AuditEvent)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that is old enough; `needed` says that it stays all the same, as a Trigger's newest decision does."""

    id: str
    at: datetime
    needed: bool

    @property
    def key(self) -> Key:
        """Return where the next candidates begin."""
        return (self.at, self.id)


def workspaces(tx: Transaction) -> list[str]:
    """Return the id of every workspace."""
    return [row[0] for row in tx.all(select(_workspace.id).order_by(_workspace.id))]


def nth_newest_work(tx: Transaction, status: str, number: int) -> datetime | None:
    """Return when the `number`-th newest Work of a status was made, None where there are not so many."""
    query = select(_work.created_at).where(_work.status == status)
    found: datetime | None = tx.scalar(query.order_by(_work.created_at.desc()).offset(number - 1).limit(1))
    return found


def nth_newest_occurrence(tx: Transaction, workspace_id: str, outcome: str, number: int) -> datetime | None:
    """Return the time of the `number`-th newest occurrence of an outcome, None where there are not so many."""
    query = select(_occurrence.at).where(_occurrence.workspace_id == workspace_id, _occurrence.outcome == outcome)
    found: datetime | None = tx.scalar(query.order_by(_occurrence.at.desc()).offset(number - 1).limit(1))
    return found


def ended_work(tx: Transaction, status: str, before: datetime, after: Key | None, limit: int) -> list[Candidate]:
    """Return Work of an ended status that was made before an instant, oldest first; what ended later is needed."""
    decided = table_of(Occurrence)
    query = (
        select(_work.id, _work.created_at, or_(_is_newest(decided.c), _work.ended_at >= before))
        .select_from(table_of(Work).outerjoin(decided, decided.c.id == _work.occurrence_id))
        .where(_work.status == status, _work.created_at < before, *_beyond(_work.created_at, _work.id, after))
        .order_by(_work.created_at, _work.id)
    )
    return [Candidate(row[0], row[1], bool(row[2])) for row in tx.all(query.limit(limit))]


def old_occurrences(
    tx: Transaction, workspace_id: str, outcome: str, before: datetime, *, after: Key | None, limit: int
) -> list[Candidate]:
    """Return occurrences of an outcome before an instant, oldest first."""
    query = (
        select(_occurrence.id, _occurrence.at, _is_newest(_occurrence))
        .where(_occurrence.workspace_id == workspace_id, _occurrence.outcome == outcome, _occurrence.at < before)
        .where(*_beyond(_occurrence.at, _occurrence.id, after))
        .order_by(_occurrence.at, _occurrence.id)
    )
    return [Candidate(row[0], row[1], bool(row[2])) for row in tx.all(query.limit(limit))]


def delete_logs(tx: Transaction, work_ids: Sequence[str], limit: int) -> int:
    """Delete up to `limit` log lines of these Works; return how many went."""
    chosen = select(_log.id).where(_log.work_id.in_(work_ids)).limit(limit)
    return _gone(tx, LogLine, _log.id.in_(chosen))


def delete_old_logs(tx: Transaction, before: datetime, after: int, limit: int) -> tuple[int, int, bool]:
    """Delete lines of ended Work among the `limit` oldest above the id `after`, up to the first of `before` or later.

    Return how many went, the id of the last one looked at, and whether there may be more.
    """
    works = table_of(LogLine).outerjoin(table_of(Work), _work.id == _log.work_id)
    query = select(_log.id, _log.at, _work.status).select_from(works).where(_log.id > after)
    found = [
        (id_, status) for id_, at, status in map(tuple, tx.all(query.order_by(_log.id).limit(limit))) if at < before
    ]
    gone = [id_ for id_, status in found if status not in ACTIVE_WORK]
    count = _gone(tx, LogLine, _log.id.in_(gone)) if gone else 0
    return count, found[-1][0] if found else after, len(found) == limit


def delete_work(tx: Transaction, work_ids: Sequence[str]) -> dict[str, int]:
    """Delete Works with their runs, steps, questions and occurrences; return how many rows went, by table.

    Work of an occurrence that is a Trigger's newest decision must not be among them; log lines went before.
    """
    runs = select(_run.id).where(_run.work_id.in_(work_ids))
    gone = {
        "flow_step": _gone(tx, FlowStep, _step.run_id.in_(runs)),
        "flow_run": _gone(tx, FlowRun, _run.work_id.in_(work_ids)),
        "pending_action": _gone(tx, PendingAction, _action.work_id.in_(work_ids)),
    }
    decided = [row[0] for row in tx.all(select(_work.occurrence_id).where(_work.id.in_(work_ids)))]
    gone["work"] = _gone(tx, Work, _work.id.in_(work_ids))
    return gone | delete_occurrences(tx, decided)


def delete_occurrences(tx: Transaction, ids: Sequence[str]) -> dict[str, int]:
    """Delete decisions, and say in their Triggers' states that history before them is no longer complete."""
    newest = (
        select(_occurrence.trigger_uid, func.max(_occurrence.at))
        .where(_occurrence.id.in_(ids), _occurrence.kind == "scheduled")
        .group_by(_occurrence.trigger_uid)
    )
    for uid, at in map(tuple, tx.all(newest)):
        later = or_(_state.decided_from.is_(None), _state.decided_from < at)
        tx.run(update(table_of(TriggerState)).where(_state.trigger_uid == uid, later).values(decided_from=at))
    return {"occurrence": _gone(tx, Occurrence, _occurrence.id.in_(ids))}


def delete_aged(tx: Transaction, table: str, before: datetime, keep: int, limit: int) -> int:
    """Delete up to `limit` rows of `notification` or `audit_event`: too old, or beyond the newest `keep`."""
    columns = AGED[table].c
    newest = tx.scalar(select(func.max(columns.id))) or 0
    oldest = tx.all(select(columns.id, columns.at).order_by(columns.id).limit(limit))
    chosen = [id_ for id_, at in map(tuple, oldest) if id_ <= newest - keep or at < before]
    return int(tx.run(delete(AGED[table]).where(columns.id.in_(chosen))).rowcount) if chosen else 0


def delete_changes(tx: Transaction, keep: int, limit: int) -> int:
    """Delete up to `limit` of the oldest change rows, never the newest `keep` (at least one)."""
    seq = table_of(Change).c.seq
    oldest, newest = tx.all(select(func.min(seq), func.max(seq)))[0]
    if newest is None:
        return 0
    cut = min(newest - max(1, keep), oldest + limit - 1)
    return _gone(tx, Change, seq <= cut) if cut >= oldest else 0


def _is_newest(decided: Any) -> ColumnElement[bool]:
    """Say of a joined occurrence that its Trigger has no newer one."""
    newer = exists().where(_newer.c.trigger_uid == decided.trigger_uid, _newer.c.at > decided.at)
    return and_(decided.id.is_not(None), decided.trigger_uid != "", ~newer)


def _beyond(at: Any, id_: Any, after: Key | None) -> Iterable[ColumnElement[bool]]:
    return [] if after is None else [tuple_(at, id_) > tuple_(literal(after[0], Instant), literal(after[1]))]


def _gone(tx: Transaction, model: Any, where: ColumnElement[bool]) -> int:
    return int(tx.run(delete(table_of(model)).where(where)).rowcount)
