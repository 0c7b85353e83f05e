"""What people reported of other schedulers on machines that sleep, whose clock is set, and where one row is broken.

Each test says its report in our own words. All of them: `python -m pytest tests/integration/public_failures`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from core.admission.pipeline import Pipeline
from core.clock import Clock, ManualClock
from core.queries.context import Reading
from core.queries.machinery import status
from core.runtime.execution import Execution
from core.runtime.memory import MemoryRuntime
from core.runtime.port import Progress, Segment
from core.storage import changes
from core.storage.opening import open_store
from core.storage.store import Store
from core.upkeep.doctor import examine
from core.worker import loop
from core.worker.log import open_log
from core.worker.pulse import Pulse
from tests.integration.admission.world import EVERY_MINUTE, HOURLY, START, World, definition
from tests.integration.public_failures.living import MakeWorld, at, fired
from tests.integration.runtime.rig import START as RIG_START
from tests.integration.runtime.rig import Rig, sh
from tests.integration.worker.test_worker_loop import Running, running

A_DAY = timedelta(days=1)


# -- one broken row ----------------------------------------------------------------------------------------------------


def half_of_it_is_gone(world: World) -> None:
    world.sql("DELETE FROM resource WHERE name = 'a-broken-one'")


def its_row_is_refused(world: World) -> None:
    world.sql(
        "CREATE TRIGGER broken BEFORE INSERT ON work WHEN new.trigger_name = 'a-broken-one'"
        " BEGIN SELECT RAISE(ABORT, 'no such record'); END"
    )


@pytest.mark.parametrize("spoil", [half_of_it_is_gone, its_row_is_refused])
def test_one_overdue_trigger_with_a_broken_record_keeps_no_other_from_being_made_up_for(
    world_at: MakeWorld, spoil: Callable[[World], None]
) -> None:
    """Quartz report 48: of twenty overdue triggers the first had lost half its record; none of the twenty ever ran."""
    world = world_at(at("2016-08-10T09:00:00"))
    body = definition(HOURLY, misfirePolicy="fireOnce")
    world.trigger("a-broken-one", body)
    for number in range(19):
        world.trigger(f"sound-{number:02}", body)
    world.advance(hours=3, minutes=41)
    spoil(world)
    world.restart()
    report = world.pass_once()
    assert len(report.submitted) == 19
    assert [error.trigger_name for error in report.errors] == ["a-broken-one"]
    for _ in range(12):
        world.advance(minutes=5)
        world.pass_once()
    for number in range(19):
        assert world.decisions(f"sound-{number:02}") == [("pending", "coalesced", 3), ("pending", "on_time", 1)]
    assert world.work("a-broken-one") == []
    assert world.state("a-broken-one")["phase"] == "degraded"


# -- two at once -------------------------------------------------------------------------------------------------------


class Overtaken(Pipeline):
    """A scheduler that another one overtakes each time, between its look at what is due and its decision."""

    def __init__(self, store: Store, clock: Clock, other: Pipeline) -> None:
        super().__init__(store, clock)
        self.other = other
        self.looks: list[bool] = []

    def _anything_due(self) -> bool:
        self.looks.append(super()._anything_due())
        self.other.pass_once()
        return self.looks[-1]


@contextmanager
def overtaken(world: World) -> Iterator[Overtaken]:
    """Open the same database a second time, for a scheduler that the first one overtakes."""
    store = open_store(world.path, clock=world.clock)
    yield Overtaken(store, world.clock, world.pipeline)
    store.close()


def test_two_schedulers_that_see_the_same_time_due_make_one_work_of_it_and_no_error(world_at: MakeWorld) -> None:
    """Solid Queue report 638: with several schedulers, all but one failed each minute on the others' unique row."""
    world = world_at(at("2025-09-11T01:00:00"))
    world.trigger("job-count", definition(EVERY_MINUTE))
    with overtaken(world) as second:
        for _ in range(30):
            world.advance(minutes=1)
            report = second.pass_once()
            assert (report.errors, report.submitted) == ((), ())
        assert second.looks[:1] == [True]
        assert second.looks.count(True) == 30
    assert fired(world) == [at(f"2025-09-11T01:{minute:02}:00") for minute in range(1, 31)]
    assert (world.state("job-count")["phase"], world.state("job-count")["failures"]) == ("scheduled", 0)


