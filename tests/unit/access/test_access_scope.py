"""Who acts is asked of the operating system, where it acts is a workspace it belongs to, and firing asks again."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest
from sqlalchemy import text

from core.access import audit
from core.access.scope import Scope
from core.access.service import authorise_many, open_scope
from core.access.standing import system_user
from core.clock import ManualClock
from core.errors import Denied, NotFound
from core.storage import access
from core.storage.opening import open_store
from core.storage.store import Store
from tests.unit.access.conftest import NOW


def add_member(store: Store, scope: Scope, name: str, role: str) -> str:
    with store.write() as tx:
        identity = tx.clock.new_id()
        access.add_principal(tx, identity, scope.tenant_id, name)
        access.add_member(tx, scope.workspace_id, identity, role)
    return identity


def may_fire(store: Store, workspace_id: str, principal_id: str) -> bool:
    with store.read() as tx:
        return bool(authorise_many(tx, [(workspace_id, principal_id)])[workspace_id, principal_id])


def test_the_acting_user_is_the_systems_and_not_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "somebody-else")
    assert system_user() == pwd.getpwuid(os.geteuid()).pw_name


def test_a_user_without_a_name_acts_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4_000_000_000)
    assert system_user() == "uid-4000000000"


def test_the_first_start_makes_the_user_owner_of_the_default_workspace(store: Store) -> None:
    scope = open_scope(store)
    assert (scope.tenant, scope.workspace, scope.role) == ("local", "default", "Owner")
    assert scope.principal == system_user()
    with store.read() as tx:
        assert [event["action"] for event in audit.recent(tx, scope)] == ["first_start"]


def test_the_second_start_finds_the_same_scope_and_writes_nothing(store: Store) -> None:
    first = open_scope(store)
    version = store.data_version()
    assert open_scope(store) == first
    assert store.data_version() == version


def test_a_first_start_cannot_be_read_only(tmp_path: Path, store: Store) -> None:
    reading = open_store(tmp_path / "deck.sqlite3", read_only=True)
    with pytest.raises(NotFound) as caught:
        open_scope(reading)
    assert "without --read-only" in caught.value.remedy
    reading.close()


def test_a_scope_of_a_read_only_store_only_looks(tmp_path: Path, store: Store) -> None:
    open_scope(store)
    reading = open_store(tmp_path / "deck.sqlite3", read_only=True)
    assert not open_scope(reading).may("resources/write")
    reading.close()


def test_a_second_user_is_nobody_until_made_a_member(store: Store) -> None:
    scope = open_scope(store, user="ann")
    with pytest.raises(NotFound):
        open_scope(store, user="bob")
    add_member(store, scope, "bob", "Viewer")
    assert open_scope(store, user="bob").role == "Viewer"


def test_a_workspace_that_is_not_mine_sounds_like_one_that_is_not_there(store: Store) -> None:
    scope = open_scope(store, user="ann")
    with store.write() as tx:
        access.add_workspace(tx, "other", scope.tenant_id, "other")
    answers = []
    for name in ("other", "nowhere"):
        with pytest.raises(NotFound) as caught:
            open_scope(store, workspace=name, user="ann")
        answers.append(caught.value.sentence().replace(name, "X"))
    assert answers[0] == answers[1]


def test_a_suspended_member_is_denied(store: Store) -> None:
    scope = open_scope(store, user="ann")
    with store.write() as tx:
        access.set_member(tx, scope.workspace_id, scope.principal_id, state="suspended")
    with pytest.raises(Denied) as caught:
        open_scope(store, user="ann")
    assert "suspended" in caught.value.message


def test_a_denial_is_recorded_although_the_request_is_rolled_back(store: Store) -> None:
    owner = open_scope(store, user="ann")
    add_member(store, owner, "bob", "Viewer")
    viewer = open_scope(store, user="bob")
    with pytest.raises(Denied) as caught, store.write():
        viewer.require("resources/write")
    audit.denied(store, viewer, caught.value, NOW)
    with store.read() as tx:
        newest = audit.recent(tx, owner, 1)[0]
    assert (newest["outcome"], newest["code"], newest["principal"]) == ("denied", "denied", "bob")


def test_the_audit_trail_is_not_for_viewers(store: Store) -> None:
    owner = open_scope(store, user="ann")
    add_member(store, owner, "bob", "Viewer")
    viewer = open_scope(store, user="bob")
    with store.read() as tx, pytest.raises(Denied):
        audit.recent(tx, viewer)


@pytest.mark.parametrize(("role", "allowed"), [("Owner", True), ("Admin", True), ("Member", True), ("Viewer", False)])
def test_who_holds_runs_execute_may_fire(store: Store, role: str, allowed: bool) -> None:
    scope = open_scope(store, user="ann")
    bob = add_member(store, scope, "bob", role)
    assert may_fire(store, scope.workspace_id, bob) is allowed


BREAKS = {
    "tenant": "UPDATE tenant SET active = 0",
    "workspace": "UPDATE workspace SET active = 0",
    "principal": "UPDATE principal SET active = 0",
    "membership": "UPDATE membership SET state = 'suspended'",
    "unheard-of state": "UPDATE membership SET state = 'Active'",
    "role": "UPDATE membership SET role = 'Viewer'",
    "unknown role": "UPDATE membership SET role = 'owner'",
    "no membership": "DELETE FROM membership",
    "another tenant's principal": "UPDATE principal SET tenant_id = (SELECT max(id) FROM tenant)",
}


@pytest.mark.parametrize("broken", BREAKS)
def test_whatever_is_not_in_order_stops_the_firing(store: Store, broken: str) -> None:
    scope = open_scope(store, user="ann")
    with store.write() as tx:
        access.add_tenant(tx, "zzz", "another")
    assert may_fire(store, scope.workspace_id, scope.principal_id)
    with store.write() as tx:
        tx.run(text(BREAKS[broken]))
    with store.read() as tx:
        pair = (scope.workspace_id, scope.principal_id)
        verdict = authorise_many(tx, [pair])[pair]
    assert not verdict
    assert verdict.why


def test_nothing_is_allowed_to_whom_nobody_knows(store: Store) -> None:
    scope = open_scope(store, user="ann")
    pairs = [(scope.workspace_id, "nobody"), ("nowhere", scope.principal_id), ("", "")]
    with store.read() as tx:
        assert [bool(verdict) for verdict in authorise_many(tx, pairs).values()] == [False] * 3
        assert authorise_many(tx, []) == {}


def test_a_thousand_firings_are_authorised_in_a_handful_of_queries(store: Store) -> None:
    scope = open_scope(store, user="ann")
    pairs = [(scope.workspace_id, f"p{number}") for number in range(999)]
    pairs.append((scope.workspace_id, scope.principal_id))
    seen: list[str] = []
    with store.read() as tx:
        original, tx.all = tx.all, lambda query: seen.append("query") or original(query)  # type: ignore[method-assign]
        verdicts = authorise_many(tx, pairs)
    assert sum(map(bool, verdicts.values())) == 1
    assert len(seen) <= 4


def test_identities_come_from_the_clock(tmp_path: Path) -> None:
    scopes = []
    for name in ("one", "two"):
        store = open_store(tmp_path / name, clock=ManualClock(NOW))
        scopes.append(open_scope(store, user="ann"))
        store.close()
    assert scopes[0] == scopes[1]
