"""Statements on resources and their revisions; answers are plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import insert, select, update

from core.storage.columns import table_of
from core.storage.store import Transaction
from core.storage.tables import FlowVersion, Principal, Resource, Revision, TriggerState

_resource, _revision, _principal = table_of(Resource), table_of(Revision), table_of(Principal)
_version, _state = table_of(FlowVersion), table_of(TriggerState)
_BATCH = 400


class ResourceRow(NamedTuple):
    """A resource as it is stored, with the name of its principal."""

    uid: str
    workspace_id: str
    kind: str
    namespace: str
    name: str
    tags: list[str]
    annotations: dict[str, str]
    definition: dict[str, Any]
    generation: int
    etag: str
    principal_id: str
    principal: str
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None


class RevisionRow(NamedTuple):
    """One kept generation."""

    generation: int
    created_at: datetime
    principal: str
    definition: dict[str, Any]


_COLUMNS: tuple[Any, ...] = (
    _resource.c.uid,
    _resource.c.workspace_id,
    _resource.c.kind,
    _resource.c.namespace,
    _resource.c.name,
    _resource.c.tags,
    _resource.c.annotations,
    _resource.c.definition,
    _resource.c.generation,
    _resource.c.etag,
    _resource.c.principal_id,
    _principal.c.name,
    _resource.c.created_at,
    _resource.c.updated_at,
    _resource.c.deleted_at,
)


def _query() -> Any:
    return select(*_COLUMNS).outerjoin_from(_resource, _principal, _principal.c.id == _resource.c.principal_id)


def _row(found: Sequence[Any]) -> ResourceRow:
    row = ResourceRow._make(found)
    return row._replace(
        tags=row.tags or [],
        annotations=row.annotations or {},
        definition=row.definition or {},
        principal=row.principal or row.principal_id,
    )


def live(tx: Transaction, workspace_id: str, kind: str, namespace: str, name: str) -> ResourceRow | None:
    """Return the resource of that name that is not deleted."""
    query = _query().where(
        _resource.c.workspace_id == workspace_id,
        _resource.c.kind == kind,
        _resource.c.namespace == namespace,
        _resource.c.name == name,
        _resource.c.deleted_at.is_(None),
    )
    found = tx.first(query)
    return _row(found) if found else None


def by_uid(tx: Transaction, workspace_id: str, uid: str) -> ResourceRow | None:
    """Return a resource by its uid, also a deleted one."""
    found = tx.first(_query().where(_resource.c.workspace_id == workspace_id, _resource.c.uid == uid))
    return _row(found) if found else None


def all_live(tx: Transaction, workspace_id: str, kind: str, namespace: str | None = None) -> list[ResourceRow]:
    """Return a workspace's resources of a kind, by namespace and name."""
    query = _query().where(
        _resource.c.workspace_id == workspace_id, _resource.c.kind == kind, _resource.c.deleted_at.is_(None)
    )
    if namespace is not None:
        query = query.where(_resource.c.namespace == namespace)
    return [_row(found) for found in tx.all(query.order_by(_resource.c.namespace, _resource.c.name))]


def names(tx: Transaction, workspace_id: str, kind: str, namespace: str | None = None) -> list[tuple[str, str]]:
    """Return (namespace, name) of a workspace's resources of a kind."""
    query = select(_resource.c.namespace, _resource.c.name).where(
        _resource.c.workspace_id == workspace_id, _resource.c.kind == kind, _resource.c.deleted_at.is_(None)
    )
    if namespace is not None:
        query = query.where(_resource.c.namespace == namespace)
    return [(row[0], row[1]) for row in tx.all(query)]


def add(tx: Transaction, values: Mapping[str, Any]) -> None:
    """Insert a resource."""
    tx.run(insert(_resource), [values])


def change(tx: Transaction, uid: str, read_etag: str, values: Mapping[str, Any]) -> bool:
    """Update a resource if it still has the ETag that was read; return whether it had."""
    mine = (_resource.c.uid == uid, _resource.c.etag == read_etag, _resource.c.deleted_at.is_(None))
    return bool(tx.run(update(_resource).where(*mine).values(**values)).rowcount)


def add_revision(tx: Transaction, values: Mapping[str, Any]) -> None:
    """Keep one generation's definition."""
    tx.run(insert(_revision), [values])


def revisions(tx: Transaction, uid: str) -> list[RevisionRow]:
    """Return the kept generations, newest first."""
    query = (
        select(
            _revision.c.generation,
            _revision.c.created_at,
            _principal.c.name,
            _revision.c.definition,
            _revision.c.principal_id,
        )
        .outerjoin_from(_revision, _principal, _principal.c.id == _revision.c.principal_id)
        .where(_revision.c.uid == uid)
        .order_by(_revision.c.generation.desc())
    )
    return [RevisionRow(row[0], row[1], row[2] or row[4], row[3] or {}) for row in tx.all(query)]


def states(tx: Transaction, workspace_id: str, uids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return each Trigger's state by uid, column names to values, those that have one."""
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(uids), _BATCH):
        mine = (
            _state.c.workspace_id == workspace_id,
            _state.c.trigger_uid.in_(uids[start : start + _BATCH]),
        )
        found |= {row.trigger_uid: dict(row._mapping) for row in tx.all(select(_state).where(*mine))}
    return found


def flow_versions(tx: Transaction, uids: Sequence[str]) -> dict[str, tuple[int | None, int | None]]:
    """Return each Flow's (active, newest) version number, those that have any."""
    found: dict[str, tuple[int | None, int | None]] = {}
    for start in range(0, len(uids), _BATCH):
        query = select(_version.c.flow_uid, _version.c.version, _version.c.active)
        query = query.where(_version.c.flow_uid.in_(uids[start : start + _BATCH]))
        for uid, version, active in tx.all(query):
            current, newest = found.get(uid, (None, None))
            found[uid] = (version if active else current, max(version, newest or 0))
    return found
