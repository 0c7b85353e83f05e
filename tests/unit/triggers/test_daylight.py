"""Daylight-saving policies against a scan of every wall time around awkward transitions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product

import pytest

from core.triggers import Schedule, parse_schedule

from .brute import AWKWARD_ZONES, DAY_S, calendar_walls, choose, fires, look, scan, transition_instants, wall_of

GAPS = ("auto", "shift", "skip")
OVERLAPS = ("auto", "first", "second", "both")


def at(hours: object, minutes: object) -> Callable[[datetime], bool]:
    """Return the predicate of a rule that names hours and minutes."""
    in_hours = {hours} if isinstance(hours, int) else set(hours)  # type: ignore[call-overload]
    in_minutes = {minutes} if isinstance(minutes, int) else set(minutes)  # type: ignore[call-overload]
    return lambda wall: wall.hour in in_hours and wall.minute in in_minutes and wall.second == 0


# expression, the same said as a predicate, what `overlap: auto` means for it
RULES: tuple[tuple[str, Callable[[datetime], bool], str], ...] = (
    ("0 * * * * ?", at(range(24), range(60)), "both"),
    ("0 0/20 * * * ?", at(range(24), (0, 20, 40)), "both"),
    ("0 7 0-23 * * ?", at(range(24), 7), "both"),
    ("0 30 0/1 * * ?", at(range(24), 30), "both"),
    ("0 30 */1 * * ?", at(range(24), 30), "both"),
    ("0 10/25 0-5 * * ?", at(range(6), (10, 35)), "both"),
    ("0 45 9,1-3 * * ?", at((1, 2, 3, 9), 45), "both"),
    ("0 30 22-1 * * ?", at((22, 23, 0, 1), 30), "first"),
    ("0 15 0/2 * * ?", at(range(0, 24, 2), 15), "first"),
    ("0 15 1/1 * * ?", at(range(1, 24), 15), "first"),
    ("0 0-59/7 1,2,3 * * ?", at((1, 2, 3), range(0, 60, 7)), "first"),
    ("0 0 0 * * ?", at(0, 0), "first"),
    ("0 30 0 * * ?", at(0, 30), "first"),
    ("0 30 1 * * ?", at(1, 30), "first"),
    ("0 30 2 * * ?", at(2, 30), "first"),
    ("0 0 3 * * ?", at(3, 0), "first"),
    ("0 30 23 * * ?", at(23, 30), "first"),
    ("0 45 2 ? * SUN", lambda wall: wall.weekday() == 6 and (wall.hour, wall.minute) == (2, 45), "first"),
    ("0 15 0 1,15,30 * ?", lambda wall: wall.day in {1, 15, 30} and (wall.hour, wall.minute) == (0, 15), "first"),
)


def spread(instants: list[int], most: int) -> list[int]:
    """Return at most `most` of the instants: the first, the last, and evenly between."""
    if len(instants) <= most:
        return instants
    return [instants[round(i * (len(instants) - 1) / (most - 1))] for i in range(most)]


def window_around(instant: int, days: int = 1) -> tuple[int, int]:
    middle = instant // 60 * 60
    return middle - days * DAY_S, middle + days * DAY_S


def resolved(policy: str, auto: str) -> str:
    return auto if policy == "auto" else policy


def test_at_least_thirty_awkward_zones_are_scanned() -> None:
    assert len(AWKWARD_ZONES) >= 30


@pytest.mark.parametrize("name", AWKWARD_ZONES)
def test_cron_fires_where_a_scan_of_the_wall_clock_says(name: str) -> None:
    for instant in spread(transition_instants(name, 1972, 2045), 6):
        start, end = window_around(instant)
        window = scan(name, start, end)
        found = {text: look(window, matches) for text, matches, _ in RULES}
        for (text, _, auto), gap, overlap in product(RULES, GAPS, OVERLAPS):
            schedule = cron(name, text, gap, overlap)
            wanted = fires(found[text], resolved(gap, "shift"), resolved(overlap, auto))
            assert schedule.between(start - 1, end - 1) == wanted, (name, text, gap, overlap, wall_of(name, instant))
            assert schedule.count(start - 1, end - 1) == len(wanted), (name, text, gap, overlap)


def cron(name: str, text: str, gap: str, overlap: str) -> Schedule:
    return parse_schedule(
        {
            "type": "cron",
            "expression": text,
            "timeZone": name,
            "daylightSaving": {"gap": gap, "overlap": overlap},
        }
    )


@pytest.mark.parametrize("name", AWKWARD_ZONES)
def test_each_single_question_agrees_with_the_scan(name: str) -> None:
    for instant in spread(transition_instants(name, 1972, 2045), 4):
        start, end = window_around(instant)
        for text, overlap in (("0 0/20 * * * ?", "second"), ("0 10/25 0-5 * * ?", "auto"), ("0 30 2 * * ?", "both")):
            schedule = cron(name, text, "auto", overlap)
            wanted = schedule.between(start - 1, end - 1)
            for before, after in pairwise(wanted):
                assert schedule.next(before) == after
                assert cron(name, text, "auto", overlap).next(after - 1) == after
                assert schedule.previous(after - 1) == before


STEPS = ((0, 1), (0, 2), (0, 7), (1, 0), (3, 0), (12, 0), (1, 1))


@pytest.mark.parametrize("name", AWKWARD_ZONES)
def test_calendar_intervals_keep_the_wall_time_of_their_anchor(name: str) -> None:
    compared = sum(compare_calendar(name, months, days) for months, days in STEPS)
    assert compared >= 300


def compare_calendar(name: str, months: int, days: int) -> int:
    """Compare one interval under all policies around a zone's transitions; return how often fires were there."""
    compared = 0
    for instant in spread(transition_instants(name, 1975, 2045), 3):
        start, end = window_around(instant)
        window = scan(name, start, end)
        for troubled in awkward_walls(name, instant):
            anchor_wall = earlier(troubled, months, days)
            anchor = only_instant(name, anchor_wall)
            if anchor is None:
                continue
            walls = set(calendar_walls(anchor_wall, months, days, troubled + timedelta(days=4)))
            found = look(window, walls.__contains__)
            for gap, overlap in product(GAPS, OVERLAPS):
                schedule = parse_schedule(
                    {
                        "type": "interval",
                        "every": f"P{months}M{days}D",
                        "timeZone": name,
                        "startAt": zoned(name, anchor),
                        "daylightSaving": {"gap": gap, "overlap": overlap},
                    }
                )
                wanted = fires(found, resolved(gap, "shift"), resolved(overlap, "first"))
                assert troubled in walls
                assert schedule.between(start - 1, end - 1) == wanted, (name, months, days, anchor_wall, gap, overlap)
                assert schedule.count(start - 1, end - 1) == len(wanted)
                compared += bool(wanted)
    return compared


