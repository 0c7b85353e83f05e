"""Single schedules at the places where one might expect something else."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from time import process_time
from typing import Any

import pytest

from core.triggers import Schedule, due_at, parse_schedule


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def shown(instants: list[int]) -> list[str]:
    return [datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for instant in instants]


def cron(expression: str, zone: str = "UTC", **more: Any) -> Schedule:
    return parse_schedule({"type": "cron", "expression": expression, "timeZone": zone, **more})


def interval(every: str, start: str, zone: str | None = None, **more: Any) -> Schedule:
    return parse_schedule({"type": "interval", "every": every, "startAt": start, "timeZone": zone, **more})


def test_next_is_exclusive_and_previous_inclusive() -> None:
    daily = cron("0 0 9 * * ?")
    nine = at("2026-01-05T09:00:00Z")
    assert daily.next(nine) == nine + 86_400
    assert daily.next(nine - 1) == nine
    assert daily.previous(nine) == nine
    assert daily.previous(nine - 1) == nine - 86_400


def test_once_is_one_member() -> None:
    once = parse_schedule({"type": "once", "at": "2027-01-01T09:00:00+01:00"})
    instant = at("2027-01-01T08:00:00Z")
    assert once.next(0) == instant
    assert once.next(instant) is None
    assert once.never_again(instant)
    assert once.previous(instant) == instant
    assert once.previous(instant - 1) is None
    assert once.count(0, instant) == 1
    assert once.between(0, instant - 1) == []
    assert once.ordinal(instant) == 1


def test_month_ends_clip_from_the_anchor_never_from_the_previous_one() -> None:
    monthly = interval("P1M", "2027-10-31T09:00:00+01:00", "Europe/Berlin")
    assert shown(monthly.between(0, 1 << 40, 6)) == [
        "2027-10-31T08:00:00Z",
        "2027-11-30T08:00:00Z",
        "2027-12-31T08:00:00Z",
        "2028-01-31T08:00:00Z",
        "2028-02-29T08:00:00Z",
        "2028-03-31T07:00:00Z",
    ]


def test_a_leap_day_anchor_comes_back_on_leap_days() -> None:
    yearly = interval("P1Y", "2024-02-29T12:00:00Z", "UTC")
    assert shown(yearly.between(0, 1 << 40, 5))[1:] == [
        "2025-02-28T12:00:00Z",
        "2026-02-28T12:00:00Z",
        "2027-02-28T12:00:00Z",
        "2028-02-29T12:00:00Z",
    ]


def test_24_hours_are_elapsed_and_one_day_is_tomorrow_at_this_time() -> None:
    start = "2026-03-28T09:00:00+01:00"
    elapsed, calendar = interval("PT24H", start), interval("P1D", start, "Europe/Berlin")
    assert shown(elapsed.between(0, 1 << 40, 3))[-1] == "2026-03-30T08:00:00Z"
    assert shown(calendar.between(0, 1 << 40, 3))[-1] == "2026-03-30T07:00:00Z"


def test_an_anchor_in_the_second_pass_of_an_overlap_is_itself_a_member() -> None:
    daily = interval("P1D", "2026-10-25T02:30:00+01:00", "Europe/Berlin")
    assert shown(daily.between(0, 1 << 40, 2)) == ["2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"]
    assert daily.previous(at("2026-10-25T01:30:00Z")) == at("2026-10-25T01:30:00Z")
    assert daily.count(0, at("2026-10-26T01:30:00Z")) == 2


def test_apia_shifts_its_missing_day_onto_the_next_and_fires_once_there() -> None:
    noon = cron("0 0 12 * * ?", "Pacific/Apia")
    day = noon.between(at("2011-12-29T00:00:00-10:00"), at("2012-01-01T23:00:00+14:00"))
    assert shown(day) == ["2011-12-29T22:00:00Z", "2011-12-30T22:00:00Z", "2011-12-31T22:00:00Z"]


def test_lord_howe_moves_by_half_an_hour() -> None:
    half_past = cron("0 15 2 * * ?", "Australia/Lord_Howe")
    after = at("2026-10-03T12:00:00+10:30")
    assert shown(half_past.between(after, after + 86_400)) == ["2026-10-03T15:45:00Z"]  # 02:45 +11:00
    skipping = cron("0 15 2 * * ?", "Australia/Lord_Howe", daylightSaving={"gap": "skip"})
    assert skipping.between(after, after + 86_400) == []


def test_every_quarter_of_an_hour_never_falls_silent_when_clocks_go_back() -> None:
    fires = cron("0 0/15 * * * ?", "Europe/Berlin").between(at("2026-10-24T22:00:00Z"), at("2026-10-25T04:00:00Z"))
    assert {later - earlier for earlier, later in pairwise(fires)} == {900}


def test_nearest_weekday_stays_in_the_month_and_takes_its_last_day_where_it_is_short() -> None:
    thirty_first = cron("0 0 12 31W * ? 2026")
    assert [text[5:10] for text in shown(thirty_first.between(0, 1 << 40, 6))] == [
        "01-30",
        "02-27",
        "03-31",
        "04-30",
        "05-29",
        "06-30",
    ]
    first = cron("0 0 12 1W 8 ? 2026")  # Saturday 1 August
    assert shown(first.between(0, 1 << 40)) == ["2026-08-03T12:00:00Z"]


def test_lists_of_nearest_weekdays_mean_each() -> None:
    both = cron("0 0 12 1W,15W,20 8 ? 2026")
    assert [text[8:10] for text in shown(both.between(0, 1 << 40))] == ["03", "14", "20"]


def test_days_before_the_last_do_not_fire_where_there_are_none() -> None:
    thirty_before = cron("0 0 12 L-30 * ? 2026")
    assert [text[5:10] for text in shown(thirty_before.between(0, 1 << 40))] == [
        "01-01",
        "03-01",
        "05-01",
        "07-01",
        "08-01",
        "10-01",
        "12-01",
    ]


def test_ranges_wrap_and_steps_go_on_past_the_end() -> None:
    wrapping = cron("55-5/3 0 0 1 1 ? 2027")
    assert [text[17:19] for text in shown(wrapping.between(0, 1 << 40))] == ["01", "04", "55", "58"]


def test_the_search_ends_with_the_year_2126_whatever_the_clock_says() -> None:
    yearly = cron("0 0 0 1 1 ?")
    last = at("2126-01-01T00:00:00Z")
    assert yearly.previous(1 << 40) == last
    assert yearly.next(last - 1) == last
    assert yearly.next(last) is None
    assert yearly.count(last, 1 << 40) == 0
    assert yearly.previous(0) == 0
    assert yearly.next(-(10**12)) == 0


def test_occurrences_are_counted_from_the_start_not_from_a_restart() -> None:
    three = cron("0 0 9 * * ?", startAt="2026-01-01T00:00:00Z", maxOccurrences=3)
    assert shown(three.between(0, 1 << 40)) == ["2026-01-01T09:00:00Z", "2026-01-02T09:00:00Z", "2026-01-03T09:00:00Z"]
    assert three.next(at("2026-01-03T09:00:00Z")) is None
    assert three.ordinal(at("2026-01-02T09:00:00Z")) == 2


def test_start_is_inclusive_and_end_exclusive() -> None:
    bounded = cron("0 0 9 * * ?", startAt="2026-01-01T09:00:00Z", endAt="2026-01-03T09:00:00Z")
    assert shown(bounded.between(0, 1 << 40)) == ["2026-01-01T09:00:00Z", "2026-01-02T09:00:00Z"]


def test_more_occurrences_than_the_rule_has_end_nothing() -> None:
    rare = cron("0 0 0 29 2 ?", startAt="2026-01-01T00:00:00Z", maxOccurrences=1000)
    assert rare.next(at("2124-01-01T00:00:00Z")) == at("2124-02-29T00:00:00Z")


def test_limits_of_the_batch() -> None:
    minutely = cron("0 * * * * ?")
    assert len(minutely.between(0, 86_400)) == 1440
    assert minutely.between(0, 86_400, 0) == []
    assert minutely.between(0, 86_400, -1) == []
    assert minutely.between(0, 86_400, 2) == [60, 120]
    assert minutely.between(86_400, 0) == []


def test_counting_a_year_of_seconds_is_arithmetic() -> None:
    secondly = cron("* * * * * ?", "Europe/Berlin")
    start = at("2026-01-01T00:00:00+01:00")
    secondly.count(start, start + 1)
    begun = process_time()
    assert secondly.count(start, start + 365 * 86_400) == 365 * 86_400
    assert process_time() - begun < 0.1
    sparse = cron("7 * * * * ?", "America/New_York")
    assert sparse.count(start, start + 365 * 86_400) == 365 * 1440


def test_a_hundred_thousand_fires_in_one_call() -> None:
    minutely = cron("0 * * * * ?", "Europe/Berlin")
    start = at("2026-01-01T00:00:00Z")
    begun = process_time()
    fires = minutely.between(start, 1 << 40, 100_000)
    assert process_time() - begun < 1.0
    assert fires == list(range(start + 60, start + 60 * 100_000 + 1, 60))


def test_asking_back_and_forth_from_many_places_gives_one_set() -> None:
    rule = cron("0 0/20 * * * ?", "America/St_Johns")
    everything = rule.between(at("2026-03-01T00:00:00Z"), at("2026-03-20T00:00:00Z"))
    for index in (5, 900, 3, 901, 1100, 0, 902):
        assert rule.next(everything[index]) == everything[index + 1]
        assert rule.next(everything[index] - 1) == everything[index]


def test_jitter_is_the_same_whenever_it_is_asked_for() -> None:
    assert due_at("trigger/2026-01-01T00:00:00Z", 1_767_225_600, 600, None) == 1_767_226_199
    spread = {due_at(f"key-{i}", 0, 600, 3600) for i in range(2000)}
    assert min(spread) < 10
    assert max(spread) > 590
    assert len(spread) > 500


def test_jitter_never_reaches_the_next_nominal_time() -> None:
    assert {due_at(f"key-{i}", 100, 600, 103) for i in range(200)} == {100, 101, 102}
    assert due_at("key", 100, 600, 101) == 100
    assert due_at("key", 100, 0, None) == 100


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Pacific/Apia"])
def test_a_rule_that_names_no_day_answers_and_ends(zone: str) -> None:
    never = cron("0 0 0 30 2 ?", zone)
    assert never.next(0) is None
    assert never.previous(1 << 40) is None
    assert never.count(0, 1 << 40) == 0
    assert never.between(0, 1 << 40) == []
