"""A copy is whole and overwrites nothing; a restored one begins a new life in which nothing fires twice."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from core.errors import Precondition, StorageUnusable
from core.storage.opening import open_store
from core.upkeep import incarnation
from core.upkeep import restore as restoring
from core.upkeep.backup import backup
from core.upkeep.restore import adopt, restore
from core.worker.lock import WorkerLock
from tests.integration.admission.world import HOURLY
from tests.integration.upkeep.ward import HALF_HOURLY, Ward, definition


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return where a backup goes."""
    return tmp_path / "copies" / "monday.sqlite3"


@pytest.fixture
def lived(ward: Ward, target: Path) -> Ward:
    """Return a ward with ended, pending, running and waiting Work, and an empty folder for copies."""
    target.parent.mkdir()
    ward.trigger("tick")
    ward.trigger("berlin", definition(HALF_HOURLY))
    ward.trigger("off", definition(HOURLY, enabled=False))
    for _ in range(3):
        ward.advance(minutes=1)
        ward.pass_once()
    ended, running, waiting = (row["id"] for row in ward.work())
    ward.sql("UPDATE work SET status = 'completed', attempts = 1 WHERE id = ?", ended)
    ward.sql("UPDATE work SET status = 'running', attempts = 1 WHERE id = ?", running)
    ward.sql("UPDATE work SET status = 'waitingForApproval', attempts = 1 WHERE id = ?", waiting)
    ward.sql("UPDATE occurrence SET outcome = 'submitted'")
    ward.run_of(running, "running", worker_id="w")
    ward.question_of(ward.run_of(waiting, "waiting"), waiting)
    for work, status in ((running, "running"), (waiting, "waiting")):
        step = {"position": 0, "step_id": "say", "kind": "command", "attempt": 1}
        ward.insert("flow_step", {"run_id": f"{work}.1", "status": status, **step})
    ward.advance(minutes=1)
    ward.pass_once()
    assert ward.codes(settled=True) == []
    return ward


def reopened(ward: Ward) -> Ward:
    """Look at the ward's file again, as another process would."""
    ward.restart()
    return ward


