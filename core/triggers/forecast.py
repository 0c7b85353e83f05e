"""The next fires of a schedule with what its zone's clock does to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from core.triggers.schedule import Schedule
from core.triggers.words import clock_text, length_words, offset_text, wall_text
from core.zones import Transition, Zone, zone

_MOST_LISTED = 100_000


@dataclass(frozen=True, slots=True)
class Fire:
    """One fire, or a wall time that yields none (`nominal` is None).

    `wall` is local text such as `2026-03-29 03:30:00`, `offset_s` seconds east of UTC at that moment; `at` orders fires
    and skipped wall times alike, in epoch seconds.
    """

    nominal: int | None
    due: int | None
    wall: str
    offset_s: int
    abbreviation: str
    zone: str
    notes: tuple[str, ...] = ()
    at: int = 0


def preview(
    schedule: Schedule,
    after: int,
    count: int | None = 10,
    until: int | None = None,
    *,
    skipped: bool = False,
    due: Callable[[int], int] | None = None,
) -> tuple[Fire, ...]:
    """Return the fires in (after, until], at most `count`, ascending.

    `due` gives the due time of a nominal one where the Trigger is known. With `skipped`, a gap whose wall times yield
    no fire is listed in its place, once for each gap, and does not count.
    """
    end = schedule.high if until is None else min(until, schedule.high)
    nominals = schedule.between(after, end, _MOST_LISTED if count is None else count)
    place = schedule.zone or zone("UTC")
    fires = [_fire(schedule, place, nominal, due) for nominal in nominals]
    if skipped and schedule.gap == "skip":
        full = count is not None and len(nominals) >= count
        fires += _skipped(schedule, place, after, nominals[-1] if full else end)
        fires.sort(key=lambda fire: fire.at)
    return tuple(fires)


def _fire(schedule: Schedule, place: Zone, nominal: int, due: Callable[[int], int] | None) -> Fire:
    wall = place.wall_at(nominal)
    return Fire(
        nominal=nominal,
        due=due(nominal) if due else (None if schedule.jitter_s else nominal),
        wall=wall_text(wall),
        offset_s=wall - nominal,
        abbreviation=place.abbreviation_at(nominal),
        zone=place.name,
        notes=tuple(fire_notes(schedule, nominal)),
        at=nominal,
    )


def fire_notes(schedule: Schedule, nominal: int) -> Iterator[str]:
    """Yield what a gap or an overlap did to one fire."""
    if schedule.zone is None or schedule.local is None:
        return
    wall = schedule.zone.wall_at(nominal)
    change = schedule.zone.previous_transition(nominal)
    if change is not None and nominal < change.at + change.gap_s:
        yield from _shift_note(schedule, change, nominal, wall)
    overlap = schedule.zone.overlap_at(wall)
    if overlap is not None and schedule.local.has_wall(wall):
        yield _overlap_note(schedule, overlap, nominal, wall)


def _shift_note(schedule: Schedule, change: Transition, nominal: int, wall: int) -> Iterator[str]:
    """Yield the note of a fire that stands for a wall time which does not exist."""
    missing = nominal + change.offset_before
    local = schedule.local
    if local is None or schedule.gap != "shift" or not local.has_wall(missing):
        return
    if not local.has_wall(wall):
        yield f"{_short(missing)} does not exist; shifted to {_short(wall)}"
    elif schedule.cron is None or not schedule.cron.follows_clock:
        yield f"{_short(missing)} does not exist; falls together with {_short(wall)}"


def _overlap_note(schedule: Schedule, change: Transition, nominal: int, wall: int) -> str:
    which = "first" if nominal < change.at else "second"
    if schedule.overlap == "both":
        return f"{_short(wall)} happens twice; this is the {which}, at {offset_text(wall - nominal)}"
    return f"{_short(wall)} happens twice; the {which} is used, at {offset_text(wall - nominal)}"


def _short(wall: int) -> str:
    """Return a time of day without seconds where there are none."""
    text = clock_text(wall)
    return text[:5] if text.endswith(":00") else text


def _skipped(schedule: Schedule, place: Zone, after: int, until: int) -> Iterator[Fire]:
    """Yield one entry for each gap in (after, until] that swallows wall times of the rule."""
    local = schedule.local
    if local is None:
        return
    for change in place.transitions(max(after, schedule.low - 1), until):
        walls = local.walls_in_gap(change)
        if walls:
            yield Fire(
                nominal=None,
                due=None,
                wall=wall_text(walls[0]),
                offset_s=change.offset_before,
                abbreviation=change.abbreviation_before,
                zone=place.name,
                notes=(_gap_note(walls, "skipped"),),
                at=change.at,
            )


def _gap_note(walls: list[int], effect: str) -> str:
    if len(walls) == 1:
        return f"{_short(walls[0])} does not exist; {effect}"
    return f"{len(walls)} times from {_short(walls[0])} to {_short(walls[-1])} do not exist; {effect}"


@dataclass(frozen=True, slots=True)
class DaylightNote:
    """What one change of the clock does to a schedule: when, `gap` or `overlap`, first wall time, sentence."""

    at: int
    kind: str
    wall: str
    text: str


def daylight_notes(schedule: Schedule, after: int, until: int) -> tuple[DaylightNote, ...]:
    """Return the effects of all clock changes in (after, until] on the schedule, ascending."""
    if schedule.zone is None or schedule.local is None:
        return ()
    low, high = max(after, schedule.low - 1), min(until, schedule.high)
    found = (_daylight_note(schedule, change) for change in schedule.zone.transitions(low, high))
    return tuple(note for note in found if note is not None)


def _daylight_note(schedule: Schedule, change: Transition) -> DaylightNote | None:
    local = schedule.local
    if local is None:
        return None
    gap = change.gap_s > 0
    walls = local.walls_in_gap(change) if gap else local.walls_in_overlap(change)
    if not walls:
        return None
    if gap:
        effect = "skipped" if schedule.gap == "skip" else f"shifted to {_short(walls[0] + change.gap_s)}"
        if len(walls) > 1 and schedule.gap == "shift":
            effect = f"shifted by {length_words(change.gap_s)}"
        return DaylightNote(change.at, "gap", wall_text(walls[0]), _gap_note(walls, effect))
    effect = "both fire" if schedule.overlap == "both" else f"the {schedule.overlap} fires"
    subject = (
        _short(walls[0]) if len(walls) == 1 else f"{len(walls)} times from {_short(walls[0])} to {_short(walls[-1])}"
    )
    verb = "happens" if len(walls) == 1 else "happen"
    return DaylightNote(change.at, "overlap", wall_text(walls[0]), f"{subject} {verb} twice; {effect}")
