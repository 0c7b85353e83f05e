"""Twenty writers, a reader that does not let go, the terminal app, a screen's questions and a worker: nothing lost."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.deck import Deck
from core.storage.files import connect
from core.storage.opening import open_store
from core.upkeep.checker import check
from core.views import OccurrenceQuery, WorkQuery
from core.worker import control
from core.worker.log import log_path
from tests.integration.pressure.holding import held_cursor
from tests.integration.pressure.waiting import until
from tests.integration.pressure.writers import write_from_threads
from tests.integration.test_terminal_end_to_end import Program

ROOT = Path(__file__).parents[3]
RUNS = 15
IN_PROCESSES, THREADS = 2, 7
WRITERS = (IN_PROCESSES + 1) * THREADS - 1
MANIFESTS = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: nothing}
definition:
  steps:
    - {id: skipped, when: "false", wait: {for: PT1H}}
---
apiVersion: agentstration.io/v1
kind: Trigger
metadata: {name: busy}
definition:
  enabled: true
  source: {kind: schedule, schedule: {type: interval, every: PT1S, startAt: "2026-01-01T00:00:00Z"}}
  target: {kind: flow, flow: {name: nothing}}
  misfirePolicy: fireOnce
  concurrencyPolicy: allow
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "deck.sqlite3"
    deck = Deck.open(path)
    deck.apply(MANIFESTS)
    deck.close()
    yield path
    control.stop(path)


@contextmanager
def polling(database: Path) -> Iterator[list[str]]:
    """Ask what a screen asks, again and again; yields the errors."""
    errors: list[str] = []
    done = threading.Event()
    polled = [0]

    def poll() -> None:
        deck = Deck.open(database)
        seen = 0
        try:
            while not done.is_set():
                deck.status()
                seen = deck.changes(seen).seq
                deck.triggers()
                deck.works(limit=50)
                deck.occurrences(OccurrenceQuery(), limit=50)
                polled[0] += 1
        except Exception as error:  # noqa: BLE001 - all of them are told
            errors.append(f"{type(error).__name__}: {error}")
        deck.close()

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield errors
    finally:
        done.set()
        thread.join()
    assert polled[0] > 0


@contextmanager
def watching(database: Path) -> Iterator[list[str]]:
    """Keep the terminal app open on the Work, as a person would; yields every picture that told of a lock."""
    told: list[str] = []
    done = threading.Event()
    program = Program(database)
    program.sees("worker ●")
    program.press("4")
    program.sees("busy")

    def watch() -> None:
        while not done.is_set():
            program.look()
            if "another program" in program.text or "locked" in program.text:
                told.append(program.text)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield told
    finally:
        done.set()
        thread.join()
    program.sees("completed")
    program.press("q")
    assert program.ends() == 0


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_twenty_writers_a_reader_and_the_terminal_app_meet_no_lock_error_and_lose_nothing(database: Path) -> None:
    control.start_detached(database)
    with held_cursor(database), watching(database) as seen, polling(database) as polled:
        command = [sys.executable, "-m", "tests.integration.pressure.writers", str(database), str(THREADS), str(RUNS)]
        others = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(IN_PROCESSES)]
        errors = write_from_threads(database, THREADS - 1, RUNS)
        for other in others:
            errors += json.loads(other.communicate()[0])
    assert errors + polled + seen == []
    deck = Deck.open(database)
    manual = deck.occurrences(OccurrenceQuery(kind="manual"), limit=1).total
    assert manual == WRITERS * RUNS
    until(lambda: deck.works(WorkQuery(active=True), limit=1).total == 0, "all Work is done")
    events = [json.loads(line)["event"] for line in log_path(database).read_text().splitlines()]
    assert "storage_unusable" not in events
    assert control.stop(database)
    assert_the_log_is_bounded(deck, database)
    deck.close()
    store = open_store(database)
    with store.read() as tx:
        assert check(tx, now=store.clock.now()) == ()
    assert store.faults() == ()
    store.close()


def assert_the_log_is_bounded(deck: Deck, database: Path) -> None:
    """Once the reader is gone, the write-ahead log is taken into the file and begun anew: it grows no more."""
    deck.run("busy")
    with_reader = database.with_name(f"{database.name}-wal").stat().st_size
    for _ in range(100):
        deck.run("busy")
    assert database.with_name(f"{database.name}-wal").stat().st_size <= max(with_reader, 6_000_000)
    connection = connect(database, read_only=False)
    busy, pages, taken = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    connection.close()
    assert (busy, pages) == (0, taken)
