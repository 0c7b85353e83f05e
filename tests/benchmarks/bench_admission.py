"""How fast admission is: 10,000 Triggers that fall due at one instant, against raw inserts of the same rows.

    python tests/benchmarks/bench_admission.py [--triggers 10000]

Prints occurrences admitted a second, milliseconds for each transaction, and two ratios to a bare `executemany` of the
very same occurrence, Work and change rows and state updates through sqlite3, in transactions of the same size with the
same durability, in the same run: that of the whole pass (reading, evaluating, authorising, resolving, deciding and
writing), and that of its writing statements alone. Ratios are of processor time, which a busy machine does not distort.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.access.service import open_scope
from core.admission import batch, control
from core.admission.pipeline import PassReport, Pipeline
from core.clock import Clock, ManualClock, SystemClock
from core.resources import service
from core.resources.manifests import parse_documents
from core.storage.opening import open_store
from core.storage.store import Store

BATCH = 500
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
REAL = SystemClock()
Tables = dict[str, Sequence[tuple[Any, ...]]]


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


@dataclass
class Timer:
    """Adds up wall and processor seconds."""

    wall_s: float = 0.0
    cpu_s: float = 0.0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Time what happens inside."""
        wall, cpu = REAL.monotonic(), time.process_time()
        yield
        self.wall_s += REAL.monotonic() - wall
        self.cpu_s += time.process_time() - cpu


def timed(timer: Timer, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its calls timed."""

    def call(*arguments: Any) -> Any:
        with timer():
            return function(*arguments)

    return call


def bare_inserts(source: Path, target: Path) -> Timer:
    """Time bare sqlite3 writing what the pass wrote, with the same indexes."""
    with sqlite3.connect(source) as connection:
        tables = {name: rows_of(connection, name) for name in ("occurrence", "work", "change")}
        states = connection.execute("SELECT mark_at, next_due_at, phase, trigger_uid FROM trigger_state").fetchall()
    raw = sqlite3.connect(target, isolation_level=None)
    raw.execute("PRAGMA journal_mode=WAL")
    raw.execute("PRAGMA synchronous=FULL")
    timer = Timer()
    for start in range(0, len(tables["occurrence"]), BATCH):
        with timer():
            write_bare(raw, tables, states, start)
    raw.close()
    return timer


def write_bare(raw: sqlite3.Connection, tables: Tables, states: Sequence[tuple[Any, ...]], start: int) -> None:
    """Write one batch in one transaction."""
    raw.execute("BEGIN IMMEDIATE")
    for name, rows in tables.items():
        share = len(rows) * BATCH // len(tables["occurrence"])
        part = rows[start * share // BATCH :][:share]
        raw.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(rows[0]))})", part)  # noqa: S608 - our own names
    raw.executemany(
        "UPDATE trigger_state SET mark_at = ?, next_due_at = ?, phase = ? WHERE trigger_uid = ?",
        states[start : start + BATCH],
    )
    raw.execute("COMMIT")


def rows_of(connection: sqlite3.Connection, name: str) -> Sequence[tuple[Any, ...]]:
    """Return a table's rows; of the change table those that a pass writes."""
    last = {"change": " WHERE seq > (SELECT value FROM fact WHERE name = 'bench_seq')"}.get(name, "")
    return connection.execute(f"SELECT * FROM {name}{last}").fetchall()  # noqa: S608 - as above


def measure(folder: Path, count: int) -> tuple[PassReport, Timer, Timer, Timer]:
    """Return the pass's report, its time, that of its writing statements, and that of the bare inserts."""
    clock, whole, writing = BenchClock(START), Timer(), Timer()
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
    batch.write = timed(writing, batch.write)
    with whole():
        report = pipeline.pass_once()
    store.close()
    return report, whole, writing, bare_inserts(path, bare)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triggers", type=int, default=10_000)
    count = parser.parse_args().triggers
    with tempfile.TemporaryDirectory() as folder:
        report, whole, writing, bare = measure(Path(folder), count)
    made, batches = report.admitted, sorted(report.batches_ms)
    print(f"admitted            {made:>10,} in {whole.wall_s:.2f} s: {made / whole.wall_s:,.0f} a second")
    print(f"processor time      {whole.cpu_s / made * 1e6:>10.0f} µs each: {made / whole.cpu_s:,.0f} a second at most")
    median = statistics.median(batches)
    print(f"transactions        {len(batches):>10,} median {median:.1f} ms, longest {batches[-1]:.1f} ms")
    print(f"rows a transaction  {made / len(batches):>10,.0f} on average, at most {BATCH}")
    print(f"bare executemany    {bare.cpu_s / made * 1e6:>10.0f} µs each, {made / bare.wall_s:,.0f} a second")
    print(f"ratio, whole pass   {bare.cpu_s / whole.cpu_s:>10.1%} of raw speed")
    print(f"ratio, statements   {bare.cpu_s / writing.cpu_s:>10.1%} of raw speed")


if __name__ == "__main__":
    main()
