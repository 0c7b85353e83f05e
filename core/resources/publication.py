"""What applying or deleting a Flow brings with it: the first version, a draft, Triggers left without a target."""

from __future__ import annotations

from datetime import datetime

from core.access.scope import Scope
from core.flows import publishing
from core.flows.canonical import canonical_json
from core.resources.documents import DEFAULT_NAMESPACE, Stored
from core.storage import resources as statements
from core.storage.flows import versions
from core.storage.store import Transaction


def publish_first(tx: Transaction, scope: Scope, flow: Stored, now: datetime) -> int:
    """Publish and activate the first version of a new Flow."""
    return publishing.publish(tx, scope, flow.namespace, flow.name, True, now)


def draft_note(tx: Transaction, flow: Stored) -> str:
    """Say of a Flow that was changed what goes on and what publishes the change."""
    active = next((version for version in versions(tx, flow.uid) if version.active), None)
    publish = f"publish it with: triggerdeck publish {flow.name} --activate"
    if active is None:
        return f"saved as a draft, no version is active; {publish}"
    if canonical_json(active.definition) == canonical_json(flow.definition):
        return f"the same as version {active.number}, which is active; nothing to publish"
    return f"saved as a draft, version {active.number} stays active; {publish}"


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
