"""Owns zone data: transition tables of the `tzdata` package, never the host's.

Instants are integer epoch seconds (UTC). A *wall time* is the number of seconds that the epoch would have if the local
clock were UTC: `wall = instant + offset`. Offsets are seconds east of UTC. Tables reach to the end of 2200; times
after the last explicit transition follow the zone's own standing rule (RFC 8536, TZif version 2 footers).
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from core.errors import Fault, ScheduleInvalid

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

DAY_S = 86_400
LAST_TABLE_YEAR = 2200
_NEAR_S = 2 * DAY_S  # no offset and no jump of a clock is larger than this


@dataclass(frozen=True, slots=True)
class Transition:
    """One moment at which a zone's offset changes."""

    at: int
    offset_before: int
    offset_after: int
    abbreviation_before: str
    abbreviation_after: str

    @property
    def gap_s(self) -> int:
        """Return the seconds of wall time that do not exist here, 0 when clocks go back."""
        return max(0, self.offset_after - self.offset_before)

    @property
    def overlap_s(self) -> int:
        """Return the seconds of wall time that exist twice here, 0 when clocks go forward."""
        return max(0, self.offset_before - self.offset_after)


class Zone:
    """One IANA zone as a table: `starts[i]` begins the period with `offsets[i + 1]`; `offsets[0]` lies before all."""

    __slots__ = ("abbreviations", "name", "offsets", "starts")

    def __init__(self, name: str, starts: tuple[int, ...], offsets: tuple[int, ...], abbreviations: tuple[str, ...]):
        self.name = name
        self.starts = starts
        self.offsets = offsets
        self.abbreviations = abbreviations

    def __repr__(self) -> str:
        return f"Zone({self.name!r})"

    def offset_at(self, instant: int) -> int:
        """Return the offset in force at `instant`, in seconds."""
        return self.offsets[bisect_right(self.starts, instant)]

    def abbreviation_at(self, instant: int) -> str:
        """Return the abbreviation in force at `instant`, such as `CEST` or `+0545`."""
        return self.abbreviations[bisect_right(self.starts, instant)]

    def wall_at(self, instant: int) -> int:
        """Return the wall time that the local clock shows at `instant`."""
        return instant + self.offsets[bisect_right(self.starts, instant)]

    def instants(self, wall: int) -> tuple[int, ...]:
        """Return the instants at which the clock shows `wall`, ascending: none in a gap, two in an overlap."""
        first = bisect_right(self.starts, wall - _NEAR_S)
        last = bisect_right(self.starts, wall + _NEAR_S)
        found = {wall - self.offsets[i] for i in range(first, last + 1) if self._holds(i, wall - self.offsets[i])}
        return tuple(sorted(found))

    def _holds(self, period: int, instant: int) -> bool:
        """Say whether `instant` lies in the period with that index."""
        return bisect_right(self.starts, instant) == period

    def gap_at(self, wall: int) -> Transition | None:
        """Return the transition whose gap swallows `wall`, if one does."""
        for change in self.transitions(wall - _NEAR_S, wall + _NEAR_S):
            if change.at + change.offset_before <= wall < change.at + change.offset_after:
                return change
        return None

    def overlap_at(self, wall: int) -> Transition | None:
        """Return the transition that makes `wall` happen twice, if one does."""
        for change in self.transitions(wall - _NEAR_S, wall + _NEAR_S):
            if change.at + change.offset_after <= wall < change.at + change.offset_before:
                return change
        return None

    def next_transition(self, instant: int) -> Transition | None:
        """Return the first change of offset later than `instant`."""
        for index in range(bisect_right(self.starts, instant), len(self.starts)):
            if self.offsets[index] != self.offsets[index + 1]:
                return self._transition(index)
        return None

    def previous_transition(self, instant: int) -> Transition | None:
        """Return the last change of offset at or before `instant`."""
        for index in range(bisect_right(self.starts, instant) - 1, -1, -1):
            if self.offsets[index] != self.offsets[index + 1]:
                return self._transition(index)
        return None

    def transitions(self, after: int, until: int) -> Iterator[Transition]:
        """Yield the changes of offset in (after, until], ascending."""
        for index in range(bisect_right(self.starts, after), bisect_right(self.starts, until)):
            if self.offsets[index] != self.offsets[index + 1]:
                yield self._transition(index)

    def _transition(self, index: int) -> Transition:
        before, after = self.offsets[index], self.offsets[index + 1]
        return Transition(self.starts[index], before, after, self.abbreviations[index], self.abbreviations[index + 1])


@lru_cache(maxsize=1)
def data_version() -> str:
    """Return the release of the zone data, such as `2026f`."""
    from tzdata import IANA_VERSION

    return str(IANA_VERSION)


