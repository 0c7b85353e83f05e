"""Statements of admission: what is due, what is active, and the bulk writes of one transaction.

Everything here is a Core statement over many rows at once; values in and out are frozen. Definitions are read as text
and parsed one by one, so that a malformed one spoils its own Trigger only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Integer, Text, and_, bindparam, delete, func, insert, or_, select, type_coerce, update
from sqlalchemy.dialects.sqlite import insert as upsert

from core.storage.bulk import Bulk
from core.storage.columns import Instant, table_of, without_index
from core.storage.prepared import Query, as_list, given, listed
from core.storage.store import Transaction
from core.storage.tables import (
    Change,
    Fact,
    Notification,
    Occurrence,
    PauseWindow,
    PendingAction,
    Resource,
    Revision,
    TriggerState,
    Work,
)
from core.views import ACTIVE_WORK

_state = table_of(TriggerState).c
_resource = table_of(Resource).c
_pause = table_of(PauseWindow).c
_occurrence = table_of(Occurrence).c
_work = table_of(Work).c
_action = table_of(PendingAction).c


@dataclass(frozen=True, slots=True)
class StateRow:
    """One Trigger's state as stored, field for field (`core.storage.tables.TriggerState`)."""

    trigger_uid: str
    workspace_id: str
    namespace: str
    name: str
    enabled: bool
    phase: str
    observed_generation: int
    mark_at: datetime | None = None
    mark_wall: str | None = None
    mark_moves: int = 0
    decided_from: datetime | None = None
    next_nominal_at: datetime | None = None
    next_due_at: datetime | None = None
    fingerprint: str | None = None
    retry_at: datetime | None = None
    failures: int = 0
    words: str = ""
    time_zone: str | None = None
    flow_namespace: str = "default"
    flow_name: str = ""
    last_scheduled_at: datetime | None = None
    last_fired_at: datetime | None = None
    last_outcome: str | None = None
    last_error_code: str | None = None
    last_error_message: str | None = None
    conditions: list[dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a decision is about: a Trigger in one generation, under the principal that it fires as.

    Generation 0 is a Trigger whose definition is gone.
    """

    state: StateRow
    generation: int
    principal_id: str


@dataclass(frozen=True, slots=True)
class DefinitionRow:
    """A live Trigger's definition as text, with what travels to its occurrences."""

    uid: str
    generation: int
    principal_id: str
    definition: str


@dataclass(frozen=True, slots=True)
class PauseRow:
    """One pause window; `until_at` None is open."""

    id: str
    trigger_uid: str
    from_at: datetime
    until_at: datetime | None
    note: str


@dataclass(frozen=True, slots=True)
class ActiveRow:
    """Work that has not ended; `question` is the title of what it asks, where it asks something."""

    trigger_uid: str
    work_id: str
    status: str
    question: str | None


_EVER = datetime(1970, 1, 1, tzinfo=UTC)
_STATE_NAMES = tuple(field.name for field in fields(StateRow))
_STATE_COLUMNS = [_state[name] for name in _STATE_NAMES]
_WIDTH = len(_STATE_NAMES)
_MUTABLE = _STATE_NAMES[2:]
_OCCURRENCE_NAMES = (
    "id", "workspace_id", "trigger_uid", "trigger_name", "namespace", "generation", "kind", "at", "nominal_at",
    "due_at", "observed_at", "admitted_at", "outcome", "reason", "message", "work_id", "is_range", "count", "first_at",
    "last_at", "principal_id",
)  # fmt: skip
_WORK_NAMES = (
    "id", "occurrence_id", "workspace_id", "trigger_uid", "trigger_name", "namespace", "title", "flow_uid",
    "flow_name", "flow_namespace", "flow_version", "input", "status", "is_test", "attempts", "created_at",
    "principal_id",
)  # fmt: skip


def _inserting(table: Any, names: Iterable[str]) -> Any:
    return {name: bindparam(name, type_=table.c[name].type) for name in names}


def _growing() -> Any:
    """Return the insert of a range that grows where it is there already."""
    table = table_of(Occurrence)
    statement = upsert(table).values(_inserting(table, _OCCURRENCE_NAMES))
    new = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=[_occurrence.id],
        set_={
            "count": _occurrence["count"] + new["count"],
            "last_at": new.last_at,
            "at": new["at"],
            "admitted_at": new.admitted_at,
        },
        where=_occurrence.last_at < new.first_at,
    )


