"""What the worker does between passes: stamps, retention and pings, without ever delaying a fire."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from core.errors import Precondition, StorageUnusable
from core.runtime.execution import Execution
from core.runtime.memory import MemoryRuntime
from core.storage.enginefile import engine_path
from core.upkeep.backup import backup
from core.upkeep.incarnation import stamp_path
from core.upkeep.retention import RetentionTask
from core.worker.deadman import Deadman, Heartbeat
from core.worker.log import Log, log_path, open_log
from core.worker.loop import Loop
from core.worker.pulse import Pulse
from core.worker.tending import AFTER_FAULT_S, STAMP_EVERY_S, Tending
from tests.integration.admission.world import World

LONG_AGO = timedelta(days=400)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "deck.sqlite3")
    made.flow()
    return made


@pytest.fixture
def log(world: World) -> Iterator[Log]:
    opened = open_log(world.path, stderr=False)
    yield opened
    opened.close()


def logged(world: World, event: str) -> list[dict[str, object]]:
    """Return the lines of one event in the log."""
    path = log_path(world.path)
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [line for line in lines if line["event"] == event]


def stamp_of(world: World) -> dict[str, object]:
    found: dict[str, object] = json.loads(stamp_path(engine_path(world.path)).read_text())
    return found


def grown_old(world: World) -> None:
    """Leave a year and more of history behind."""
    world.trigger("tick")
    for _ in range(3):
        world.advance(minutes=1)
        world.pass_once()
        world.end_work()
    world.clock.advance(LONG_AGO)


def pieces(world: World, tending: Tending, count: int) -> None:
    for _ in range(count):
        world.clock.advance(timedelta(seconds=6))
        assert tending.due()
        tending.step()


def test_old_history_goes_piece_by_piece_and_is_told_once(world: World, log: Log) -> None:
    grown_old(world)
    tending = Tending(world.store, world.clock, log)
    tending.begin()
    pieces(world, tending, 40)
    (told,) = logged(world, "history_pruned")
    assert told["deleted"] == {"work": 2, "occurrence": 2}
    assert len(world.occurrences()) == 1


def test_a_stamp_is_left_only_where_something_changed(world: World, log: Log) -> None:
    tending = Tending(world.store, world.clock, log)
    tending.begin()
    first = stamp_of(world)
    for _ in range(3):
        world.clock.advance(timedelta(seconds=STAMP_EVERY_S))
        tending.step()
    assert stamp_of(world) == first
    world.trigger("tick")
    world.clock.advance(timedelta(seconds=STAMP_EVERY_S))
    tending.step()
    assert stamp_of(world)["number"] == 2
    tending.end()
    assert stamp_of(world)["number"] == 2


def test_an_older_copy_is_refused_at_the_next_start(world: World, log: Log, tmp_path: Path) -> None:
    backup(world.store, tmp_path / "copy", world.clock)
    tending = Tending(world.store, world.clock, log)
    tending.begin()
    world.trigger("tick")
    tending.end()
    world.store.close()
    world.path.write_bytes((tmp_path / "copy").read_bytes())
    for tail in ("-wal", "-shm"):
        world.path.with_name(world.path.name + tail).unlink(missing_ok=True)
    world.restart()
    with pytest.raises(Precondition, match="older") as refused:
        Tending(world.store, world.clock, log).begin()
    assert "triggerdeck restore" in refused.value.remedy


def test_a_stamp_that_cannot_be_written_says_why(world: World, log: Log) -> None:
    stamp_path(engine_path(world.path)).with_name(f"{engine_path(world.path).name}.stamp.new").mkdir()
    with pytest.raises(StorageUnusable, match=r"stamp beside .* cannot be written"):
        Tending(world.store, world.clock, log).begin()


def test_a_fault_in_upkeep_is_not_met_again_at_once(world: World, log: Log) -> None:
    tending = Tending(world.store, world.clock, log)
    tending.begin()
    world.sql("ALTER TABLE log_line RENAME TO hidden")
    with pytest.raises(Exception, match="log_line"):
        pieces(world, tending, 10)
    assert not tending.due()
    world.sql("ALTER TABLE hidden RENAME TO log_line")
    world.clock.advance(timedelta(seconds=AFTER_FAULT_S))
    tending.step()
    assert tending.due()


@asynccontextmanager
async def running(world: World, log: Log, deadman: Deadman | None = None) -> AsyncIterator[Loop]:
    execution = Execution(world.store, world.clock, MemoryRuntime(), 4)
    pulse = Pulse(world.store, world.clock, "worker-1", 4, lambda: execution.running)
    tending = Tending(world.store, world.clock, log)
    tending.begin()
    loop = Loop(world.store, world.clock, world.pipeline, execution, pulse, log, tending, deadman)
    pulse.begin()
    await execution.start()
    try:
        yield loop
    finally:
        await execution.drain(10)
        await execution.stop()


async def test_the_loop_ends_by_itself_where_an_older_copy_took_the_place(world: World, log: Log) -> None:
    async with running(world, log) as loop:
        path = stamp_path(engine_path(world.path))
        path.write_text(json.dumps(stamp_of(world) | {"number": 99}))
        world.clock.advance(timedelta(seconds=STAMP_EVERY_S))
        await loop.run()
        assert loop.refused is not None
    assert len(logged(world, "older_copy")) == 1


async def test_what_is_due_is_decided_before_anything_is_tended(world: World, log: Log) -> None:
    grown_old(world)
    order: list[str] = []
    original = RetentionTask.step

    def step(task: RetentionTask) -> bool:
        order.append("tended" if world.rows("SELECT 1 FROM occurrence WHERE reason = 'missed'") else "too early")
        loop.stop()
        return original(task)

    async with running(world, log) as loop:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RetentionTask, "step", step)
            await loop.run()
    assert order == ["tended"]


class Nudging(Log):
    """A log that wakes the loop with each problem, so that a test need not wait for a clock that stands still."""

    def problem(self, event: str, *, error: BaseException | None = None, **fields: object) -> None:
        super().problem(event, error=error, **fields)
        self.loop.nudge()

    loop: Loop


async def test_a_fault_in_upkeep_is_told_and_the_worker_goes_on(world: World, log: Log) -> None:
    world.sql("ALTER TABLE log_line RENAME TO hidden")
    async with running(world, log) as loop:
        loop.log = nudging = Nudging(log._logger)
        nudging.loop = loop
        turns: list[bool] = []

        def turned() -> None:
            turns.append(bool(logged(world, "upkeep_failed")))
            if turns[-1]:
                loop.stop()

        loop.turned = turned
        await loop.run()
    assert turns == [False, True]
    assert loop.refused is None
    assert loop.pulse.errors[0]["code"] == "internal_error"


async def test_each_pass_that_was_made_is_told_to_the_monitor_and_a_failed_one_is_not(
    world: World, log: Log, tmp_path: Path
) -> None:
    line = f"echo ping >> {tmp_path / 'pings'}"
    deadman = Deadman(Heartbeat(command=("sh", "-c", line), every_s=0.0, timeout_s=20), world.clock, log)
    async with running(world, log, deadman) as loop:
        world.sql("ALTER TABLE pause_window RENAME TO hidden")
        loop.turned = loop.stop
        await loop.run()
        assert deadman.settle(20)
        assert not (tmp_path / "pings").exists()
        world.sql("ALTER TABLE hidden RENAME TO pause_window")
        loop.stopping = False
        await loop.run()
        assert deadman.settle(20)
    assert (tmp_path / "pings").read_text() == "ping\n"
