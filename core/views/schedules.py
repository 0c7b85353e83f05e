"""When a rule fires, and the timeline of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class FireView:
    """One previewed fire time, or (`skipped`) a wall time that yields none.

    `wall` is local text (`2026-03-29 03:30:00`), `offset_s` seconds east of UTC, `notes` sentences about a gap or
    an overlap. `nominal_at` is None only where `skipped`.
    """

    nominal_at: datetime | None
    due_at: datetime | None
    wall: str
    offset_s: int
    abbreviation: str
    zone: str
    notes: tuple[str, ...] = ()
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class SchedulePreview:
    """The next fires of a rule with its words; faults instead where the rule says nothing."""

    fires: tuple[FireView, ...]
    exhausted: bool
    words: str
    notes: tuple[str, ...] = ()
    next_transition: datetime | None = None
    faults: tuple[Any, ...] = ()  # core.errors.Fault


@dataclass(frozen=True, slots=True)
class FireChange:
    """How an edit moves the fires of the coming days; `until_at` where the rules fire too often to compare them all."""

    added: tuple[datetime, ...]
    removed: tuple[datetime, ...]
    kept: int
    moved: tuple[tuple[datetime, datetime], ...] = ()
    until_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TimelineLane:
    """One Trigger's past and forecast, counted into the timeline's slots."""

    uid: str
    name: str
    namespace: str
    time_zone: str | None
    past: tuple[int, ...]
    forecast: tuple[int, ...]
    marks: tuple[tuple[int, str], ...] = ()  # (slot, kind): gap, overlap, skipped, failed, paused


@dataclass(frozen=True, slots=True)
class Timeline:
    """Fires per slot over [from_at, to_at); slots are equally long."""

    from_at: datetime
    to_at: datetime
    slot_s: int
    now: datetime
    lanes: tuple[TimelineLane, ...]
    total: tuple[int, ...]
    transitions: tuple[tuple[datetime, str], ...] = ()
