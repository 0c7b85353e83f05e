"""Whatever the rule: the four questions agree with each other and with a walk, and bounds hold in all of them."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from core.errors import Fault, ScheduleInvalid
from core.triggers import Schedule, due_at, parse_schedule
from core.zones import zone

from .brute import AWKWARD_ZONES, DAY_S

START, END = 63_072_000, 2_500_000_000  # 1972 to 2049
MOST_WALKED = 300
PROPERTY = settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

instants = st.integers(START, END)
policies = st.fixed_dictionaries(
    {"gap": st.sampled_from(["auto", "shift", "skip"]), "overlap": st.sampled_from(["auto", "first", "second", "both"])}
)


def terms(low: int, high: int, *, wraps: bool = True) -> st.SearchStrategy[str]:
    """Draw a field made of values, ranges, steps and lists of them."""
    value = st.integers(low, high)
    ends = st.tuples(value, value) if wraps else st.tuples(value, value).map(lambda pair: tuple(sorted(pair)))
    step = st.integers(1, max(1, high - low))
    return st.one_of(
        value.map(str),
        st.lists(value, min_size=1, max_size=4).map(lambda values: ",".join(map(str, values))),
        ends.map(lambda pair: f"{pair[0]}-{pair[1]}"),
        st.tuples(value, step).map(lambda pair: f"{pair[0]}/{pair[1]}"),
        st.tuples(ends, step).map(lambda pair: f"{pair[0][0]}-{pair[0][1]}/{pair[1]}"),
        st.just("*"),
    )


dates = st.one_of(
    st.tuples(
        st.one_of(
            terms(1, 31),
            st.sampled_from(["L", "LW", "L-3", "L-30", "L-7W", "15W", "1W,15W", "31W", "29,30,31"]),
        ),
        st.just("?"),
    ),
    st.tuples(st.just("?"), st.one_of(terms(1, 7), st.sampled_from(["L", "6L", "FRI#5", "1#1", "MON-FRI", "FRI-MON"]))),
)
years = st.sampled_from(["", "", "", " 2024", " 2020-2030", " 2001/7", " 2030,1999"])


@st.composite
def cron_lines(draw: st.DrawFn) -> str:
    second = draw(st.sampled_from(["0", "0", "0", "30", "0,15", "*/20", "*"]))
    minute, hour = draw(terms(0, 59)), draw(terms(0, 23))
    day, weekday = draw(dates)
    month = draw(st.one_of(st.just("*"), terms(1, 12)))
    return f"{second} {minute} {hour} {day} {month} {weekday}{draw(years)}"


@st.composite
def crons(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "type": "cron",
        "expression": draw(cron_lines()),
        "timeZone": draw(st.sampled_from(AWKWARD_ZONES)),
        "daylightSaving": draw(policies),
    }


@st.composite
def intervals(draw: st.DrawFn) -> dict[str, Any]:
    name, anchor = draw(st.sampled_from(AWKWARD_ZONES)), draw(instants) // 60 * 60
    assume(zone(name).offset_at(anchor) % 60 == 0)
    every = draw(st.sampled_from(["PT1S", "PT90S", "PT7M", "PT24H", "P1D", "P2D", "P1W", "P1M", "P3M", "P1Y", "P1M2D"]))
    rule = {"type": "interval", "every": every, "timeZone": name, "startAt": written(anchor, name)}
    return rule if every.startswith("PT") else rule | {"daylightSaving": draw(policies)}


def written(instant: int, name: str) -> str:
    """Return an instant with the offset of a zone."""
    offset = zone(name).offset_at(instant)
    wall = datetime.fromtimestamp(instant + offset, UTC).replace(tzinfo=None)
    sign = "-" if offset < 0 else "+"
    return f"{wall.isoformat()}{sign}{abs(offset) // 3600:02d}:{abs(offset) % 3600 // 60:02d}"


rules = st.one_of(crons(), crons(), intervals())


def walk(schedule: Schedule, after: int, most: int) -> list[int]:
    found: list[int] = []
    instant = after
    while len(found) < most:
        later = schedule.next(instant)
        if later is None:
            break
        found.append(later)
        instant = later
    return found


@PROPERTY
@given(rules, instants)
def test_walking_batch_count_and_looking_back_agree(rule: dict[str, Any], after: int) -> None:
    schedule = parse_schedule(rule)
    walked = walk(schedule, after, MOST_WALKED)
    assert all(a < b for a, b in pairwise([after, *walked]))
    assert schedule.between(after, END * 2, MOST_WALKED) == walked
    until = walked[-1] if walked else after
    assert schedule.between(after, until) == walked
    assert schedule.count(after, until) == len(walked)
    for index, fire in enumerate(walked[:40]):
        assert schedule.previous(fire) == fire
        assert schedule.count(after, fire) == index + 1
        assert schedule.count(after, fire - 1) == index
    for earlier, later in pairwise(walked[:40]):
        assert schedule.previous(later - 1) == earlier
        assert parse_schedule(rule).next(later - 1) == later


@PROPERTY
@given(rules, instants, st.lists(st.integers(0, 400 * DAY_S), min_size=1, max_size=5))
def test_answers_do_not_depend_on_what_was_asked_before(rule: dict[str, Any], base: int, steps: list[int]) -> None:
    schedule = parse_schedule(rule)
    for step in [*steps, *reversed(steps)]:
        assert schedule.next(base + step) == parse_schedule(rule).next(base + step)
        assert schedule.previous(base + step) == parse_schedule(rule).previous(base + step)


@PROPERTY
@given(rules, instants, st.integers(0, 3 * DAY_S), st.integers(0, 3 * DAY_S))
def test_counts_add_up(rule: dict[str, Any], a: int, first: int, second: int) -> None:
    schedule = parse_schedule(rule)
    b, c = a + first, a + first + second
    assert schedule.count(a, c) == schedule.count(a, b) + schedule.count(b, c)
    assert schedule.count(a, c) == len(schedule.between(a, c))
    assert schedule.count(c, a) == 0
    assert schedule.between(c, a) == []


@PROPERTY
@given(crons(), instants, st.integers(1, 60 * DAY_S), st.integers(1, 20))
def test_bounds_cut_the_same_set_for_every_question(rule: dict[str, Any], start: int, length: int, most: int) -> None:
    end = start + length
    free = parse_schedule(rule).between(start - 1, end - 1)[:most]
    bounded = parse_schedule(
        rule
        | {
            "startAt": datetime.fromtimestamp(start, UTC).isoformat(),
            "endAt": datetime.fromtimestamp(end, UTC).isoformat(),
            "maxOccurrences": most,
        }
    )
    before = start - 5 * DAY_S
    assert walk(bounded, before, most + 1) == free
    assert bounded.between(before, END * 2) == free
    assert bounded.count(before, END * 2) == len(free)
    assert bounded.previous(END * 2) == (free[-1] if free else None)
    assert bounded.previous(start - 1) is None
    assert [bounded.ordinal(fire) for fire in free] == list(range(1, len(free) + 1))
    assert bounded.never_again(end)


@PROPERTY
@given(intervals(), st.integers(1, 30))
def test_an_interval_counts_from_its_anchor(rule: dict[str, Any], most: int) -> None:
    free = parse_schedule(rule)
    anchor = free.start_at
    assert anchor is not None
    wanted = free.between(anchor - 1, END * 2, most)
    assert parse_schedule(rule | {"maxOccurrences": most}).between(0, END * 2) == wanted
    if rule.get("daylightSaving", {}).get("overlap") != "both":
        assert wanted[0] == anchor
    assert free.previous(anchor - 1) is None


@PROPERTY
@given(crons(), instants)
def test_shift_adds_to_skip_and_both_holds_first_and_second(rule: dict[str, Any], after: int) -> None:
    def fires(gap: str, overlap: str) -> set[int]:
        schedule = parse_schedule(rule | {"daylightSaving": {"gap": gap, "overlap": overlap}})
        change = zone(rule["timeZone"]).next_transition(after)
        middle = change.at if change else after
        return set(schedule.between(middle - DAY_S, middle + 2 * DAY_S))

    assert fires("skip", "first") <= fires("shift", "first")
    assert fires("skip", "first") | fires("skip", "second") == fires("skip", "both")
    assert fires("shift", "first") | fires("shift", "second") == fires("shift", "both")


@PROPERTY
@given(st.text(alphabet="0123456789*/,-?LW# \tMONFRIJAN@H", max_size=30))
def test_any_text_is_read_or_refused_with_positions_inside_it(text: str) -> None:
    faults: tuple[Fault, ...] = ()
    try:
        schedule = parse_schedule({"type": "cron", "expression": text, "timeZone": "UTC"})
        assert schedule.cron is not None
        schedule.next(0)
    except ScheduleInvalid as refused:
        faults = refused.faults
    for fault in faults:
        assert fault.position is not None
        assert 0 <= fault.position <= len(text)


@PROPERTY
@given(st.text(max_size=20), instants, st.integers(0, DAY_S), st.one_of(st.none(), st.integers(1, 2 * DAY_S)))
def test_jitter_stays_before_the_next_nominal_time(key: str, nominal: int, jitter: int, step: int | None) -> None:
    following = None if step is None else nominal + step
    due = due_at(key, nominal, jitter, following)
    assert 0 <= due - nominal <= jitter
    assert following is None or due < following
    assert due == due_at(key, nominal, jitter, following)
