"""Apply, read, compare and delete resources, each in the caller's transaction: all of a file or nothing of it.

Flows of a file are stored before its Triggers, so that a target in the same file counts. `generation` counts changes
of the definition; the ETag covers definition and metadata. A Trigger fires as whoever saved its definition last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.access.scope import Scope
from core.errors import Invalid, NotFound
from core.resources.documents import Document, Stored
from core.resources.manifests import File
from core.resources.reading import envelopes, kind_named, live, not_found, stored_of
from core.resources.saving import Saving, TriggerHooks, applied, next_version
from core.resources.trigger import trigger_faults
from core.storage import resources as statements
from core.storage.store import Transaction
from core.views import Applied, RevisionView

__all__ = [
    "Stored", "TriggerHooks", "apply", "delete", "diff", "get", "manifest", "manifests", "revert", "revisions",
    "set_enabled", "stored_resources",
]  # fmt: skip


# -- reading ------------------------------------------------------------------------------------------------------


def get(tx: Transaction, scope: Scope, kind: str, namespace: str, name: str) -> Stored:
    """Return a resource; raises NotFound, with the name that was probably meant."""
    scope.require("resources/read")
    found = live(tx, scope, kind, namespace, name)
    if found is None:
        raise not_found(tx, scope.workspace_id, kind, namespace, name)
    return found


def stored_resources(tx: Transaction, scope: Scope, kind: str, namespace: str | None = None) -> tuple[Stored, ...]:
    """Return every resource of a kind by namespace and name; without a namespace those of all."""
    scope.require("resources/read")
    return tuple(map(stored_of, statements.all_live(tx, scope.workspace_id, kind_named(kind), namespace)))


def manifest(tx: Transaction, scope: Scope, kind: str, namespace: str, name: str) -> dict[str, Any]:
    """Return a resource as its full envelope, with server-owned fields and status."""
    return envelopes(tx, scope, [get(tx, scope, kind, namespace, name)])[0]


def manifests(tx: Transaction, scope: Scope, kind: str, namespace: str | None = None) -> tuple[dict[str, Any], ...]:
    """Return every resource of a kind as its full envelope, by namespace and name."""
    return tuple(envelopes(tx, scope, stored_resources(tx, scope, kind, namespace)))


def revisions(tx: Transaction, scope: Scope, kind: str, namespace: str, name: str) -> tuple[RevisionView, ...]:
    """Return every kept generation, newest first."""
    stored = get(tx, scope, kind, namespace, name)
    return tuple(RevisionView(*row) for row in statements.revisions(tx, stored.uid))


# -- applying -----------------------------------------------------------------------------------------------------


def diff(tx: Transaction, scope: Scope, documents: Iterable[Document]) -> tuple[Applied, ...]:
    """Return what `apply` would change, without the checks that need a write; changes nothing."""
    scope.require("resources/read")
    answers = []
    for document in documents:
        stored = live(tx, scope, document.kind, document.namespace, document.name)
        generation, etag = next_version(document, stored)
        answers.append(applied(document, stored, generation, etag, document.notes))
    return tuple(answers)


def apply(
    tx: Transaction,
    scope: Scope,
    file: Sequence[Document] | File,
    *,
    now: datetime,
    hooks: TriggerHooks | None = None,
    dry_run: bool = False,
    prune: bool = False,
    confirm_scope: bool = False,
) -> tuple[Applied, ...]:
    """Create or change every document's resource and return what was done, in the file's order, deletions last.

    1. Flows, then Triggers; the faults of all of them, and those that the file came with, are raised as one Invalid,
       and the caller rolls back.
    2. `metadata.eTag` that is not the stored one raises StaleETag with the stored envelope.
    3. An enabled Trigger that would fire as somebody else from now on wants `confirm_scope`, else Precondition.
    4. `prune` deletes what has the kind and namespace of a document of the file and is not in it.
    5. `dry_run` does all of it and undoes it.
    """
    saving = Saving(tx, scope, now, hooks, confirm_scope=confirm_scope or dry_run)
    given = file if isinstance(file, File) else File(tuple(file))
    if not dry_run:
        return saving.all(given, prune=prune)
    with tx.rehearsal():
        return saving.all(given, prune=prune)


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
    """Save a Trigger with `definition.enabled` changed, as an edit of its own.

    One whose definition can no longer be read may be disabled; enabling it raises Invalid with its faults.
    """
    if enabled and (faults := trigger_faults(stored.definition)):
        raise Invalid(fault.under("definition") for fault in faults)
    document = replace(stored.document, definition={**stored.definition, "enabled": enabled}, etag=stored.etag)
    return Saving(tx, scope, now, hooks, confirm_scope=confirm_scope).all(File((document,)))[0]


def revert(
    tx: Transaction,
    scope: Scope,
    stored: Stored,
    generation: int,
    *,
    now: datetime,
    hooks: TriggerHooks | None = None,
    confirm_scope: bool = False,
) -> Applied:
    """Save the definition of a kept generation again, as a new one; raises NotFound where that was never kept."""
    kept = {row.generation: row.definition for row in statements.revisions(tx, stored.uid)}
    if generation not in kept:
        known = f"there are {min(kept)} to {max(kept)}" if kept else "there are none"
        raise NotFound(f"{stored.document.label} has no generation {generation}", known)
    document = replace(stored.document, definition=kept[generation], etag=stored.etag)
    return Saving(tx, scope, now, hooks, confirm_scope=confirm_scope).all(File((document,)))[0]


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
    return Saving(tx, scope, now, hooks, confirm_scope=True).remove(stored)
