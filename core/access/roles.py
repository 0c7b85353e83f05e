"""Roles and the permissions that they hold."""

from __future__ import annotations

from typing import Final

PERMISSIONS: Final[frozenset[str]] = frozenset(
    {
        "tenants/read",
        "tenants/manage",
        "workspaces/read",
        "workspaces/write",
        "workspaces/delete",
        "resources/read",
        "resources/write",
        "resources/delete",
        "runs/read",
        "runs/execute",
        "authorization/read",
        "authorization/write",
    }
)
READS: Final[frozenset[str]] = frozenset({"workspaces/read", "resources/read", "runs/read"})
ROLES: Final[dict[str, frozenset[str]]] = {
    "Owner": PERMISSIONS,
    "Admin": PERMISSIONS - {"tenants/manage", "workspaces/delete"},
    "Member": READS | {"runs/execute"},
    "Viewer": READS,
}
EXECUTE: Final = "runs/execute"
_OBSERVES: Final[frozenset[str]] = frozenset(name for name in PERMISSIONS if name.endswith("/read"))


def permissions_of(role: str, *, read_only: bool = False) -> frozenset[str]:
    """Return what a role may do; an unknown role may do nothing, a read-only deck only look."""
    held = ROLES.get(role, frozenset())
    return held & _OBSERVES if read_only else held


def roles_with(permission: str) -> tuple[str, ...]:
    """Return the roles that hold a permission, strongest first."""
    return tuple(role for role, held in ROLES.items() if permission in held)
