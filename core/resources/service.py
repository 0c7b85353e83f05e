"""Apply, read, compare and delete resources, each in the caller's transaction: all of a file or nothing of it.

Flows of a file are stored before its Triggers, so that a target in the same file counts. `generation` counts changes
of the definition; the ETag covers definition and metadata. A Trigger fires as whoever saved its definition last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from core.access import audit
from core.access.scope import Scope
from core.errors import Fault, Invalid, NotFound, Precondition, StaleETag
from core.resources import envelope, publication
from core.resources.diffs import changes
from core.resources.documents import KINDS, Document, Stored, etag_of
from core.resources.names import near
from core.resources.targets import definition_faults
from core.storage import resources as statements
from core.storage.resources import ResourceRow
from core.storage.store import Transaction
from core.views import Applied, Kind, RevisionView

__all__ = [
    "Stored", "TriggerHooks", "apply", "delete", "diff", "get", "manifest", "manifests", "revisions", "set_enabled",
    "stored_resources",
]  # fmt: skip


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


# -- reading ------------------------------------------------------------------------------------------------------


def get(tx: Transaction, scope: Scope, kind: str, namespace: str, name: str) -> Stored:
    """Return a resource; raises NotFound, with the name that was probably meant."""
    scope.require("resources/read")
    found = _live(tx, scope, kind, namespace, name)
    if found is None:
        raise _unknown(tx, scope, kind, namespace, name)
    return found


def stored_resources(tx: Transaction, scope: Scope, kind: str, namespace: str | None = None) -> tuple[Stored, ...]:
    """Return every resource of a kind by namespace and name; without a namespace those of all."""
    scope.require("resources/read")
    return tuple(map(_stored, statements.all_live(tx, scope.workspace_id, _kind(kind), namespace)))


def manifest(tx: Transaction, scope: Scope, kind: str, namespace: str, name: str) -> dict[str, Any]:
    """Return a resource as its full envelope, with server-owned fields and status."""
    return _manifests(tx, scope, [get(tx, scope, kind, namespace, name)])[0]


def manifests(tx: Transaction, scope: Scope, kind: str, namespace: str | None = None) -> tuple[dict[str, Any], ...]:
    """Return every resource of a kind as its full envelope, by namespace and name."""
    return tuple(_manifests(tx, scope, stored_resources(tx, scope, kind, namespace)))


def revisions(tx: Transaction, scope: Scope, kind: str, namespace: str, name: str) -> tuple[RevisionView, ...]:
    """Return every kept generation, newest first."""
    stored = get(tx, scope, kind, namespace, name)
    return tuple(RevisionView(*row) for row in statements.revisions(tx, stored.uid))


def _manifests(tx: Transaction, scope: Scope, found: Sequence[Stored]) -> list[dict[str, Any]]:
    triggers = [stored.uid for stored in found if stored.kind == "Trigger"]
    flows = [stored.uid for stored in found if stored.kind == "Flow"]
    states = statements.states(tx, scope.workspace_id, triggers) if triggers else {}
    versions = statements.flow_versions(tx, flows) if flows else {}
    return [envelope.manifest(one, scope, states.get(one.uid), versions.get(one.uid)) for one in found]


def _live(tx: Transaction, scope: Scope, kind: str, namespace: str, name: str) -> Stored | None:
    row = statements.live(tx, scope.workspace_id, _kind(kind), namespace, name)
    return _stored(row) if row else None


def _kind(kind: str) -> Kind:
    for known in KINDS:
        if kind.casefold() in {known.casefold(), f"{known.casefold()}s"}:
            return known
    raise NotFound(f"there is no kind {kind}", f"name {' or '.join(KINDS)}")


def _stored(row: ResourceRow) -> Stored:
    document = Document(
        kind=_kind(row.kind),
        namespace=row.namespace,
        name=row.name,
        definition=row.definition,
        tags=tuple(row.tags),
        annotations=row.annotations,
    )
    return Stored(
        uid=row.uid,
        workspace_id=row.workspace_id,
        document=document,
        generation=row.generation,
        etag=row.etag,
        principal_id=row.principal_id,
        principal=row.principal,
        created_at=row.created_at,
        updated_at=row.updated_at,
        deleted_at=row.deleted_at,
    )


def _unknown(tx: Transaction, scope: Scope, kind: str, namespace: str, name: str) -> NotFound:
    known = statements.names(tx, scope.workspace_id, _kind(kind))
    elsewhere = sorted(place for place, other in known if other == name)
    match = near(name, [other for place, other in known if place == namespace])
    remedy = f"did you mean {match}?" if match else "list them to see what there is"
    if elsewhere:
        remedy = f"namespace {elsewhere[0]} has one"
    return NotFound(f"there is no {_kind(kind)} {name} in namespace {namespace}", remedy)


# -- applying -----------------------------------------------------------------------------------------------------


def diff(tx: Transaction, scope: Scope, documents: Iterable[Document]) -> tuple[Applied, ...]:
    """Return what `apply` would change, without the checks that need a write; changes nothing."""
    scope.require("resources/read")
    answers = []
    for document in documents:
        stored = _live(tx, scope, document.kind, document.namespace, document.name)
        generation, etag = _next_version(document, stored)
        answers.append(_applied(document, stored, generation, etag, document.notes))
    return tuple(answers)


def apply(
    tx: Transaction,
    scope: Scope,
    documents: Sequence[Document],
    *,
    now: datetime,
    hooks: TriggerHooks | None = None,
    dry_run: bool = False,
    prune: bool = False,
    confirm_scope: bool = False,
) -> tuple[Applied, ...]:
    """Create or change every document's resource and return what was done, in the file's order, deletions last.

    1. Flows, then Triggers; the faults of all of them are raised as one Invalid, and the caller rolls back.
    2. `metadata.eTag` that is not the stored one raises StaleETag with the stored envelope.
    3. An enabled Trigger that would fire as somebody else from now on wants `confirm_scope`, else Precondition.
    4. `prune` deletes what has the kind and namespace of a document of the file and is not in it.
    5. `dry_run` does all of it and undoes it.
    """
    saving = _Saving(tx, scope, now, hooks, confirm_scope=confirm_scope or dry_run)
    if not dry_run:
        return saving.all(documents, prune=prune)
    with tx.rehearsal():
        return saving.all(documents, prune=prune)


def set_enabled(
    tx: Transaction,
    scope: Scope,
    stored: Stored,
    enabled: bool,
    *,
    now: datetime,
    hooks: TriggerHooks | None = None,
    confirm_scope: bool = True,
) -> Applied:
    """Save a Trigger with `definition.enabled` changed, as an edit of its own."""
    document = replace(stored.document, definition={**stored.definition, "enabled": enabled}, etag=stored.etag)
    return _Saving(tx, scope, now, hooks, confirm_scope=confirm_scope).all([document], prune=False)[0]


def delete(
    tx: Transaction,
    scope: Scope,
    kind: str,
    namespace: str,
    name: str,
    *,
    now: datetime,
    hooks: TriggerHooks | None = None,
) -> Applied:
    """Delete a resource; its revisions and its history stay. The same name applied again is another resource."""
    scope.require("resources/delete")
    stored = get(tx, scope, kind, namespace, name)
    return _Saving(tx, scope, now, hooks, confirm_scope=True).remove(stored)


class _Saving:
    """One apply: everything that its documents share."""

    def __init__(
        self, tx: Transaction, scope: Scope, now: datetime, hooks: TriggerHooks | None, *, confirm_scope: bool
    ) -> None:
        self.tx, self.scope, self.now, self.hooks = tx, scope, now, hooks
        self.confirm_scope = confirm_scope

    def all(self, documents: Sequence[Document], *, prune: bool) -> tuple[Applied, ...]:
        """Save all or raise."""
        self.scope.require("resources/write")
        if prune:
            self.scope.require("resources/delete")
        answers: dict[int, Applied] = {}
        faults: list[Fault] = []
        for place in sorted(range(len(documents)), key=lambda place: KINDS[::-1].index(documents[place].kind)):
            try:
                answers[place] = self.save(documents[place])
            except Invalid as invalid:
                faults += _placed(invalid.faults, documents[place], many=len(documents) > 1)
        if faults:
            raise Invalid(faults)
        removed = [self.remove(stored) for stored in self._left_out(documents)] if prune else []
        return (*(answers[place] for place in range(len(documents))), *removed)

    def save(self, document: Document) -> Applied:
        """Create or change one resource; raises Invalid with faults below the document."""
        stored = _live(self.tx, self.scope, document.kind, document.namespace, document.name)
        self._check_etag(document, stored)
        generation, etag = _next_version(document, stored)
        if stored is not None and etag == stored.etag:
            return _applied(document, stored, generation, etag, document.notes)
        notes = [*document.notes, *self._scope_notes(document, stored)]
        faults = definition_faults(self.tx, self.scope.workspace_id, document, stored, self.now)
        if faults:
            raise Invalid(faults)
        fresh = self._store(document, stored, generation, etag)
        published = self._follow(fresh, stored, notes)
        answer = _applied(document, stored, generation, fresh.etag, tuple(notes))
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
        return [_stored(row) for row in rows if (row.kind, row.namespace, row.name) not in named]

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
        current = _live(self.tx, self.scope, stored.kind, stored.namespace, stored.name) or stored
        message = f"{stored.document.label} was changed by somebody else (generation {current.generation} now)"
        return StaleETag(message, _manifests(self.tx, self.scope, [current])[0])

    def _scope_notes(self, document: Document, stored: Stored | None) -> list[str]:
        """Return whose identity a save replaces; raises Precondition where that was not agreed to."""
        if stored is None or document.kind != "Trigger" or stored.principal_id == self.scope.principal_id:
            return []
        if document.definition.get("enabled") is not True or document.same_definition(stored.document):
            return []
        sentence = f"{document.label} fires as {self.scope.principal} from now on, no longer as {stored.principal}"
        if not self.confirm_scope:
            raise Precondition(f"saved, {sentence}", "confirm it with --confirm-scope, or ask them to save it")
        return [sentence]

    def _store(self, document: Document, stored: Stored | None, generation: int, etag: str) -> Stored:
        values: dict[str, Any] = {
            "tags": list(document.tags),
            "annotations": dict(document.annotations),
            "definition": dict(document.definition),
            "generation": generation,
            "updated_at": self.now,
        }
        redefined = stored is None or generation != stored.generation
        if redefined:
            values["principal_id"] = self.scope.principal_id
        uid = stored.uid if stored else self.tx.clock.new_id()
        values["etag"] = etag or etag_of(uid, generation, document)
        if stored is None:
            names = {"kind": document.kind, "namespace": document.namespace, "name": document.name}
            identity = {"uid": uid, "workspace_id": self.scope.workspace_id, "created_at": self.now}
            statements.add(self.tx, values | names | identity)
        elif not statements.change(self.tx, uid, stored.etag, values):
            raise self._stale(stored)
        if redefined:
            definition, principal = document.definition, self.scope.principal_id
            statements.add_revision(self.tx, uid, generation, definition, self.now, principal)
        return self._again(document)

    def _again(self, document: Document) -> Stored:
        row = statements.live(self.tx, self.scope.workspace_id, document.kind, document.namespace, document.name)
        if row is None:
            raise NotFound(f"{document.label} was deleted while it was saved", "apply it again")
        return _stored(row)

    def _follow(self, fresh: Stored, before: Stored | None, notes: list[str]) -> int | None:
        """Do what a stored change brings with it; return the Flow version that was published, if one was."""
        self._record("update" if before else "create", fresh)
        if fresh.kind == "Flow":
            return publication.follow(self.tx, self.scope, fresh, before, notes, self.now)
        if self.hooks is not None:
            self.hooks.definition_saved(self.tx, self.scope, fresh, before, self.now)
        return None

    def _record(self, action: str, stored: Stored) -> None:
        detail = {"generation": stored.generation, "namespace": stored.namespace}
        audit.record(self.tx, self.scope, action, stored.kind, stored.uid, stored.name, detail=detail, at=self.now)
        self.tx.changed(self.scope.workspace_id, stored.kind.lower(), stored.uid)


def _next_version(document: Document, stored: Stored | None) -> tuple[int, str]:
    """Return generation and ETag after a save; a resource that is not there yet has no ETag to tell."""
    if stored is None:
        return 1, ""
    same = document.same_definition(stored.document)
    if same and document.same_metadata(stored.document):
        return stored.generation, stored.etag
    generation = stored.generation if same else stored.generation + 1
    return generation, etag_of(stored.uid, generation, document)


def _applied(document: Document, stored: Stored | None, generation: int, etag: str, notes: tuple[str, ...]) -> Applied:
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


def _placed(faults: Iterable[Fault], document: Document, *, many: bool) -> list[Fault]:
    if not many:
        return list(faults)
    place = f"document {document.number} ({document.label})"
    return [replace(fault, field=f"{place}, {fault.field}" if fault.field else place) for fault in faults]
