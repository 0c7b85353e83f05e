"""What applying or deleting a Flow brings with it: the first version, a draft, Triggers left without a target."""

from __future__ import annotations

from datetime import datetime

from core.access.scope import Scope
from core.flows import publishing
from core.resources.documents import DEFAULT_NAMESPACE, Stored
from core.storage import resources as statements
from core.storage.store import Transaction


def follow(
    tx: Transaction, scope: Scope, flow: Stored, before: Stored | None, notes: list[str], now: datetime
) -> int | None:
    """Publish and activate the first version of a new Flow; say of a later change that it is a draft."""
    if before is None:
        notes.append("published as version 1, which is active")
        return publishing.publish(tx, scope, flow.namespace, flow.name, True, now)
    if flow.generation != before.generation:
        active = statements.flow_versions(tx, [flow.uid]).get(flow.uid, (None, None))[0]
        goes_on = f"version {active} stays active" if active else "no version is active"
        notes.append(f"saved as a draft, {goes_on}; publish it with: triggerdeck publish {flow.name} --activate")
    return None


def orphans(tx: Transaction, workspace_id: str, flow: Stored) -> tuple[str, ...]:
    """Return a note that names the Triggers whose target has just gone."""
    names = [
        row.name
        for row in statements.all_live(tx, workspace_id, "Trigger")
        if _target(row.definition) == (flow.namespace, flow.name)
    ]
    if not names:
        return ()
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return (f"no longer resolved by {shown}: their occurrences will fail as target_unresolved",)


def _target(definition: dict[str, object]) -> tuple[str, str]:
    target = definition.get("target")
    flow = target.get("flow") if isinstance(target, dict) else None
    if not isinstance(flow, dict):
        return ("", "")
    return (str(flow.get("namespace") or DEFAULT_NAMESPACE), str(flow.get("name")))
