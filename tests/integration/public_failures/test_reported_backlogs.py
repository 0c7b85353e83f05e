"""What people reported of other schedulers after outages, pauses and edits, lived through here.

Each test says its report in our own words. All of them: `python -m pytest tests/integration/public_failures`.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.integration.admission.world import EVERY_MINUTE, World, definition
from tests.integration.public_failures.living import EVERY_POLICY, MakeWorld, at, cron, fired, live

under_every_policy = pytest.mark.parametrize("policy", EVERY_POLICY)
AFTER_THE_NIGHT = {
    "skip": [("skipped", "missed", 509), ("pending", "on_time", 1)],
    "fireOnce": [("pending", "coalesced", 510)],
}


def test_a_daily_rule_is_sent_once_a_day_however_often_the_worker_looks(world_at: MakeWorld) -> None:
    """Celery report 4041: a task meant for midnight was sent again and again, several times a second, at 16:20."""
    world = world_at(at("2026-03-02T23:59:00"))
    world.trigger("nightly", definition(cron("0 0 0 * * ?")))
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


@under_every_policy
def test_a_rule_goes_on_after_a_night_in_which_it_missed_hundreds_of_times(world_at: MakeWorld, policy: str) -> None:
    """Kubernetes report 42649: switched off overnight, a rule that had missed more than a hundred never ran again."""
    world = world_at(at("2017-03-06T22:00:00"))
    world.trigger("tick", definition(misfirePolicy=policy))
    world.advance(hours=8, minutes=30, seconds=20)
    world.restart()
    world.pass_once()
    assert world.decisions() == AFTER_THE_NIGHT[policy]
    world.advance(minutes=1)
    world.pass_once()
    assert fired(world) == [at("2017-03-07T06:30:00"), at("2017-03-07T06:31:00")]


@under_every_policy
@pytest.mark.parametrize("looked", [True, False], ids=["worker up", "worker down"])
def test_a_rule_wakes_up_after_forty_days_of_pause(world_at: MakeWorld, policy: str, looked: bool) -> None:
    """Kubernetes report 110919: times that passed in a suspension counted as missed, and too many ended the rule."""
    world = world_at(at("2022-05-22T09:00:00"))
    world.trigger("tick", definition(misfirePolicy=policy))
    world.pause("tick")
    for _ in range(40):
        world.advance(days=1)
        if looked:
            world.pass_once()
    world.advance(seconds=30)
    world.restart()
    world.resume("tick")
    assert world.pass_once().submitted == ()
    world.advance(seconds=30)
    assert len(world.pass_once().submitted) == 1
    assert world.decisions() == [("skipped", "paused", 40 * 24 * 60), ("pending", "on_time", 1)]
    assert fired(world) == [at("2022-07-01T09:01:00")]


def test_what_was_missed_in_a_minute_off_is_not_made_up_for_where_the_policy_says_skip(world_at: MakeWorld) -> None:
    """Quartz report 239: told to do nothing, a rule of every 15 s ran three times at once after a restart of a minute.

    The threshold says what is still on time: the newest is, the older ones are one range.
    """
    world = world_at(at("2018-06-06T16:43:40"))
    world.trigger("optimize", definition(cron("0/15 * * * * ?"), misfirePolicy="skip", misfireThreshold="PT1M"))
    world.advance(seconds=5)
    world.pass_once()
    world.advance(seconds=57)
    world.restart()
    assert len(world.pass_once().submitted) == 1
    world.advance(seconds=3)
    assert len(world.pass_once().submitted) == 1
    assert world.decisions() == [
        ("pending", "on_time", 1), ("skipped", "missed", 2), ("pending", "on_time", 1), ("pending", "on_time", 1),
    ]  # fmt: skip
    assert fired(world) == [at(f"2018-06-06T16:{time}") for time in ("43:45", "44:30", "44:45")]


@under_every_policy
def test_hundreds_of_late_runs_of_a_worker_that_was_away_are_one(world_at: MakeWorld, policy: str) -> None:
    """Prefect report 15886: after an outage all late runs of a minutely rule were executed, the oldest first."""
    world = world_at(at("2024-10-31T09:00:00"))
    world.trigger("monitor", definition(misfirePolicy=policy))
    world.advance(hours=6, minutes=2)
    world.restart()
    for _ in range(40):
        world.pass_once()
        world.end_work()
        world.advance(milliseconds=500)
    assert fired(world) == [at("2024-10-31T15:02:00")]
    assert sum(count for _, _, count in world.decisions()) == 362


def test_work_that_nobody_takes_keeps_more_from_piling_up_behind_it(world_at: MakeWorld) -> None:
    """Prefect report 15886: with nobody to execute them, runs of a minutely rule queued up by the hundred."""
    world = world_at(at("2024-10-31T09:00:00"))
    defaults = definition(EVERY_MINUTE)
    del defaults["misfirePolicy"], defaults["concurrencyPolicy"]
    world.trigger("monitor", defaults)
    for _ in range(120):
        world.advance(minutes=1)
        world.pass_once()
    (waiting,) = world.work()
    assert fired(world) == [at("2024-10-31T09:01:00")]
    skipped = world.occurrences()[1:]
    assert {(row["outcome"], row["reason"]) for row in skipped} == {("skipped", "concurrency_skip")}
    assert sum(row["count"] for row in skipped) == 119
    assert waiting["id"][:8] in skipped[-1]["message"]


@under_every_policy
def test_what_was_paused_is_not_run_when_the_pause_ends(world_at: MakeWorld, policy: str) -> None:
    """Airflow report 19126: told not to catch up, it ran everything that a pause had held back once it ended."""
    world = world_at(at("2021-10-21T11:31:00"))
    world.trigger("simple", definition(EVERY_MINUTE, misfirePolicy=policy))
    world.pause("simple")
    world.advance(minutes=4, seconds=30)
    world.resume("simple")
    assert world.pass_once().submitted == ()
    assert world.decisions() == [("skipped", "paused", 4)]
    world.advance(seconds=30)
    assert len(world.pass_once().submitted) == 1


@under_every_policy
@pytest.mark.parametrize("looked", [True, False], ids=["worker up", "worker down"])
def test_after_a_pause_the_next_time_runs_once_and_nothing_beside_it(
    world_at: MakeWorld, policy: str, looked: bool
) -> None:
    """Quartz report 939: a resumed job ran twice, once at its time and once for those that the pause had covered."""
    world = world_at(at("2023-07-11T09:00:00"))
    world.trigger("job", definition(cron("0 0/5 * * * ?"), misfirePolicy=policy))
    world.advance(minutes=5)
    world.pass_once()
    world.advance(minutes=2)
    world.pause("job")
    for _ in range(11):
        world.advance(minutes=5)
        if looked:
            world.pass_once()
    world.resume("job")
    for _ in range(2):
        world.pass_once()
        world.advance(minutes=3)
    world.pass_once()
    assert fired(world) == [at("2023-07-11T09:05:00"), at("2023-07-11T10:05:00")]
    assert [(reason, count) for _, reason, count in world.decisions()] == [
        ("on_time", 1),
        ("paused", 11),
        ("on_time", 1),
    ]


@under_every_policy
def test_a_later_time_of_day_is_not_run_at_the_moment_of_the_edit(world_at: MakeWorld, policy: str) -> None:
    """Hangfire report 728: moved in the afternoon from 01:00 to 02:00, a daily job ran at once, for today's 02:00."""
    world = world_at(at("2016-11-13T12:00:00"))
    world.trigger("nightly", definition(cron("0 0 1 * * ?"), misfireThreshold="PT20M", misfirePolicy=policy))
    live(world, at("2016-11-14T15:00:00"))
    world.edit("nightly", source={"kind": "schedule", "schedule": cron("0 0 2 * * ?")})
    assert world.pass_once().submitted == ()
    assert live(world, at("2016-11-16T02:30:00")) == [
        at("2016-11-14T01:00:00"), at("2016-11-15T02:00:00"), at("2016-11-16T02:00:00"),
    ]  # fmt: skip
    assert {reason for _, reason, _ in world.decisions()} == {"on_time"}


