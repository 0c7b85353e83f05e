"""What a worker costs when idle, and how soon it acts: as a real process on a database of its own.

    python tests/benchmarks/bench_worker.py [--seconds 20]

Prints the share of a core and the memory of an idle worker, seconds from start to first heartbeat, and milliseconds
from nominal time to admission, to dispatch and to the first step started, for a Trigger that fires every two seconds.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import threading
from pathlib import Path

import psutil

from core.clock import SystemClock
from core.deck import Deck
from core.worker import control

REAL = SystemClock()
MANIFESTS = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: say}
definition: {steps: [{id: say, command: {argv: ["true"]}}]}
---
apiVersion: agentstration.io/v1
kind: Trigger
metadata: {name: often}
definition:
  enabled: true
  source: {kind: schedule, schedule: {type: interval, every: PT2S, startAt: "2026-01-01T00:00:00Z"}}
  target: {kind: flow, flow: {name: say}}
"""
LATENCIES = """
SELECT (o.observed_at - o.due_at) / 1000.0, (o.admitted_at - o.due_at) / 1000.0,
       (o.dispatched_at - o.due_at) / 1000.0, (s.started_at - o.due_at) / 1000.0
FROM occurrence o JOIN flow_run r ON r.work_id = o.work_id JOIN flow_step s ON s.run_id = r.id
WHERE s.started_at IS NOT NULL AND o.reason = 'on_time' AND o.dispatched_at IS NOT NULL
"""


def wait(seconds: float) -> None:
    """Let real time pass."""
    threading.Event().wait(seconds)


def cpu_share(process: psutil.Process, seconds: float) -> float:
    """Return the share of one core that a process takes over so many seconds, its children included."""
    before, began = sum(process.cpu_times()[:4]), REAL.monotonic()
    wait(seconds)
    return (sum(process.cpu_times()[:4]) - before) / (REAL.monotonic() - began)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deck.sqlite3"
        deck = Deck.open(path)
        began = REAL.monotonic()
        process = psutil.Process(control.start_detached(path))
        print(f"start to first heartbeat  {REAL.monotonic() - began:8.2f} s")
        wait(5)
        print(f"idle worker               {cpu_share(process, seconds):8.2%} of a core")
        print(f"memory                    {process.memory_info().rss / 1e6:8.0f} MB")
        deck.apply(MANIFESTS)
        wait(seconds)
        deck.close()
        control.stop(path)
        with sqlite3.connect(path) as connection:
            rows = connection.execute(LATENCIES).fetchall()
    for name, values in zip(
        ("seen", "admitted", "dispatched", "first step started"), zip(*rows, strict=True), strict=True
    ):
        print(f"nominal to {name:20} median {statistics.median(values):6.1f} ms, longest {max(values):6.1f} ms")


if __name__ == "__main__":
    main()
