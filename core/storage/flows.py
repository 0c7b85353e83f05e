"""Statements about Flows: the draft, its numbered versions, and the versions that firings run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, insert, select, tuple_, update

from core.storage.columns import table_of
from core.storage.prepared import Query, as_list, given, listed
from core.storage.store import Transaction
from core.storage.tables import FlowVersion, Resource

_resource = table_of(Resource)
_version = table_of(FlowVersion)


_PUBLISHED = (
    _version.c.flow_uid, _version.c.version, _version.c.definition, _version.c.active, _version.c.published_at
)  # fmt: skip
_ACTIVE = Query(select(*_PUBLISHED).where(listed(_version.c.flow_uid), _version.c.active.is_(True)))
_DEFINITION = Query(
    select(_version.c.definition).where(
        _version.c.flow_uid == given("flow_uid"), _version.c.version == given("number", Integer())
    )
)
_NAMED = Query(
    select(_resource.c.workspace_id, _resource.c.namespace, _resource.c.name, _resource.c.uid).where(
        _resource.c.kind == "Flow",
        _resource.c.deleted_at.is_(None),
        listed(_resource.c.workspace_id, "workspaces"),
        listed(_resource.c.name, "names"),
    )
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A Flow as it was last applied."""

    uid: str
    definition: Mapping[str, Any]
    generation: int


@dataclass(frozen=True, slots=True)
class Version:
    """One published version."""

    number: int
    definition: Mapping[str, Any]
    active: bool
    published_at: datetime


def draft(tx: Transaction, workspace_id: str, namespace: str, name: str) -> Draft | None:
    """Return the live Flow of a name."""
    row = tx.first(
        select(_resource.c.uid, _resource.c.definition, _resource.c.generation).where(
            _resource.c.workspace_id == workspace_id,
            _resource.c.kind == "Flow",
            _resource.c.namespace == namespace,
            _resource.c.name == name,
            _resource.c.deleted_at.is_(None),
        )
    )
    return Draft(row.uid, row.definition or {}, row.generation) if row else None


def versions(tx: Transaction, flow_uid: str) -> tuple[Version, ...]:
    """Return every version of a Flow, oldest first."""
    columns = (_version.c.version, _version.c.definition, _version.c.active, _version.c.published_at)
    query = select(*columns).where(_version.c.flow_uid == flow_uid).order_by(_version.c.version)
    return tuple(Version(row.version, row.definition or {}, row.active, row.published_at) for row in tx.all(query))


def add_version(
    tx: Transaction, flow_uid: str, number: int, definition: Mapping[str, Any], *, principal_id: str, now: datetime
) -> None:
    """Store one more version, not active yet."""
    values = {"flow_uid": flow_uid, "version": number, "definition": dict(definition), "active": False}
    tx.run(insert(_version).values(**values, published_at=now, principal_id=principal_id))


def set_active(tx: Transaction, flow_uid: str, number: int) -> None:
    """Make one version the only active one."""
    tx.run(update(_version).where(_version.c.flow_uid == flow_uid).values(active=_version.c.version == number))


def definition_of(tx: Transaction, flow_uid: str, number: int) -> Mapping[str, Any] | None:
    """Return the definition of one version."""
    row = _DEFINITION.first(tx, flow_uid=flow_uid, number=number)
    return row[0] if row else None


def named(tx: Transaction, names: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str, str], str]:
    """Return the uids of live Flows by (workspace id, namespace, name)."""
    wanted = set(names)
    workspaces, called = (as_list(sorted({name[part] for name in wanted})) for part in (0, 2))
    rows = _NAMED.all(tx, workspaces=workspaces, names=called)
    return {key: row[3] for row in rows if (key := (row[0], row[1], row[2])) in wanted}


def published(
    tx: Transaction, flow_uids: Iterable[str], pinned: Iterable[tuple[str, int]]
) -> list[tuple[str, Version]]:
    """Return the active version of each Flow, and every pinned one."""
    rows: list[Any] = _ACTIVE.all(tx, listed=as_list(sorted(set(flow_uids))))
    for pins in _chunks(sorted(set(pinned))):
        rows += tx.all(select(*_PUBLISHED).where(tuple_(_version.c.flow_uid, _version.c.version).in_(pins)))
    return [(uid, Version(number, definition or {}, active, at)) for uid, number, definition, active, at in rows]


def _chunks(items: list[Any], size: int = 300) -> Iterable[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
