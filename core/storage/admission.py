"""Statements of admission: what is due, what is active, and the bulk writes of one transaction.

Everything here is a Core statement over many rows at once; values in and out are frozen. Definitions are read as text
and parsed one by one, so that a malformed one spoils its own Trigger only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Text, bindparam, delete, func, insert, or_, select, type_coerce, update
from sqlalchemy.dialects.sqlite import insert as upsert

from core.storage.columns import table_of
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


@dataclass(frozen=True, slots=True, kw_only=True)
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


_STATE_NAMES = tuple(field.name for field in fields(StateRow))
_STATE_COLUMNS = [_state[name] for name in _STATE_NAMES]
_MUTABLE = _STATE_NAMES[2:]
_SAVE = (
    update(table_of(TriggerState))
    .where(_state.trigger_uid == bindparam("key"))
    .values({name: bindparam(f"new_{name}") for name in _MUTABLE})
)


# -- reading ---------------------------------------------------------------------------------------------------------


def due_states(tx: Transaction, now: datetime, limit: int) -> list[StateRow]:
    """Return up to `limit` enabled Triggers that want a decision at `now`: the longest due first, then retries."""
    ready = or_(_state.retry_at.is_(None), _state.retry_at <= now)
    due = select(*_STATE_COLUMNS).where(_state.enabled, _state.next_due_at <= now, ready)
    found = _states(tx, due.order_by(_state.next_due_at).limit(limit))
    if len(found) < limit:
        retry = select(*_STATE_COLUMNS).where(_state.enabled, _state.retry_at <= now, _state.next_due_at.is_(None))
        found += _states(tx, retry.order_by(_state.retry_at).limit(limit - len(found)))
    return found


def next_wake(tx: Transaction, now: datetime) -> datetime | None:
    """Return the next instant at which a Trigger wants a decision: a due time, a retry, or the end of a pause."""
    later = or_(_state.retry_at.is_(None), _state.retry_at <= now)
    due = select(_state.next_due_at).where(_state.enabled, _state.next_due_at.is_not(None), later)
    retry = select(func.min(_state.retry_at)).where(_state.enabled, _state.retry_at > now)
    pause = select(func.min(_pause.until_at)).where(_pause.until_at > now)
    found = (tx.scalar(due.order_by(_state.next_due_at).limit(1)), tx.scalar(retry), tx.scalar(pause))
    return min((at for at in found if at is not None), default=None)


def states_after(tx: Transaction, uid: str, limit: int) -> list[StateRow]:
    """Return up to `limit` Triggers' states in the order of their uid, above `uid`."""
    query = select(*_STATE_COLUMNS).where(_state.trigger_uid > uid)
    return _states(tx, query.order_by(_state.trigger_uid).limit(limit))


def states_of(tx: Transaction, uids: Iterable[str]) -> dict[str, StateRow]:
    """Return these Triggers' states by uid; unknown ones are absent."""
    found = _states(tx, select(*_STATE_COLUMNS).where(_state.trigger_uid.in_(list(uids))))
    return {row.trigger_uid: row for row in found}


def ended_pauses(tx: Transaction, since: datetime | None, now: datetime) -> list[str]:
    """Return the Triggers with a pause that ended in (since, now], whose phase still says paused; None is ever."""
    ended = select(_pause.trigger_uid).where(_pause.until_at <= now)
    if since is not None:
        ended = ended.where(_pause.until_at > since)
    query = select(_state.trigger_uid).where(_state.trigger_uid.in_(ended), _state.phase == "paused")
    return list(tx.connection.execute(query).scalars())


def is_anything_due(tx: Transaction, now: datetime) -> bool:
    """Say whether a Trigger wants a decision at `now`."""
    return bool(due_states(tx, now, 1))


def definitions(tx: Transaction, uids: Iterable[str]) -> dict[str, DefinitionRow]:
    """Return the definitions of these Triggers as text; those that are gone are absent."""
    text = type_coerce(_resource.definition, Text)
    rows: Sequence[Any] = tx.all(
        select(_resource.uid, _resource.generation, _resource.principal_id, text).where(
            _resource.uid.in_(list(uids)), _resource.deleted_at.is_(None)
        )
    )
    return {row[0]: DefinitionRow(row[0], row[1], row[2], row[3] or "") for row in rows}


def last_definition(tx: Transaction, uid: str) -> DefinitionRow | None:
    """Return a Trigger's definition as it is or, once deleted, as it was."""
    text = type_coerce(_resource.definition, Text)
    row: Any = tx.first(
        select(_resource.uid, _resource.generation, _resource.principal_id, text).where(_resource.uid == uid)
    )
    return None if row is None else DefinitionRow(row[0], row[1], row[2], row[3] or "")


