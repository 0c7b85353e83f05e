"""The obvious way, for tests only: walk through real time step by step, read the clock on the wall, see what matches.

Nothing here comes from the evaluator: offsets are `zoneinfo`'s (over the same zone data package), calendars are
`datetime`'s, and rules are plain predicates on a wall time.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple
from zoneinfo import ZoneInfo

DAY_S = 86_400
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall time has no zone

AWKWARD_ZONES = (
    "Africa/Cairo",
    "Africa/Casablanca",
    "Africa/El_Aaiun",
    "America/Asuncion",
    "America/Caracas",
    "America/Havana",
    "America/Lima",
    "America/Nuuk",
    "America/New_York",
    "America/Port-au-Prince",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/Scoresbysund",
    "America/St_Johns",
    "Antarctica/Casey",
    "Antarctica/Troll",
    "Asia/Amman",
    "Asia/Beirut",
    "Asia/Damascus",
    "Asia/Gaza",
    "Asia/Hebron",
    "Asia/Kathmandu",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Atlantic/Azores",
    "Australia/Adelaide",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Chisinau",
    "Europe/Dublin",
    "Europe/Istanbul",
    "Europe/London",
    "Europe/Moscow",
    "Europe/Volgograd",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Pacific/Easter",
    "Pacific/Fakaofo",
    "Pacific/Kwajalein",
    "Pacific/Norfolk",
    "Pacific/Tongatapu",
)


class Window(NamedTuple):
    """A stretch of real time: every wall time that occurs in it with its instants, and those that do not occur."""

    start: int
    end: int
    shown: dict[datetime, list[int]]
    missing: dict[datetime, int]  # wall time → what the offset before the gap makes of it


@lru_cache(maxsize=64)
def zone_info(name: str) -> ZoneInfo:
    with files("tzdata.zoneinfo").joinpath(*name.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)


def wall_of(name: str, instant: int) -> datetime:
    return datetime.fromtimestamp(instant, UTC).astimezone(zone_info(name)).replace(tzinfo=None)


def wall_seconds(wall: datetime) -> int:
    return int((wall - EPOCH).total_seconds())


@lru_cache(maxsize=16)
def scan(name: str, start: int, end: int, step_s: int = 60) -> Window:
    """Read the clock every `step_s` from `start` to `end`."""
    shown: dict[datetime, list[int]] = {}
    missing: dict[datetime, int] = {}
    before = wall_of(name, start)
    for instant in range(start, end, step_s):
        wall = wall_of(name, instant)
        shown.setdefault(wall, []).append(instant)
        expected = before + timedelta(seconds=step_s)
        while instant > start and expected < wall:
            missing[expected] = instant + int((expected - before).total_seconds()) - step_s
            expected += timedelta(seconds=step_s)
        before = wall
    return Window(start, end, shown, missing)


@lru_cache(maxsize=64)
def transition_instants(name: str, first_year: int, last_year: int) -> list[int]:
    """Return the instants of all changes of offset, found by halving the days in which the offset differs."""
    zone = zone_info(name)

    def offset(instant: int) -> timedelta:
        return datetime.fromtimestamp(instant, UTC).astimezone(zone).utcoffset() or timedelta()

    found = []
    first = int(datetime(first_year, 1, 1, tzinfo=UTC).timestamp())
    last = int(datetime(last_year + 1, 1, 1, tzinfo=UTC).timestamp())
    for day in range(first, last, DAY_S):
        low, high = day, day + DAY_S
        if offset(low) == offset(high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if offset(middle) == offset(low) else (low, middle)
        found.append(high)
    return found


def choose(instants: list[int], overlap: str) -> list[int]:
    """Return the instants of one wall time that an overlap policy keeps."""
    ordered = sorted(instants)
    return {"first": ordered[:1], "second": ordered[-1:], "both": ordered}[overlap]


class Matches(NamedTuple):
    """What a rule finds in a window: the instants of each matching wall time, and the shifted missing ones."""

    shown: list[list[int]]
    shifted: list[int]


def look(window: Window, matches: Callable[[datetime], bool]) -> Matches:
    """Look at every wall time of the window, and at every one that is missing."""
    shown = [instants for wall, instants in window.shown.items() if matches(wall)]
    return Matches(shown, [instant for wall, instant in window.missing.items() if matches(wall)])


def fires(found: Matches, gap: str, overlap: str) -> list[int]:
    """Return every instant at which the rule fires under policies that are not auto."""
    instants = {instant for both in found.shown for instant in choose(both, overlap)}
    return sorted(instants | set(found.shifted if gap == "shift" else ()))


def calendar_walls(anchor: datetime, months: int, days: int, until: datetime) -> Iterable[datetime]:
    """Yield anchor + k · every, each computed from the anchor, while not later than `until`."""
    k = 0
    while True:
        total = anchor.year * 12 + anchor.month - 1 + k * months
        year, month = total // 12, total % 12 + 1
        day = min(anchor.day, calendar.monthrange(year, month)[1])
        wall = anchor.replace(year=year, month=month, day=day) + timedelta(days=k * days)
        if wall > until:
            return
        yield wall
        k += 1
