"""Find what is stored, by name, in one workspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.access.scope import Scope
from core.errors import NotFound
from core.resources import envelope
from core.resources.documents import KINDS, Document, Stored
from core.resources.names import near
from core.storage import resources as statements
from core.storage.resources import ResourceRow
from core.storage.store import Transaction
from core.views import Kind


def envelopes(tx: Transaction, scope: Scope, found: Sequence[Stored]) -> list[dict[str, Any]]:
    """Return full envelopes, with two queries for all of them."""
    triggers = [stored.uid for stored in found if stored.kind == "Trigger"]
    flows = [stored.uid for stored in found if stored.kind == "Flow"]
    states = statements.states(tx, scope.workspace_id, triggers) if triggers else {}
    versions = statements.flow_versions(tx, flows) if flows else {}
    return [envelope.manifest(one, scope, states.get(one.uid), versions.get(one.uid)) for one in found]


def live(tx: Transaction, scope: Scope, kind: str, namespace: str, name: str) -> Stored | None:
    """Return the resource of that name, None where there is none."""
    row = statements.live(tx, scope.workspace_id, kind_named(kind), namespace, name)
    return stored_of(row) if row else None


def kind_named(kind: str) -> Kind:
    """Return the kind that a word means, whatever its case or number."""
    for known in KINDS:
        if kind.casefold() in {known.casefold(), f"{known.casefold()}s"}:
            return known
    raise NotFound(f"there is no kind {kind}", f"name {' or '.join(KINDS)}")


def stored_of(row: ResourceRow) -> Stored:
    """Return a row as the value that the rest of the package knows."""
    document = Document(
        kind=kind_named(row.kind),
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


def not_found(tx: Transaction, workspace_id: str, kind: str, namespace: str, name: str) -> NotFound:
    """Return the refusal for a name that is not there, with the one that was probably meant."""
    known = statements.names(tx, workspace_id, kind_named(kind))
    elsewhere = sorted(place for place, other in known if other == name)
    match = near(name, [other for place, other in known if place == namespace])
    remedy = f"did you mean {match}?" if match else "list them to see what there is"
    if elsewhere:
        remedy = f"namespace {elsewhere[0]} has one"
    return NotFound(f"there is no {kind_named(kind)} {name} in namespace {namespace}", remedy)
