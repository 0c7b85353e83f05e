from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update

from core.access.scope import Scope
from core.access.service import open_scope
from core.clock import ManualClock
from core.errors import Denied, Fault, Invalid, NotFound
from core.flows.publishing import activate, publish
from core.flows.resolve import Resolved, Target, resolve_many
from core.storage import flows
from core.storage.columns import table_of
from core.storage.store import Store
from core.storage.tables import Resource

NOW = datetime(2026, 3, 28, 13, 0, tzinfo=UTC)


class Shelf:
    """A store with Flows in it."""

    def __init__(self, path: Path) -> None:
        self.store = Store.open(path, clock=ManualClock(NOW))
        with self.store.write() as tx:
            self.scope: Scope = open_scope(tx, workspace="default", user="tester", now=NOW)

    def draft(self, name: str, text: str, **rest: Any) -> None:
        definition = {"steps": [{"id": "one", "command": {"argv": ["echo", text]}}], **rest}
        table = table_of(Resource)
        with self.store.write() as tx:
            known = flows.draft(tx, self.scope.workspace_id, "default", name)
            if known is not None:
                tx.run(update(table).where(table.c.uid == known.uid).values(definition=definition))
                return
            row = {
                "uid": f"uid-{name}",
                "workspace_id": self.scope.workspace_id,
                "kind": "Flow",
                "namespace": "default",
            }
            row |= {"name": name, "definition": definition, "generation": 1, "etag": "e", "created_at": NOW}
            tx.run(insert(table).values(**row, updated_at=NOW, principal_id=self.scope.principal_id))

    def publish(self, name: str, *, activate: bool = False, scope: Scope | None = None) -> int:
        with self.store.write() as tx:
            return publish(tx, scope or self.scope, "default", name, activate, NOW)

    def versions(self, name: str) -> list[tuple[int, bool]]:
        with self.store.read() as tx:
            return [(version.number, version.active) for version in flows.versions(tx, f"uid-{name}")]

    def resolve(self, name: str, version: int | None = None) -> Resolved | Fault:
        target: Target = (self.scope.workspace_id, "default", name, version)
        with self.store.read() as tx:
            return resolve_many(tx, [target])[target]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path / "deck.sqlite3")
    yield made
    made.store.close()


def test_the_first_version_becomes_active_by_itself_and_later_ones_do_not(shelf: Shelf) -> None:
    shelf.draft("load", "a")
    assert shelf.publish("load") == 1
    shelf.draft("load", "b")
    assert shelf.publish("load") == 2
    assert shelf.versions("load") == [(1, True), (2, False)]
    shelf.draft("load", "c")
    assert shelf.publish("load", activate=True) == 3
    assert shelf.versions("load") == [(1, False), (2, False), (3, True)]


def test_publishing_the_same_draft_again_makes_no_new_version(shelf: Shelf) -> None:
    shelf.draft("load", "a")
    assert [shelf.publish("load"), shelf.publish("load")] == [1, 1]


def test_a_published_version_does_not_change_with_its_draft(shelf: Shelf) -> None:
    shelf.draft("load", "a")
    shelf.publish("load")
    shelf.draft("load", "b")
    with shelf.store.read() as tx:
        definition = flows.definition_of(tx, "uid-load", 1)
    assert definition is not None
    assert definition["steps"][0]["command"]["argv"] == ["echo", "a"]


def test_an_older_version_can_be_made_active_again(shelf: Shelf) -> None:
    shelf.draft("load", "a")
    shelf.publish("load")
    shelf.draft("load", "b")
    shelf.publish("load", activate=True)
    with shelf.store.write() as tx:
        activate(tx, shelf.scope, "default", "load", 1, NOW)
    assert shelf.versions("load") == [(1, True), (2, False)]
    with shelf.store.write() as tx, pytest.raises(NotFound):
        activate(tx, shelf.scope, "default", "load", 9, NOW)


def test_a_draft_that_cannot_run_is_not_published(shelf: Shelf) -> None:
    shelf.draft("load", "{{ nonsense }}")
    with pytest.raises(Invalid):
        shelf.publish("load")
    assert shelf.versions("load") == []


def test_publishing_needs_the_right_and_a_flow(shelf: Shelf) -> None:
    viewer = Scope.of(
        role="Viewer", tenant_id="t", workspace_id=shelf.scope.workspace_id, principal_id="p", principal="p"
    )
    shelf.draft("load", "a")
    with pytest.raises(Denied):
        shelf.publish("load", scope=viewer)
    with pytest.raises(NotFound):
        shelf.publish("nowhere")


def test_a_target_resolves_to_its_pinned_or_the_active_version(shelf: Shelf) -> None:
    shelf.draft("load", "a", displayName="Load", inputSchema={"type": "object", "required": ["x"]})
    shelf.publish("load")
    shelf.draft("load", "b")
    shelf.publish("load", activate=True)
    assert shelf.resolve("load") == Resolved("uid-load", 2, {"type": "object"})
    assert shelf.resolve("load", 1) == Resolved("uid-load", 1, {"type": "object", "required": ["x"]}, "Load")


def test_a_target_that_does_not_resolve_says_why(shelf: Shelf) -> None:
    shelf.draft("draft", "a")
    shelf.draft("load", "a")
    shelf.publish("load")
    sentences = [shelf.resolve("nowhere"), shelf.resolve("draft"), shelf.resolve("load", 7)]
    assert [fault.message for fault in sentences if isinstance(fault, Fault)] == [
        "there is no flow default/nowhere",
        "flow default/draft has no active version",
        "flow default/load has no version 7",
    ]


def test_another_workspaces_flow_is_not_found(shelf: Shelf) -> None:
    shelf.draft("load", "a")
    shelf.publish("load")
    target: Target = ("another", "default", "load", None)
    with shelf.store.read() as tx:
        assert isinstance(resolve_many(tx, [target])[target], Fault)


def test_a_thousand_targets_cost_a_few_queries(shelf: Shelf) -> None:
    for number in range(20):
        shelf.draft(f"load-{number}", "a")
        shelf.publish(f"load-{number}")
    targets: list[Target] = [(shelf.scope.workspace_id, "default", f"load-{n % 1000}", None) for n in range(1000)]
    queries = []
    with shelf.store.read() as tx:
        original = tx.all
        tx.all = lambda statement: queries.append(1) or original(statement)  # type: ignore[method-assign,func-returns-value]
        answers = resolve_many(tx, targets)
    assert sum(isinstance(answer, Resolved) for answer in answers.values()) == 20
    assert len(queries) <= 6