_INSERT_OCCURRENCES = Bulk(insert(table_of(Occurrence)).values(_inserting(table_of(Occurrence), _OCCURRENCE_NAMES)))
_GROW_RANGES = Bulk(_growing())
_INSERT_WORK = Bulk(insert(table_of(Work)).values(_inserting(table_of(Work), _WORK_NAMES)))
_INSERT_CHANGES = Bulk(
    insert(table_of(Change)).values(_inserting(table_of(Change), ("workspace_id", "kind", "key", "at")))
)
_SAVE_STATES = Bulk(
    update(table_of(TriggerState))
    .where(_state.trigger_uid == bindparam("trigger_uid_", type_=_state.trigger_uid.type))
    .values({name: bindparam(f"{name}_", type_=_state[name].type) for name in _MUTABLE}),
    attributes=True,
)

_READY = or_(_state.retry_at.is_(None), _state.retry_at <= given("now", Instant()))
_SUBJECTS = select(
    *_STATE_COLUMNS, func.coalesce(_resource.generation, 0), func.coalesce(_resource.principal_id, "")
).select_from(
    table_of(TriggerState).outerjoin(
        table_of(Resource), and_(_resource.uid == _state.trigger_uid, _resource.deleted_at.is_(None))
    )
)
_IS_DUE = (_state.enabled, _state.next_due_at <= given("now", Instant()), _READY)
_UNPROJECTED = without_index(_state.next_due_at).is_(None)  # many are; few of them are to be looked at again
_IS_RETRIED = (_state.enabled, _state.retry_at <= given("now", Instant()), _UNPROJECTED)
# Two statements each, since one with OR would read every Trigger's row at each look.
_DUE = Query(_SUBJECTS.where(*_IS_DUE).order_by(_state.next_due_at).limit(given("most", Integer())))
_RETRY = Query(_SUBJECTS.where(*_IS_RETRIED).order_by(_state.retry_at).limit(given("most", Integer())))
_KEYS = select(_state.trigger_uid, _state.workspace_id, func.coalesce(_resource.generation, 0)).select_from(
    table_of(TriggerState).outerjoin(
        table_of(Resource), and_(_resource.uid == _state.trigger_uid, _resource.deleted_at.is_(None))
    )
)
_DUE_KEYS = Query(_KEYS.where(*_IS_DUE).order_by(_state.next_due_at).limit(given("most", Integer())))
_RETRY_KEYS = Query(_KEYS.where(*_IS_RETRIED).order_by(_state.retry_at).limit(given("most", Integer())))
_OF_UIDS = Query(_SUBJECTS.where(listed(_state.trigger_uid)))
_DEFINITIONS = Query(
    select(_resource.uid, _resource.generation, _resource.principal_id, type_coerce(_resource.definition, Text)).where(
        listed(_resource.uid), _resource.deleted_at.is_(None)
    )
)
_PAUSES = Query(
    select(_pause.id, _pause.trigger_uid, _pause.from_at, _pause.until_at, _pause.note)
    .where(
        listed(_pause.trigger_uid),
        or_(_pause.until_at.is_(None), _pause.until_at > given("after", Instant())),
    )
    .order_by(_pause.from_at)
)
_QUESTION = (
    select(_action.title)
    .where(_action.work_id == _work.id, _action.status == "pending")
    .order_by(_action.created_at.desc())
    .limit(1)
    .correlate(table_of(Work))
    .scalar_subquery()
)
_ACTIVE = Query(
    select(_work.trigger_uid, _work.id, _work.status, _QUESTION)
    .where(listed(_work.trigger_uid), _work.status.in_(ACTIVE_WORK), _work.ended_at.is_(None))
    .order_by(_work.created_at, _work.id)
)
_KNOWN = Query(select(_occurrence.id).where(listed(_occurrence.id)))
_STATES_AFTER = Query(
    select(*_STATE_COLUMNS)
    .where(_state.trigger_uid > given("uid"))
    .order_by(_state.trigger_uid)
    .limit(given("most", Integer()))
)
_NAMED = Query(
    select(*_STATE_COLUMNS).where(
        _state.workspace_id == given("workspace"), _state.namespace == given("namespace"), _state.name == given("name")
    )
)
_NEXT_DUE = Query(
    select(_state.next_due_at)
    .where(_state.enabled, _state.next_due_at.is_not(None), _READY)
    .order_by(_state.next_due_at)
    .limit(1)
)
_NEXT_RETRY = Query(select(func.min(_state.retry_at)).where(_state.enabled, _state.retry_at > given("now", Instant())))
_NEXT_END = Query(select(func.min(_pause.until_at)).where(_pause.until_at > given("now", Instant())))
_RETRIED_AFTER = Query(select(_state.trigger_uid).where(_state.enabled, _state.retry_at > given("after", Instant())))
_ENDED = select(_pause.trigger_uid).where(
    _pause.until_at <= given("now", Instant()), _pause.until_at > given("after", Instant())
)
_ENDED_PAUSES = Query(select(_state.trigger_uid).where(_state.trigger_uid.in_(_ENDED), _state.phase == "paused"))


