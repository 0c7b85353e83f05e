"""Figures of the runtime; run with `python -m tests.benchmarks.bench_runtime [seconds]`.

latency      nominal time to first step started, a real idle worker process, a Trigger that fires every second
throughput   runs of one step a second, through outbox, interpreter, our file and each engine
engine       empty segments a second through the engine alone
idle         share of one core that an idle engine takes
waiting      what 200 runs that wait for a person cost
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from sqlalchemy import select

from core.deck import Deck
from core.runtime.engine import DbosRuntime
from core.runtime.memory import MemoryRuntime
from core.runtime.port import Progress, Segment
from core.storage.columns import table_of
from core.storage.store import Store
from core.storage.tables import FlowRun, FlowStep, Occurrence
from tests.integration.runtime.rig import Rig, sh

MANIFEST = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: quick}
definition: {displayName: Quick, steps: [{id: one, command: {argv: ["true"]}}]}
---
apiVersion: agentstration.io/v1
kind: Trigger
metadata: {name: every-second}
definition:
  displayName: Every second
  enabled: true
  source: {kind: schedule, schedule: {type: cron, expression: "* * * * * ?", timeZone: UTC}}
  target: {kind: flow, flow: {name: quick, namespace: default}}
  concurrencyPolicy: allow
"""


def latency(seconds: int) -> str:
    """Return the figures of nominal time to the first step's start, with a worker process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "deck.sqlite3")
        deck = Deck.open(database)
        deck.apply(MANIFEST)
        program = f"from core.worker.process import run; run({str(database)!r})"
        worker = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL, env={**os.environ})
        time.sleep(4)  # the worker imports its engine
        before = _cpu(worker.pid)
        time.sleep(seconds)
        share = (_cpu(worker.pid) - before) / seconds
        worker.terminate()
        worker.wait()
        deck.close()
        lags = _lags(database)[3:]
    worst, middle = max(lags), statistics.median(lags)
    figures = f"{len(lags)} fires: median {middle:.0f} ms, max {worst:.0f} ms"
    return f"{figures}; the worker took {100 * share:.1f} % of a core"


def _lags(database: Path) -> list[float]:
    occurrence, run, step = (table_of(table).c for table in (Occurrence, FlowRun, FlowStep))
    joined = select(occurrence.nominal_at, step.started_at).where(
        run.work_id == occurrence.work_id, step.run_id == run.id, occurrence.nominal_at.is_not(None)
    )
    store = Store.open(database)
    with store.read() as tx:
        rows = tx.all(joined.order_by(occurrence.nominal_at))
    store.close()
    return [(row.started_at - row.nominal_at).total_seconds() * 1000 for row in rows]


def _cpu(pid: int) -> float:
    import psutil

    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


async def throughput(kind: str, count: int = 200) -> str:
    """Return how many runs of one step end in a second."""
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(Path(folder), MemoryRuntime(), slots=16)
        if kind == "engine":
            rig.use(DbosRuntime(rig.store))
        async with rig:
            rig.flow(sh("true"))
            works = [rig.fire() for _ in range(count)]
            began = time.perf_counter()
            await rig.until(works[-1], within_s=120)
            while rig.execution.running:
                await rig.execution.pass_once()
                await rig.next_event()
            return f"{count / (time.perf_counter() - began):.0f} runs/s over the {kind}"


async def engine_alone(count: int = 300) -> str:
    """Return how many empty segments end in a second."""

    async def advance(_segment: Segment, _cancel: asyncio.Event) -> Progress:
        return Progress.ENDED

    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder, "deck.sqlite3"))
        runtime = DbosRuntime(store)
        await runtime.start(advance)
        began = time.perf_counter()
        for number in range(count):
            await runtime.submit(Segment(f"run-{number}.1", 0, "hash"))
        await runtime.drain(60)
        rate = count / (time.perf_counter() - began)
        used = time.process_time()
        await asyncio.sleep(5)
        share = (time.process_time() - used) / 5
        await runtime.stop()
        store.close()
    return f"{rate:.0f} segments/s; idle {100 * share:.2f} % of a core"


async def waiting() -> str:
    """Return what 200 waiting runs hold."""
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(Path(folder), MemoryRuntime(), slots=8)
        rig.use(DbosRuntime(rig.store))
        async with rig:
            rig.flow({"id": "ask", "ask": {"kind": "confirmationRequired", "title": "Go on?"}})
            works = [rig.fire() for _ in range(200)]
            began = time.perf_counter()
            await rig.until(works[-1], "waitingForApproval", within_s=120)
            took_s = time.perf_counter() - began
            used = time.process_time()
            await asyncio.sleep(3)
            share = (time.process_time() - used) / 3
            slots, threads = rig.execution.running, threading.active_count()
    return f"200 asked in {took_s:.1f} s; {slots} slots, {threads} threads, {100 * share:.2f} % of a core"


def main() -> None:
    """Print every figure."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print("latency   ", latency(seconds))
    print("throughput", asyncio.run(throughput("memory")))
    print("throughput", asyncio.run(throughput("engine")))
    print("engine    ", asyncio.run(engine_alone()))
    print("waiting   ", asyncio.run(waiting()))


if __name__ == "__main__":
    main()
