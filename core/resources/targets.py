"""Check of a Trigger what depends on the time and on what is stored: is there a next time, does the target resolve.

Only what an edit touches is checked, so a Trigger whose Flow has gone or whose time has passed can still be renamed
and disabled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.errors import Fault
from core.flows.canonical import canonical_json
from core.flows.resolve import Resolved, resolve_many
from core.flows.schema import validate_input
from core.resources.documents import DEFAULT_NAMESPACE, Document, Stored
from core.resources.names import near
from core.resources.trigger import schedule_faults
from core.storage.resources import names
from core.storage.store import Transaction


def definition_faults(
    tx: Transaction, workspace_id: str, document: Document, stored: Stored | None, now: datetime
) -> list[Fault]:
    """Return the faults of a Trigger's save, below `definition`; a Flow has none here."""
    if document.kind != "Trigger":
        return []
    old = stored.definition if stored else {}
    switched_on = document.definition.get("enabled") is True and old.get("enabled") is not True
    faults: list[Fault] = []
    if switched_on or _differs(document, old, "source"):
        faults += schedule_faults(document.definition["source"]["schedule"], now)
    if switched_on or _differs(document, old, "target") or _differs(document, old, "input"):
        faults += _target_faults(tx, workspace_id, document)
    return [fault.under("definition") for fault in faults]


def _differs(document: Document, old: Mapping[str, Any], field: str) -> bool:
    return canonical_json(document.definition.get(field)) != canonical_json(old.get(field))


def _target_faults(tx: Transaction, workspace_id: str, document: Document) -> list[Fault]:
    flow = document.definition["target"]["flow"]
    namespace, name, version = flow.get("namespace") or DEFAULT_NAMESPACE, flow["name"], flow.get("version")
    wanted = (workspace_id, namespace, name, version)
    own = (workspace_id, document.namespace, name, version)
    found = resolve_many(tx, [wanted, own])
    answer = found[wanted]
    if isinstance(answer, Resolved):
        values = document.definition.get("input") or {}
        return [fault.under("input") for fault in validate_input(answer.input_schema, values)]
    if own != wanted and isinstance(found[own], Resolved):
        remedy = f"write namespace: {document.namespace} to mean the one there"
        return [replace(answer, remedy=remedy)]
    known = [flow for place, flow in names(tx, workspace_id, "Flow") if place == namespace]
    if name not in known and (meant := near(name, known)):
        return [replace(answer, remedy=f"did you mean {meant}?")]
    return [answer]
