"""Failures that people reported of other schedulers, lived through here; each test says the report in our own words.

Reports whose story is told by a test elsewhere carry their number there (grep for the tracker's name).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.integration.admission.world import EVERY_MINUTE, World, definition

MakeWorld = Callable[[datetime], World]


@pytest.fixture
def world_at(tmp_path: Path) -> Iterator[MakeWorld]:
    """Make worlds that begin at an instant; whatever is left of them is closed."""
    made: list[World] = []

    def make(start: datetime) -> World:
        world = World(tmp_path / f"deck-{len(made)}.sqlite3", start)
        world.flow()
        made.append(world)
        return world

    yield make
    for world in made:
        world.store.close()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def cron(expression: str, zone: str, **fields: Any) -> dict[str, Any]:
    return {"type": "cron", "expression": expression, "timeZone": zone, **fields}


def live(world: World, until: datetime, *, step: timedelta = timedelta(minutes=10)) -> list[datetime]:
    """Make a pass every ten minutes; return the nominal times for which there is Work, in the order of the passes."""
    while world.clock.now() < until:
        world.clock.advance(step)
        world.pass_once()
    rows = world.rows("SELECT nominal_at FROM occurrence WHERE work_id IS NOT NULL ORDER BY admitted_at, rowid")
    fired = [world.at(row["nominal_at"]) for row in rows]
    return [instant for instant in fired if instant is not None]


def next_due(world: World, name: str) -> datetime | None:
    return world.at(world.state(name)["next_due_at"])


def test_an_hourly_rule_fires_in_both_passes_of_the_repeated_hour(world_at: MakeWorld) -> None:
    """Celery report 10107: on the night of the fall-back the second 01:00 was taken for the first and not run."""
    world = world_at(at("2026-11-01T06:50:00"))
    world.trigger("hourly", definition(cron("0 0 * * * ?", "America/Los_Angeles"), misfireThreshold="PT20M"))
    fired = live(world, at("2026-11-01T11:05:00"))
    assert fired == [at(f"2026-11-01T{hour:02}:00:00") for hour in range(7, 12)]


def test_a_daily_rule_is_sent_once_a_day_however_often_the_worker_looks(world_at: MakeWorld) -> None:
    """Celery report 4041: a task meant for midnight was sent again and again, several times a second, at 16:20."""
    world = world_at(at("2026-03-02T23:59:00"))
    world.trigger("nightly", definition(cron("0 0 0 * * ?", "UTC")))
    world.advance(minutes=1)
    for _ in range(300):
        world.pass_once()
        world.advance(seconds=0.2)
    world.restart()
    live(world, at("2026-03-03T16:25:00"))
    for _ in range(300):
        world.pass_once()
        world.advance(seconds=0.2)
    assert world.decisions() == [("pending", "on_time", 1)]


def test_a_midnight_rule_loses_no_day_where_a_night_is_an_hour_short(world_at: MakeWorld) -> None:
    """APScheduler report 529: days were 24 hours long, so the weekday after the spring change was passed over."""
    world = world_at(at("2021-03-12T06:01:00"))
    world.trigger("weekdays", definition(cron("0 0 0 ? * MON-FRI", "America/Chicago")))
    assert next_due(world, "weekdays") == at("2021-03-15T05:00:00")


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


def test_what_was_paused_is_not_run_when_the_pause_ends(world_at: MakeWorld) -> None:
    """Airflow report 19126: told not to catch up, it ran everything that a pause had held back once it ended."""
    world = world_at(at("2021-10-21T11:31:00"))
    world.trigger("simple", definition(EVERY_MINUTE))
    world.pause("simple")
    world.advance(minutes=4, seconds=30)
    world.resume("simple")
    assert world.pass_once().submitted == ()
    assert world.decisions() == [("skipped", "paused", 4)]
    world.advance(seconds=30)
    assert len(world.pass_once().submitted) == 1
