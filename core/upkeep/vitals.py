"""Looks at the machinery around the history: worker, clock, zone data, disk, file; says for each what to do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from core import zones
from core.admission.recovery import ZONE_DATA_FACT
from core.clock import format_instant
from core.errors import Precondition
from core.storage import enginefile, vitals
from core.storage.backup import BACKUP_OF
from core.storage.read_machinery import fact
from core.storage.store import Store, Transaction
from core.upkeep import incarnation
from core.views import Finding

STALE_AFTER = timedelta(seconds=10)
STUCK_AFTER = timedelta(minutes=2)
OVERDUE_AFTER = timedelta(seconds=30)
SKEW = timedelta(seconds=5)
LEAST_FREE_BYTES = 100_000_000
LITTLE_FREE_BYTES = 1_000_000_000
LARGE_WAL_BYTES = 64_000_000
WORTH_COMPACTING_BYTES = 100_000_000
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Looking:
    """Where and when the doctor looks; `workspace_id` None is everywhere."""

    store: Store
    tx: Transaction
    now: datetime
    workspace_id: str | None
    enabled: int
    active_work: int


def machine_findings(looking: Looking) -> Iterator[Finding]:
    """Yield everything but the history's own findings."""
    yield from _worker(looking)
    yield from _late(looking)
    yield from _clock(looking)
    yield from _zone_data(looking)
    yield from _room(looking)
    yield from _origin(looking)
    for name, message in vitals.degraded(looking.tx, SHOWN, looking.workspace_id):
        remedy = "correct the Trigger; the worker looks at it again by itself"
        yield Finding("trigger_degraded", "warning", name, message, remedy)


def figures(looking: Looking) -> dict[str, int | str]:
    """Return what was looked at, and how large the files are."""
    pages, path = vitals.pages(looking.tx), looking.store.path
    return {
        **vitals.counts(looking.tx, looking.workspace_id),
        "database_bytes": pages.size_bytes,
        "unused_bytes": pages.unused_bytes,
        "wal_bytes": size_of(path, "-wal"),
        "engine_bytes": size_of(path, enginefile.SUFFIX),
        "worker_log_bytes": sum(entry.stat().st_size for entry in path.parent.glob(f"{path.name}.worker.log*")),
        "free_bytes": shutil.disk_usage(path.parent).free,
        "zone_data": zones.data_version(),
        "version": version("triggerdeck"),
    }


def size_of(path: Path, suffix: str = "") -> int:
    """Return the size of a file beside `path`, 0 where there is none."""
    try:
        return os.stat(f"{path}{suffix}").st_size
    except FileNotFoundError:
        return 0


def _worker(looking: Looking) -> Iterator[Finding]:
    known = [worker for worker in vitals.workers(looking.tx) if worker.state != "stopped"]
    alive = [worker for worker in known if abs(looking.now - worker.beat_at) <= STALE_AFTER]
    start = "start one: triggerdeck worker start"
    if not alive and known:
        since = format_instant(known[0].beat_at)
        message = f"worker {known[0].pid} has shown no sign of life since {since}"
        yield Finding("worker_stale", "warning", "worker", message, f"look at its log, then {start}")
    elif not alive and (looking.enabled or looking.active_work):
        yield Finding("no_worker", "warning", "worker", "no worker runs, so nothing fires", start)
    for worker in alive:
        if worker.last_pass_at is not None and looking.now - worker.last_pass_at > STUCK_AFTER:
            message = f"worker {worker.pid} lives but has made no pass since {format_instant(worker.last_pass_at)}"
            yield Finding("worker_stuck", "error", "worker", message, "restart it, and keep its log")
        if worker.version != version("triggerdeck"):
            message = f"worker {worker.pid} is version {worker.version}, this program {version('triggerdeck')}"
            yield Finding("worker_version", "warning", "worker", message, "restart the worker")


