"""What people reported of other schedulers on nights on which the clock changes, lived through here.

Each test says its report in our own words. All of them: `python -m pytest tests/integration/public_failures`.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from tests.integration.admission.world import definition
from tests.integration.public_failures.living import MakeWorld, at, cron, live, next_due


def test_an_hourly_rule_fires_in_both_passes_of_the_repeated_hour(world_at: MakeWorld) -> None:
    """Celery report 10107: on the night of the fall-back the second 01:00 was taken for the first and not run."""
    world = world_at(at("2026-11-01T06:50:00"))
    world.trigger("hourly", definition(cron("0 0 * * * ?", "America/Los_Angeles"), misfireThreshold="PT20M"))
    fired = live(world, at("2026-11-01T11:05:00"))
    assert fired == [at(f"2026-11-01T{hour:02}:00:00") for hour in range(7, 12)]


def test_a_midnight_rule_loses_no_day_where_a_night_is_an_hour_short(world_at: MakeWorld) -> None:
    """APScheduler report 529: days were 24 hours long, so the weekday after the spring change was passed over."""
    world = world_at(at("2021-03-12T06:01:00"))
    world.trigger("weekdays", definition(cron("0 0 0 ? * MON-FRI", "America/Chicago"), misfireThreshold="PT20M"))
    assert next_due(world, "weekdays") == at("2021-03-15T05:00:00")
    fired = live(world, at("2021-03-17T06:00:00"), step=timedelta(minutes=15))
    assert fired == [at(f"2021-03-{day}T05:00:00") for day in (15, 16, 17)]


def test_a_jittered_midnight_rule_fires_on_each_day_around_the_spring_change(world_at: MakeWorld) -> None:
    """APScheduler report 606: run at midnight of the night of the change, it named the midnight after the next."""
    world = world_at(at("2022-03-12T07:00:00"))
    rule = cron("0 0 0 * * ?", "America/Los_Angeles", jitter="PT10S")
    world.trigger("new-day", definition(rule, misfireThreshold="PT20M"))
    fired = live(world, at("2022-03-16T08:00:00"), step=timedelta(minutes=15))
    assert fired == [
        at(text)
        for text in (
            "2022-03-12T08:00:00", "2022-03-13T08:00:00", "2022-03-14T07:00:00", "2022-03-15T07:00:00",
            "2022-03-16T07:00:00",
        )
    ]  # fmt: skip


def test_a_rule_of_every_other_hour_comes_out_of_the_repeated_hour(world_at: MakeWorld) -> None:
    """APScheduler report 980: an every-other-hour rule answered one and the same time for ever on a fall-back night."""
    world = world_at(at("2024-10-26T23:30:00"))
    world.trigger("odd", definition(cron("0 0 1/2 * * ?", "Europe/London"), misfireThreshold="PT20M"))
    fired = live(world, at("2024-10-27T08:05:00"))
    assert fired == [at(f"2024-10-27T{hour:02}:00:00") for hour in (0, 3, 5, 7)]


def test_a_rule_that_is_saved_within_the_second_pass_of_an_hour_goes_on_from_there(world_at: MakeWorld) -> None:
    """APScheduler report 1021: asked for the next time within the repeated hour, it answered one that was over."""
    world = world_at(at("2017-10-29T01:45:00"))
    world.trigger("half-past", definition(cron("0 30 * * * ?", "Europe/Helsinki"), misfireThreshold="PT20M"))
    assert next_due(world, "half-past") == at("2017-10-29T02:30:00")
    assert live(world, at("2017-10-29T04:35:00")) == [at(f"2017-10-29T{hour:02}:30:00") for hour in (2, 3, 4)]


@pytest.mark.parametrize("day", ["2025-03-30", "2025-10-26"])
def test_two_times_of_an_hourly_rule_are_an_hour_apart_also_where_the_clock_changes(
    world_at: MakeWorld, day: str
) -> None:
    """Dagster report 32250: at the change an hourly rule gave the same instant twice, a distance of nothing."""
    world = world_at(at(f"{day}T00:00:00") - timedelta(hours=3, minutes=10))
    world.trigger("hourly", definition(cron("0 0 * * * ?", "Europe/Berlin"), misfireThreshold="PT20M"))
    fired = live(world, at(f"{day}T05:05:00"))
    assert {after - before for before, after in pairwise(fired)} == {timedelta(hours=1)}
    assert len(fired) == 9


@pytest.mark.parametrize(
    ("daylight", "spring", "autumn"),
    [
        ({}, ["01:30"], ["00:30"]),
        ({"gap": "skip", "overlap": "second"}, [], ["01:30"]),
        ({"gap": "shift", "overlap": "both"}, ["01:30"], ["00:30", "01:30"]),
    ],
)
def test_what_a_clock_change_does_to_a_nightly_rule_is_the_rules_own_choice(
    world_at: MakeWorld, daylight: dict[str, str], spring: list[str], autumn: list[str]
) -> None:
    """Temporal report 8205: a rule at 02:30 ran never, once or twice on such nights, and nobody could say which."""
    for day, expected in (("2026-03-29", spring), ("2026-10-25", autumn)):
        world = world_at(at(f"{day}T00:00:00") - timedelta(minutes=30))
        schedule = cron("0 30 2 * * ?", "Europe/Berlin", daylightSaving=daylight)
        world.trigger("nightly", definition(schedule, misfireThreshold="PT20M"))
        assert live(world, at(f"{day}T04:05:00")) == [at(f"{day}T{time}:00") for time in expected]
