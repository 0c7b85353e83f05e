"""Figures of a long history; run with `python -m tests.benchmarks.bench_history [rows]` (1,000,000 unless told).

    pass        0, 1, 10 and 200 due Triggers decided in one pass, with no history, a tenth of the rows and all of them
    page        one page of 100 rows for each combination of two filters that screens and commands know, from the newest
                and from a cursor deep in the history, and pages by offset
    retention   the longest of 100 batches
    doctor      the whole history examined

Passes are made by turns, and medians compared. A page counts by its processor time, the median of several: it is the
program's own, whatever runs beside it. Exit 1 where a promise is broken: a page within 20 ms, a pass within 10 % of the
one with a tenth of the history. Against no history at all a pass takes longer, by a fifth where 200 are due at once:
each decision writes a page of its own in four indexes, two by identity, which is random, and two by Trigger. While the
history is tiny, many share a page; from some hundred decisions of each Trigger on, none do, and more change nothing.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from core.clock import SystemClock
from core.queries import occurrences, work
from core.queries.context import Reading
from core.upkeep.doctor import examine
from core.upkeep.retention import RetentionPolicy, prune
from core.views import OccurrenceQuery, WorkQuery
from tests.integration.admission.world import World, definition

TRIGGERS = 200
PASSES = 61
PAGES = 5
PAGE_MS, SHARE = 20.0, 1.10

_ID = "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-5' || substr(hex(randomblob(2)), 2) || '-a' ||"
_ID += " substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"


def main(rows: int) -> int:
    """Measure everything; return 1 where a promise is broken."""
    with tempfile.TemporaryDirectory() as folder:
        worlds = {kept: made(Path(folder) / str(kept)) for kept in (0, rows // 10, rows)}
        for kept, world in worlds.items():
            began = time.perf_counter()
            if kept:
                fill(world, kept)
            size = world.path.stat().st_size / 1e6
            print(f"{kept:,} occurrences made in {time.perf_counter() - began:.0f} s, {size:.0f} MB", flush=True)
        shares = [passes(worlds, due)[-1] for due in (0, 1, 10, TRIGGERS)]
        worst = pages(worlds[rows])
        upkeep(worlds[rows])
        for world in worlds.values():
            world.store.close()
    return int(worst > PAGE_MS or max(shares) > SHARE)


def made(folder: Path) -> World:
    """Return a world of many Triggers that fire every minute."""
    folder.mkdir()
    world = World(folder / "triggerdeck.sqlite3")
    world.flow()
    for number in range(TRIGGERS):
        world.trigger(f"tick-{number:03d}", definition())
    return world


def passes(worlds: dict[int, World], due: int) -> list[float]:
    """Return how much longer a pass takes with all of the history than with each shorter one; medians, by turns."""
    last = f"tick-{TRIGGERS - due:03d}"
    for world in worlds.values():
        world.sql("UPDATE trigger_state SET retry_at = NULL")
        world.pass_once()
        world.sql("UPDATE trigger_state SET retry_at = 9000000000000000 WHERE name < ?", last)
    taken: dict[int, list[tuple[float, float]]] = {kept: [] for kept in worlds}
    for turn in range(PASSES + 3):
        for kept, world in sorted(worlds.items(), reverse=turn % 2 == 1):
            world.advance(minutes=1)
            times = _timed(world.pass_once)
            taken[kept] += [times] if turn >= 3 else []
            world.sql("UPDATE work SET status = 'completed', ended_at = created_at WHERE status = 'pending'")
            world.store.tidy()
    whole = [statistics.median(time[0] for time in times) for times in taken.values()]
    own = [statistics.median(time[1] for time in times) for times in taken.values()]
    shares = [whole[-1] / each for each in whole[:-1]]
    told = ", ".join(f"{kept:,}: {all_:.1f} ms ({cpu:.1f})" for kept, all_, cpu in zip(worlds, whole, own, strict=True))
    print(
        f"pass with {due} due, median (processor) by history: {told};"
        f" {' and '.join(f'{share:.2f}' for share in shares)} times as long, by processor time"
        f" {' and '.join(f'{own[-1] / each:.2f}' for each in own[:-1])}",
        flush=True,
    )
    return shares


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


def asked_of_occurrences(now: datetime) -> Iterator[OccurrenceQuery]:
    """Yield every combination of up to two filters, with values that many rows, few rows and none have."""
    values: dict[str, list[Any]] = {
        "trigger": ["tick-007", "nobody"],
        "trigger_like": ["tick-00", "tick"],
        "namespace": ["default", "other"],
        "outcome": ["submitted", "failed"],
        "reason": ["on_time", "concurrency_skip", "denied"],
        "kind": ["scheduled", "manual"],
        "since": [now - timedelta(days=1), now - timedelta(days=3649)],
        "until": [now - timedelta(days=3649, hours=12)],
    }
    return (OccurrenceQuery(**given) for given in _combined(values))


def asked_of_work(now: datetime) -> Iterator[WorkQuery]:
    """Yield every combination of up to two filters of Work."""
    values: dict[str, list[Any]] = {
        "trigger": ["tick-007", "nobody"],
        "trigger_like": ["tick-00", "tick"],
        "namespace": ["default", "other"],
        "status": ["completed", "failed", "running"],
        "active": [True, False],
        "since": [now - timedelta(days=1), now - timedelta(days=3649)],
    }
    return (WorkQuery(**given) for given in _combined(values))


def _combined(values: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for names in itertools.chain.from_iterable(itertools.combinations(values, size) for size in (0, 1, 2)):
        for chosen in itertools.product(*(values[name] for name in names)):
            yield dict(zip(names, chosen, strict=True))


def pages(world: World) -> float:
    """Print how much processor time pages take; return the worst of those by key, in ms."""
    now = world.clock.now()
    deep = occurrences.encode_cursor(now - timedelta(days=3649), "5")

    def asking(page: Callable[..., object], query: object, **more: object) -> Callable[[], object]:
        def ask() -> object:
            with world.store.read() as tx:
                return page(Reading(tx, world.scope.workspace_id, now), query, **more)

        return ask

    found: list[tuple[float, float, str]] = []
    for page, queries in ((occurrences.page, asked_of_occurrences(now)), (work.page, asked_of_work(now))):
        for query in queries:
            for cursor in (None, deep):
                ask = asking(page, query, cursor=cursor)
                first = _timed(ask)[0]
                middle = statistics.median(_timed(ask)[1] for _ in range(PAGES))
                found.append((middle, first, f"{query}{' by cursor' if cursor else ''}"))
    found.sort()
    by_share = {share: found[int(share * (len(found) - 1))][0] for share in (0.5, 0.95, 1.0)}
    print(
        f"{len(found)} pages: {by_share[0.5]:.1f} ms of processor time in the middle, 95 % within {by_share[0.95]:.1f},"
        f" the longest {by_share[1.0]:.1f}; asked for the first time, with a full count, within"
        f" {max(first for _, first, _ in found):.0f} ms"
    )
    for middle, first, name in found[:-6:-1]:
        print(f"  {middle:.1f} ms (first {first:.0f} ms) {name}", flush=True)
    for offset in (1_000, 100_000, 500_000):
        ask = asking(occurrences.page, OccurrenceQuery(), offset=offset)
        print(
            f"page at offset {offset:,}: {statistics.median(_timed(ask)[1] for _ in range(PAGES)):.1f} ms", flush=True
        )
    return found[-1][0]


def upkeep(world: World) -> None:
    """Print how long retention and the doctor take."""
    policy = RetentionPolicy().older_than(timedelta(days=1))
    report = prune(world.store, SystemClock(), policy, most_batches=100, rest=lambda _: None)
    print(f"retention: {report.total:,} rows in {report.batches} batches, the longest {report.longest_ms:.0f} ms")
    print(f"doctor: {_timed(lambda: examine(world.store, world.clock))[0] / 1000:.1f} s")


def _timed(ask: Callable[[], object]) -> tuple[float, float]:
    """Return how long it took, and the processor time of this thread, in ms."""
    began, used = time.perf_counter(), time.thread_time()
    ask()
    return (time.perf_counter() - began) * 1000, (time.thread_time() - used) * 1000


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