@lru_cache(maxsize=1)
def zone_names() -> tuple[str, ...]:
    """Return all known zone names, sorted."""
    listing = _package_file("tzdata", "zones").decode("ascii")
    return tuple(sorted(name for name in listing.split() if name != "Factory"))


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    return frozenset(zone_names())


@lru_cache(maxsize=1024)
def zone(name: str) -> Zone:
    """Return the zone with exactly this IANA name; raise `ScheduleInvalid` with near names where there is none."""
    if not isinstance(name, str) or name not in _known():
        raise ScheduleInvalid([unknown_zone(name)])
    data = _package_file("tzdata.zoneinfo", name)
    try:
        return _read_tzif(name, data)
    except (struct.error, IndexError, ValueError) as error:
        fault = Fault("timeZone", f"the zone data of {name} cannot be read", "install the tzdata package again")
        raise ScheduleInvalid([fault]) from error


def unknown_zone(name: object) -> Fault:
    """Return the fault for a name that is no zone, with near names as its remedy."""
    near = near_zones(name) if isinstance(name, str) else ()
    fixed = _fixed_offset(name) if isinstance(name, str) else ""
    if fixed:
        return Fault("timeZone", f"{name!r} is an offset, not a time zone", fixed)
    remedy = f"did you mean {' or '.join(near)}?" if near else "write an IANA name such as Europe/Berlin or UTC"
    shown = repr(name[:60]) if isinstance(name, str) else repr(name)[:60]
    return Fault("timeZone", f"{shown} is not a time zone", remedy)


def _fixed_offset(name: str) -> str:
    """Return the remedy for an offset such as `GMT+2`, `UTC-03:00` or `+02:00`, nothing for any other name.

    The zones of fixed offset count west of Greenwich: two hours ahead of UTC is `Etc/GMT-2`.
    """
    match = re.fullmatch(r"(?:utc|gmt)? ?([+-])(\d{1,2})(?::?(\d\d))?", name.strip(), re.ASCII | re.IGNORECASE)
    if match is None:
        return ""
    sign, hours = ("-" if match[1] == "+" else "+"), int(match[2])
    fixed = f"Etc/GMT{sign}{hours}" if hours else "UTC"
    whole = int(match[3] or 0) == 0 and fixed in _known()
    known = f", or {fixed} for one that never changes its clocks" if whole else ""
    return f"write a place such as Europe/Berlin{known}"


def near_zones(name: str) -> tuple[str, ...]:
    """Return up to three zone names that somebody who wrote `name` may have meant, best first."""
    from difflib import get_close_matches

    wanted = name.strip()[:60].replace(" ", "_").casefold()
    full = {known.casefold(): known for known in zone_names()}
    if wanted in full:
        return (full[wanted],)
    cities = {known.rpartition("/")[2].casefold(): known for known in zone_names() if "/" in known}
    close = [full[match] for match in get_close_matches(wanted, full, 3, 0.75)]
    by_city = [cities[match] for match in get_close_matches(wanted.rpartition("/")[2], cities, 3, 0.85)]
    ordered = by_city + close if "/" not in wanted else close + by_city
    return tuple(dict.fromkeys(ordered))[:3]


@lru_cache(maxsize=2)
def _package(name: str) -> Traversable:
    from importlib.resources import files

    return files(name)


def _package_file(package: str, name: str) -> bytes:
    return _package(package).joinpath(*name.split("/")).read_bytes()


def _read_tzif(name: str, data: bytes) -> Zone:
    """Read the 64-bit block and the footer of a TZif file (RFC 8536)."""
    if data[:4] != b"TZif" or data[4:5] < b"2":
        raise ValueError("not a TZif file of version 2 or later")
    at = _block_end(data, 0, 4) + 44
    _, _, _, count, type_count, char_count = struct.unpack_from(">6l", data, at - 24)
    starts = struct.unpack_from(f">{count}q", data, at)
    kinds = data[at + 8 * count : at + 9 * count]
    types_at = at + 9 * count
    types = [struct.unpack_from(">lBB", data, types_at + 6 * i) for i in range(type_count)]
    chars = data[types_at + 6 * type_count :][:char_count]
    local = [(offset, chars[index : chars.index(b"\0", index)].decode("ascii")) for offset, _, index in types]
    periods = [local[0], *(local[kind] for kind in kinds)]
    footer = data[_block_end(data, at - 44, 8) :].strip(b"\n").decode("ascii")
    return _extended(name, list(starts), periods, footer)


