"""Roles hold exactly the permissions that the design gives them."""

from __future__ import annotations

import pytest

from core.access.roles import PERMISSIONS, ROLES, permissions_of
from core.access.scope import Scope
from core.errors import Denied


def scope(role: str, *, read_only: bool = False) -> Scope:
    return Scope.of(
        role=role,
        read_only=read_only,
        tenant_id="t",
        workspace_id="w",
        principal_id="p",
        principal="ann",
        tenant="local",
        workspace="ops",
    )


def test_there_are_four_roles_over_twelve_permissions() -> None:
    assert list(ROLES) == ["Owner", "Admin", "Member", "Viewer"]
    assert len(PERMISSIONS) == 12


def test_an_owner_may_do_everything() -> None:
    assert permissions_of("Owner") == PERMISSIONS


def test_an_admin_may_not_manage_tenants_nor_delete_workspaces() -> None:
    assert PERMISSIONS - permissions_of("Admin") == {"tenants/manage", "workspaces/delete"}


def test_a_member_reads_and_executes_and_a_viewer_only_reads() -> None:
    reads = {"workspaces/read", "resources/read", "runs/read"}
    assert permissions_of("Viewer") == reads
    assert permissions_of("Member") == reads | {"runs/execute"}


def test_an_unknown_role_may_do_nothing() -> None:
    assert permissions_of("Root") == frozenset()


def test_what_is_held_is_not_refused() -> None:
    scope("Member").require("runs/execute")


def test_a_refusal_says_who_lacks_what_and_who_has_it() -> None:
    with pytest.raises(Denied) as caught:
        scope("Viewer").require("runs/execute")
    assert caught.value.exit_status == 5
    assert caught.value.sentence() == (
        "runs/execute is denied to ann, a Viewer in workspace ops; it needs the role Owner, Admin or Member"
    )


@pytest.mark.parametrize("permission", sorted(PERMISSIONS))
def test_a_read_only_deck_lets_even_an_owner_only_look(permission: str) -> None:
    assert scope("Owner", read_only=True).may(permission) is permission.endswith("/read")


def test_a_read_only_refusal_names_the_switch() -> None:
    with pytest.raises(Denied) as caught:
        scope("Owner", read_only=True).require("resources/write")
    assert "without --read-only" in caught.value.remedy


def test_a_misspelt_permission_is_our_mistake_and_never_granted() -> None:
    with pytest.raises(ValueError, match="no permission"):
        scope("Owner").require("runs/exeute")


def test_the_scope_tells_people_who_acts_where() -> None:
    who = scope("Admin").who()
    assert (who.principal, who.role, who.tenant, who.workspace) == ("ann", "Admin", "local", "ops")
