"""Owns when: schedules as fixed sets of instants.

Pure: no I/O beyond the zone data package, no clock. Instants are whole epoch seconds. The only computation of fire
times; preview, editor, timeline, rehearsal, projection and firing all call it.
"""

from core.triggers.cron import field_at
from core.triggers.jitter import due_at
from core.triggers.parse import parse_schedule, read_instant
from core.triggers.preview import DaylightNote, Fire, daylight_notes, fire_notes, preview
from core.triggers.schedule import EVALUATOR_VERSION, Schedule
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
    "parse_schedule",
    "preview",
    "read_instant",
    "short_words",
    "unix_to_quartz",
]