def _late(looking: Looking) -> Iterator[Finding]:
    found = vitals.overdue(looking.tx, looking.now - OVERDUE_AFTER, SHOWN, looking.workspace_id)
    for name, due in found:
        message = f"it has been due since {format_instant(due)} and is not decided"
        remedy = "see that a worker runs; what was missed is decided by misfirePolicy then"
        yield Finding("overdue", "warning", name, message, remedy)


def clock_behind(tx: Transaction, now: datetime) -> timedelta:
    """Return how far the clock lies behind the newest entry; zero where it does so by no more than `SKEW`."""
    newest = vitals.newest_instant(tx)
    behind = newest - now if newest is not None else timedelta()
    return behind if behind > SKEW else timedelta()


def marks_ahead(tx: Transaction, now: datetime, workspace_id: str | None) -> list[tuple[str, datetime]]:
    """Return the first Triggers whose mark lies ahead of the clock by more than `SKEW`, with that mark."""
    return vitals.future_marks(tx, now + SKEW, SHOWN, workspace_id)


def _clock(looking: Looking) -> Iterator[Finding]:
    if behind := clock_behind(looking.tx, looking.now):
        seconds = round(behind.total_seconds())
        message = f"the clock says {format_instant(looking.now)}, {seconds} s before the newest entry"
        yield Finding("clock_behind", "warning", "clock", message, "set the clock; nothing fires twice meanwhile")
    for name, mark in marks_ahead(looking.tx, looking.now, looking.workspace_id):
        message = f"its mark lies ahead, at {format_instant(mark)}; it decides nothing before"
        remedy = f"set the clock; where it is right: triggerdeck mark {name} --to now --note WHY"
        yield Finding("mark_in_future", "warning", name, message, remedy)


def _zone_data(looking: Looking) -> Iterator[Finding]:
    present, stored = zones.data_version(), fact(looking.tx, ZONE_DATA_FACT)
    if stored is not None and stored != present:
        message = f"next times were computed with zone data {stored}, this program has {present}"
        remedy = "restart the worker: it computes them anew and fires no local time twice"
        yield Finding("zone_data_changed", "warning", "zone data", message, remedy, repairable=True)
    for worker in vitals.workers(looking.tx):
        alive = worker.state != "stopped" and abs(looking.now - worker.beat_at) <= STALE_AFTER
        if alive and worker.zone_data != present:
            message = f"worker {worker.pid} computes with zone data {worker.zone_data}, this program with {present}"
            yield Finding("worker_zone_data", "warning", "worker", message, "restart the worker")


def _room(looking: Looking) -> Iterator[Finding]:
    path, pages = looking.store.path, vitals.pages(looking.tx)
    free, wal = shutil.disk_usage(path.parent).free, size_of(path, "-wal")
    if free < LITTLE_FREE_BYTES:
        severe = free < LEAST_FREE_BYTES
        message = f"{free // 1_000_000} MB are free where the database lies"
        remedy = "free some space, or prune old history: triggerdeck prune --older-than P30D"
        yield Finding("disk_space", "error" if severe else "warning", "disk", message, remedy)
    if wal > LARGE_WAL_BYTES:
        message = f"the write-ahead log has {wal // 1_000_000} MB; a reader holds on to an old snapshot"
        yield Finding("wal_large", "warning", "database", message, "close the deck or program that reads for so long")
    if pages.unused_bytes > max(WORTH_COMPACTING_BYTES, pages.size_bytes // 2):
        message = f"{pages.unused_bytes // 1_000_000} MB of the file are unused; they are used again"
        yield Finding("file_sparse", "information", "database", message, "a backup and restore makes it small")


def _origin(looking: Looking) -> Iterator[Finding]:
    try:
        incarnation.verify(looking.store, enginefile.engine_path(looking.store.path))
    except Precondition as refused:
        yield Finding("older_copy", "error", "database", refused.message, refused.remedy)
    if fact(looking.tx, BACKUP_OF) is not None:
        message = "this file is a backup that was opened directly"
        remedy = "put it in place with `triggerdeck restore`, so that nothing fires twice"
        yield Finding("backup_opened", "warning", "database", message, remedy)