def _block_end(data: bytes, at: int, time_size: int) -> int:
    """Return where the TZif block that begins at `at` ends."""
    ut, std, leap, count, type_count, char_count = struct.unpack_from(">6l", data, at + 20)
    return int(at + 44 + count * (time_size + 1) + type_count * 6 + char_count + leap * (time_size + 4) + std + ut)


def _extended(name: str, starts: list[int], periods: list[tuple[int, str]], footer: str) -> Zone:
    """Append the footer's rule to the explicit transitions, through `LAST_TABLE_YEAR`."""
    last = starts[-1] if starts else None
    for start, period in _standing_periods(footer):
        if last is None or start > last:
            starts.append(start)
            periods.append(period)
    return Zone(name, tuple(starts), tuple(offset for offset, _ in periods), tuple(text for _, text in periods))


_POSIX_NAME = r"(?:<([A-Za-z0-9+\-]+)>|([A-Za-z]{3,}))"
_POSIX_TIME = r"([+-]?\d{1,3}(?::\d{2}){0,2})"
_POSIX_RULE = rf",([JM\d.]+)(?:/{_POSIX_TIME})?"
_POSIX = rf"{_POSIX_NAME}{_POSIX_TIME}(?:{_POSIX_NAME}{_POSIX_TIME}?{_POSIX_RULE}{_POSIX_RULE})?"


@lru_cache(maxsize=256)
def _standing_periods(footer: str) -> tuple[tuple[int, tuple[int, str]], ...]:
    """Return (start, (offset, abbreviation)) for each change that a POSIX rule makes from 1970 on."""
    match = re.fullmatch(_POSIX, footer)
    if match is None and footer:
        raise ValueError(f"unreadable standing rule {footer!r}")
    if match is None or match[7] is None:
        return ()
    standard = (-_clock_seconds(match[3]), match[1] or match[2])
    summer_offset = -_clock_seconds(match[6]) if match[6] else standard[0] + 3600
    summer = (summer_offset, match[4] or match[5])
    begins, begin_time = match[7], _clock_seconds(match[8] or "2") - standard[0]
    ends, end_time = match[9], _clock_seconds(match[10] or "2") - summer[0]
    changes: list[tuple[int, tuple[int, str]]] = []
    for year in range(1970, LAST_TABLE_YEAR + 1):
        changes.append((_rule_day(year, begins) * DAY_S + begin_time, summer))
        changes.append((_rule_day(year, ends) * DAY_S + end_time, standard))
    return tuple(sorted(changes))


def _clock_seconds(text: str) -> int:
    """Return the seconds of `[+-]h[:mm[:ss]]`."""
    sign = -1 if text.startswith("-") else 1
    parts = [int(part) for part in text.lstrip("+-").split(":")]
    return sign * sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))


def _rule_day(year: int, rule: str) -> int:
    """Return the epoch day that a POSIX date rule (`Mm.w.d`, `Jn`, `n`) names in `year`."""
    first = days_from_civil(year, 1, 1)
    if rule.startswith("J"):
        leap_day = first + 59 if is_leap(year) else None
        day = first + int(rule[1:]) - 1
        return day + 1 if leap_day is not None and day >= leap_day else day
    if not rule.startswith("M"):
        return first + int(rule)
    month, week, weekday = (int(part) for part in rule[1:].split("."))
    start = days_from_civil(year, month, 1)
    day = start + (weekday - (start + 4)) % 7 + 7 * (week - 1)
    return day if day < start + days_in_month(year, month) else day - 7


def is_leap(year: int) -> bool:
    """Say whether `year` has a 29 February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


_MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MONTH_STARTS = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)


def days_in_month(year: int, month: int) -> int:
    """Return the number of days of a month (1-12)."""
    return 29 if month == 2 and is_leap(year) else _MONTH_LENGTHS[month - 1]


def days_from_civil(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date of the proleptic Gregorian calendar."""
    past = year - 1
    leaps = past // 4 - past // 100 + past // 400 - 477
    return (year - 1970) * 365 + leaps + _MONTH_STARTS[month - 1] + (month > 2 and is_leap(year)) + day - 1


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Return (year, month, day) of a day count from 1970-01-01."""
    year = 1970 + days * 400 // 146_097
    while days < days_from_civil(year, 1, 1):
        year -= 1
    while days >= days_from_civil(year + 1, 1, 1):
        year += 1
    rest = days - days_from_civil(year, 1, 1)
    starts = _MONTH_STARTS if not is_leap(year) else _LEAP_STARTS
    month = bisect_right(starts, rest)
    return year, month, rest - starts[month - 1] + 1


_LEAP_STARTS = tuple(start + (index >= 2) for index, start in enumerate(_MONTH_STARTS))
