"""Statements behind the list of Triggers and the detail of one."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, or_, select

from core.storage.columns import table_of
from core.storage.records import TriggerRecord
from core.storage.store import Transaction
from core.storage.tables import FlowVersion, Occurrence, PauseWindow, Principal, Resource, TriggerState, Work
from core.views import ACTIVE_WORK, PauseView, TriggerQuery

_resource = table_of(Resource).c
_state = table_of(TriggerState).c
_occurrence = table_of(Occurrence).c
_work = table_of(Work).c
_pause = table_of(PauseWindow).c
_principal = table_of(Principal).c
_version = table_of(FlowVersion).c

RECENT = 20


def list_triggers(
    tx: Transaction, workspace_id: str, query: TriggerQuery, *, offset: int, limit: int | None
) -> tuple[list[TriggerRecord], int]:
    """Return one stretch of Triggers in the query's order, and how many match in all."""
    statement = trigger_rows(workspace_id, query).offset(offset)
    rows = tx.all(statement if limit is None else statement.limit(limit))
    return [TriggerRecord(*row) for row in rows], int(tx.scalar(trigger_count(workspace_id, query)))


def trigger_rows(workspace_id: str, query: TriggerQuery) -> Any:
    """Return the query of all matching Triggers in order, with the columns of `TriggerRecord`."""
    return _records().where(_conditions(workspace_id, query)).order_by(*_order(query))


def trigger_count(workspace_id: str, query: TriggerQuery) -> Any:
    """Return the query of how many Triggers match."""
    return select(func.count()).select_from(_joined()).where(_conditions(workspace_id, query))


def trigger_record(tx: Transaction, uid: str) -> TriggerRecord | None:
    """Return one Trigger's record."""
    row = tx.first(_records().where(_resource.uid == uid))
    return TriggerRecord(*row) if row else None


def recent_letters(tx: Transaction, uids: Sequence[str]) -> dict[str, str]:
    """Return each Trigger's last 20 outcomes as letters, oldest first; see `core.views.TriggerRow`."""
    rows = tx.all(newest_letters().where(_state.trigger_uid.in_(uids)))
    return {uid: (text or "")[::-1] for uid, text in rows}


def letters_of(uid: str) -> Any:
    """Return the query of one Trigger's uid and last 20 outcomes as letters, newest first."""
    return newest_letters().where(_state.trigger_uid == uid)


def newest_letters() -> Any:
    """Return the query of every Trigger's uid and last 20 outcomes as letters, newest first."""
    newest = (
        select(_letter().label("letter"))
        .select_from(table_of(Occurrence).outerjoin(table_of(Work), _work.id == _occurrence.work_id))
        .where(_occurrence.trigger_uid == _state.trigger_uid)
        .order_by(_occurrence.at.desc(), _occurrence.id.desc())
        .limit(RECENT)
        .correlate(table_of(TriggerState))
        .subquery()
    )
    letters = select(func.aggregate_strings(newest.c.letter, "")).scalar_subquery()
    return select(_state.trigger_uid, letters)


def covering_pause(tx: Transaction, uid: str, now: datetime) -> PauseView | None:
    """Return the pause window that covers `now`, if one does."""
    row = tx.first(
        select(_pause.id, _pause.from_at, _pause.until_at, _pause.note, _principal.name)
        .join_from(PauseWindow, Principal, _pause.principal_id == _principal.id)
        .where(_pause.trigger_uid == uid, _pause.from_at <= now, or_(_pause.until_at.is_(None), _pause.until_at > now))
        .order_by(_pause.from_at.desc())
    )
    return PauseView(*row) if row else None


def pause_windows(tx: Transaction, uids: Sequence[str], start: datetime, end: datetime) -> list[tuple[str, PauseView]]:
    """Return the pause windows of these Triggers that touch [start, end), with their Trigger."""
    rows = tx.all(
        select(_pause.trigger_uid, _pause.id, _pause.from_at, _pause.until_at, _pause.note, _pause.principal_id).where(
            _pause.trigger_uid.in_(uids),
            _pause.from_at < end,
            or_(_pause.until_at.is_(None), _pause.until_at > start),
        )
    )
    return [(row[0], PauseView(*row[1:])) for row in rows]


def active_versions(tx: Transaction, workspace_id: str) -> dict[tuple[str, str], tuple[str, int | None, int | None]]:
    """Return each live Flow's uid, active and newest version by (namespace, name)."""
    active = func.max(case((_version.active, _version.version)))
    rows = tx.all(
        select(_resource.namespace, _resource.name, _resource.uid, active, func.max(_version.version))
        .select_from(table_of(Resource).outerjoin(table_of(FlowVersion), _version.flow_uid == _resource.uid))
        .where(_resource.workspace_id == workspace_id, _resource.kind == "Flow", _resource.deleted_at.is_(None))
        .group_by(_resource.uid, _resource.namespace, _resource.name)
    )
    return {(row[0], row[1]): (row[2], row[3], row[4]) for row in rows}


