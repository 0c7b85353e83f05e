"""An outside monitor hears a worker that lives, and nothing of one that is stuck, cannot write or is dead."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.admission.pipeline import PassReport, Pipeline
from core.deck import Deck
from core.runtime.execution import Execution
from core.runtime.memory import MemoryRuntime
from core.worker import control
from core.worker.deadman import COMMAND_VARIABLE, URL_VARIABLE, Deadman, Heartbeat
from core.worker.log import open_log
from core.worker.loop import Loop
from core.worker.pulse import Pulse
from tests.integration.admission.world import World
from tests.integration.pressure.waiting import until
from tests.integration.upkeep.test_upkeep_deadman import Monitor


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    made = Monitor()
    yield made
    made.close()


class Sticky(Pipeline):
    """A pipeline whose passes end only while the gate is open."""

    def __init__(self, world: World) -> None:
        super().__init__(world.store, world.clock)
        self.gate, self.stuck = threading.Event(), threading.Event()

    def pass_once(self, budget_s: float | None = None) -> PassReport:
        if not self.gate.is_set():
            self.stuck.set()
        self.gate.wait(60)
        return super().pass_once(budget_s)


async def test_a_worker_that_is_stuck_in_a_pass_beats_on_and_is_silent(tmp_path: Path, monitor: Monitor) -> None:
    """The row of heartbeats comes from a task of its own; only the monitor's ping proves that passes are made."""
    world = World(tmp_path / "deck.sqlite3")
    pipeline, log = Sticky(world), open_log(world.path, stderr=False)
    execution = Execution(world.store, world.clock, MemoryRuntime(), 4)
    pulse = Pulse(world.store, world.clock, "worker-1", 4, lambda: 0)
    switch = Deadman(Heartbeat(url=monitor.url), world.clock, log)
    loop = Loop(world.store, world.clock, pipeline, execution, pulse, log, deadman=switch)
    pulse.begin()
    await execution.start()
    task = asyncio.create_task(loop.run())
    try:
        assert await asyncio.to_thread(pipeline.stuck.wait, 20)
        world.clock.advance(timedelta(minutes=10))
        now = int(world.clock.now().timestamp() * 1_000_000)
        async with asyncio.timeout(20):
            while world.rows("SELECT beat_at FROM worker_beat") != [{"beat_at": now}]:
                await asyncio.sleep(0)
        assert monitor.heard == []
        pipeline.gate.set()
        assert await asyncio.to_thread(monitor.asked.acquire, timeout=20)
    finally:
        pipeline.gate.set()
        loop.stop()
        await task
        await execution.stop()
        log.close()
        world.store.close()
    assert monitor.heard == ["/ping"]


@pytest.mark.slow
def test_a_real_worker_is_heard_both_ways_and_a_dead_one_no_more(
    tmp_path: Path, monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, pings = tmp_path / "deck.sqlite3", tmp_path / "pings"
    Deck.open(database).close()
    monkeypatch.setenv(URL_VARIABLE, monitor.url)
    monkeypatch.setenv(COMMAND_VARIABLE, f"sh -c 'echo alive >> {pings}'")
    pid = control.start_detached(database)
    try:
        assert monitor.asked.acquire(timeout=60)
        until(pings.exists, "the command is run")
    finally:
        os.kill(pid, signal.SIGKILL)
    until(lambda: control.status(database).pid is None, "the worker is gone")
    assert set(pings.read_text().split()) == {"alive"}
