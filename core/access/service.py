"""Take the scope of whoever acts, and check again, in bulk, whoever fires.

On SQLite the principal is the operating system's user, asked of the system and never of the environment. Another
workspace answers "not found", to members of other workspaces as to everybody else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from core.access import audit
from core.access.roles import EXECUTE, permissions_of
from core.access.scope import Scope
from core.access.standing import refusal, system_user
from core.errors import Denied, NotFound
from core.storage import access
from core.storage.records import Member, Place
from core.storage.store import Store, Transaction

FIRST_TENANT = "local"
FIRST_WORKSPACE = "default"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a principal may fire in a workspace; true where it may. `why` is one sentence."""

    allowed: bool
    why: str = ""
    principal: str = ""
    role: str = ""

    def __bool__(self) -> bool:
        return self.allowed


def open_scope(
    place: Store | Transaction,
    *,
    workspace: str = FIRST_WORKSPACE,
    user: str | None = None,
    now: datetime | None = None,
    read_only: bool = False,
) -> Scope:
    """Return the acting user's scope in a workspace; at the first start ever make tenant, workspace and Owner.

    `place` is the store, or a transaction that is open already (a writing one, should it be the first start).
    Raises NotFound for a workspace that is not there or not the user's, Denied for a suspended member.
    """
    if isinstance(place, Transaction):
        return _scope_in(place, workspace, user or system_user(), now, read_only=read_only)
    with place.read() as tx:
        if not access.is_fresh(tx):
            return open_scope(tx, workspace=workspace, user=user, now=now, read_only=read_only or place.read_only)
    if place.read_only:
        raise NotFound("nobody has begun with this database yet", "open it once without --read-only")
    with place.write() as tx:
        return open_scope(tx, workspace=workspace, user=user, now=now, read_only=read_only)


def _scope_in(tx: Transaction, workspace: str, user: str, now: datetime | None, *, read_only: bool) -> Scope:
    if access.is_fresh(tx):
        _first_start(tx, user, now or tx.clock.now())
    place = access.place(tx, workspace)
    member = _member(tx, place, user) if place else None
    if place is None or member is None:
        raise NotFound(f"there is no workspace {workspace} here", "name one that you are a member of")
    why = refusal(place, member)
    if why:
        raise Denied(why, "ask an Owner of the workspace")
    return _scope(place, member, read_only=read_only)


def _member(tx: Transaction, place: Place, user: str) -> Member | None:
    known = access.principal(tx, place.tenant_id, user)
    if known is None:
        return None
    pair = (place.workspace_id, known[0])
    return access.members(tx, [pair]).get(pair)


def _scope(place: Place, member: Member, *, read_only: bool) -> Scope:
    return Scope.of(
        role=member.role or "",
        read_only=read_only,
        tenant_id=place.tenant_id,
        workspace_id=place.workspace_id,
        principal_id=member.principal_id,
        principal=member.principal,
        tenant=place.tenant,
        workspace=place.workspace,
    )


def _first_start(tx: Transaction, user: str, now: datetime) -> None:
    tenant, workspace, owner = (tx.clock.new_id() for _ in range(3))
    access.add_tenant(tx, tenant, FIRST_TENANT)
    access.add_workspace(tx, workspace, tenant, FIRST_WORKSPACE)
    access.add_principal(tx, owner, tenant, user)
    access.add_member(tx, workspace, owner, "Owner")
    scope = Scope.of(
        role="Owner",
        tenant_id=tenant,
        workspace_id=workspace,
        principal_id=owner,
        principal=user,
        tenant=FIRST_TENANT,
        workspace=FIRST_WORKSPACE,
    )
    audit.record(tx, scope, "first_start", "Workspace", workspace, FIRST_WORKSPACE, at=now)


def authorise_many(tx: Transaction, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Verdict]:
    """Return for each (workspace id, principal id) whether it may fire now; what is not found may not."""
    wanted = list(dict.fromkeys(pairs))
    places = access.places(tx, (workspace for workspace, _ in wanted))
    members = access.members(tx, wanted)
    return {pair: _verdict(places.get(pair[0]), members.get(pair)) for pair in wanted}


def _verdict(place: Place | None, member: Member | None) -> Verdict:
    if place is None:
        return Verdict(allowed=False, why="the workspace no longer exists")
    if member is None:
        return Verdict(allowed=False, why="the Trigger's principal is no member of the workspace")
    why = refusal(place, member)
    if not why and EXECUTE not in permissions_of(member.role or ""):
        why = f"{member.principal}, a {member.role}, does not hold {EXECUTE}"
    return Verdict(allowed=not why, why=why, principal=member.principal, role=member.role or "")
