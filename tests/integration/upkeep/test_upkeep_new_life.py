"""Real workers and a copy that came back: what was running is not run again, an older copy waits to be accepted."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from core.deck import Deck
from core.errors import Precondition
from core.storage.enginefile import engine_path
from core.upkeep.restore import adopt, restore
from core.views import OccurrenceQuery, WorkQuery
from core.worker import control
from tests.ending import ends_within
from tests.integration.pressure.waiting import until

MANIFESTS = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: hold}
definition:
  steps:
    - {id: hold, command: {argv: [sh, -c, "echo began >> %(notes)s; while [ ! -e %(notes)s.go ]; do sleep 0.05; done"]}}
    - {id: end, command: {argv: [sh, -c, "echo ended >> %(notes)s"]}}
---
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: note}
definition:
  steps:
    - {id: note, command: {argv: [sh, -c, "echo $TRIGGERDECK_NOMINAL_AT >> %(notes)s.times"]}}
---
apiVersion: agentstration.io/v1
kind: Trigger
metadata: {name: by-hand}
definition:
  enabled: true
  source: {kind: schedule, schedule: {type: cron, expression: "0 0 0 1 1 ?", timeZone: Asia/Kathmandu}}
  target: {kind: flow, flow: {name: hold}}
---
apiVersion: agentstration.io/v1
kind: Trigger
metadata: {name: every-second}
definition:
  enabled: true
  source: {kind: schedule, schedule: {type: interval, every: PT1S, startAt: "2026-01-01T00:00:00Z"}}
  target: {kind: flow, flow: {name: note}}
  misfirePolicy: fireOnce
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Return the file in which the steps leave their lines."""
    return tmp_path / "notes"


@pytest.fixture
def database(tmp_path: Path, notes: Path) -> Iterator[Path]:
    """Return a database whose worker is in the middle of a step, and fires every second beside it."""
    path = tmp_path / "deck.sqlite3"
    deck = Deck.open(path)
    deck.apply(MANIFESTS % {"notes": notes})
    control.start_detached(path)
    deck.run("by-hand")
    until(lambda: notes.exists() and times(notes), "the step runs, and the other Trigger fires")
    deck.close()
    yield path
    control.stop(path)


def times(notes: Path) -> list[str]:
    """Return the nominal times that were fired, in the order of their steps."""
    path = notes.with_name("notes.times")
    return path.read_text().split() if path.exists() else []


def kill(database: Path) -> None:
    """End the worker as a power failure would, with the step that it ran."""
    pid = control.status(database).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert ends_within(pid, seconds=30), "the worker is gone, and with it the lock"


@pytest.mark.slow
def test_what_ran_at_the_time_of_the_copy_is_never_submitted_again_by_a_real_worker(
    database: Path, notes: Path, tmp_path: Path
) -> None:
    deck = Deck.open(database)
    copy = tmp_path / "copy"
    deck.backup(copy)
    before = len(times(notes))
    until(lambda: len(times(notes)) > before + 2, "the lost life fires what the copy does not know of")
    deck.close()
    kill(database)
    engine = engine_path(database)
    assert engine.exists()
    lost = times(notes)
    restore(copy, database)
    assert not engine.exists()
    notes.with_name("notes.go").touch()
    control.start_detached(database)
    until(lambda: len(times(notes)) > len(lost) + 1, "the new life fires on")
    deck = Deck.open(database)
    (work,) = deck.works(WorkQuery(trigger="by-hand"), limit=2).rows
    assert (work.status, work.result) == ("failed", "outcome_unknown")
    assert notes.read_text() == "began\n"
    ranges = deck.occurrences(OccurrenceQuery(reason="restored"), limit=10).rows
    assert "every-second" in {row.trigger_name for row in ranges}
    assert control.stop(database)
    fired = times(notes)
    assert len(fired) == len(set(fired))
    assert [finding.code for finding in deck.doctor().findings if finding.severity == "error"] == []
    deck.close()


@pytest.mark.slow
def test_an_older_copy_put_in_place_by_hand_is_run_on_only_once_it_was_accepted(
    database: Path, notes: Path, tmp_path: Path
) -> None:
    deck = Deck.open(database)
    copy = tmp_path / "copy"
    deck.backup(copy)
    before = len(times(notes))
    until(lambda: len(times(notes)) > before + 2, "the worker does what the copy does not know of")
    deck.close()
    notes.with_name("notes.go").touch()
    control.stop(database)
    lost = times(notes)
    for tail in ("-wal", "-shm"):
        database.with_name(database.name + tail).unlink(missing_ok=True)
    database.write_bytes(copy.read_bytes())
    for _ in range(2):
        with pytest.raises(Precondition, match="is older than what the worker has done with it"):
            control.start_detached(database)
    assert times(notes) == lost
    adopt(database)
    pid = control.start_detached(database)
    until(lambda: len(times(notes)) > len(lost) + 1, "the accepted copy fires on")
    assert psutil.pid_exists(pid)
    fired = times(notes)
    assert len(fired) == len(set(fired))
    assert notes.read_text() == "began\nended\n"
