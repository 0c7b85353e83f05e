"""Statements behind the history: occurrences and Work, newest first, paged by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

from sqlalchemy import ColumnElement, Select, Text, and_, cast, func, literal, literal_column, or_, select, tuple_

from core.storage import counting
from core.storage.columns import Instant, table_of, without_index
from core.storage.store import Transaction
from core.storage.tables import FlowStep, FlowVersion, Occurrence, Principal, Resource, Revision, TriggerState, Work
from core.views import ACTIVE_WORK, Coalesced, OccurrenceQuery, OccurrenceRow, Outcome, WorkQuery, WorkRow

_occurrence = table_of(Occurrence).c
_work = table_of(Work).c
_principal = table_of(Principal).c
_revision = table_of(Revision).c
_resource = table_of(Resource).c
_state = table_of(TriggerState).c
_step = table_of(FlowStep).c
_version = table_of(FlowVersion).c

Key = tuple[datetime, str]
IDS_AT_ONCE = 500
FEW_TRIGGERS = 50
OUTCOMES: tuple[str, ...] = get_args(Outcome)

_OCCURRENCE_COLUMNS = (
    "id",
    "trigger_uid",
    "trigger_name",
    "namespace",
    "generation",
    "kind",
    "at",
    "nominal_at",
    "due_at",
    "observed_at",
    "admitted_at",
    "dispatched_at",
    "outcome",
    "reason",
    "message",
    "work_id",
)


def list_occurrences(
    tx: Transaction,
    workspace_id: str,
    query: OccurrenceQuery,
    *,
    offset: int = 0,
    after: Key | None = None,
    limit: int | None = 100,
) -> list[OccurrenceRow]:
    """Return one stretch of the history; `after` is the key of the last row seen, `offset` counts from there.

    The keys of a stretch come from an index alone; only its own rows are read and joined.
    """
    keys = select(_occurrence.at, _occurrence.id)
    if after is not None and query.until is not None:
        after = min(after, (query.until, ""))  # one upper end: from the later one, all between would be passed over
    if after is not None:
        keys = keys.where(tuple_(_occurrence.at, _occurrence.id) < tuple_(*_bind_key(after)))
    keys = keys.order_by(_occurrence.at.desc(), _occurrence.id.desc())
    ids = _stretch(tx, keys, _occurrence_sources(tx, workspace_id, query), offset, limit)
    return [_occurrence_row(row) for row in _rows_of(tx, _occurrence_rows(), _occurrence.id, ids)]


def count_occurrences(tx: Transaction, workspace_id: str, query: OccurrenceQuery, *, again: bool = False) -> int:
    """Return how many rows the query matches: exactly up to `counting.EXACT`, beyond as of at most a minute ago."""
    sources = _occurrence_sources(tx, workspace_id, query)
    return counting.count(tx, Occurrence, sources, (workspace_id, query), again=again)


def find_occurrences(tx: Transaction, workspace_id: str, prefix: str) -> list[OccurrenceRow]:
    """Return at most two occurrences whose id starts with `prefix`, to tell one from several."""
    wanted = and_(_occurrence.workspace_id == workspace_id, *_id_starts(_occurrence.id, prefix))
    return [_occurrence_row(row) for row in tx.all(_occurrence_rows().where(wanted).limit(2))]


def occurrence_covering(tx: Transaction, trigger_uid: str, at: datetime) -> OccurrenceRow | None:
    """Return the row that decided the nominal time `at` of a Trigger: its own row, or the range around it."""
    ranged = and_(
        or_(_occurrence.is_range, _occurrence.reason == "coalesced"),
        _occurrence.first_at <= at,
        _occurrence.last_at >= at,
    )
    statement = (
        _occurrence_rows()
        .where(_occurrence.trigger_uid == trigger_uid, or_(_occurrence.nominal_at == at, ranged))
        .order_by(_occurrence.is_range, _occurrence.at)
        .limit(1)
    )
    row = tx.first(statement)
    return _occurrence_row(row) if row else None


def outcome_counts(tx: Transaction, workspace_id: str, since: datetime) -> dict[tuple[str, str], int]:
    """Return how many nominal times were decided since `since`, by (outcome, reason)."""
    rows = tx.all(
        select(_occurrence.outcome, _occurrence.reason, func.sum(_occurrence["count"]))
        .where(_occurrence.workspace_id == workspace_id, _occurrence.admitted_at > since)
        .group_by(_occurrence.outcome, _occurrence.reason)
    )
    return {(row[0], row[1]): int(row[2]) for row in rows}


def dispatch_lags_ms(tx: Transaction, workspace_id: str, limit: int) -> list[float]:
    """Return admitted minus due, in ms, of the newest on-time occurrences, newest first."""
    rows = tx.all(
        select(_occurrence.due_at, _occurrence.admitted_at)
        .where(_occurrence.workspace_id == workspace_id)
        .where(_occurrence.reason == "on_time", _occurrence.outcome == "submitted")
        .order_by(_occurrence.at.desc(), _occurrence.id.desc())
        .limit(limit)
    )
    return [(row[1] - row[0]).total_seconds() * 1000.0 for row in rows]


def definition_at(tx: Transaction, uid: str, generation: int) -> dict[str, Any]:
    """Return the definition of one generation."""
    row = tx.first(select(_revision.definition).where(_revision.uid == uid, _revision.generation == generation))
    return dict(row[0]) if row else {}


def trigger_annotations(tx: Transaction, uid: str) -> Mapping[str, str]:
    """Return a resource's annotations, also of a deleted one."""
    row = tx.first(select(_resource.annotations).where(_resource.uid == uid))
    return (row[0] or {}) if row else {}


