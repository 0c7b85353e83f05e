"""What an outage costs: 100,000 Triggers that are due at once, under the real loop with its heartbeat.

    python -m tests.benchmarks.bench_pressure [--triggers 100000]

Prints rows and milliseconds of each transaction, how late a heartbeat was at most, and how memory grew. Exit 1 where a
promise is broken: at most 500 rows and 250 ms a transaction, no heartbeat more than 2 s late, and less than 64 MB more
at the end than after the first tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import psutil

from core.admission.pipeline import PassReport, Pipeline
from core.clock import SystemClock
from core.runtime.execution import Execution
from core.runtime.memory import MemoryRuntime
from core.storage.opening import open_store
from core.storage.store import Store
from core.upkeep.checker import check
from core.worker.log import open_log
from core.worker.loop import Loop
from core.worker.pulse import EVERY_S, Pulse
from tests.integration.admission.world import HOURLY, World, definition
from tests.integration.pressure.copying import copy_trigger

OUTAGE = timedelta(days=2)
ROWS, BATCH_MS, LATE_S, GROWN_MB = 500, 250.0, 2.0, 64.0
CLOCK = SystemClock()
NOTHING = {"steps": [{"id": "skipped", "when": "false", "wait": {"for": "PT1H"}}]}


@dataclass
class Watched(Pulse):
    """A heartbeat that notes how late it was, what each pass did, and how much memory there is in use."""

    beats: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)
    batches_ms: list[float] = field(default_factory=list)
    admitted: int = 0

    def beat(self) -> None:
        """Write the row as always."""
        Pulse.beat(self)
        self.beats.append(CLOCK.monotonic())

    def note_pass(self, report: PassReport) -> None:
        """Take in a pass as always."""
        Pulse.note_pass(self, report)
        self.batches_ms += report.batches_ms
        self.admitted += report.admitted
        self.memory_mb.append(psutil.Process().memory_info().rss / 1_000_000)

    def latest_s(self) -> float:
        """Return by how much the latest heartbeat was late."""
        gaps = [after - before for before, after in zip(self.beats, self.beats[1:], strict=False)]
        return max(gaps, default=0.0) - EVERY_S


def prepare(path: Path, count: int) -> None:
    """Store the Triggers as of two days ago, by copies of one."""
    world = World(path, CLOCK.now() - OUTAGE)
    world.flow("nothing", NOTHING)
    world.trigger("first", definition(HOURLY, misfirePolicy="fireOnce", flow="nothing"))
    copy_trigger(world.store, "first", count - 1)
    world.store.close()


async def live_through(store: Store, count: int) -> tuple[Watched, float]:
    """Run the loop until everything is decided; return what was watched, and the seconds it took."""
    execution = Execution(store, CLOCK, MemoryRuntime(), 16)
    pipeline = Pipeline(store, CLOCK)
    pulse = Watched(store, CLOCK, "worker", 16, lambda: execution.running)
    log = open_log(store.path, stderr=False)
    loop = Loop(store, CLOCK, pipeline, execution, pulse, log)
    loop.turned = lambda: loop.stop() if pulse.admitted >= count else None
    pipeline.reconcile()
    pulse.begin()
    await execution.start()
    began = CLOCK.monotonic()
    await loop.run()
    took = CLOCK.monotonic() - began
    await execution.drain(30.0)
    await execution.stop()
    log.close()
    return pulse, took


def main() -> int:
    """Measure and print; return 1 where a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triggers", type=int, default=100_000)
    count = parser.parse_args().triggers
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "deck.sqlite3")
        prepare(path, count)
        store = open_store(path)
        pulse, took = asyncio.run(live_through(store, count))
        with store.read() as tx:
            found = check(tx, now=CLOCK.now())
        store.close()
    batches = pulse.batches_ms
    rows = pulse.admitted / len(batches)
    first = pulse.memory_mb[len(pulse.memory_mb) // 10]
    grown = max(pulse.memory_mb) - first
    print(f"admitted      {pulse.admitted:>10,} occurrences in {took:.1f} s: {pulse.admitted / took:,.0f} a second")
    print(f"transactions  {len(batches):>10,} of {rows:.0f} rows, at most {ROWS}", end=", ")
    print(f"median {statistics.median(batches):.0f} ms, longest {max(batches):.0f} ms")
    print(f"heartbeats    {len(pulse.beats):>10,} latest {pulse.latest_s():.2f} s after its time")
    print(f"memory        {first:>10.0f} MB after a tenth, at most {grown:.0f} MB more")
    print(f"checker       {len(found):>10,} findings")
    kept = max(batches) <= BATCH_MS and pulse.latest_s() <= LATE_S and grown <= GROWN_MB and not found
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