def generations(tx: Transaction, uids: Iterable[str]) -> dict[str, tuple[int, str]]:
    """Return (generation, principal) of these live Triggers."""
    rows: Sequence[Any] = tx.all(
        select(_resource.uid, _resource.generation, _resource.principal_id).where(
            _resource.uid.in_(list(uids)), _resource.deleted_at.is_(None)
        )
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def pauses(tx: Transaction, uids: Iterable[str], after: datetime) -> dict[str, list[PauseRow]]:
    """Return these Triggers' pause windows that end later than `after`, in the order of their start."""
    columns = (_pause.id, _pause.trigger_uid, _pause.from_at, _pause.until_at, _pause.note)
    rows: Sequence[Any] = tx.all(
        select(*columns).where(_pause.trigger_uid.in_(list(uids)), _open_at(after)).order_by(_pause.from_at)
    )
    found: dict[str, list[PauseRow]] = {}
    for row in rows:
        found.setdefault(row[1], []).append(PauseRow(*row))
    return found


def active_work(tx: Transaction, uids: Iterable[str]) -> dict[str, list[ActiveRow]]:
    """Return the active Work of these Triggers, oldest first, with the question that each waits for."""
    question = (
        select(_action.title)
        .where(_action.work_id == _work.id, _action.status == "pending")
        .order_by(_action.created_at.desc())
        .limit(1)
        .correlate(table_of(Work))
        .scalar_subquery()
    )
    rows: Sequence[Any] = tx.all(
        select(_work.trigger_uid, _work.id, _work.status, question)
        .where(_work.trigger_uid.in_(list(uids)), _work.status.in_(ACTIVE_WORK))
        .order_by(_work.created_at, _work.id)
    )
    found: dict[str, list[ActiveRow]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(ActiveRow(*row))
    return found


def state_named(tx: Transaction, workspace_id: str, namespace: str, name: str) -> StateRow | None:
    """Return the state of the Trigger with this name, if there is one."""
    named = (_state.workspace_id == workspace_id, _state.namespace == namespace, _state.name == name)
    found = _states(tx, select(*_STATE_COLUMNS).where(*named))
    return found[0] if found else None


def projected_states(tx: Transaction, workspace_id: str, limit: int) -> list[StateRow]:
    """Return up to `limit` enabled Triggers of a workspace, the next due first."""
    query = select(*_STATE_COLUMNS).where(_state.workspace_id == workspace_id, _state.enabled)
    return _states(tx, query.order_by(_state.next_due_at.is_(None), _state.next_due_at).limit(limit))


def known_occurrences(tx: Transaction, ids: Sequence[str]) -> set[str]:
    """Return which of these identities are decided already."""
    return set(tx.connection.execute(select(_occurrence.id).where(_occurrence.id.in_(ids))).scalars())


def _states(tx: Transaction, query: Any) -> list[StateRow]:
    return [StateRow(**row) for row in tx.connection.execute(query).mappings()]


def _open_at(at: datetime) -> Any:
    return or_(_pause.until_at.is_(None), _pause.until_at > at)


# -- writing ---------------------------------------------------------------------------------------------------------


def insert_occurrences(tx: Transaction, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert decisions; all rows carry the same keys."""
    if rows:
        tx.run(insert(table_of(Occurrence)), rows)


def grow_ranges(tx: Transaction, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert counted ranges; one that is there already grows by what lies above its last time, and never twice."""
    if not rows:
        return
    statement = upsert(table_of(Occurrence))
    new = statement.excluded
    grown = statement.on_conflict_do_update(
        index_elements=[_occurrence.id],
        set_={
            "count": _occurrence["count"] + new["count"],
            "last_at": new.last_at,
            "at": new["at"],
            "admitted_at": new.admitted_at,
        },
        where=_occurrence.last_at < new.first_at,
    )
    tx.run(grown, rows)


def insert_work(tx: Transaction, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert Work; all rows carry the same keys."""
    if rows:
        tx.run(insert(table_of(Work)), rows)


def insert_states(tx: Transaction, rows: Sequence[StateRow]) -> None:
    """Insert the states of new Triggers."""
    tx.run(insert(table_of(TriggerState)), [asdict(row) for row in rows])


def save_states(tx: Transaction, rows: Sequence[StateRow]) -> None:
    """Overwrite these Triggers' states."""
    if rows:
        tx.run(_SAVE, [_parameters(row) for row in rows])


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
    rows = [{"workspace_id": key[0], "kind": key[1], "key": key[2], "at": at} for key in keys]
    if rows:
        tx.run(insert(table_of(Change)), rows)


def set_fact(tx: Transaction, name: str, value: str) -> None:
    """Set one named fact of this database."""
    statement = upsert(table_of(Fact)).values(name=name, value=value)
    tx.run(statement.on_conflict_do_update(index_elements=["name"], set_={"value": value}))


def _parameters(row: StateRow) -> dict[str, Any]:
    values = {f"new_{name}": getattr(row, name) for name in _MUTABLE}
    values["key"] = row.trigger_uid
    return values
