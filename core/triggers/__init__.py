"""Owns when: schedules as fixed sets of instants.

Pure: no I/O beyond the zone data package, no clock. Instants are whole epoch seconds. The only computation of fire
times; preview, editor, timeline, rehearsal, projection and firing all call it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.triggers.cron import field_at
from core.triggers.jitter import due_at
from core.triggers.known import known_schedule
from core.triggers.parse import parse_schedule, read_instant
from core.triggers.schedule import EVALUATOR_VERSION, Schedule

if TYPE_CHECKING:
    from core.triggers.forecast import DaylightNote, Fire, daylight_notes, fire_notes, preview
    from core.triggers.unix import unix_to_quartz
    from core.triggers.words import Explanation, explain, short_words

__all__ = [
    "EVALUATOR_VERSION",
    "DaylightNote",
    "Explanation",
    "Fire",
    "Schedule",
    "daylight_notes",
    "due_at",
    "explain",
    "field_at",
    "fire_notes",
    "known_schedule",
    "parse_schedule",
    "preview",
    "read_instant",
    "short_words",
    "unix_to_quartz",
]

_LATER = {
    **dict.fromkeys(("DaylightNote", "Fire", "daylight_notes", "fire_notes", "preview"), "forecast"),
    **dict.fromkeys(("Explanation", "explain", "short_words"), "words"),
    "unix_to_quartz": "unix",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # what only people read is loaded when somebody reads

    found = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return found
