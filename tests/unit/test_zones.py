"""Zone tables against `zoneinfo`, which reads the same package in its own way."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime
from importlib.resources import files
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from core import zones
from core.errors import ScheduleInvalid

END_OF_2199 = 7_258_118_399


def reference(name: str) -> ZoneInfo:
    with files("tzdata.zoneinfo").joinpath(*name.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)


def test_every_zone_agrees_with_zoneinfo_at_transitions_and_anywhere_to_2199() -> None:
    draw = random.Random(7)
    for name in zones.zone_names():
        ours, theirs = zones.zone(name), reference(name)
        instants = [draw.randint(-(2**32), END_OF_2199) for _ in range(12)]
        near = [start + by for start in draw.sample(ours.starts, min(12, len(ours.starts))) for by in (-1, 0, 1)]
        for instant in [*instants, *near]:
            if not -60_000_000_000 < instant <= END_OF_2199:
                continue
            local = datetime.fromtimestamp(instant, UTC).astimezone(theirs)
            offset = local.utcoffset()
            assert offset is not None
            assert ours.offset_at(instant) == offset.total_seconds(), (name, instant)
            assert ours.abbreviation_at(instant) == local.tzname(), (name, instant)


def test_summer_time_goes_on_after_the_explicit_table_ends() -> None:
    berlin = zones.zone("Europe/Berlin")
    july, january = int(datetime(2150, 7, 1, tzinfo=UTC).timestamp()), int(datetime(2150, 1, 1, tzinfo=UTC).timestamp())
    assert (berlin.offset_at(july), berlin.abbreviation_at(july)) == (7200, "CEST")
    assert (berlin.offset_at(january), berlin.abbreviation_at(january)) == (3600, "CET")


@pytest.mark.parametrize(
    ("name", "july", "january"),
    [("Europe/Dublin", 3600, 0), ("America/Nuuk", -3600, -7200), ("Antarctica/Troll", 7200, 0)],
)
def test_standing_rules_with_odd_times_and_negative_summer_time(name: str, july: int, january: int) -> None:
    place = zones.zone(name)
    assert place.offset_at(int(datetime(2120, 7, 1, tzinfo=UTC).timestamp())) == july
    assert place.offset_at(int(datetime(2120, 1, 1, tzinfo=UTC).timestamp())) == january


def test_a_wall_time_in_a_gap_has_no_instant_and_names_its_gap() -> None:
    berlin = zones.zone("Europe/Berlin")
    wall = int(datetime(2026, 3, 29, 2, 30, tzinfo=UTC).timestamp())
    assert berlin.instants(wall) == ()
    gap = berlin.gap_at(wall)
    assert gap is not None
    assert (gap.gap_s, gap.overlap_s, gap.abbreviation_before, gap.abbreviation_after) == (3600, 0, "CET", "CEST")
    assert berlin.overlap_at(wall) is None


def test_a_wall_time_in_an_overlap_has_two_instants_and_others_one() -> None:
    berlin = zones.zone("Europe/Berlin")
    wall = int(datetime(2026, 10, 25, 2, 30, tzinfo=UTC).timestamp())
    assert berlin.instants(wall) == (wall - 7200, wall - 3600)
    overlap = berlin.overlap_at(wall)
    assert overlap is not None
    assert overlap.overlap_s == 3600
    assert berlin.instants(wall + 3600) == (wall,)
    assert berlin.gap_at(wall) is None


def test_apia_has_no_30_december_2011() -> None:
    apia = zones.zone("Pacific/Apia")
    noon = int(datetime(2011, 12, 30, 12, tzinfo=UTC).timestamp())
    assert apia.instants(noon) == ()
    gap = apia.gap_at(noon)
    assert gap is not None
    assert gap.gap_s == zones.DAY_S


def test_instants_and_wall_at_are_inverse_in_every_zone() -> None:
    draw = random.Random(11)
    for name in zones.zone_names():
        place = zones.zone(name)
        for _ in range(5):
            instant = draw.randint(0, END_OF_2199)
            assert instant in place.instants(place.wall_at(instant)), (name, instant)


def test_transitions_are_changes_of_offset_only() -> None:
    for name in ("Europe/Lisbon", "Africa/Casablanca", "America/Anchorage", "Asia/Gaza"):
        place = zones.zone(name)
        found = list(place.transitions(-(2**31), END_OF_2199))
        assert all(change.offset_before != change.offset_after for change in found)
        assert place.next_transition(found[3].at) == found[4]
        assert place.next_transition(found[3].at - 1) == found[3]
        assert place.previous_transition(found[3].at) == found[3]
        assert place.previous_transition(found[3].at - 1) == found[2]


def test_a_zone_without_changes_has_no_transition() -> None:
    assert zones.zone("UTC").next_transition(0) is None
    assert zones.zone("UTC").previous_transition(END_OF_2199) is None


def test_no_two_transitions_since_1970_touch_each_other() -> None:
    """The daylight-saving policies look at one transition at a time; this is why they may."""
    for name in zones.zone_names():
        found = list(zones.zone(name).transitions(-2 * zones.DAY_S, END_OF_2199))
        for earlier, later in pairwise(found):
            reach = earlier.gap_s + earlier.overlap_s + later.gap_s + later.overlap_s
            assert later.at - earlier.at > reach + zones.DAY_S, (name, earlier)


def test_local_mean_time_with_odd_seconds_is_read() -> None:
    place = zones.zone("Africa/Monrovia")
    assert place.offset_at(63_593_069) == -2670
    assert place.wall_at(63_593_069) == 63_593_069 - 2670


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Europe/Berln", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("America/NewYork", "America/New_York"),
    ],
)
def test_an_unknown_zone_is_refused_with_near_names(written: str, meant: str) -> None:
    with pytest.raises(ScheduleInvalid) as caught:
        zones.zone(written)
    (fault,) = caught.value.faults
    assert fault.field == "timeZone"
    assert written in fault.message
    assert f"did you mean {meant}" in fault.remedy


@pytest.mark.parametrize("written", ["", "Mars/Olympus", "../../etc/passwd", "zone.tab", "Europe", "tzdata"])
def test_what_is_no_zone_is_refused(written: str) -> None:
    with pytest.raises(ScheduleInvalid):
        zones.zone(written)


def test_the_version_of_the_data_is_the_package_s() -> None:
    import tzdata

    assert zones.data_version() == tzdata.IANA_VERSION


def test_the_host_s_zone_data_is_never_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONTZPATH", "/nonexistent")
    monkeypatch.setenv("TZ", "Pacific/Apia")
    zones.zone.cache_clear()
    assert zones.zone("Europe/Berlin").offset_at(1_774_746_000) == 7200


def test_names_are_sorted_and_a_zone_is_read_once() -> None:
    names = zones.zone_names()
    assert list(names) == sorted(names)
    assert {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"} <= set(names)
    assert zones.zone("Asia/Tokyo") is zones.zone("Asia/Tokyo")


def test_dates_and_day_counts_are_inverse() -> None:
    for days in range(-200_000, 200_000, 13):
        year, month, day = zones.civil_from_days(days)
        assert date.fromordinal(days + 719_163) == date(year, month, day)
        assert zones.days_from_civil(year, month, day) == days


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("GMT+2", "Etc/GMT-2"), ("utc-03:00", "Etc/GMT+3"), ("+0200", "Etc/GMT-2"), ("UTC+0", "UTC"),
    ],
)  # fmt: skip
def test_an_offset_is_told_from_a_zone_and_its_sign_is_turned(written: str, fixed: str) -> None:
    fault = zones.unknown_zone(written)
    assert fault.message == f"'{written}' is an offset, not a time zone"
    assert fault.remedy == f"write a place such as Europe/Berlin, or {fixed} for one that never changes its clocks"
    assert zones.zone(fixed).offset_at(0) == {"Etc/GMT-2": 7200, "Etc/GMT+3": -10800, "UTC": 0}[fixed]


def test_an_offset_that_no_zone_has_is_not_offered_one() -> None:
    for written in ("+05:30", "UTC+19"):
        assert zones.unknown_zone(written).remedy == "write a place such as Europe/Berlin"
