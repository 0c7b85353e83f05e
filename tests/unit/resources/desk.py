"""A real database and somebody who applies files to it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from core.access.scope import Scope
from core.access.service import open_scope
from core.clock import ManualClock
from core.resources import service
from core.resources.documents import Stored
from core.resources.manifests import parse_documents
from core.storage import access
from core.storage.store import Store, Transaction
from core.views import Applied
from tests.unit.resources.writing import text_of


class Hooks:
    """Keeps what it was told, as the part that follows Triggers would."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, int | None]] = []

    def definition_saved(
        self, tx: Transaction, scope: Scope, stored: Stored, previous: Stored | None, now: datetime
    ) -> None:
        assert (scope.may("resources/write"), tx.clock.now()) == (True, now)
        self.told.append(("saved", stored.name, previous.generation if previous else None))

    def deleted(self, tx: Transaction, scope: Scope, uid: str, now: datetime) -> None:
        assert (scope.may("resources/delete"), tx.clock.now()) == (True, now)
        self.told.append(("deleted", uid, None))


class Desk:
    """Applies, reads and deletes as Ann, who owns the workspace, unless told otherwise."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.scope = open_scope(store, user="ann")
        self.hooks = Hooks()

    @property
    def clock(self) -> ManualClock:
        clock = self.store.clock
        assert isinstance(clock, ManualClock)
        return clock

    def member(self, name: str, role: str) -> Scope:
        with self.store.write() as tx:
            identity = tx.clock.new_id()
            access.add_principal(tx, identity, self.scope.tenant_id, name)
            access.add_member(tx, self.scope.workspace_id, identity, role)
        return open_scope(self.store, user=name)

    def apply(self, *envelopes: dict[str, Any], scope: Scope | None = None, **options: bool) -> tuple[Applied, ...]:
        return self.apply_text(text_of(*envelopes), scope=scope, **options)

    def apply_text(self, text: str, *, scope: Scope | None = None, **options: bool) -> tuple[Applied, ...]:
        documents, now = parse_documents(text), self.clock.now()
        with self.store.write() as tx:
            return service.apply(tx, scope or self.scope, documents, now=now, hooks=self.hooks, **options)

    def delete(self, kind: str, name: str, *, scope: Scope | None = None) -> Applied:
        with self.store.write() as tx:
            return service.delete(
                tx, scope or self.scope, kind, "default", name, now=self.clock.now(), hooks=self.hooks
            )

    def set_enabled(self, name: str, *, enabled: bool, scope: Scope | None = None) -> Applied:
        with self.store.write() as tx:
            acting = scope or self.scope
            stored = service.get(tx, acting, "Trigger", "default", name)
            return service.set_enabled(tx, acting, stored, enabled, now=self.clock.now(), hooks=self.hooks)

    def get(self, kind: str, name: str, *, scope: Scope | None = None) -> Stored:
        with self.store.read() as tx:
            return service.get(tx, scope or self.scope, kind, "default", name)

    def manifest(self, kind: str, name: str) -> dict[str, Any]:
        with self.store.read() as tx:
            return service.manifest(tx, self.scope, kind, "default", name)

    def names(self, kind: str) -> list[str]:
        with self.store.read() as tx:
            return [stored.name for stored in service.stored_resources(tx, self.scope, kind)]