# -- reading ---------------------------------------------------------------------------------------------------------


def due_subjects(tx: Transaction, now: datetime, limit: int) -> list[Subject]:
    """Return up to `limit` enabled Triggers that want a decision at `now`: the longest due first, then retries."""
    found = _subjects(tx, _DUE, now=now, most=limit)
    if len(found) < limit:
        found += _subjects(tx, _RETRY, now=now, most=limit - len(found))
    return found


def due_keys(tx: Transaction, now: datetime, limit: int) -> list[tuple[str, str, int]]:
    """Return (uid, workspace, generation) of up to `limit` Triggers that want a decision at `now`."""
    found = _DUE_KEYS.all(tx, now=now, most=limit)
    if len(found) < limit:
        found += _RETRY_KEYS.all(tx, now=now, most=limit - len(found))
    return [(row[0], row[1], row[2]) for row in found]


def subjects_of(tx: Transaction, uids: Iterable[str]) -> dict[str, Subject]:
    """Return these Triggers by uid; unknown ones are absent."""
    return {it.state.trigger_uid: it for it in _subjects(tx, _OF_UIDS, listed=as_list(uids))}


def next_wake(tx: Transaction, now: datetime) -> datetime | None:
    """Return the next instant at which a Trigger wants a decision: a due time, a retry, or the end of a pause."""
    found = (query.scalar(tx, now=now) for query in (_NEXT_DUE, _NEXT_RETRY, _NEXT_END))
    return min((at for at in found if at is not None), default=None)


def retried_after(tx: Transaction, at: datetime) -> list[str]:
    """Return the uids of enabled Triggers that are to be looked at again later than `at`."""
    return [row[0] for row in _RETRIED_AFTER.all(tx, after=at)]


def states_after(tx: Transaction, uid: str, limit: int) -> list[StateRow]:
    """Return up to `limit` Triggers' states in the order of their uid, above `uid`."""
    return [StateRow(*row) for row in _STATES_AFTER.all(tx, uid=uid, most=limit)]


def states_of(tx: Transaction, uids: Iterable[str]) -> dict[str, StateRow]:
    """Return these Triggers' states by uid; unknown ones are absent."""
    return {uid: it.state for uid, it in subjects_of(tx, uids).items()}


def ended_pauses(tx: Transaction, since: datetime | None, now: datetime) -> list[str]:
    """Return the Triggers with a pause that ended in (since, now], whose phase still says paused; None is ever."""
    return [row[0] for row in _ENDED_PAUSES.all(tx, now=now, after=since or _EVER)]


def definitions(tx: Transaction, uids: Iterable[str]) -> dict[str, DefinitionRow]:
    """Return the definitions of these Triggers as text; those that are gone are absent."""
    rows = _DEFINITIONS.all(tx, listed=as_list(uids))
    return {row[0]: DefinitionRow(row[0], row[1], row[2], row[3] or "") for row in rows}


def last_definition(tx: Transaction, uid: str) -> DefinitionRow | None:
    """Return a Trigger's definition as it is or, once deleted, as it was."""
    text = type_coerce(_resource.definition, Text)
    row: Any = tx.first(
        select(_resource.uid, _resource.generation, _resource.principal_id, text).where(_resource.uid == uid)
    )
    return None if row is None else DefinitionRow(row[0], row[1], row[2], row[3] or "")


def generations(tx: Transaction, uids: Iterable[str]) -> dict[str, int]:
    """Return the generation of these live Triggers."""
    return {uid: it.generation for uid, it in subjects_of(tx, uids).items() if it.generation}


def pauses(tx: Transaction, uids: Iterable[str], after: datetime) -> dict[str, list[PauseRow]]:
    """Return these Triggers' pause windows that end later than `after`, in the order of their start."""
    found: dict[str, list[PauseRow]] = {}
    for row in _PAUSES.all(tx, listed=as_list(uids), after=after):
        found.setdefault(row[1], []).append(PauseRow(*row))
    return found


def active_work(tx: Transaction, uids: Iterable[str]) -> dict[str, list[ActiveRow]]:
    """Return the active Work of these Triggers, oldest first, with the question that each waits for."""
    found: dict[str, list[ActiveRow]] = {}
    for row in _ACTIVE.all(tx, listed=as_list(uids)):
        found.setdefault(row[0], []).append(ActiveRow(*row))
    return found


