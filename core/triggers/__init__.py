"""Owns when: schedules as fixed sets of instants.

Pure: no I/O beyond the zone data package, no clock. Instants are whole epoch seconds. The only computation of fire
times; preview, editor, timeline, rehearsal, projection and firing all call it.
"""

from core.triggers.cron import field_at
from core.triggers.jitter import due_at
from core.triggers.parse import parse_schedule, read_instant
from core.triggers.schedule import EVALUATOR_VERSION, Schedule
from core.triggers.unix import unix_to_quartz

__all__ = [
    "EVALUATOR_VERSION",
    "Schedule",
    "due_at",
    "field_at",
    "parse_schedule",
    "read_instant",
    "unix_to_quartz",
]
