"""Who acts, and whether that principal stands in good order; nothing here needs a database library."""

from __future__ import annotations

import os
import pwd

from core.storage.records import Member, Place


def system_user() -> str:
    """Return the name of the user whom this process acts for."""
    uid = os.geteuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid-{uid}"


def refusal(place: Place, member: Member) -> str:
    """Return why a member may not act in a workspace at all, else nothing."""
    if not place.tenant_active:
        return f"the tenant {place.tenant} is not active"
    if not place.workspace_active:
        return f"the workspace {place.workspace} is not active"
    if not member.principal_active or member.principal_tenant_id != place.tenant_id:
        return f"{member.principal} is not active in tenant {place.tenant}"
    if member.state != "active":
        return f"the membership of {member.principal} in workspace {place.workspace} is suspended"
    return ""