def awkward_walls(name: str, instant: int) -> list[datetime]:
    """Return wall times just before, inside and after the gap or overlap at `instant`."""
    before, after = wall_of(name, instant - 60) + timedelta(minutes=1), wall_of(name, instant)
    low, high = min(before, after), max(before, after)
    return [
        low - timedelta(minutes=1),
        low,
        (low + (high - low) / 2).replace(second=0),
        high - timedelta(minutes=1),
        high,
    ]


def earlier(wall: datetime, months: int, days: int) -> datetime:
    """Return an anchor whose third step is `wall`."""
    for back in range(1, 40):
        candidate = wall - timedelta(days=3 * days) - timedelta(days=30 * months * 3 - 10 + back if months else 0)
        if wall in set(calendar_walls(candidate, months, days, wall)):
            return candidate
    return wall - timedelta(days=days) if days else wall


def only_instant(name: str, wall: datetime) -> int | None:
    """Return the instant of a wall time that happens once."""
    utc = int(wall.replace(tzinfo=UTC).timestamp())
    offsets = {
        utc - int(wall_of(name, near).replace(tzinfo=UTC).timestamp()) + near
        for near in range(utc - 2 * DAY_S, utc + 2 * DAY_S, 7200)
    }
    instants = [instant for instant in offsets if wall_of(name, instant) == wall]
    return instants[0] if len(instants) == 1 else None


def zoned(name: str, instant: int) -> str:
    offset = wall_of(name, instant) - datetime.fromtimestamp(instant, UTC).replace(tzinfo=None)
    minutes = int(offset.total_seconds() // 60)
    sign = "-" if minutes < 0 else "+"
    return f"{wall_of(name, instant).isoformat()}{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def test_choose_is_what_the_words_say() -> None:
    assert choose([20, 10], "first") == [10]
    assert choose([20, 10], "second") == [20]
    assert choose([20, 10], "both") == [10, 20]


@pytest.mark.parametrize(("gap", "overlap"), [("shift", "first"), ("skip", "second"), ("shift", "both")])
def test_a_gap_that_is_no_whole_minute_loses_and_doubles_nothing(gap: str, overlap: str) -> None:
    """Monrovia moved its clocks forward by 44 minutes and 30 seconds on 7 January 1972."""
    (instant,) = transition_instants("Africa/Monrovia", 1972, 1972)
    assert instant % 60 == 30
    start, end = instant - 7200, instant + 7200
    window = scan("Africa/Monrovia", start, end, 1)
    found = look(window, lambda wall: wall.second in {0, 15, 30, 45} and wall.minute % 10 == 4)
    schedule = cron("Africa/Monrovia", "*/15 4/10 * * * ?", gap, overlap)
    assert schedule.between(start - 1, end - 1) == fires(found, gap, overlap)
