"""Own the popup of all zones: each with its clock, its offset and its next change."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from tui.present.columns import Column
from tui.present.lines import Line, Piece, line
from tui.present.times import next_transition, offset, zone, zone_names
from tui.widgets.chooser import Choice, Chooser

COLUMNS = (
    Column("zone", "zone", 22, grow=2, most=34),
    Column("clock", "now", 9),
    Column("offset", "offset", 6),
    Column("next", "next change", 20, drop=1, grow=1),
)


def zone_cells(name: str, now: datetime) -> tuple[Line, ...]:
    """Return name, clock, offset and next change of a zone."""
    change = next_transition(name, int(now.timestamp() // 3600))
    told: Line = (Piece("none within a year", "faint"),)
    if change is not None:
        there = change.astimezone(zone(name))
        told = line(f"{there.day:2} {there:%b %H:%M} ", Piece(f"to {offset(change, name)}", "dim"))
    return line(name), line(f"{now.astimezone(zone(name)):%a %H:%M}"), line(offset(now, name)), told


def zone_picker(now: datetime, current: str = "", text: str = "") -> Chooser:
    """Return the popup; rows are computed when they come into sight."""
    names = ("UTC", *(name for name in zone_names() if name != "UTC"))
    choices = [
        Choice(name, name.lower().replace("_", " ") + " " + name.lower(), partial(zone_cells, name, now))
        for name in names
    ]
    return Chooser("Zone", COLUMNS, choices, current=current, text=text)
