"""Statements on tenants, workspaces, principals, memberships and the audit trail; answers are plain values."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update

from core.storage.columns import table_of
from core.storage.prepared import Query, as_list, listed
from core.storage.records import Member, Place
from core.storage.store import Transaction
from core.storage.tables import AuditEvent, Membership, Principal, Tenant, Workspace

_tenant, _workspace, _principal = table_of(Tenant), table_of(Workspace), table_of(Principal)
_member, _event = table_of(Membership), table_of(AuditEvent)
_BATCH = 400  # under SQLite's oldest limit of 999 variables


def is_fresh(tx: Transaction) -> bool:
    """Return whether nobody ever started here."""
    return tx.first(select(_tenant.c.id).limit(1)) is None


def place(tx: Transaction, workspace: str) -> Place | None:
    """Return a workspace by name."""
    found = tx.first(place_named(workspace))
    return Place._make(found) if found else None


def place_named(workspace: str) -> Any:
    """Return the query of a workspace by name."""
    return _places().where(_workspace.c.name == workspace)


def places(tx: Transaction, workspace_ids: Iterable[str]) -> dict[str, Place]:
    """Return workspaces by id, those that exist."""
    rows = (Place._make(row) for row in _PLACES.all(tx, listed=as_list(dict.fromkeys(workspace_ids))))
    return {place.workspace_id: place for place in rows}


def _places() -> Any:
    return select(
        _tenant.c.id.label("tenant_id"),
        _tenant.c.name.label("tenant"),
        _tenant.c.active,
        _workspace.c.id.label("workspace_id"),
        _workspace.c.name.label("workspace"),
        _workspace.c.active,
    ).join_from(_workspace, _tenant, _tenant.c.id == _workspace.c.tenant_id)


def principal(tx: Transaction, tenant_id: str, name: str) -> tuple[str, bool] | None:
    """Return id and activity of a tenant's principal."""
    found = tx.first(principal_named(tenant_id, name))
    return (found[0], found[1]) if found else None


def principal_named(tenant_id: str, name: str) -> Any:
    """Return the query of a tenant's principal by name: id and activity."""
    query = select(_principal.c.id, _principal.c.active)
    return query.where(_principal.c.tenant_id == tenant_id, _principal.c.name == name)


def members(tx: Transaction, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Member]:
    """Return (workspace id, principal id) → membership, those that exist."""
    wanted = dict.fromkeys(pairs)
    workspaces, people = (as_list(dict.fromkeys(pair[part] for pair in wanted)) for part in (0, 1))
    rows = (Member._make(row) for row in _MEMBERS_OF.all(tx, workspaces=workspaces, people=people))
    return {key: member for member in rows if (key := (member.workspace_id, member.principal_id)) in wanted}


def membership(workspace_id: str, principal_id: str) -> Any:
    """Return the query of one membership."""
    return _members().where(_member.c.workspace_id == workspace_id, _member.c.principal_id == principal_id)


def _members() -> Any:
    return select(
        _member.c.workspace_id,
        _principal.c.id,
        _principal.c.name,
        _principal.c.active,
        _principal.c.tenant_id,
        _member.c.role,
        _member.c.state,
    ).join_from(_member, _principal, _principal.c.id == _member.c.principal_id)


_PLACES = Query(_places().where(listed(_workspace.c.id)))
_MEMBERS_OF = Query(
    _members().where(listed(_member.c.workspace_id, "workspaces"), listed(_member.c.principal_id, "people"))
)


def principal_names(tx: Transaction, ids: Iterable[str]) -> dict[str, str]:
    """Return principals' names by id."""
    wanted = list(dict.fromkeys(ids))
    names: dict[str, str] = {}
    for start in range(0, len(wanted), _BATCH):
        query = select(_principal.c.id, _principal.c.name).where(_principal.c.id.in_(wanted[start : start + _BATCH]))
        names |= {row[0]: row[1] for row in tx.all(query)}
    return names


def add_tenant(tx: Transaction, tenant_id: str, name: str) -> None:
    """Insert a tenant."""
    tx.run(insert(_tenant).values(id=tenant_id, name=name, active=True))


def add_workspace(tx: Transaction, workspace_id: str, tenant_id: str, name: str) -> None:
    """Insert a workspace."""
    tx.run(insert(_workspace).values(id=workspace_id, tenant_id=tenant_id, name=name, active=True))


def add_principal(tx: Transaction, principal_id: str, tenant_id: str, name: str) -> None:
    """Insert a principal."""
    tx.run(insert(_principal).values(id=principal_id, tenant_id=tenant_id, name=name, active=True))


def add_member(tx: Transaction, workspace_id: str, principal_id: str, role: str) -> None:
    """Insert an active membership."""
    tx.run(insert(_member).values(workspace_id=workspace_id, principal_id=principal_id, role=role, state="active"))


def set_member(tx: Transaction, workspace_id: str, principal_id: str, **values: str) -> bool:
    """Change role or state of a membership; return whether there is one."""
    mine = (_member.c.workspace_id == workspace_id, _member.c.principal_id == principal_id)
    return bool(tx.run(update(_member).where(*mine).values(**values)).rowcount)


def set_principal_active(tx: Transaction, principal_id: str, *, active: bool) -> bool:
    """Let a principal act, or no more; return whether it exists."""
    return bool(tx.run(update(_principal).where(_principal.c.id == principal_id).values(active=active)).rowcount)


def add_event(tx: Transaction, at: datetime, **values: Any) -> None:
    """Append an audit event."""
    tx.run(insert(_event), [{"at": at, **values}])


def events(tx: Transaction, workspace_id: str, limit: int) -> list[dict[str, Any]]:
    """Return the newest audit events, newest first; 0 gives all."""
    query = select(_event, _principal.c.name.label("principal"))
    query = query.outerjoin(_principal, _principal.c.id == _event.c.principal_id)
    query = query.where(_event.c.workspace_id == workspace_id).order_by(_event.c.id.desc())
    return [dict(row._mapping) for row in tx.all(query.limit(limit) if limit else query)]
