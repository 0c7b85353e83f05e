"""Statements about Flows: the draft, its numbered versions, and the versions that firings run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, insert, select, tuple_, update

from core.storage.columns import table_of
from core.storage.store import Transaction
from core.storage.tables import FlowVersion, Resource

_resource = table_of(Resource)
_version = table_of(FlowVersion)


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
    where = and_(_version.c.flow_uid == flow_uid, _version.c.version == number)
    row = tx.first(select(_version.c.definition).where(where))
    return row.definition if row else None


def named(tx: Transaction, names: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str, str], str]:
    """Return the uids of live Flows by (workspace id, namespace, name)."""
    columns = (_resource.c.workspace_id, _resource.c.namespace, _resource.c.name)
    found: dict[tuple[str, str, str], str] = {}
    for chunk in _chunks(sorted(set(names))):
        query = select(*columns, _resource.c.uid).where(
            _resource.c.kind == "Flow", _resource.c.deleted_at.is_(None), tuple_(*columns).in_(chunk)
        )
        found |= {(row.workspace_id, row.namespace, row.name): row.uid for row in tx.all(query)}
    return found


def published(
    tx: Transaction, flow_uids: Iterable[str], pinned: Iterable[tuple[str, int]]
) -> list[tuple[str, Version]]:
    """Return the active version of each Flow, and every pinned one."""
    columns = (
        _version.c.flow_uid, _version.c.version, _version.c.definition, _version.c.active, _version.c.published_at
    )  # fmt: skip
    rows: list[Any] = []
    for uids in _chunks(sorted(set(flow_uids))):
        rows += tx.all(select(*columns).where(_version.c.flow_uid.in_(uids), _version.c.active.is_(True)))
    for pins in _chunks(sorted(set(pinned))):
        rows += tx.all(select(*columns).where(tuple_(_version.c.flow_uid, _version.c.version).in_(pins)))
    return [(row.flow_uid, Version(row.version, row.definition or {}, row.active, row.published_at)) for row in rows]


def _chunks(items: list[Any], size: int = 300) -> Iterable[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