def flow_versions(tx: Transaction, flow_uid: str) -> list[tuple[int, datetime, bool, dict[str, Any]]]:
    """Return a Flow's published versions, newest first: number, when, active, definition."""
    columns = (_version.version, _version.published_at, _version.active, _version.definition)
    rows = tx.all(select(*columns).where(_version.flow_uid == flow_uid).order_by(_version.version.desc()))
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def flow_users(tx: Transaction, workspace_id: str) -> dict[tuple[str, str], int]:
    """Return how many live Triggers point at each Flow, by (namespace, name)."""
    rows = tx.all(
        select(_state.flow_namespace, _state.flow_name, func.count())
        .where(_state.workspace_id == workspace_id)
        .group_by(_state.flow_namespace, _state.flow_name)
    )
    return {(row[0], row[1]): row[2] for row in rows}


def phase_counts(tx: Transaction, workspace_id: str) -> dict[str, int]:
    """Return how many Triggers are in each phase."""
    rows = tx.all(select(_state.phase, func.count()).where(_state.workspace_id == workspace_id).group_by(_state.phase))
    return {phase: count for phase, count in rows}  # noqa: C416 - a Row is no tuple for dict()


def overdue(tx: Transaction, workspace_id: str, before: datetime, limit: int) -> list[str]:
    """Return names of enabled Triggers whose due time lies before `before` and is still undecided."""
    rows = tx.all(
        select(_state.name)
        .where(_state.workspace_id == workspace_id, _state.enabled, _state.next_due_at < before)
        .order_by(_state.next_due_at)
        .limit(limit)
    )
    return [row[0] for row in rows]


def next_due(tx: Transaction, workspace_id: str) -> datetime | None:
    """Return the nearest due time of all Triggers."""
    at: datetime | None = tx.scalar(
        select(_state.next_due_at)
        .where(_state.workspace_id == workspace_id, _state.enabled, _state.next_due_at.is_not(None))
        .order_by(_state.next_due_at)
        .limit(1)
    )
    return at


def _joined() -> Any:
    return table_of(Resource).join(table_of(TriggerState), _state.trigger_uid == _resource.uid)


def _records() -> Any:
    active = (
        select(func.count())
        .where(_work.trigger_uid == _resource.uid, _work.status.in_(ACTIVE_WORK), _work.ended_at.is_(None))
        .correlate(table_of(Resource))
        .scalar_subquery()
    )
    scope = select(_principal.name).where(_principal.id == _resource.principal_id).scalar_subquery()
    names = (
        "enabled phase words time_zone mark_at next_nominal_at next_due_at last_fired_at last_outcome last_error_code"
        " last_error_message flow_namespace flow_name conditions"
    )
    return select(
        _resource.uid,
        _resource.namespace,
        _resource.name,
        _resource.tags,
        _resource.definition,
        _resource.generation,
        *(_state[name] for name in names.split()),
        scope,
        active,
    ).select_from(_joined())


def _conditions(workspace_id: str, query: TriggerQuery) -> ColumnElement[bool]:
    exact = (
        (_state.phase, query.phase),
        (_state.enabled, query.enabled),
        (_state.namespace, query.namespace),
    )
    wanted: list[ColumnElement[bool]] = [_state.workspace_id == workspace_id, _resource.deleted_at.is_(None)]
    wanted += [column == value for column, value in exact if value is not None]
    if query.flow:
        wanted.append(func.instr(_state.flow_name, query.flow) > 0)
    if query.tag:
        wanted.append(func.instr(_resource.tags, f'"{query.tag}"') > 0)
    columns = (_state.name, _state.namespace, _state.words, _state.flow_name, _resource.tags)
    for word in query.text.lower().split():
        wanted.append(or_(*(func.instr(func.lower(column), word) > 0 for column in columns)))
    return and_(*wanted)


def _order(query: TriggerQuery) -> list[Any]:
    column = {
        "next": _state.next_due_at,
        "last": _state.last_fired_at,
        "phase": _state.phase,
        "name": _state.name,
    }[query.sort]
    direction = operator.methodcaller("desc" if query.descending else "asc")
    nulls = [] if query.sort in {"name", "phase"} else [column.is_(None)]
    return [*nulls, direction(column), direction(_state.name), _state.namespace]


def _letter() -> ColumnElement[str]:
    return case(
        (_occurrence.outcome == "failed", "x"),
        (_occurrence.reason == "missed", "m"),
        (_occurrence.outcome.in_(("skipped", "dropped")), "k"),
        (_work.result == "no_work", "n"),
        (_work.status == "completed", "s"),
        (_work.status == "failed", "f"),
        (_work.status == "cancelled", "c"),
        else_="r",
    )
