"""Own the quiet lines below the editor's fields: what a zone, a flow and an input come to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from core.views import FlowRow
from core.words import counted
from tui.present.lines import Line, Piece, line
from tui.present.times import next_transition, offset, zone, zone_names


def zone_hint(name: str, now: datetime) -> Line:
    """Return the zone's clock and its next change."""
    if not name:
        return line(Piece("enter lists all zones", "faint"))
    if name != "UTC" and name not in zone_names():
        return line(Piece("no such zone; enter lists all", "warn"))
    clock = Piece(f"now {now.astimezone(zone(name)):%H:%M} {offset(now, name)}", "dim")
    change = next_transition(name, int(now.timestamp() // 3600))
    if change is None:
        return line(clock, Piece(" · no change within a year", "faint"))
    there = change.astimezone(zone(name))
    return line(clock, Piece(f" · {offset(change, name)} from {there:%a} {there.day} {there:%b %H:%M}", "faint"))


def flow_hint(text: str, namespace: str, flows: Sequence[FlowRow]) -> Line:
    """Return the flow's active version and size, or that there is none."""
    if not text:
        return line(Piece("enter lists the flows", "faint"))
    name, _, pinned = text.partition("@")
    space, slash, leaf = name.rpartition("/")
    found = next(
        (
            flow
            for flow in flows
            if flow.name == leaf and flow.namespace == (space if slash else namespace or "default")
        ),
        None,
    )
    if found is None:
        return line(Piece("no such flow; enter lists them", "warn"))
    version = (
        f"pinned v{pinned.removeprefix('v')}, active v{found.active_version}"
        if pinned
        else f"active v{found.active_version}"
    )
    return line(Piece(f"{version} · {counted(found.step_count, 'step')}", "dim"))


def json_hint(text: str, *, broken: bool) -> Line:
    """Return whether the text is a JSON object."""
    if broken:
        return ()
    return line(Piece("JSON ok", "dim") if text.strip() else Piece("a JSON object; empty for none", "faint"))