def slots_of(
    tx: Transaction, uids: list[str], start: datetime, end: datetime
) -> list[tuple[str, datetime, str, str, int, datetime | None, str | None]]:
    """Return what was decided in [start, end): Trigger, at, outcome, reason, count, first, Work status."""
    rows = tx.all(
        select(
            _occurrence.trigger_uid,
            _occurrence.at,
            _occurrence.outcome,
            _occurrence.reason,
            _occurrence["count"],
            _occurrence.first_at,
            _work.status,
        )
        .select_from(table_of(Occurrence).outerjoin(table_of(Work), _work.id == _occurrence.work_id))
        .where(_occurrence.trigger_uid.in_(uids), _occurrence.at >= start, _occurrence.at < end)
    )
    return [(row[0], row[1], row[2], row[3], row[4], row[5], row[6]) for row in rows]


def list_works(
    tx: Transaction,
    workspace_id: str,
    query: WorkQuery,
    *,
    offset: int = 0,
    after: Key | None = None,
    limit: int | None = 100,
) -> list[WorkRow]:
    """Return one stretch of Work, newest first."""
    keys = select(_work.created_at, _work.id)
    if after is not None:
        keys = keys.where(tuple_(_work.created_at, _work.id) < tuple_(*_bind_key(after)))
    keys = keys.order_by(_work.created_at.desc(), _work.id.desc())
    ids = _stretch(tx, keys, _work_sources(tx, workspace_id, query), offset, limit)
    return _works(_rows_of(tx, _work_rows(), _work.id, ids), tx)


def count_works(tx: Transaction, workspace_id: str, query: WorkQuery, *, again: bool = False) -> int:
    """Return how many rows the query matches: exactly up to `counting.EXACT`, beyond as of at most a minute ago."""
    if query.active is False and query.status is None:  # few are active, and no index knows those that are not
        every, active = replace(query, active=None), replace(query, active=True)
        return max(0, count_works(tx, workspace_id, every, again=again) - count_works(tx, workspace_id, active))
    return counting.count(tx, Work, _work_sources(tx, workspace_id, query), (workspace_id, query), again=again)


def find_works(tx: Transaction, workspace_id: str, prefix: str) -> list[WorkRow]:
    """Return at most two Works whose id starts with `prefix`."""
    wanted = and_(_work.workspace_id == workspace_id, *_id_starts(_work.id, prefix))
    return _works(tx.all(_work_rows().where(wanted).limit(2)), tx)


