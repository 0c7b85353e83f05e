"""Finds the exact version that each of many firings runs, in a constant number of queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Fault
from core.storage import flows
from core.storage.store import Transaction

Target = tuple[str, str, str, int | None]  # workspace id, namespace, name, pinned version or None for the active one


@dataclass(frozen=True, slots=True)
class Resolved:
    """The Flow version that a target means now; `version` is its number, `input_schema` what it takes."""

    flow_uid: str
    version: int
    input_schema: Mapping[str, Any]
    display_name: str = ""


def resolve_many(tx: Transaction, targets: Iterable[Target]) -> dict[Target, Resolved | Fault]:
    """Return for each target its version, or why there is none."""
    wanted = set(targets)
    uids = flows.named(tx, {target[:3] for target in wanted})
    pinned = {(uids[target[:3]], target[3]) for target in wanted if target[:3] in uids and target[3] is not None}
    found = flows.published(tx, uids.values(), pinned)
    active = {uid: version for uid, version in found if version.active}
    exact = {(uid, version.number): version for uid, version in found}
    answers: dict[Target, Resolved | Fault] = {}
    for target in wanted:
        uid, number = uids.get(target[:3]), target[3]
        version = None if uid is None else active.get(uid) if number is None else exact.get((uid, number))
        answers[target] = _missing(target, uid) if uid is None or version is None else _resolved(uid, version)
    return answers


def _resolved(uid: str, version: flows.Version) -> Resolved:
    definition = version.definition
    schema = definition.get("inputSchema") or {"type": "object"}
    return Resolved(uid, version.number, schema, definition.get("displayName") or "")


def _missing(target: Target, uid: str | None) -> Fault:
    _, namespace, name, number = target
    if uid is None:
        message, remedy = f"there is no flow {namespace}/{name}", "apply it, or correct the name"
    elif number is None:
        message, remedy = f"flow {namespace}/{name} has no active version", "publish and activate one"
    else:
        message, remedy = f"flow {namespace}/{name} has no version {number}", "pin a published one"
    return Fault("target.flow", message, remedy, code="target_unresolved")