# -- machines that sleep, clocks that are set --------------------------------------------------------------------------


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a world whose worker, left alone, would look again in a day only."""
    monkeypatch.setattr(loop, "LONGEST_WAIT", A_DAY)
    made = World(tmp_path / "deck.sqlite3")
    made.flow()
    return made


def jumps(world: World) -> list[float]:
    events = world.rows("SELECT detail FROM audit_event WHERE action = 'clock_jumped' ORDER BY id")
    return [json.loads(row["detail"])["seconds"] for row in events]


async def beat_at(it: Running) -> None:
    """Wait until the heartbeat shows the present time."""
    now = int(it.world.clock.now().timestamp() * 1_000_000)
    async with asyncio.timeout(20):
        while [row["beat_at"] for row in it.world.rows("SELECT beat_at FROM worker_beat")] != [now]:
            await asyncio.sleep(0)


async def test_a_worker_on_a_machine_that_wakes_up_looks_at_once(world: World) -> None:
    """APScheduler report 794: asleep with its machine, the scheduler overslept what was due when it woke up."""
    world.trigger("hourly", definition(HOURLY, misfirePolicy="fireOnce"))
    async with running(world) as it:
        world.clock.step(START + timedelta(hours=9, minutes=10))  # no time passes for what waits
        await it.until("SELECT 1 FROM work WHERE status = 'completed'")
    assert [(row["reason"], row["count"]) for row in world.occurrences()] == [("coalesced", 9)]
    assert jumps(world) == [33_000.0]


async def test_a_worker_whose_clock_is_set_ahead_by_a_little_meets_the_next_time(world: World) -> None:
    """APScheduler report 794: a correction of the clock that is no jump must not be slept through either."""
    world.trigger("tick")
    world.advance(seconds=59)
    async with running(world) as it:
        world.clock.step(world.clock.now() + timedelta(seconds=1.5))
        await it.until("SELECT 1 FROM work WHERE status = 'completed'")
    assert [row["reason"] for row in world.occurrences()] == ["on_time"]
    assert jumps(world) == []


async def test_a_clock_that_is_set_back_and_right_again_makes_the_worker_oversleep_nothing(world: World) -> None:
    """Quartz.NET report 3148: set back by some hours, the clock made loops sleep these hours, also when it was right.

    One of those loops was the sign of life: the others took this one for dead.
    """
    world.trigger("tick")
    async with running(world) as it:
        world.clock.step(START - timedelta(hours=6))
        await it.turn()
        for _ in range(2):
            world.clock.advance(timedelta(seconds=1))
            await beat_at(it)
        world.clock.step(START + timedelta(minutes=1))
        await it.until("SELECT 1 FROM work WHERE status = 'completed'")
        await beat_at(it)
    assert jumps(world) == [-21_600.0, 21_658.0]
    assert [row["reason"] for row in world.occurrences()] == ["on_time"]


def test_an_ailing_trigger_is_looked_at_again_soon_though_the_clock_was_set_back(world: World) -> None:
    """Quartz.NET report 3148: pauses that were counted on the wall clock grew by as much as it was set back."""
    world.trigger("bad")
    world.sql("UPDATE resource SET definition = replace(definition, 'UTC', 'Mars/Olympus') WHERE name = 'bad'")
    world.restart()
    for _ in range(9):
        world.advance(minutes=6)
        world.pass_once()
    world.sql("UPDATE resource SET definition = replace(definition, 'Mars/Olympus', 'UTC') WHERE name = 'bad'")
    world.clock.step(world.clock.now() - timedelta(hours=6))
    world.pass_once()
    assert (world.state("bad")["phase"], world.state("bad")["failures"]) == ("scheduled", 0)


def test_a_pause_between_looks_that_a_clock_stretched_ends_with_a_restart_too(world: World) -> None:
    """Quartz.NET report 3148: set back while nobody looked, the clock is met by the next start."""
    world.trigger("bad")
    world.sql("UPDATE resource SET definition = replace(definition, 'UTC', 'Mars/Olympus') WHERE name = 'bad'")
    world.restart()
    world.advance(minutes=1)
    world.pass_once()
    world.clock.step(world.clock.now() - timedelta(hours=6))
    world.restart()
    report = world.pass_once()
    assert [error.trigger_name for error in report.errors] == ["bad"]


async def test_a_run_that_a_fault_postponed_is_tried_again_though_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quartz.NET report 3148: work that waits for a moment must not wait for as long as the clock was set back."""
    clock = ManualClock(RIG_START)
    async with Rig(tmp_path, MemoryRuntime(), clock=clock) as rig:
        advance, faults = rig.execution._interpreter.advance, iter([True])

        async def faulty(segment: Segment, cancel: asyncio.Event) -> Progress:
            if next(faults, False):
                raise OSError("the disk is full")
            return await advance(segment, cancel)

        monkeypatch.setattr(rig.execution._interpreter, "advance", faulty)
        work_id = rig.fire(sh("true"))
        await rig.execution.pass_once()
        while rig.execution.running:
            await rig.next_event()
        clock.step(RIG_START - timedelta(hours=6))
        wake = await rig.execution.pass_once()
        assert wake == clock.now() + timedelta(seconds=5)
        clock.advance(timedelta(seconds=5))
        assert (await rig.until(work_id)).status == "completed"


def test_a_dead_worker_is_not_taken_for_alive_where_the_clock_was_set_back(world: World) -> None:
    """Quartz.NET report 3148: who lives is told by times; one that lies ahead is no sign of life."""
    world.trigger("tick")
    Pulse(world.store, world.clock, "worker-1", 4, lambda: 0).begin()
    world.clock.step(START - timedelta(hours=6))
    with world.store.read() as tx:
        reading = Reading(tx, world.scope.workspace_id, world.clock.now())
        assert status(reading, workspace="default", read_only=False).worker == "stale"
    assert "worker_stale" in [finding.code for finding in examine(world.store, world.clock).findings]


def test_the_change_table_is_kept_short_though_the_clock_was_set_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quartz.NET report 3148: upkeep, too, is counted on a clock that nobody sets."""
    prune = changes.prune
    monkeypatch.setattr(changes, "prune", lambda tx: prune(tx, keep=1))
    log = open_log(world.path, stderr=False)
    execution = Execution(world.store, world.clock, MemoryRuntime(), 4)
    pulse = Pulse(world.store, world.clock, "worker-1", 4, lambda: 0)
    worker = loop.Loop(world.store, world.clock, world.pipeline, execution, pulse, log)
    for hours in (0, -6):
        for number in range(3):
            world.trigger(f"tick{hours}-{number}")
        world.clock.step(world.clock.now() + timedelta(hours=hours))
        world.advance(minutes=10)
        worker._prune()
        assert world.rows("SELECT count(*) AS n FROM change") == [{"n": 1}]
    log.close()
