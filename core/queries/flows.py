"""Answers which Flows there are and what their versions are."""

from __future__ import annotations

from statistics import median

from core.access.scope import Scope
from core.queries.context import Reading
from core.resources import service
from core.storage import read_triggers, runtimes
from core.views import FlowRow, FlowView, Runtimes

RUNS = 50


def rows(reading: Reading, scope: Scope, namespace: str | None) -> tuple[FlowRow, ...]:
    """Return every Flow, by namespace and name."""
    versions = read_triggers.active_versions(reading.tx, reading.workspace_id)
    users = read_triggers.flow_users(reading.tx, reading.workspace_id)
    found = []
    for stored in service.stored_resources(reading.tx, scope, "Flow", namespace):
        key = (stored.namespace, stored.name)
        _uid, active, newest = versions[key]
        found.append(_row(reading, stored, active, newest, users.get(key, 0)))
    return tuple(found)


def view(reading: Reading, scope: Scope, namespace: str, name: str) -> FlowView:
    """Return one Flow with its versions, newest first, and the input schema of the active one."""
    stored = service.get(reading.tx, scope, "Flow", namespace, name)
    _uid, active, newest = read_triggers.active_versions(reading.tx, reading.workspace_id)[namespace, name]
    users = read_triggers.flow_users(reading.tx, reading.workspace_id).get((namespace, name), 0)
    versions = read_triggers.flow_versions(reading.tx, stored.uid)
    current = next((definition for _, _, is_active, definition in versions if is_active), stored.definition)
    return FlowView(
        row=_row(reading, stored, active, newest, users),
        manifest=service.manifest(reading.tx, scope, "Flow", namespace, name),
        versions=tuple((number, at, is_active) for number, at, is_active, _ in versions),
        input_schema=current.get("inputSchema") or {"type": "object"},
    )


def how_long(reading: Reading, namespace: str, name: str) -> Runtimes | None:
    """Return how long a Flow's newest runs took, None where none has completed."""
    spans = runtimes.newest(reading.tx, reading.workspace_id, namespace, name, RUNS)
    lengths = [max(0.0, (end - start).total_seconds()) for start, end in spans]
    return Runtimes(len(lengths), median(lengths), max(lengths)) if lengths else None


def _row(reading: Reading, stored: service.Stored, active: int | None, newest: int | None, users: int) -> FlowRow:
    published = read_triggers.flow_versions(reading.tx, stored.uid)
    return FlowRow(
        uid=stored.uid,
        namespace=stored.namespace,
        name=stored.name,
        display_name=stored.definition.get("displayName") or stored.name,
        generation=stored.generation,
        active_version=active,
        newest_version=newest,
        draft_differs=not published or published[0][3] != stored.definition,
        step_count=len(stored.definition.get("steps", ())),
        used_by=users,
    )
