"""The loop over a real store and the in-memory runtime: when it looks, what it survives, what it tells."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from core.runtime.execution import Execution
from core.runtime.memory import MemoryRuntime
from core.worker.log import Log, log_path, open_log
from core.worker.loop import Loop
from core.worker.pulse import Pulse
from tests.integration.admission.world import START, World, definition

TURN_LIMIT_S = 30.0


class Running:
    """A loop that runs, and a way to wait for its turns."""

    def __init__(self, world: World, loop: Loop, log: Log) -> None:
        self.world, self.loop, self.log = world, loop, log
        self.turns = 0
        self._turned = asyncio.Event()
        loop.turned = self._note

    def _note(self) -> None:
        self.turns += 1
        self._turned.set()

    async def turn(self) -> None:
        """Wait for the end of the next turn."""
        self._turned.clear()
        await asyncio.wait_for(self._turned.wait(), TURN_LIMIT_S)

    async def until(self, query: str, *values: object) -> None:
        """Wait, turn by turn, until a query finds something."""
        while not self.world.rows(query, *values):
            await self.turn()

    def logged(self) -> list[str]:
        """Return the events in the log."""
        path = log_path(self.world.path)
        text = path.read_text() if path.exists() else ""
        return [json.loads(line)["event"] for line in text.splitlines()]


@asynccontextmanager
async def running(world: World) -> AsyncIterator[Running]:
    log = open_log(world.path, stderr=False)
    execution = Execution(world.store, world.clock, MemoryRuntime(), 4)
    pulse = Pulse(world.store, world.clock, "worker-1", 4, lambda: execution.running)
    loop = Loop(world.store, world.clock, world.pipeline, execution, pulse, log)
    pulse.begin()
    await execution.start()
    made = Running(world, loop, log)
    task = asyncio.create_task(loop.run())
    try:
        await made.turn()
        yield made
    finally:
        loop.stop()
        await task
        await execution.drain(10)
        await execution.stop()
        log.close()


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "deck.sqlite3")
    made.flow()
    return made


async def test_a_due_time_is_met_without_anybody_asking(world: World) -> None:
    world.trigger("tick")
    async with running(world) as it:
        world.clock.advance(timedelta(seconds=60))
        await it.until("SELECT 1 FROM work WHERE status = 'completed'")
    (row,) = world.occurrences()
    assert (row["outcome"], row["reason"]) == ("submitted", "on_time")


async def test_what_somebody_changes_is_seen_at_once(world: World) -> None:
    async with running(world) as it:
        world.trigger("tick")
        world.run("tick")
        await it.until("SELECT 1 FROM work WHERE status = 'completed'")
    assert world.clock.now() == START


async def test_heartbeats_wake_nobody_and_changes_do(world: World) -> None:
    world.trigger("tick", definition(enabled=False))
    loop = Loop(
        world.store,
        world.clock,
        world.pipeline,
        Execution(world.store, world.clock, MemoryRuntime(), 4),
        Pulse(world.store, world.clock, "worker-1", 4, lambda: 0),
        open_log(world.path, stderr=False),
    )
    await loop.turn()
    for _ in range(5):
        loop.pulse.beat()
        assert not await loop.moved()
    world.enable("tick")
    assert await loop.moved()
    loop.log.close()


async def test_a_jump_of_the_clock_is_one_audited_event_and_one_decision(world: World) -> None:
    """A laptop that slept for eight hours: one jump, one coalesced Work."""
    world.trigger("tick", definition(misfirePolicy="fireOnce"))
    async with running(world) as it:
        world.clock.step(START + timedelta(hours=8, seconds=30))
        await it.until("SELECT 1 FROM work WHERE status = 'completed'")
    events = world.rows("SELECT detail FROM audit_event WHERE action = 'clock_jumped'")
    assert [json.loads(row["detail"])["seconds"] for row in events] == [28_830.0]
    assert [(row["reason"], row["count"]) for row in world.occurrences()] == [("coalesced", 480)]
    assert it.logged().count("clock_jumped") == 1


async def test_a_fault_of_our_own_is_told_and_survived(world: World) -> None:
    world.trigger("tick")
    async with running(world) as it:
        world.sql("ALTER TABLE pause_window RENAME TO hidden")
        world.clock.advance(timedelta(seconds=60))
        while "turn_failed" not in it.logged():
            await it.turn()
        world.sql("ALTER TABLE hidden RENAME TO pause_window")
        world.clock.advance(timedelta(seconds=30))
        await it.until("SELECT 1 FROM work WHERE status = 'completed'")
    assert [error["code"] for error in it.loop.pulse.errors][:1] == ["internal_error"]


async def test_a_full_disk_is_told_once_stops_admission_and_is_survived(world: World) -> None:
    for number in range(5):
        world.trigger(f"tick-{number}", definition(input={"filler": "x" * 50_000}))
    room = [1_000_000]

    def limit(connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {room[0]}")

    event.listen(world.store.engine, "begin", limit)
    async with running(world) as it:
        room[0] = 1  # SQLite takes the present size instead: nothing may grow
        world.clock.advance(timedelta(seconds=60))
        for _ in range(3):
            await it.turn()
            world.clock.advance(timedelta(seconds=20))
        assert it.logged().count("storage_unusable") == 1
        assert world.occurrences() == []
        room[0] = 1_000_000
        world.clock.advance(timedelta(seconds=20))
        await it.until("SELECT 1 FROM work WHERE status = 'completed'")
    assert it.logged().count("storage_usable") == 1
    assert [sum(row["count"] for row in world.occurrences(f"tick-{number}")) for number in range(5)] == [2] * 5
