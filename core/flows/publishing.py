"""Publishes Flows: immutable numbered versions, of which at most one is active."""

from __future__ import annotations

from datetime import datetime

from core.access.scope import Scope
from core.errors import NotFound
from core.flows.canonical import canonical_json
from core.flows.definition import parse_flow
from core.storage import flows
from core.storage.store import Transaction


def publish(tx: Transaction, scope: Scope, namespace: str, name: str, activate: bool, now: datetime) -> int:  # noqa: PLR0917 - the contract's order
    """Make the Flow's draft its next version and return its number; the first one becomes active by itself.

    A draft that equals the newest version makes no new one. Raises Denied, NotFound, or Invalid for a draft that
    cannot run.
    """
    scope.require("resources/write")
    draft = flows.draft(tx, scope.workspace_id, namespace, name)
    if draft is None:
        raise NotFound(f"there is no flow {namespace}/{name}", "apply it first")
    parse_flow(draft.definition)
    known = flows.versions(tx, draft.uid)
    number = known[-1].number if known else 0
    if not known or canonical_json(known[-1].definition) != canonical_json(draft.definition):
        number += 1
        flows.add_version(tx, draft.uid, number, draft.definition, principal_id=scope.principal_id, now=now)
    if activate or not known:
        flows.set_active(tx, draft.uid, number)
    tx.changed(scope.workspace_id, "flow", draft.uid)
    return number


def activate(tx: Transaction, scope: Scope, namespace: str, name: str, version: int, now: datetime) -> None:  # noqa: ARG001, PLR0917 - the shape of every command
    """Make a published version the active one; raises Denied or NotFound."""
    scope.require("resources/write")
    draft = flows.draft(tx, scope.workspace_id, namespace, name)
    if draft is None or version not in {one.number for one in flows.versions(tx, draft.uid)}:
        raise NotFound(f"there is no version {version} of flow {namespace}/{name}", "publish it first")
    flows.set_active(tx, draft.uid, version)
    tx.changed(scope.workspace_id, "flow", draft.uid)