def active_works_of(tx: Transaction, trigger_uid: str) -> list[WorkRow]:
    """Return a Trigger's active Work, newest first."""
    wanted = and_(_work.trigger_uid == trigger_uid, _work.status.in_(ACTIVE_WORK), _work.ended_at.is_(None))
    return _works(tx.all(_work_rows().where(wanted).order_by(_work.created_at.desc())), tx)


def failed_since(tx: Transaction, trigger_uid: str, since: datetime) -> int:
    """Return how many Works of a Trigger that were made since `since` failed."""
    wanted = and_(_work.trigger_uid == trigger_uid, _work.status == "failed", _work.created_at >= since)
    return int(tx.scalar(select(func.count()).select_from(Work).where(wanted)))


def ended_since(tx: Transaction, workspace_id: str, status: str, since: datetime) -> int:
    """Return how many Works of a workspace ended with `status` since `since`."""
    wanted = and_(_work.workspace_id == workspace_id, _work.status == status, _work.ended_at > since)
    return int(tx.scalar(select(func.count()).select_from(Work).where(wanted)))


def work_counts(tx: Transaction, workspace_id: str) -> dict[str, int]:
    """Return how many active Works there are by status."""
    rows = tx.all(
        select(_work.status, func.count())
        .where(_work.workspace_id == workspace_id, _work.status.in_(ACTIVE_WORK))
        .group_by(_work.status)
    )
    return {row[0]: row[1] for row in rows}


def work_extra(tx: Transaction, work_id: str) -> tuple[dict[str, Any], str, datetime | None, str, int]:
    """Return a Work's input, principal, when its cancel was asked, its Flow's uid and version."""
    statement = select(_work.input, _principal.name, _work.cancel_requested_at, _work.flow_uid, _work.flow_version)
    joined = statement.select_from(table_of(Work).outerjoin(table_of(Principal), _principal.id == _work.principal_id))
    row = tx.first(joined.where(_work.id == work_id))
    if row is None:
        raise LookupError(work_id)
    return row[0] or {}, row[1] or "", row[2], row[3], row[4]


def version_definition(tx: Transaction, flow_uid: str, version: int) -> dict[str, Any]:
    """Return one published version's definition."""
    row = tx.first(select(_version.definition).where(_version.flow_uid == flow_uid, _version.version == version))
    return dict(row[0]) if row else {}


def _bind_key(key: Key) -> tuple[Any, Any]:
    return literal(key[0], Instant), literal(key[1])