def state_named(tx: Transaction, workspace_id: str, namespace: str, name: str) -> StateRow | None:
    """Return the state of the Trigger with this name, if there is one."""
    row = _NAMED.first(tx, workspace=workspace_id, namespace=namespace, name=name)
    return None if row is None else StateRow(*row)


def projected_states(tx: Transaction, workspace_id: str, limit: int) -> list[StateRow]:
    """Return up to `limit` enabled Triggers of a workspace, the next due first."""
    query = select(*_STATE_COLUMNS).where(_state.workspace_id == workspace_id, _state.enabled)
    return _states(tx, query.order_by(_state.next_due_at.is_(None), _state.next_due_at).limit(limit))


def known_occurrences(tx: Transaction, ids: Iterable[str]) -> set[str]:
    """Return which of these identities are decided already."""
    return {row[0] for row in _KNOWN.all(tx, listed=as_list(ids))}


def _subjects(tx: Transaction, query: Query, **values: Any) -> list[Subject]:
    return [Subject(StateRow(*row[:_WIDTH]), row[_WIDTH], row[_WIDTH + 1]) for row in query.all(tx, **values)]


def _states(tx: Transaction, query: Any) -> list[StateRow]:
    return [StateRow(*row) for row in tx.all(query)]


def _open_at(at: datetime) -> Any:
    return or_(_pause.until_at.is_(None), _pause.until_at > at)


# -- writing ---------------------------------------------------------------------------------------------------------


def insert_occurrences(tx: Transaction, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert decisions."""
    _INSERT_OCCURRENCES.run(tx, rows)


def grow_ranges(tx: Transaction, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert counted ranges; one that is there already grows by what lies above its last time, and never twice."""
    _GROW_RANGES.run(tx, rows)


def insert_work(tx: Transaction, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert Work."""
    _INSERT_WORK.run(tx, rows)


def insert_states(tx: Transaction, rows: Sequence[StateRow]) -> None:
    """Insert the states of new Triggers."""
    tx.run(insert(table_of(TriggerState)), [asdict(row) for row in rows])


def save_states(tx: Transaction, rows: Iterable[StateRow]) -> None:
    """Overwrite these Triggers' states."""
    _SAVE_STATES.run(tx, rows)


def retry_at(tx: Transaction, uids: Iterable[str], at: datetime) -> None:
    """Let those of these Triggers that are to be looked at again later be looked at again at `at`."""
    later = _state.retry_at > at
    statement = update(table_of(TriggerState)).where(listed(_state.trigger_uid), later).values(retry_at=at)
    tx.run(statement, [{"listed": as_list(uids)}])


def set_revision_mark(tx: Transaction, uid: str, generation: int, mark: datetime) -> None:
    """Record the mark at which a generation came into force."""
    revision = table_of(Revision)
    where = (revision.c.uid == uid, revision.c.generation == generation)
    tx.run(update(revision).where(*where).values(mark_at=mark))


def delete_state(tx: Transaction, uid: str) -> None:
    """Remove a Trigger's state and pause windows; its occurrences stay."""
    tx.run(delete(table_of(TriggerState)).where(_state.trigger_uid == uid))
    tx.run(delete(table_of(PauseWindow)).where(_pause.trigger_uid == uid))


def insert_pause(tx: Transaction, row: PauseRow, principal_id: str) -> None:
    """Insert one pause window."""
    tx.run(insert(table_of(PauseWindow)), [{**asdict(row), "principal_id": principal_id}])


def end_pauses(tx: Transaction, uid: str, now: datetime) -> int:
    """End every window of a Trigger that is open at `now`; return how many there were."""
    statement = update(table_of(PauseWindow)).where(_pause.trigger_uid == uid, _open_at(now)).values(until_at=now)
    return int(tx.run(statement).rowcount)


def insert_notices(tx: Transaction, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert lines for people."""
    if rows:
        tx.run(insert(table_of(Notification)), rows)


def record_changes(tx: Transaction, keys: Iterable[tuple[str, str, str]]) -> None:
    """Record many (workspace, kind, key) in the change table at once."""
    at = tx.clock.now()
    _INSERT_CHANGES.run(tx, ({"workspace_id": place, "kind": kind, "key": key, "at": at} for place, kind, key in keys))


def set_fact(tx: Transaction, name: str, value: str) -> None:
    """Set one named fact of this database."""
    statement = upsert(table_of(Fact)).values(name=name, value=value)
    tx.run(statement.on_conflict_do_update(index_elements=["name"], set_={"value": value}))
