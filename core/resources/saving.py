"""Save one file's documents: compare, check, store, and do what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from core.access import audit
from core.access.scope import Scope
from core.errors import Invalid, Precondition, StaleETag
from core.resources import publication
from core.resources.diffs import changes
from core.resources.documents import KINDS, Document, Stored, etag_of
from core.resources.manifests import File
from core.resources.reading import envelopes, live, stored_of
from core.resources.targets import definition_faults
from core.storage import resources as statements
from core.storage.store import Transaction
from core.views import Applied


class TriggerHooks(Protocol):
    """What keeps a Trigger's state true to its definition: `core.admission.control`."""

    def definition_saved(
        self, tx: Transaction, scope: Scope, stored: Stored, previous: Stored | None, now: datetime
    ) -> None:
        """Follow a definition that was just stored."""
        ...

    def deleted(self, tx: Transaction, scope: Scope, uid: str, now: datetime) -> None:
        """Follow a Trigger that was just deleted."""
        ...


class Saving:
    """One apply: everything that its documents share."""

    def __init__(
        self, tx: Transaction, scope: Scope, now: datetime, hooks: TriggerHooks | None, *, confirm_scope: bool
    ) -> None:
        self.tx, self.scope, self.now, self.hooks = tx, scope, now, hooks
        self.confirm_scope = confirm_scope

    def all(self, file: File, *, prune: bool = False) -> tuple[Applied, ...]:
        """Save all or raise every fault of the file: what stands in it already, and what the stored says of the rest.

        A Flow that a Trigger misses may be one of those that could not be read, and is no second fault then.
        """
        documents = file.documents
        self.scope.require("resources/write")
        if prune:
            self.scope.require("resources/delete")
        answers: dict[int, Applied] = {}
        faults = list(file.faults)
        for place in sorted(range(len(documents)), key=lambda place: KINDS[::-1].index(documents[place].kind)):
            try:
                answers[place] = self.save(documents[place])
            except Invalid as invalid:
                found = [fault.at_place(documents[place].place) for fault in invalid.faults]
                faults += [fault for fault in found if not file.hides_flows or fault.code != "target_unresolved"]
            except Precondition:
                if not faults:
                    raise
        if faults:
            raise Invalid(faults)
        removed = [self.remove(stored) for stored in self._left_out(documents)] if prune else []
        return (*(answers[place] for place in range(len(documents))), *removed)

    def save(self, document: Document) -> Applied:
        """Create or change one resource; raises Invalid with faults below the document."""
        stored = live(self.tx, self.scope, document.kind, document.namespace, document.name)
        self._check_etag(document, stored)
        generation, etag = next_version(document, stored)
        if stored is not None and etag == stored.etag:
            return applied(document, stored, generation, etag, document.notes)
        notes = [*document.notes, *self._scope_notes(document, stored)]
        faults = definition_faults(self.tx, self.scope.workspace_id, document, stored, self.now)
        if faults:
            raise Invalid(faults)
        fresh = self._store(document, stored, generation, etag)
        published = self._follow(fresh, stored, notes)
        answer = applied(document, stored, generation, fresh.etag, tuple(notes))
        return replace(answer, published_version=published)

    def remove(self, stored: Stored) -> Applied:
        """Delete one resource."""
        gone = {"deleted_at": self.now, "updated_at": self.now}
        if not statements.change(self.tx, stored.uid, stored.etag, gone):
            raise self._stale(stored)
        if stored.kind == "Trigger" and self.hooks is not None:
            self.hooks.deleted(self.tx, self.scope, stored.uid, self.now)
        self._record("delete", stored)
        notes = publication.orphans(self.tx, self.scope.workspace_id, stored) if stored.kind == "Flow" else ()
        return Applied(
            stored.kind, stored.namespace, stored.name, "deleted", stored.generation, stored.etag, notes=notes
        )

    def _left_out(self, documents: Sequence[Document]) -> list[Stored]:
        named = {document.key for document in documents}
        places = dict.fromkeys((document.kind, document.namespace) for document in documents)
        rows = [
            row
            for kind, namespace in sorted(places, key=lambda place: KINDS.index(place[0]))
            for row in statements.all_live(self.tx, self.scope.workspace_id, kind, namespace)
        ]
        return [stored_of(row) for row in rows if (row.kind, row.namespace, row.name) not in named]

    def _check_etag(self, document: Document, stored: Stored | None) -> None:
        if document.etag is None or (stored is not None and document.etag == stored.etag):
            return
        if stored is None:
            raise Precondition(
                f"{document.label} does not exist any more in namespace {document.namespace}",
                "remove metadata.eTag to create it anew",
            )
        raise self._stale(stored)

    def _stale(self, stored: Stored) -> StaleETag:
        current = live(self.tx, self.scope, stored.kind, stored.namespace, stored.name) or stored
        message = f"{stored.document.label} was changed by somebody else (generation {current.generation} now)"
        return StaleETag(message, envelopes(self.tx, self.scope, [current])[0])

    def _scope_notes(self, document: Document, stored: Stored | None) -> list[str]:
        """Return whose identity a save replaces; raises Precondition where that was not agreed to."""
        if stored is None or document.kind != "Trigger" or stored.principal_id == self.scope.principal_id:
            return []
        if not document.enabled or document.same_definition(stored.document):
            return []
        sentence = f"{document.label} fires as {self.scope.principal} from now on, no longer as {stored.principal}"
        if not self.confirm_scope:
            remedy = "confirm the change of identity (`--confirm-scope`), or let them save it"
            raise Precondition(f"saved by you, {sentence}", remedy)
        return [sentence]

    def _store(self, document: Document, stored: Stored | None, generation: int, etag: str) -> Stored:
        fresh = self._fresh(document, stored, generation, etag)
        if stored is None:
            statements.add(self.tx, self._content(fresh) | self._identity(fresh))
        elif not statements.change(self.tx, fresh.uid, stored.etag, self._content(fresh)):
            raise self._stale(stored)
        if stored is None or generation != stored.generation:
            made = {"created_at": self.now, "principal_id": self.scope.principal_id}
            revision = {"uid": fresh.uid, "generation": generation, "definition": dict(document.definition)}
            statements.add_revision(self.tx, revision | made)
        return fresh

    def _fresh(self, document: Document, stored: Stored | None, generation: int, etag: str) -> Stored:
        """Return what will be stored."""
        uid = stored.uid if stored else self.tx.clock.new_id()
        mine = stored is None or self._takes_over(document, stored)
        return Stored(
            uid=uid,
            workspace_id=self.scope.workspace_id,
            document=replace(document, etag=None, notes=()),
            generation=generation,
            etag=etag or etag_of(uid, generation, document),
            principal_id=self.scope.principal_id if mine or stored is None else stored.principal_id,
            principal=self.scope.principal if mine or stored is None else stored.principal,
            created_at=stored.created_at if stored else self.now,
            updated_at=self.now,
        )

    def _content(self, fresh: Stored) -> dict[str, Any]:
        return {
            "tags": list(fresh.document.tags),
            "annotations": dict(fresh.document.annotations),
            "definition": dict(fresh.definition),
            "generation": fresh.generation,
            "etag": fresh.etag,
            "principal_id": fresh.principal_id,
            "updated_at": fresh.updated_at,
        }

    def _identity(self, fresh: Stored) -> dict[str, Any]:
        return {
            "uid": fresh.uid,
            "workspace_id": fresh.workspace_id,
            "kind": fresh.kind,
            "namespace": fresh.namespace,
            "name": fresh.name,
            "created_at": fresh.created_at,
        }

    def _takes_over(self, document: Document, stored: Stored) -> bool:
        """Return whether the saver is the principal from now on: not for disabling, not for metadata."""
        return (document.kind == "Flow" or document.enabled) and not document.same_definition(stored.document)

    def _follow(self, fresh: Stored, before: Stored | None, notes: list[str]) -> int | None:
        """Do what a stored change brings with it; return the Flow version that was published, if one was."""
        self._record("update" if before else "create", fresh)
        if fresh.kind == "Trigger":
            if self.hooks is not None:
                self.hooks.definition_saved(self.tx, self.scope, fresh, before, self.now)
            return None
        if before is None:
            notes.append("published as version 1, which is active")
            return publication.publish_first(self.tx, self.scope, fresh, self.now)
        if fresh.generation != before.generation:
            notes.append(publication.draft_note(self.tx, fresh))
        return None

    def _record(self, action: str, stored: Stored) -> None:
        detail = {"generation": stored.generation, "namespace": stored.namespace}
        audit.record(self.tx, self.scope, action, stored.kind, stored.uid, stored.name, detail=detail, at=self.now)
        self.tx.changed(self.scope.workspace_id, stored.kind.lower(), stored.uid)


def next_version(document: Document, stored: Stored | None) -> tuple[int, str]:
    """Return generation and ETag after a save; a resource that is not there yet has no ETag to tell."""
    if stored is None:
        return 1, ""
    same = document.same_definition(stored.document)
    if same and document.same_metadata(stored.document):
        return stored.generation, stored.etag
    generation = stored.generation if same else stored.generation + 1
    return generation, etag_of(stored.uid, generation, document)


def applied(document: Document, stored: Stored | None, generation: int, etag: str, notes: tuple[str, ...]) -> Applied:
    """Return what a save does, for people."""
    unchanged = stored is not None and etag == stored.etag
    return Applied(
        kind=document.kind,
        namespace=document.namespace,
        name=document.name,
        action="unchanged" if unchanged else "configured" if stored else "created",
        generation=generation,
        etag=etag,
        changes=() if unchanged else changes(stored.document if stored else None, document),
        notes=notes,
    )