def _id_starts(column: Any, prefix: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return column >= prefix, column < prefix + "\U0010ffff"


def _occurrence_rows() -> Any:
    table = table_of(Occurrence)
    works = table_of(Work)
    people = table_of(Principal)
    states = table_of(TriggerState)
    joined = (
        table.outerjoin(works, _work.id == _occurrence.work_id)
        .outerjoin(people, _principal.id == _occurrence.principal_id)
        .outerjoin(states, _state.trigger_uid == _occurrence.trigger_uid)
    )
    return select(
        *(_occurrence[name] for name in _OCCURRENCE_COLUMNS),
        _work.status,
        _occurrence.is_range,
        _occurrence["count"],
        _occurrence.first_at,
        _occurrence.last_at,
        _principal.name,
        _state.time_zone,
    ).select_from(joined)


def _occurrence_row(row: Any) -> OccurrenceRow:
    (*head, status, is_range, count, first_at, last_at, principal, time_zone) = row
    fields: dict[str, Any] = dict(zip(_OCCURRENCE_COLUMNS, head, strict=True))
    reason = fields["reason"]
    coalesced = Coalesced(count, first_at, last_at) if reason == "coalesced" and first_at and last_at else None
    return OccurrenceRow(
        **fields,
        work_status=status,
        coalesced=coalesced,
        is_range=is_range,
        count=count,
        first_at=first_at,
        last_at=last_at,
        principal=principal or "",
        time_zone=time_zone,
    )


def _occurrence_sources(tx: Transaction, workspace_id: str, query: OccurrenceQuery) -> list[ColumnElement[bool]]:
    """Return the conditions of a query: one, or one for each Trigger that it comes down to."""
    triggers = _triggers(tx, workspace_id, query, query.namespace)
    wanted = _decided_as(query)
    if query.since is not None:
        wanted.append(_occurrence.at >= query.since)
    if query.until is not None:
        wanted.append(_occurrence.at < query.until)
    if isinstance(triggers, list):  # of this workspace and namespace, which need not be compared again
        return [and_(_occurrence.trigger_uid == uid, *wanted) for uid in triggers]
    if triggers is not None and query.trigger_like:
        wanted.append(_occurrence.trigger_uid.in_(triggers))
    if query.namespace is not None:
        wanted.append(_occurrence.namespace == query.namespace)
    if query.kind not in {None, "scheduled"}:  # an index of its own has these
        return [and_(without_index(_occurrence.workspace_id) == workspace_id, *wanted)]
    wanted.append(_occurrence.workspace_id == workspace_id)
    if query.reason is None or query.outcome is not None:
        return [and_(*wanted)]
    return [and_(_occurrence.outcome == outcome, *wanted) for outcome in OUTCOMES]  # the index has them one by one


def _decided_as(query: OccurrenceQuery) -> list[ColumnElement[bool]]:
    """Return what is asked of outcome, reason and kind."""
    exact = ((_occurrence.outcome, query.outcome), (_occurrence.reason, query.reason), (_occurrence.kind, query.kind))
    wanted: list[ColumnElement[bool]] = [column == value for column, value in exact if value is not None]
    if query.kind not in {None, "scheduled"}:
        wanted.append(_occurrence.kind != literal_column("'scheduled'"))  # as the index of what is seldom says
    return wanted


def _triggers(
    tx: Transaction, workspace_id: str, query: OccurrenceQuery | WorkQuery, namespace: str | None = None
) -> list[str] | Select[Any] | None:
    """Return the uids of the Triggers asked for, which an index of the history serves; None where none are.

    Each that has or had the name counts. Where words or a namespace fit many, return their query: the history is then
    walked by time.
    """
    asked = [_resource.name == query.trigger] if query.trigger is not None else []
    asked += [_resource.name.icontains(word, autoescape=True) for word in (query.trigger_like or "").split()]
    asked += [_resource.namespace == namespace] if namespace is not None else []
    if not asked:
        return None
    place = (_resource.workspace_id == workspace_id, _resource.kind == "Trigger")
    chosen = select(_resource.uid).where(*place, *asked).order_by(_resource.uid)
    if query.trigger is not None:
        return [row[0] for row in tx.all(chosen)]
    few = [row[0] for row in tx.all(chosen.limit(FEW_TRIGGERS + 1))]
    return few if len(few) <= FEW_TRIGGERS else chosen


def _stretch(
    tx: Transaction, keys: Select[Any], sources: Sequence[ColumnElement[bool]], offset: int, limit: int | None
) -> list[str]:
    """Return the ids of one stretch of the union of the sources, newest first."""
    if len(sources) == 1:
        statement = keys.where(sources[0]).offset(offset)
        return [row[1] for row in tx.all(statement if limit is None else statement.limit(limit))]
    end = None if limit is None else offset + limit
    found: list[Any] = []
    for source in sources:
        found += tx.all(keys.where(source) if end is None else keys.where(source).limit(end))
    found.sort(key=lambda row: (row[0], row[1]), reverse=True)
    return [row[1] for row in found[offset:end]]


def _rows_of(tx: Transaction, statement: Select[Any], column: ColumnElement[str], ids: Sequence[str]) -> list[Any]:
    """Return the rows with these ids, in their order."""
    found: dict[str, Any] = {}
    for start in range(0, len(ids), IDS_AT_ONCE):
        chosen = statement.where(column.in_(ids[start : start + IDS_AT_ONCE]))
        found |= {row[0]: row for row in tx.all(chosen)}
    return [found[id_] for id_ in ids]


def _work_rows() -> Any:
    names = "id occurrence_id trigger_name namespace title flow_namespace flow_name flow_version status result"
    more = "error_code error_message attempts created_at started_at ended_at is_test"
    run_id = _work.id + "." + cast(_work.attempts, Text)
    done = (
        select(func.count())
        .where(_step.run_id == run_id, _step.status.in_(("completed", "skipped")))
        .correlate(table_of(Work))
        .scalar_subquery()
    )
    table = table_of(Work)
    joined = table.outerjoin(table_of(Occurrence), _occurrence.id == _work.occurrence_id)
    columns = [_work[name] for name in (names + " " + more).split()]
    return select(*columns, _occurrence.nominal_at, done, _work.flow_uid).select_from(joined)


def _works(rows: Sequence[Any], tx: Transaction) -> list[WorkRow]:
    totals = {key: len(version_definition(tx, *key).get("steps", ())) for key in {(row[-1], row[7]) for row in rows}}
    return [_work_row(row, totals[row[-1], row[7]]) for row in rows]


def _work_row(row: Any, steps_total: int) -> WorkRow:
    (id_, occurrence_id, trigger, namespace, title, flow_namespace, flow_name, version, status, result) = row[:10]
    (code, message, attempts, created_at, started_at, ended_at, is_test, nominal_at, done, _uid) = row[10:]
    return WorkRow(
        id=id_,
        occurrence_id=occurrence_id,
        trigger_name=trigger,
        namespace=namespace,
        title=title or trigger,
        flow=flow_name if flow_namespace == namespace else f"{flow_namespace}/{flow_name}",
        flow_version=version,
        status=status,
        result=result,
        error=message or code,
        attempts=attempts,
        nominal_at=nominal_at,
        created_at=created_at,
        started_at=started_at,
        ended_at=ended_at,
        steps_done=done or 0,
        steps_total=steps_total,
        is_test=is_test,
    )


def _work_sources(tx: Transaction, workspace_id: str, query: WorkQuery) -> list[ColumnElement[bool]]:
    """Return the conditions of a query: one, or one for each Trigger that it comes down to, and one for test fires."""
    if query.status is not None and query.active not in {None, query.status in ACTIVE_WORK}:
        return []
    wanted = [] if query.since is None else [_work.created_at >= query.since]
    named = query.trigger is not None or bool(query.trigger_like)
    triggers = _triggers(tx, workspace_id, query, query.namespace)
    if not isinstance(triggers, list):
        wanted += [] if query.namespace is None else [_work.namespace == query.namespace]
        wanted += [_work.trigger_uid.in_(triggers)] if triggers is not None and named else []
        return [and_(*_in_status(query, _work.status), *wanted, *_placed(workspace_id, query))]
    wanted += _in_status(query, without_index(_work.status))
    if query.active or query.status in ACTIVE_WORK:
        wanted.append(_work.ended_at.is_(None))  # as the index of active Work says
    found = [and_(_work.trigger_uid == uid, *wanted) for uid in triggers]  # of this workspace and namespace, as above
    if named:
        return found
    place = (_work.workspace_id == workspace_id, _work.namespace == query.namespace)
    return [*found, and_(_work.trigger_uid == "", *place, *wanted)]


def _placed(workspace_id: str, query: WorkQuery) -> list[ColumnElement[bool]]:
    """Return what keeps to a workspace; few rows are active, so that these are not looked for in the whole history."""
    by_status = query.active is True or query.status is not None
    return [(without_index(_work.workspace_id) if by_status else _work.workspace_id) == workspace_id]


def _in_status(query: WorkQuery, status: ColumnElement[str]) -> list[ColumnElement[bool]]:
    if query.status is not None:
        return [status == query.status]
    if query.active is None:
        return []
    return [status.in_(ACTIVE_WORK) if query.active else status.not_in(ACTIVE_WORK)]
