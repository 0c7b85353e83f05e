"""The execution scope: under whom, and where, something is done. An explicit value, never ambient."""

from __future__ import annotations

from dataclasses import dataclass

from core.access.roles import PERMISSIONS, permissions_of, roles_with
from core.errors import Denied
from core.views import Who


@dataclass(frozen=True, slots=True)
class Scope:
    """A principal in a workspace with what its role permits there; taken by the server, never sent by a client."""

    tenant_id: str
    workspace_id: str
    principal_id: str
    principal: str
    role: str
    permissions: frozenset[str]
    read_only: bool = False
    tenant: str = ""
    workspace: str = ""

    @classmethod
    def of(cls, *, role: str, read_only: bool = False, **names: str) -> Scope:
        """Return the scope of a role."""
        return cls(role=role, permissions=permissions_of(role, read_only=read_only), read_only=read_only, **names)

    def who(self) -> Who:
        """Return the acting principal and where it acts, for people."""
        return Who(
            principal_id=self.principal_id,
            principal=self.principal,
            role=self.role,
            tenant=self.tenant,
            workspace_id=self.workspace_id,
            workspace=self.workspace,
            permissions=self.permissions,
            read_only=self.read_only,
        )

    def may(self, permission: str) -> bool:
        """Return whether the scope holds a permission."""
        return permission in self.permissions

    def require(self, permission: str) -> None:
        """Raise Denied unless the scope holds the permission."""
        if permission not in PERMISSIONS:
            raise ValueError(f"there is no permission {permission!r}")
        if self.may(permission):
            return
        if self.read_only:
            raise Denied(f"{permission} is denied: this deck is read-only", "open it without --read-only")
        roles = roles_with(permission)
        need = f"{', '.join(roles[:-1])} or {roles[-1]}" if len(roles) > 1 else roles[0]
        where = f" in workspace {self.workspace}" if self.workspace else ""
        raise Denied(f"{permission} is denied to {self.principal}, a {self.role}{where}", f"it needs the role {need}")
