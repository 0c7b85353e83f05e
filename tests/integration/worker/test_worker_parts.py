"""The worker's parts: its lock, its log, its eye on the clock."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from core.clock import ManualClock
from core.errors import Precondition, StorageUnusable
from core.worker.jumps import JumpWatch
from core.worker.lock import Holder, WorkerLock, holder, lock_path
from core.worker.log import log_path, open_log

HOLD = """
import sys
from pathlib import Path
from core.worker.lock import WorkerLock
lock = WorkerLock.take(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "deck.sqlite3"


def hold_elsewhere(database: Path) -> subprocess.Popen[str]:
    """Start a process that takes the lock and keeps it until its input ends."""
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    return other


def test_a_second_worker_is_refused_and_told_who_holds_the_file(database: Path) -> None:
    with hold_elsewhere(database) as other:
        with pytest.raises(Precondition) as refused:
            WorkerLock.take(database)
        assert refused.value.sentence() == (
            f"a worker runs on this database already (pid {other.pid}); stop it first: triggerdeck worker stop"
        )
        other.communicate("")
    with WorkerLock.take(database):
        assert holder(database) == Holder(os.getpid(), psutil.Process().create_time())
    assert holder(database) is None


def test_a_killed_workers_lock_is_free_and_nobody_is_taken_for_it(database: Path) -> None:
    with hold_elsewhere(database) as other:
        other.kill()
        other.communicate()
    assert json.loads(lock_path(database).read_text())["pid"] == other.pid
    assert holder(database) is None
    WorkerLock.take(database).release()


def test_a_pid_that_is_used_again_by_another_process_is_not_taken_for_the_worker() -> None:
    started = psutil.Process().create_time()
    assert Holder(os.getpid(), started).process() is not None
    assert Holder(os.getpid(), started - 3600).process() is None


def test_a_lock_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    with pytest.raises(StorageUnusable, match="no such file"):
        WorkerLock.take(tmp_path / "missing" / "deck.sqlite3")


def test_the_log_is_one_json_object_a_line_with_a_stable_event(database: Path) -> None:
    log = open_log(database, stderr=False)
    log.info("pass", admitted=2)
    logging.getLogger("core.runtime.execution").error("run.conflict", extra={"run_id": "r"})
    try:
        int("boom")
    except ValueError as error:
        log.problem("fault", error=error)
    log.close()
    first, second, third = map(json.loads, log_path(database).read_text().splitlines())
    assert (first["event"], first["level"], first["admitted"]) == ("pass", "info", 2)
    assert (second["event"], second["run_id"]) == ("run.conflict", "r")
    assert third["error"] == "ValueError: invalid literal for int() with base 10: 'boom'"
    assert "Traceback" in third["traceback"]


def test_a_closed_log_hears_nothing_more(database: Path) -> None:
    log = open_log(database, stderr=False)
    log.info("pass")
    log.close()
    log.info("pass")
    assert len(log_path(database).read_text().splitlines()) == 1


@pytest.mark.parametrize("seconds", [-3600.0, -2.5, 2.5, 30_000.0])
def test_a_step_of_the_clock_is_told_once(seconds: float) -> None:
    clock = ManualClock(datetime(2026, 3, 2, tzinfo=UTC))
    watch = JumpWatch(clock)
    clock.advance(timedelta(seconds=10))
    clock.step(clock.now() + timedelta(seconds=seconds))
    assert watch.look() == timedelta(seconds=seconds)
    assert watch.look() is None


def test_time_that_passes_and_small_corrections_are_no_jump() -> None:
    clock = ManualClock(datetime(2026, 3, 2, tzinfo=UTC))
    watch = JumpWatch(clock)
    clock.advance(timedelta(hours=9))
    assert watch.look() is None
    clock.step(clock.now() + timedelta(milliseconds=1500))
    assert watch.look() is None
