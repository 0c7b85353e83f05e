"""Figures of a long history; run with `python -m tests.benchmarks.bench_history [rows]` (1,000,000 unless told).

    pass        0, 1, 10 and 200 due Triggers decided in one pass, with a short history and with the long one
    page        one page of 100 rows, by filter, by cursor deep in the history, by offset
    retention   the longest of 100 batches
    doctor      the whole history examined

The best of several times counts for a page: it is the machine's own speed, not that of what runs beside it. Exit 1
where a promise is broken: a page by key within 20 ms, a pass of up to ten within 10 % of the one with a short
history. Two hundred at once take longer: each identity is a random UUID, so each has index pages of its own to write.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from core.clock import SystemClock
from core.queries import occurrences, work
from core.queries.context import Reading
from core.upkeep.doctor import examine
from core.upkeep.retention import RetentionPolicy, prune
from core.views import OccurrenceQuery, WorkQuery
from tests.integration.admission.world import World, definition

TRIGGERS = 200
PASSES = 41
PAGES = 15
PAGE_MS, SHARE = 20.0, 1.10

_ID = "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-5' || substr(hex(randomblob(2)), 2) || '-a' ||"
_ID += " substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"


def main(rows: int) -> int:
    """Measure everything; return 1 where a promise is broken."""
    with tempfile.TemporaryDirectory() as folder:
        short, long = made(Path(folder) / "short"), made(Path(folder) / "long")
        began = time.perf_counter()
        fill(long, rows)
        size = long.path.stat().st_size / 1e6
        print(f"{rows:,} occurrences made in {time.perf_counter() - began:.0f} s, {size:.0f} MB", flush=True)
        shares = [passes(short, long, due) for due in (0, 1, 10, TRIGGERS)]
        worst = pages(long)
        upkeep(long)
        for world in (short, long):
            world.store.close()
    return int(worst > PAGE_MS or max(shares[:3]) > SHARE)


def made(folder: Path) -> World:
    """Return a world of many Triggers that fire every minute."""
    folder.mkdir()
    world = World(folder / "triggerdeck.sqlite3")
    world.flow()
    for number in range(TRIGGERS):
        world.trigger(f"tick-{number:03d}", definition())
    return world


def passes(short: World, long: World, due: int) -> float:
    """Return how much longer a pass with `due` due Triggers takes with the long history; by turns, medians."""
    for world in (short, long):
        world.sql("UPDATE trigger_state SET retry_at = NULL")
        world.pass_once()
        last = f"tick-{TRIGGERS - due:03d}"
        world.sql("UPDATE trigger_state SET retry_at = 9000000000000000 WHERE name < ?", last)
    taken: dict[str, list[float]] = {"short": [], "long": []}
    for turn in range(PASSES + 3):
        for name, world in (("short", short), ("long", long)):
            world.advance(minutes=1)
            time_ms = _timed(world.pass_once)
            if turn >= 3:
                taken[name].append(time_ms)
            world.sql("UPDATE work SET status = 'completed', ended_at = created_at WHERE status = 'pending'")
            world.store.tidy()
    medians = {name: statistics.median(times) for name, times in taken.items()}
    share = statistics.median(b / a for a, b in zip(taken["short"], taken["long"], strict=True))
    print(
        f"pass with {due} due: median {medians['short']:.1f} ms with a short history, {medians['long']:.1f} ms with the"
        f" long one; {share:.2f} times as long, turn by turn",
        flush=True,
    )
    return share


def fill(world: World, rows: int) -> None:
    """Write a past of `rows` occurrences: half fired and completed, half skipped."""
    first = int((world.clock.now() - timedelta(days=3650)).timestamp())
    world.advance(minutes=1)
    world.pass_once()
    world.sql("UPDATE work SET status = 'completed', ended_at = created_at")
    world.sql("UPDATE trigger_state SET decided_from = mark_at")
    # ruff: noqa: S608 - the statements are the benchmark's own
    with world.store.write(durable=False) as tx:
        run = tx.connection.exec_driver_sql
        run("CREATE TEMP TABLE t AS SELECT row_number() OVER () - 1 AS n, * FROM trigger_state")
        run(
            "INSERT INTO occurrence (id, workspace_id, trigger_uid, trigger_name, namespace, generation, kind, at,"
            " nominal_at, due_at, observed_at, admitted_at, outcome, reason, message, is_range, count, principal_id)"
            f" WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < {rows - 1})"
            f" SELECT {_ID}, t.workspace_id, t.trigger_uid, t.name, t.namespace, 1, 'scheduled',"
            f" ({first} + (i / {TRIGGERS}) * 60) * 1000000, ({first} + (i / {TRIGGERS}) * 60) * 1000000,"
            f" ({first} + (i / {TRIGGERS}) * 60) * 1000000, 0, ({first} + (i / {TRIGGERS}) * 60) * 1000000,"
            " iif(i % 2, 'skipped', 'submitted'), iif(i % 2, 'concurrency_skip', 'on_time'), '', 0, 1,"
            f" '{world.scope.principal_id}' FROM k JOIN t ON t.n = i % {TRIGGERS}"
        )
        run("UPDATE occurrence SET work_id = id WHERE outcome = 'submitted' AND work_id IS NULL")
        columns = (
            "workspace_id, trigger_uid, trigger_name, namespace, title, flow_uid, flow_name, flow_namespace,"
            " flow_version, status, result, is_test, attempts, principal_id"
        )
        run(
            f"INSERT INTO work (id, occurrence_id, created_at, ended_at, {columns})"
            " SELECT o.id, o.id, o.at, o.at, w.workspace_id, o.trigger_uid, o.trigger_name, o.namespace, w.title,"
            " w.flow_uid, w.flow_name, w.flow_namespace, 1, 'completed', 'success', 0, 1, o.principal_id"
            " FROM occurrence o JOIN (SELECT * FROM work LIMIT 1) w"
            f" WHERE o.outcome = 'submitted' AND o.at < {first + 3000 * 86400} * 1000000"
        )
        run("DROP TABLE t")


def pages(world: World) -> float:
    """Print how long pages take; return the worst of those by key, each at its best of several times."""
    now = world.clock.now()
    long_ago = now - timedelta(days=3649)

    def occurrence_page(query: OccurrenceQuery, **more: object) -> Callable[[], object]:
        def ask() -> object:
            with world.store.read() as tx:
                return occurrences.page(Reading(tx, world.scope.workspace_id, now), query, **more)  # type: ignore[arg-type]

        return ask

    def work_page(query: WorkQuery, **more: object) -> Callable[[], object]:
        def ask() -> object:
            with world.store.read() as tx:
                return work.page(Reading(tx, world.scope.workspace_id, now), query, **more)  # type: ignore[arg-type]

        return ask

    deep = occurrences.encode_cursor(long_ago, "5")
    by_key = {
        "newest": occurrence_page(OccurrenceQuery()),
        "cursor deep in the history": occurrence_page(OccurrenceQuery(), cursor=deep),
        "one Trigger": occurrence_page(OccurrenceQuery(trigger="tick-007")),
        "one outcome": occurrence_page(OccurrenceQuery(outcome="skipped")),
        "one outcome, by cursor": occurrence_page(OccurrenceQuery(outcome="skipped"), cursor=deep),
        "a rare outcome": occurrence_page(OccurrenceQuery(outcome="failed")),
        "a rare reason": occurrence_page(OccurrenceQuery(reason="denied")),
        "since a day": occurrence_page(OccurrenceQuery(since=now - timedelta(days=1))),
        "Work": work_page(WorkQuery()),
        "Work by cursor": work_page(WorkQuery(), cursor=deep),
        "Work of one Trigger": work_page(WorkQuery(trigger="tick-007")),
        "failed Work": work_page(WorkQuery(status="failed")),
        "active Work": work_page(WorkQuery(active=True)),
    }
    worst = max(_told(f"page: {name}", ask) for name, ask in by_key.items())
    for offset in (1_000, 100_000, 500_000):
        _told(f"page at offset {offset:,}", occurrence_page(OccurrenceQuery(), offset=offset))
    return worst


def upkeep(world: World) -> None:
    """Print how long retention and the doctor take."""
    policy = RetentionPolicy().older_than(timedelta(days=1))
    report = prune(world.store, SystemClock(), policy, most_batches=100, rest=lambda _: None)
    print(f"retention: {report.total:,} rows in {report.batches} batches, the longest {report.longest_ms:.0f} ms")
    taken = _timed(lambda: examine(world.store, world.clock))
    print(f"doctor: {taken / 1000:.1f} s")


def _told(name: str, ask: Callable[[], object]) -> float:
    first, times = _timed(ask), sorted(_timed(ask) for _ in range(PAGES))
    print(
        f"{name}: best {times[0]:.1f} ms, median {statistics.median(times):.1f} ms (first {first:.1f} ms)", flush=True
    )
    return times[0]


def _timed(ask: Callable[[], object]) -> float:
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
