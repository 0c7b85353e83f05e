"""The worker as a real process: killed anywhere, refused twice, drained, found again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from core.clock import SystemClock
from core.deck import Deck
from core.errors import Precondition, StorageUnusable
from core.failpoints import VARIABLE
from core.views import OccurrenceQuery
from core.worker import control
from core.worker.lock import holder, lock_path

LIMIT_S = 60.0
MANIFESTS = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: note}
definition:
  steps:
    - {id: note, command: {argv: [sh, -c, "echo x >> %(notes)s; sleep %(pause)s"]}}
---
apiVersion: agentstration.io/v1
kind: Trigger
metadata: {name: soon}
definition:
  enabled: true
  source: {kind: schedule, schedule: {type: once, at: "%(at)s"}}
  target: {kind: flow, flow: {name: note}}
  misfirePolicy: fireOnce
"""


def until(condition: Callable[[], object], what: str) -> None:
    """Look until a condition holds; fail with what was waited for."""
    clock, pause = SystemClock(), threading.Event()
    end = clock.monotonic() + LIMIT_S
    while not condition():
        assert clock.monotonic() < end, f"waited in vain until {what}"
        pause.wait(0.05)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "deck.sqlite3"
    yield path
    control.stop(path)


def prepare(database: Path, *, pause_s: float = 0.0) -> Path:
    """Store a Trigger that fires once, two seconds from now; return the file in which its step leaves a line."""
    notes = database.with_name("notes")
    at = (SystemClock().now() + timedelta(seconds=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    deck = Deck.open(database)
    deck.apply(MANIFESTS % {"notes": notes, "at": at, "pause": pause_s})
    deck.close()
    return notes


def killed_at(database: Path, name: str) -> None:
    """Run a worker until it reaches a fail point and dies there by SIGKILL."""
    worker = subprocess.run(
        [sys.executable, "-m", "core.worker", str(database)],
        env={**os.environ, VARIABLE: name},
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert worker.returncode == -signal.SIGKILL, worker.stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "decided"),
    [
        ("admission.occurrences_written", 0),
        ("admission.work_written", 0),
        ("admission.before_commit", 0),
        ("admission.after_commit", 1),
    ],
)
def test_a_worker_killed_around_the_admission_commit_leaves_exactly_one_work(
    database: Path, name: str, decided: int
) -> None:
    notes = prepare(database)
    killed_at(database, name)
    deck = Deck.open(database)
    assert deck.occurrences(OccurrenceQuery()).total == decided
    control.start_detached(database)
    until(lambda: deck.works(limit=10).rows and deck.works(limit=10).rows[0].status == "completed", "the Work is done")
    (occurrence,) = deck.occurrences(OccurrenceQuery()).rows
    (work,) = deck.works(limit=10).rows
    deck.close()
    assert occurrence.outcome == "submitted"
    assert occurrence.work_id == work.id == occurrence.id
    assert notes.read_text() == "x\n"


@pytest.mark.slow
def test_a_worker_goes_on_when_its_starter_ends_is_seen_refuses_a_second_and_stops_when_asked(database: Path) -> None:
    prepare(database)
    start = f"from core.worker import control; print(control.start_detached({str(database)!r}))"
    pid = int(subprocess.run([sys.executable, "-c", start], capture_output=True, check=True, timeout=LIMIT_S).stdout)
    assert control.status(database).pid == pid
    assert control.start_detached(database) == pid
    second = subprocess.run(
        [sys.executable, "-m", "core.worker", str(database)],
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
        text=True,
    )
    assert second.returncode == 4
    assert second.stderr.strip() == (
        f"a worker runs on this database already (pid {pid}); stop it first: triggerdeck worker stop"
    )
    deck = Deck.open(database)
    assert deck.status().worker == "running"
    assert control.stop(database)
    assert not psutil.pid_exists(pid)
    (row,) = deck.health().workers
    deck.close()
    assert (row.pid, row.state) == (pid, "stopped")
    assert not control.stop(database)


@pytest.mark.slow
def test_sigterm_lets_a_running_step_finish(database: Path) -> None:
    notes = prepare(database, pause_s=1.5)
    control.start_detached(database)
    until(notes.exists, "the step runs")
    assert control.stop(database)
    deck = Deck.open(database)
    (work,) = deck.works(limit=10).rows
    deck.close()
    assert work.status == "completed"


@pytest.mark.slow
def test_a_worker_that_dies_is_not_taken_for_a_running_one(database: Path) -> None:
    prepare(database)
    pid = control.start_detached(database)
    process = psutil.Process(pid)
    process.kill()
    process.wait(LIMIT_S)
    assert control.status(database) == control.WorkerStatus(running=False)
    assert holder(database) is None
    again = control.start_detached(database)
    assert again != pid
    deck = Deck.open(database)
    states = {row.pid: row.state for row in deck.health().workers}
    deck.close()
    assert states == {pid: "stopped", again: "running"}


def test_starting_on_something_that_is_no_database_says_so_at_once(tmp_path: Path) -> None:
    broken = tmp_path / "deck.sqlite3"
    broken.write_text("not a database " * 100)
    with pytest.raises(StorageUnusable, match="database"):
        control.start_detached(broken)


def test_a_worker_that_cannot_come_up_is_told_with_its_last_words(database: Path) -> None:
    Deck.open(database).close()
    lock_path(database).mkdir()
    with pytest.raises(Precondition, match=r"did not start: the worker's lock .* cannot be made"):
        control.start_detached(database)
    lock_path(database).rmdir()


def module(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `python -m core.worker` with these words."""
    command = [sys.executable, "-P", "-m", "core.worker", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["--detach"], ["--detach", "--help"], ["a", "b"], [""]])
def test_a_call_that_names_no_database_is_told_how_and_leaves_nothing_behind(tmp_path: Path, words: list[str]) -> None:
    told = module(*words, cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr == "usage: python -m core.worker [--detach] DATABASE\n"
    assert told.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_heartbeat_that_cannot_be_sent_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIGGERDECK_HEARTBEAT_URL", "monitor")
    told = module("deck.sqlite3", cwd=tmp_path)
    assert told.returncode == 3
    assert "TRIGGERDECK_HEARTBEAT_URL: 'monitor' is not a web address" in told.stderr
    assert list(tmp_path.iterdir()) == []


def decoys(folder: Path) -> None:
    """Put packages of our own names there that do harm when they are imported."""
    for name in ("core", "cli", "tui"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"raise SystemExit('the decoy {name} was imported')\n")


@pytest.mark.slow
def test_a_folder_core_where_the_user_stands_does_not_take_the_workers_place(
    database: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    decoys(elsewhere)
    monkeypatch.chdir(elsewhere)
    pid = control.start_detached(database)
    assert control.status(database).pid == pid
    assert control.stop(database)


def test_this_program_is_found_though_it_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "tree" / "lantern").mkdir(parents=True)
    (tmp_path / "tree" / "lantern" / "__init__.py").write_text("")
    (tmp_path / "tree" / "lantern" / "__main__.py").write_text("import sys; print(sys.argv[1:], __name__)")
    command = [sys.executable, "-P", "-c", control.OURS, str(tmp_path / "tree"), "lantern", "--lit", "x"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    assert told.stdout == "['--lit', 'x'] __main__\n"


@pytest.mark.slow
def test_a_worker_refuses_an_older_copy_and_says_the_way_out(database: Path, tmp_path: Path) -> None:
    Deck.open(database).close()
    older = tmp_path / "older"
    control.start_detached(database)
    deck = Deck.open(database)
    deck.backup(older)
    deck.apply(MANIFESTS % {"notes": tmp_path / "notes", "at": "2099-01-01T00:00:00Z", "pause": 0})
    deck.close()
    control.stop(database)
    for tail in ("-wal", "-shm"):
        database.with_name(database.name + tail).unlink(missing_ok=True)
    database.write_bytes(older.read_bytes())
    with pytest.raises(Precondition, match=r"is older than what the worker has done with it.*triggerdeck restore"):
        control.start_detached(database)
