"""How fast admission is: 10,000 Triggers that fall due at one instant, against raw inserts of the same rows.

    python tests/benchmarks/bench_admission.py [--triggers 10000]

Prints occurrences admitted a second, milliseconds for each transaction, and the ratio to a bare `executemany` of the
very same occurrence, Work and change rows and state updates through sqlite3, in transactions of the same size with the
same durability, in the same run.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.access.service import open_scope
from core.admission import control
from core.admission.pipeline import PassReport, Pipeline
from core.clock import Clock, ManualClock, SystemClock
from core.resources import service
from core.resources.manifests import parse_documents
from core.storage.opening import open_store
from core.storage.store import Store

BATCH = 500
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
REAL = SystemClock()


class BenchClock(ManualClock):
    """Stands still on the wall, but measures real time, so that durations are true."""

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds."""
        return REAL.monotonic()


def documents(count: int) -> Iterator[str]:
    """Yield one JSON text for the Flow and one for each Trigger."""
    flow = {"steps": [{"id": "say", "command": {"argv": ["true"]}}]}
    yield json.dumps(
        {"apiVersion": "agentstration.io/v1", "kind": "Flow", "metadata": {"name": "say"}, "definition": flow}
    )
    for number in range(count):
        rule = {
            "type": "cron",
            "expression": f"{number % 60} {number // 60 % 60} 10 * * ?",
            "timeZone": "Europe/Berlin",
        }
        yield json.dumps(
            {
                "apiVersion": "agentstration.io/v1",
                "kind": "Trigger",
                "metadata": {"name": f"t{number:05d}"},
                "definition": {
                    "enabled": True,
                    "source": {"kind": "schedule", "schedule": rule},
                    "target": {"kind": "flow", "flow": {"name": "say"}},
                    "input": {"number": number},
                    "misfirePolicy": "fireOnce",
                },
            }
        )


def prepare(store: Store, clock: Clock, count: int) -> None:
    """Store everything through the door that people use."""
    scope = open_scope(store, user="bench")
    with store.write() as tx:
        for text in documents(count):
            service.apply(tx, scope, parse_documents(text), now=clock.now(), hooks=control)


def raw_seconds(source: Path, target: Path) -> float:
    """Return how long bare sqlite3 takes to write what the pass wrote, with the same indexes."""
    with sqlite3.connect(source) as connection:
        tables = {name: rows_of(connection, name) for name in ("occurrence", "work", "change")}
        states = connection.execute("SELECT mark_at, next_due_at, phase, trigger_uid FROM trigger_state").fetchall()
        widths = {name: len(rows[0]) for name, rows in tables.items()}
    raw = sqlite3.connect(target, isolation_level=None)
    raw.execute("PRAGMA journal_mode=WAL")
    raw.execute("PRAGMA synchronous=FULL")
    began = REAL.monotonic()
    for start in range(0, len(tables["occurrence"]), BATCH):
        raw.execute("BEGIN IMMEDIATE")
        for name, rows in tables.items():
            share = len(rows) * BATCH // len(tables["occurrence"])
            part = rows[start * share // BATCH :][:share]
            raw.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * widths[name])})", part)  # noqa: S608 - our own names
        raw.executemany(
            "UPDATE trigger_state SET mark_at = ?, next_due_at = ?, phase = ? WHERE trigger_uid = ?",
            states[start : start + BATCH],
        )
        raw.execute("COMMIT")
    took = REAL.monotonic() - began
    raw.close()
    return took


def rows_of(connection: sqlite3.Connection, name: str) -> Sequence[tuple[Any, ...]]:
    """Return a table's rows; of the change table those that a pass writes."""
    last = {"change": " WHERE seq > (SELECT value FROM fact WHERE name = 'bench_seq')"}.get(name, "")
    return connection.execute(f"SELECT * FROM {name}{last}").fetchall()  # noqa: S608 - as above


def measure(folder: Path, count: int) -> tuple[PassReport, float, float]:
    """Return the pass's report, its seconds, and the seconds of the bare inserts."""
    clock = BenchClock(START)
    path, bare = folder / "deck.sqlite3", folder / "bare.sqlite3"
    store = open_store(path, clock=clock)
    prepare(store, clock, count)
    with store.write() as tx:
        tx.connection.exec_driver_sql("INSERT INTO fact SELECT 'bench_seq', max(seq) FROM change")
    with sqlite3.connect(path) as connection, sqlite3.connect(bare) as copy:
        connection.backup(copy)
    clock.advance(timedelta(days=1))
    pipeline = Pipeline(store, clock)
    pipeline.reconcile()
    began = REAL.monotonic()
    report = pipeline.pass_once()
    took = REAL.monotonic() - began
    store.close()
    return report, took, raw_seconds(path, bare)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triggers", type=int, default=10_000)
    count = parser.parse_args().triggers
    with tempfile.TemporaryDirectory() as folder:
        report, took, raw = measure(Path(folder), count)
    batches = sorted(report.batches_ms)
    print(f"admitted            {report.admitted:>10,} in {took:.2f} s: {report.admitted / took:,.0f} a second")
    median = statistics.median(batches)
    print(f"transactions        {len(batches):>10,} median {median:.1f} ms, longest {batches[-1]:.1f} ms")
    print(f"rows a transaction  {report.admitted / len(batches):>10,.0f} on average, at most {BATCH}")
    print(f"bare executemany    {raw:>10.2f} s: {report.admitted / raw:,.0f} a second")
    print(f"ratio               {raw / took:>10.1%} of raw speed")


if __name__ == "__main__":
    main()
