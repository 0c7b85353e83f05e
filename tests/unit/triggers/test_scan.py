"""Any line of the grammar fires where a scan of the wall clock says, read by a second reader that shares no code."""

from __future__ import annotations

import calendar
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.triggers import parse_schedule

from .brute import AWKWARD_ZONES, DAY_S, fires, look, scan, transition_instants

PROPERTY = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]


@st.composite
def items(draw: st.DrawFn, low: int, high: int, names: tuple[str, ...] = ()) -> str:
    """Draw one item of a list: a value, a range, either with a step, or everything."""
    value = st.integers(low, high).map(str)
    if names and draw(st.booleans()):
        named = st.sampled_from(names).map(draw(st.sampled_from([str.upper, str.lower, str.title])))
        return draw(st.one_of(named, st.tuples(named, named).map("-".join)))
    series = st.one_of(value, st.just("*"), st.just(""))
    step = st.integers(1, high - low).map(str)
    return draw(
        st.one_of(
            value,
            st.tuples(value, value).map("-".join),
            st.tuples(series, step).map("/".join),
            st.tuples(st.tuples(value, value).map("-".join), step).map("/".join),
            st.just("*"),
        )
    )


def fields(low: int, high: int, names: tuple[str, ...] = ()) -> st.SearchStrategy[str]:
    return st.lists(items(low, high, names), min_size=1, max_size=3).map(",".join)


SPECIAL_DAYS = st.one_of(
    st.sampled_from(["L", "LW", "lw", "31W", "1W"]),
    st.integers(0, 30).map("L-{}".format),
    st.integers(0, 30).map("L-{}W".format),
    st.lists(st.integers(1, 31).map("{}W".format), min_size=1, max_size=3).map(",".join),
)
SPECIAL_WEEKDAYS = st.one_of(
    st.sampled_from(["L", *(f"{name}L" for name in DAYS)]),
    st.integers(1, 7).map("{}L".format),
    st.tuples(st.sampled_from([*DAYS, *"1234567"]), st.sampled_from("12345")).map("#".join),
)
DATES = st.one_of(
    st.tuples(st.one_of(fields(1, 31), SPECIAL_DAYS), st.just("?")),
    st.tuples(st.just("?"), st.one_of(fields(1, 7, tuple(DAYS)), fields(1, 7), SPECIAL_WEEKDAYS)),
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    minute, hour = draw(fields(0, 59)), draw(st.one_of(st.just("*"), st.just("0-5"), fields(0, 23)))
    day, weekday = draw(DATES)
    month = draw(st.one_of(st.just("*"), st.just("*"), st.just("*"), fields(1, 12, tuple(MONTHS))))
    year = draw(st.sampled_from(["", "", "", " *", " 1970-2126", " 1972/2", " 1980-2030/3,2040"]))
    return f"0 {minute} {hour} {day} {month} {weekday}{year}"


def members(text: str, low: int, high: int, names: list[str] | None = None) -> set[int]:
    """Return the values that a plain field names."""
    found: set[int] = set()
    for item in text.upper().split(","):
        span, _, step = item.partition("/")
        ends = [
            (names or []).index(end) + 1 if end in (names or []) else int(end)
            for end in span.split("-")
            if end.isalnum()
        ]
        first, last = (low, high) if not ends else (ends[0], high if len(ends) == 1 and step else ends[-1])
        last += high - low + 1 if last < first else 0
        found |= {(value - low) % (high - low + 1) + low for value in range(first, last + 1, int(step or 1))}
    return found


def nearest_working_day(date: datetime, day: int) -> int:
    """Return the Monday-to-Friday nearest to a day, inside the month."""
    length = calendar.monthrange(date.year, date.month)[1]
    working = [one for one in range(1, length + 1) if date.replace(day=one).weekday() < 5]
    return min(working, key=lambda one: abs(one - min(day, length)))


def on_day(item: str, date: datetime) -> bool:
    length = calendar.monthrange(date.year, date.month)[1]
    if item.startswith("L"):
        day = length - int(item.strip("LW-") or 0)
        if day < 1:
            return False
        return date.day == (nearest_working_day(date, day) if item.endswith("W") else day)
    if item.endswith("W"):
        return date.day == nearest_working_day(date, int(item[:-1]))
    return date.day in members(item, 1, 31)


def on_weekday(text: str, date: datetime) -> bool:
    weekday = (date.weekday() + 1) % 7 + 1
    if text == "L":
        return weekday == 7
    if text.endswith("L"):
        length = calendar.monthrange(date.year, date.month)[1]
        return weekday in members(text[:-1], 1, 7, DAYS) and date.day + 7 > length
    day, _, number = text.partition("#")
    return weekday in members(day, 1, 7, DAYS) and (not number or (date.day - 1) // 7 + 1 == int(number))


def predicate(line: str) -> Callable[[datetime], bool]:
    """Return what a line says of a wall time."""
    _, minute, hour, day, month, weekday, *year = line.upper().split()
    minutes, hours, months = members(minute, 0, 59), members(hour, 0, 23), members(month, 1, 12, MONTHS)
    years = members(year[0] if year else "*", 1970, 2126)

    def on_date(date: datetime) -> bool:
        if date.year not in years or date.month not in months:
            return False
        return on_weekday(weekday, date) if day == "?" else any(on_day(item, date) for item in day.split(","))

    return lambda wall: wall.minute in minutes and wall.hour in hours and wall.second == 0 and on_date(wall)


@PROPERTY
@given(lines(), st.sampled_from(AWKWARD_ZONES), st.data())
def test_any_line_fires_where_a_scan_of_the_wall_clock_says(line: str, zone: str, data: st.DataObject) -> None:
    instant = data.draw(st.sampled_from(transition_instants(zone, 1972, 2060))) // 60 * 60
    start, end = instant - DAY_S, instant + DAY_S
    found = look(scan(zone, start, end), predicate(line))
    for gap, overlap in (("shift", "both"), ("skip", "first"), ("shift", "second")):
        policies = {"gap": gap, "overlap": overlap}
        rule = parse_schedule({"type": "cron", "expression": line, "timeZone": zone, "daylightSaving": policies})
        wanted = fires(found, gap, overlap)
        assert rule.between(start - 1, end - 1) == wanted
        assert rule.count(start - 1, end - 1) == len(wanted)
        for earlier, later in pairwise(wanted[:20]):
            assert rule.next(earlier) == later
            assert rule.previous(later - 1) == earlier