def facts(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT name, value FROM fact"))


# -- backup ------------------------------------------------------------------------------------------------------------


def test_a_backup_is_one_sound_file_that_says_what_it_is_a_copy_of(lived: Ward, target: Path) -> None:
    report = backup(lived.store, target, lived.clock)
    assert [entry.name for entry in target.parent.iterdir()] == ["monday.sqlite3"]
    assert report.size_bytes == target.stat().st_size
    assert oct(target.stat().st_mode)[-3:] == "600"
    story = json.loads(facts(target)["backup_of"])
    assert story["incarnation"] == facts(lived.path)["incarnation"] == report.incarnation
    assert story["at"] == "2026-03-02T09:04:00Z"
    assert "backup_of" not in facts(lived.path)
    copy = open_store(target, clock=lived.clock, read_only=True)
    assert lived.examine(store=copy) == []
    copy.close()


def test_a_backup_overwrites_nothing(lived: Ward, target: Path) -> None:
    target.write_text("precious")
    with pytest.raises(Precondition, match="exists already"):
        backup(lived.store, target, lived.clock)
    assert target.read_text() == "precious"


def test_a_backup_into_a_missing_folder_is_refused(lived: Ward, tmp_path: Path) -> None:
    with pytest.raises(StorageUnusable, match="does not exist"):
        backup(lived.store, tmp_path / "nowhere" / "copy", lived.clock)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_backup_into_a_folder_that_cannot_be_written_is_refused(lived: Ward, target: Path) -> None:
    target.parent.chmod(0o500)
    with pytest.raises(StorageUnusable):
        backup(lived.store, target, lived.clock)


def test_a_backup_of_a_damaged_database_is_refused_and_leaves_nothing(lived: Ward, target: Path) -> None:
    lived.store.close()
    with closing(sqlite3.connect(lived.path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'occurrence_history'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with lived.path.open("r+b") as file:
        file.seek((page - 1) * size + 8)
        file.write(b"\xff" * 200)
    store = open_store(lived.path, clock=lived.clock)
    with pytest.raises(StorageUnusable, match="damaged"):
        backup(store, target, lived.clock)
    store.close()
    assert list(target.parent.iterdir()) == []


def test_a_backup_is_consistent_while_others_write(lived: Ward, target: Path) -> None:
    """Every transaction writes a pair; a copy that cut one in half would hold an odd number."""
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            with lived.store.write(durable=False) as tx:
                for half in ("a", "b"):
                    tx.connection.exec_driver_sql("INSERT INTO fact VALUES (?, ?)", (f"pair-{number}{half}", "x" * 500))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            backup(lived.store, target.with_name(f"copy-{number}"), lived.clock)
    finally:
        stop.set()
        writer.join()
    for number in range(5):
        pairs = [name for name in facts(target.with_name(f"copy-{number}")) if name.startswith("pair-")]
        assert len(pairs) % 2 == 0


# -- restore -----------------------------------------------------------------------------------------------------------


def test_a_restored_database_fires_nothing_that_the_lost_one_may_have_fired(lived: Ward, target: Path) -> None:
    backup(lived.store, target, lived.clock)
    for _ in range(30):
        lived.advance(minutes=1)
        lived.pass_once()
    fired = {row["id"] for row in lived.work()}
    lived.store.close()
    report = restore(target, lived.path, clock=lived.clock)
    after = reopened(lived)
    assert after.codes(settled=True) == []
    restored = {row["trigger_name"]: row["count"] for row in after.occurrences() if row["reason"] == "restored"}
    assert restored == {"tick": 30, "berlin": 1}
    assert report.ranges == 2
    after.advance(minutes=1)
    made = after.pass_once()
    assert len(made.submitted) == 1
    assert not fired & set(made.submitted)
    assert after.codes(settled=True) == []


def test_unfinished_work_of_a_backup_ends_as_not_known_and_is_not_run_again(lived: Ward, target: Path) -> None:
    backup(lived.store, target, lived.clock)
    lived.store.close()
    report = restore(target, lived.path, clock=lived.clock)
    after = reopened(lived)
    assert report.ended_work == 3
    ends = [(row["status"], row["result"]) for row in after.work()]
    assert ends == [("completed", None), *[("failed", "outcome_unknown")] * 3]
    assert {row["status"] for row in after.rows("SELECT status FROM flow_run")} == {"failed"}
    assert {row["status"] for row in after.rows("SELECT status FROM flow_step")} == {"failed"}
    assert {row["status"] for row in after.rows("SELECT status FROM pending_action")} == {"cancelled"}
    assert after.rows("SELECT * FROM worker_beat") == []
    assert after.pass_once().submitted == ()
    assert after.rows("SELECT id FROM work WHERE status IN ('pending', 'queued', 'running')") == []


def test_a_restored_database_is_a_new_incarnation_and_the_replaced_one_is_kept(lived: Ward, target: Path) -> None:
    before = facts(lived.path)["incarnation"]
    backup(lived.store, target, lived.clock)
    engine = lived.path.with_name(f"{lived.path.name}.engine")
    for path in (engine, engine.with_name(f"{engine.name}-wal")):
        path.write_bytes(b"cache")
    incarnation.stamp(lived.store, engine)
    lived.advance(minutes=1)
    lived.pass_once()
    lived.store.close()
    report = restore(target, lived.path, clock=lived.clock)
    told = facts(lived.path)
    assert told["incarnation"] == report.incarnation != before
    assert json.loads(told["restored_from"])["from"] == str(target)
    assert "backup_of" not in told
    kept = Path(report.replaced or "")
    assert kept.name == f"{lived.path.name}.replaced-20260302T090500Z"
    assert facts(kept)["incarnation"] == before
    names = {entry.name for entry in lived.path.parent.iterdir()}
    assert not {name for name in names if ".engine" in name or ".restoring" in name}
    events = reopened(lived).rows("SELECT action, kind FROM audit_event ORDER BY id DESC LIMIT 1")
    assert events == [{"action": "restore", "kind": "Database"}]


def test_restoring_twice_keeps_both_replaced_files(lived: Ward, target: Path) -> None:
    backup(lived.store, target, lived.clock)
    lived.store.close()
    kept = [restore(target, lived.path, clock=lived.clock).replaced for _ in range(2)]
    assert len({name for name in kept if name and Path(name).exists()}) == 2


def test_a_paused_trigger_stays_paused_and_its_times_are_recorded_so(lived: Ward, target: Path) -> None:
    lived.pause("tick", note="freeze")
    backup(lived.store, target, lived.clock)
    lived.advance(hours=1)
    lived.store.close()
    restore(target, lived.path, clock=lived.clock)
    after = reopened(lived)
    assert after.state("tick")["phase"] == "paused"
    reasons = {row["trigger_name"]: (row["reason"], row["count"]) for row in after.occurrences() if row["is_range"]}
    assert reasons == {"tick": ("paused", 60), "berlin": ("restored", 2)}
    assert after.codes(settled=True) == []


def test_a_database_that_is_gone_can_be_restored(lived: Ward, target: Path) -> None:
    backup(lived.store, target, lived.clock)
    lived.store.close()
    lived.path.unlink()
    report = restore(target, lived.path, clock=lived.clock)
    assert report.replaced is None
    assert reopened(lived).codes(settled=True) == []


def test_a_damaged_database_is_kept_aside_with_its_log(lived: Ward, target: Path) -> None:
    backup(lived.store, target, lived.clock)
    lived.store.close()
    lived.path.write_bytes(b"rubbish" * 1000)
    lived.path.with_name(f"{lived.path.name}-wal").write_bytes(b"log")
    report = restore(target, lived.path, clock=lived.clock)
    kept = Path(report.replaced or "")
    assert kept.read_bytes().startswith(b"rubbish")
    assert kept.with_name(f"{kept.name}-wal").read_bytes() == b"log"
    assert reopened(lived).codes(settled=True) == []


def test_a_restore_is_refused_while_a_worker_runs(lived: Ward, target: Path) -> None:
    backup(lived.store, target, lived.clock)
    lived.store.close()
    before = lived.path.read_bytes()
    with WorkerLock.take(lived.path), pytest.raises(Precondition, match="a worker runs on this database already"):
        restore(target, lived.path, clock=lived.clock)
    assert lived.path.read_bytes() == before


def test_a_restore_is_refused_while_a_deck_is_open(lived: Ward, target: Path) -> None:
    backup(lived.store, target, lived.clock)
    with pytest.raises(Precondition, match="is open in another program"):
        restore(target, lived.path, clock=lived.clock)
    assert lived.codes(settled=True) == []


@pytest.mark.parametrize(
    ("contents", "message"),
    [(None, "there is no backup at"), (b"no database at all" * 100, "is not an SQLite"), ("foreign", "not one of")],
    ids=["missing", "text", "foreign"],
)
def test_a_restore_from_something_else_is_refused_and_touches_nothing(
    lived: Ward, target: Path, contents: Any, message: str
) -> None:
    if contents == "foreign":
        with closing(sqlite3.connect(target)) as connection:
            connection.execute("CREATE TABLE t (x)")
    elif contents is not None:
        target.write_bytes(contents)
    lived.store.close()
    before = lived.path.read_bytes()
    with pytest.raises(StorageUnusable, match=message):
        restore(target, lived.path, clock=lived.clock)
    assert lived.path.read_bytes() == before
    assert {entry.name for entry in lived.path.parent.glob("*restoring*")} == set()


def test_a_restore_onto_itself_is_refused(lived: Ward) -> None:
    with pytest.raises(Precondition, match="is the database itself"):
        restore(lived.path, lived.path, clock=lived.clock)


def test_a_crash_while_restoring_leaves_the_old_database_in_place(
    lived: Ward, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup(lived.store, target, lived.clock)
    lived.store.close()
    before = facts(lived.path)["incarnation"]

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(restoring.os, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        restore(target, lived.path, clock=lived.clock)
    assert facts(lived.path)["incarnation"] == before
    assert reopened(lived).codes(settled=True) == []


# -- an older copy put in place by hand --------------------------------------------------------------------------------


def engine_of(ward: Ward) -> Path:
    return ward.path.with_name(f"{ward.path.name}.engine")


def put_back(ward: Ward, copy: Path) -> None:
    ward.store.close()
    ward.path.write_bytes(copy.read_bytes())
    for tail in ("-wal", "-shm"):
        ward.path.with_name(ward.path.name + tail).unlink(missing_ok=True)
    ward.store = open_store(ward.path, clock=ward.clock)


def test_a_database_that_goes_on_from_its_stamp_is_accepted(lived: Ward) -> None:
    incarnation.verify(lived.store, engine_of(lived))
    for _ in range(3):
        incarnation.stamp(lived.store, engine_of(lived))
        lived.advance(minutes=1)
        lived.pass_once()
        incarnation.verify(lived.store, engine_of(lived))


def test_a_crash_between_both_stamps_is_no_older_copy(lived: Ward) -> None:
    engine = engine_of(lived)
    incarnation.stamp(lived.store, engine)
    kept = incarnation.stamp_path(engine).read_text()
    incarnation.stamp(lived.store, engine)
    incarnation.stamp_path(engine).write_text(kept)
    incarnation.verify(lived.store, engine)
    incarnation.stamp_path(engine).write_text(kept[:20])
    incarnation.verify(lived.store, engine)


@pytest.mark.parametrize("stamped_after", [True, False], ids=["a stamp later", "within one stamp"])
def test_an_older_copy_in_the_place_of_the_database_is_refused(lived: Ward, target: Path, stamped_after: bool) -> None:
    incarnation.stamp(lived.store, engine_of(lived))
    backup(lived.store, target, lived.clock)
    lived.advance(minutes=1)
    lived.pass_once()
    if stamped_after:
        incarnation.stamp(lived.store, engine_of(lived))
    else:  # the copy is from before the last stamp's change
        lived.sql("DELETE FROM fact WHERE name = 'engine_stamp'")
        incarnation.stamp(lived.store, engine_of(lived))
    put_back(lived, target)
    with pytest.raises(Precondition, match="is older than what the worker has done") as refused:
        incarnation.verify(lived.store, engine_of(lived))
    assert "triggerdeck restore" in refused.value.remedy


def test_another_line_with_the_same_number_is_refused(lived: Ward, target: Path) -> None:
    backup(lived.store, target, lived.clock)
    incarnation.stamp(lived.store, engine_of(lived))
    theirs = incarnation.stamp_path(engine_of(lived)).read_text()
    put_back(lived, target)
    incarnation.stamp(lived.store, engine_of(lived))
    incarnation.stamp_path(engine_of(lived)).write_text(theirs)
    with pytest.raises(Precondition, match="went another way"):
        incarnation.verify(lived.store, engine_of(lived))


def test_an_accepted_older_copy_begins_a_new_life_where_it_lies(lived: Ward, target: Path) -> None:
    backup(lived.store, target, lived.clock)
    lived.advance(hours=1)
    lived.pass_once()
    incarnation.stamp(lived.store, engine_of(lived))
    put_back(lived, target)
    lived.store.close()
    report = adopt(lived.path, clock=lived.clock)
    after = reopened(lived)
    incarnation.verify(after.store, engine_of(after))
    assert facts(after.path)["incarnation"] == report.incarnation
    assert [row["count"] for row in after.occurrences("tick") if row["reason"] == "restored"] == [60]
    assert after.codes(settled=True) == []
    after.advance(minutes=1, seconds=1)
    assert len(after.pass_once().submitted) == 1


def test_an_old_life_is_passed_over_in_many_batches(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        ward.trigger(f"tick-{number}")
    ward.advance(minutes=1)
    ward.pass_once()
    monkeypatch.setattr(restoring.recovery, "BATCH", 3)
    monkeypatch.setattr(restoring, "WORKS_AT_ONCE", 2)
    ward.store.close()
    ward.clock.advance(timedelta(minutes=9))
    report = adopt(ward.path, clock=ward.clock)
    assert (report.ranges, report.ended_work) == (7, 7)
    assert reopened(ward).codes(settled=True) == []
