"""The change table wakes whoever looks, in order, and says when it has forgotten."""

from __future__ import annotations

import pytest

from core.storage import changes
from core.storage.store import Store


def write(store: Store, *keys: str, workspace: str = "w", kind: str = "trigger") -> None:
    with store.write() as tx:
        tx.changed(workspace, kind, *keys)


def test_nothing_has_changed_in_a_fresh_database(store: Store) -> None:
    with store.read() as tx:
        assert changes.since(tx, 0) == (0, {})


def test_changes_are_told_by_kind_and_once_for_each_key(store: Store) -> None:
    write(store, "a", "b")
    write(store, "a")
    write(store, "x", kind="work")
    with store.read() as tx:
        assert changes.since(tx, 0) == (4, {"trigger": frozenset("ab"), "work": frozenset("x")})
        assert changes.since(tx, 2) == (4, {"trigger": frozenset("a"), "work": frozenset("x")})
        assert changes.since(tx, 4) == (4, {})


def test_another_workspace_is_not_told(store: Store) -> None:
    write(store, "mine")
    write(store, "theirs", workspace="other")
    with store.read() as tx:
        assert changes.since(tx, 0, "w") == (2, {"trigger": frozenset({"mine"})})


def test_a_write_that_failed_wakes_nobody(store: Store) -> None:
    def fail() -> None:
        with store.write() as tx:
            tx.changed("w", "trigger", "a")
            raise KeyError("oops")

    with pytest.raises(KeyError):
        fail()
    with store.read() as tx:
        assert changes.since(tx, 0) == (0, {})


def test_pruning_keeps_the_newest_and_never_counts_twice(store: Store) -> None:
    write(store, *"abcdef")
    with store.write() as tx:
        assert changes.prune(tx, keep=0) == 5
        assert changes.prune(tx, keep=0) == 0
    write(store, "g")
    with store.read() as tx:
        assert changes.since(tx, 6) == (7, {"trigger": frozenset("g")})


def test_whoever_slept_through_a_pruning_is_told_to_read_everything(store: Store) -> None:
    write(store, *"abcdef")
    with store.write() as tx:
        changes.prune(tx, keep=2)
    with store.read() as tx:
        assert changes.since(tx, 3) == (6, {"*": frozenset("*")})
        assert changes.since(tx, 4) == (6, {"trigger": frozenset("ef")})
