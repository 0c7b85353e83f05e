"""A disk without space or with errors, a database that turns read-only while the worker runs: told once, survived."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from core.deck import Deck
from core.storage.opening import open_store
from core.upkeep.checker import check
from core.views import WorkQuery
from core.worker import control
from core.worker.log import log_path
from tests.integration.admission.world import World, definition
from tests.integration.pressure.holding import held_cursor
from tests.integration.pressure.waiting import until
from tests.integration.worker.test_worker_loop import running

MANIFESTS = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: note}
definition:
  steps:
    - {id: note, command: {argv: [sh, -c, "echo done"]}}
---
apiVersion: agentstration.io/v1
kind: Trigger
metadata: {name: every-second}
definition:
  enabled: true
  source: {kind: schedule, schedule: {type: interval, every: PT1S, startAt: "2026-01-01T00:00:00Z"}}
  target: {kind: flow, flow: {name: note}}
  misfirePolicy: fireOnce
  concurrencyPolicy: allow
"""
DISK_BYTES = 8 * 1024 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of a few megabytes, where this user may."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(place)]
    made = subprocess.run(mount, capture_output=True, text=True, check=False) if os.geteuid() == 0 else None
    if made is None or made.returncode != 0:
        pytest.skip(f"needs to mount a file system: {made.stderr.strip() if made else 'not root'}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def database(small_disk: Path) -> Iterator[Path]:
    """Return a database on the small disk; its worker is stopped in the end."""
    path = small_disk / "deck.sqlite3"
    deck = Deck.open(path)
    deck.apply(MANIFESTS)
    deck.close()
    yield path
    control.stop(path)


def fill(disk: Path) -> Path:
    """Take all the space there is."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    return filler


def completed(deck: Deck) -> int:
    return deck.works(WorkQuery(status="completed"), limit=1).total


@pytest.mark.slow
def test_a_worker_on_a_full_disk_says_so_once_and_goes_on_by_itself_when_there_is_space(
    small_disk: Path, database: Path
) -> None:
    log = small_disk.parent / "worker.log"
    log_path(database).symlink_to(log)  # the log has space, so that what it says can be read
    pid = control.start_detached(database)
    deck = Deck.open(database)
    until(lambda: completed(deck) >= 2, "some Work is done")

    def told(event: str) -> int:
        return [json.loads(line)["event"] for line in log.read_text().splitlines()].count(event)

    for times in (1, 2):
        filler = fill(small_disk)
        until(lambda: told("storage_unusable") == times, "the worker says that the disk is full")  # noqa: B023 - called here
        before = completed(deck)
        filler.unlink()
        until(lambda: told("storage_usable") == times, "the worker goes on")  # noqa: B023 - as above
        until(lambda: completed(deck) > before + 2, "Work is done again")  # noqa: B023 - as above
    assert control.status(database).pid == pid
    assert control.stop(database)
    deck.close()
    store = open_store(database)
    with store.read() as tx:
        assert check(tx, now=store.clock.now()) == ()
        ended = tx.connection.exec_driver_sql("SELECT DISTINCT status FROM work").scalars().all()
    assert store.faults() == ()
    store.close()
    assert ended == ["completed"]


async def test_a_database_that_turns_read_only_stops_admission_is_told_once_and_is_survived(tmp_path: Path) -> None:
    world = World(tmp_path / "deck.sqlite3")
    world.flow()
    for number in range(5):
        world.trigger(f"tick-{number}")
    locked = [False]

    def lock(connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA query_only = {int(locked[0])}")

    event.listen(world.store.engine, "begin", lock)
    async with running(world) as it:
        locked[0] = True
        world.clock.advance(timedelta(seconds=60))
        for _ in range(3):
            await it.turn()
            world.clock.advance(timedelta(seconds=20))
        assert it.logged().count("storage_unusable") == 1
        assert world.occurrences() == []
        locked[0] = False
        world.clock.advance(timedelta(seconds=20))
        await it.until("SELECT 1 FROM work WHERE status = 'completed'")
    assert it.logged().count("storage_usable") == 1
    assert [sum(row["count"] for row in world.occurrences(f"tick-{number}")) for number in range(5)] == [2] * 5


@contextmanager
def no_file_may_grow_beyond(size: int) -> Iterator[None]:
    """Let the system refuse every write of this process beyond `size` bytes of a file, as a failing disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_disk_that_reports_errors_stops_admission_is_told_once_and_is_survived(tmp_path: Path) -> None:
    world = World(tmp_path / "deck.sqlite3")
    world.flow()
    for number in range(5):
        world.trigger(f"tick-{number}", definition(input={"filler": "x" * 50_000}))
    log = world.path.with_name(f"{world.path.name}-wal")
    async with running(world) as it:
        with held_cursor(world.path):  # so that the write-ahead log can only grow
            with no_file_may_grow_beyond(log.stat().st_size):
                world.clock.advance(timedelta(seconds=60))
                for _ in range(3):
                    await it.turn()
                    world.clock.advance(timedelta(seconds=20))
            assert it.logged().count("storage_unusable") == 1
            assert world.occurrences() == []
        world.clock.advance(timedelta(seconds=20))
        await it.until("SELECT 1 FROM work WHERE status = 'completed'")
    assert it.logged().count("storage_usable") == 1
    (told,) = [error["message"] for error in it.loop.pulse.errors if error["code"] == "storage_unusable"]
    assert "the disk reports an error" in told
    assert [sum(row["count"] for row in world.occurrences(f"tick-{number}")) for number in range(5)] == [2] * 5
    assert world.store.faults() == ()