@under_every_policy
def test_an_edit_while_the_worker_was_down_fires_neither_the_old_time_nor_the_new(
    world_at: MakeWorld, policy: str
) -> None:
    """Hangfire report 728: down from 01:00 to 17:00, a job at 02:00 that was moved to 03:00 at 07:00."""
    world = world_at(at("2016-11-14T01:00:00"))
    world.trigger("nightly", definition(cron("0 0 2 * * ?"), misfireThreshold="PT20M", misfirePolicy=policy))
    world.advance(hours=6)
    world.edit("nightly", source={"kind": "schedule", "schedule": cron("0 0 3 * * ?")})
    world.advance(hours=10)
    world.restart()
    assert world.pass_once().submitted == ()
    assert world.decisions() == [("skipped", "definition_changed", 1)]
    assert live(world, at("2016-11-15T03:30:00")) == [at("2016-11-15T03:00:00")]


def test_a_pause_and_an_outage_together_keep_what_neither_of_them_covers(world_at: MakeWorld) -> None:
    """Quartz report 939: a resumed job ran for times that a pause had covered; those after it are the outage's."""
    world: World = world_at(at("2023-07-11T09:00:00"))
    world.trigger("job", definition(cron("0 0/5 * * * ?"), misfirePolicy="fireOnce"))
    world.pause("job", until=at("2023-07-11T09:30:00"))
    world.clock.advance(timedelta(hours=1, minutes=2))
    world.restart()
    world.pass_once()
    assert world.decisions() == [("skipped", "paused", 5), ("pending", "coalesced", 7)]
    assert fired(world) == [at("2023-07-11T10:00:00")]
