"""The doctor says what is wrong with history, machinery and file, what to do, and repairs what needs no guess."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from importlib.metadata import version
from typing import Any

import pytest

from core import zones
from core.storage.opening import open_store
from core.upkeep import incarnation, vitals
from core.upkeep.backup import backup
from core.upkeep.doctor import examine, repair
from core.views import DoctorReport, Finding
from tests.integration.upkeep.ward import HALF_HOURLY, Ward, definition


@pytest.fixture
def tended(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> Ward:
    """Return a ward with a live worker, enough room, and nothing to complain of."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 0, 10**12))  # type: ignore[attr-defined]
    ward.trigger("tick", definition(concurrencyPolicy="skip"))
    ward.trigger("berlin", definition(HALF_HOURLY))
    ward.pipeline.reconcile()
    ward.advance(minutes=31)
    ward.pass_once()
    beat(ward)
    return ward


def beat(ward: Ward, worker_id: str = "w", **values: Any) -> None:
    row = {
        "worker_id": worker_id, "pid": 77, "host": "here", "version": version("triggerdeck"),
        "zone_data": zones.data_version(), "state": "running", "started_at": ward.micros(), "beat_at": ward.micros(),
        "last_pass_at": ward.micros(), "pass_ms": 0.0, "slots": 1, "running": 0, **values,
    }  # fmt: skip
    ward.sql("DELETE FROM worker_beat WHERE worker_id = ?", worker_id)
    ward.insert("worker_beat", row)


def looked(ward: Ward) -> DoctorReport:
    return examine(ward.store, ward.clock)


def only(ward: Ward) -> Finding:
    (finding,) = looked(ward).findings
    assert finding.message
    assert finding.remedy
    return finding


def micros(**by: float) -> int:
    return int(timedelta(**by).total_seconds() * 1_000_000)


def test_a_tended_database_is_healthy_and_its_figures_are_told(tended: Ward) -> None:
    report = looked(tended)
    assert report.findings == ()
    assert report.healthy
    assert report.database == str(tended.path)
    assert report.figures["triggers"] == report.figures["enabled"] == 2
    assert report.figures["active_work"] == 2
    assert report.figures["occurrences_at_most"] == 3
    assert report.figures["schema"] == "0001"
    assert report.figures["zone_data"] == zones.data_version()
    assert int(report.figures["database_bytes"]) > 0


def test_what_the_checker_finds_is_told_first(tended: Ward) -> None:
    tended.sql("DELETE FROM occurrence WHERE is_range")
    tended.sql("DELETE FROM worker_beat")
    report = looked(tended)
    assert [(finding.code, finding.severity) for finding in report.findings] == [
        ("undecided", "error"),
        ("no_worker", "warning"),
    ]
    assert not report.healthy


def test_no_worker_matters_only_where_there_is_something_to_do(ward: Ward) -> None:
    assert "no_worker" not in {finding.code for finding in looked(ward).findings}
    ward.trigger("tick")
    assert "no_worker" in {finding.code for finding in looked(ward).findings}


def test_a_worker_without_a_sign_of_life_is_named_with_its_pid(tended: Ward) -> None:
    tended.advance(seconds=20)
    finding = only(tended)
    assert finding.code == "worker_stale"
    assert finding.message == "worker 77 has shown no sign of life since 2026-03-02T09:31:00Z"


def test_a_worker_that_lives_but_makes_no_pass_is_stuck(tended: Ward) -> None:
    beat(tended, last_pass_at=tended.micros() - micros(minutes=3))
    assert only(tended).code == "worker_stuck"


def test_a_worker_of_another_version_or_with_other_zone_data_is_told(tended: Ward) -> None:
    beat(tended, version="0.0.1")
    assert only(tended).code == "worker_version"
    beat(tended, zone_data="1999a")
    assert only(tended).code == "worker_zone_data"


def test_a_stopped_worker_says_nothing(tended: Ward) -> None:
    beat(tended, "old", state="stopped", beat_at=tended.micros() - micros(days=3), version="0.0.1")
    assert looked(tended).findings == ()


def test_an_overdue_trigger_is_named(tended: Ward) -> None:
    tended.advance(minutes=2)
    beat(tended)
    finding = only(tended)
    assert (finding.code, finding.subject) == ("overdue", "tick")
    assert "due since 2026-03-02T09:32:00Z" in finding.message


def test_a_clock_that_stepped_back_is_told_with_the_marks_that_lie_ahead(tended: Ward) -> None:
    tended.clock.step(tended.clock.now() - timedelta(minutes=10))
    beat(tended)
    behind, *ahead = looked(tended).findings
    assert behind.code == "clock_behind"
    assert "600 s before the newest entry" in behind.message
    assert [(finding.code, finding.subject) for finding in ahead] == [
        ("mark_in_future", "tick"),
        ("mark_in_future", "berlin"),
    ]


def test_new_zone_data_is_told_until_next_times_are_computed_anew(tended: Ward) -> None:
    tended.sql("UPDATE fact SET value = '1999a' WHERE name = 'zone_data'")
    finding = only(tended)
    assert finding.code == "zone_data_changed"
    assert finding.repairable
    assert repair(tended.store, tended.clock).findings == ()


@pytest.mark.parametrize(("free", "severity"), [(50_000_000, "error"), (500_000_000, "warning")])
def test_little_room_is_told(tended: Ward, monkeypatch: pytest.MonkeyPatch, free: int, severity: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 0, free))  # type: ignore[attr-defined]
    finding = only(tended)
    assert (finding.code, finding.severity) == ("disk_space", severity)
    assert f"{free // 1_000_000} MB" in finding.message


def test_a_large_log_and_a_sparse_file_are_told(tended: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vitals, "LARGE_WAL_BYTES", 1)
    assert only(tended).code == "wal_large"
    monkeypatch.setattr(vitals, "LARGE_WAL_BYTES", 1 << 40)
    monkeypatch.setattr(vitals, "WORTH_COMPACTING_BYTES", 1)
    with tended.store.write() as tx:
        tx.connection.exec_driver_sql("CREATE TABLE big (x)")
        tx.connection.exec_driver_sql("INSERT INTO big VALUES (zeroblob(3000000))")
    tended.sql("DROP TABLE big")
    finding = only(tended)
    assert (finding.code, finding.severity) == ("file_sparse", "information")
    assert looked(tended).healthy


def test_a_degraded_trigger_says_why(tended: Ward) -> None:
    tended.sql("UPDATE flow_version SET active = 0")
    tended.advance(minutes=1)
    tended.pass_once()
    beat(tended)
    finding = only(tended)
    assert (finding.code, finding.subject) == ("trigger_degraded", "tick")


def test_an_older_copy_and_a_backup_that_was_opened_are_told(tended: Ward) -> None:
    copy = tended.path.with_name("copy.sqlite3")
    backup(tended.store, copy, tended.clock)
    incarnation.stamp(tended.store, tended.path.with_name(f"{tended.path.name}.engine"))
    tended.store.close()
    tended.path.write_bytes(copy.read_bytes())
    tended.store = open_store(tended.path, clock=tended.clock)
    assert {finding.code for finding in looked(tended).findings} == {"older_copy", "backup_opened"}


def test_a_damaged_page_is_told(tended: Ward) -> None:
    tended.store.close()
    with closing(sqlite3.connect(tended.path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ix_audit_event_at'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with tended.path.open("r+b") as file:
        file.seek((page - 1) * size + 3)
        file.write(b"\x00\x00")
    tended.store = open_store(tended.path, clock=tended.clock)
    assert {finding.code for finding in looked(tended).findings} == {"file_damaged"}


def test_rows_that_name_missing_rows_are_told(tended: Ward) -> None:
    tended.store.close()
    with closing(sqlite3.connect(tended.path)) as connection, connection:
        connection.execute("UPDATE membership SET workspace_id = 'nowhere'")
    tended.store = open_store(tended.path, clock=tended.clock)
    assert "rows of membership" in only(tended).message


# -- repair ------------------------------------------------------------------------------------------------------------


def events(ward: Ward) -> list[tuple[str, str]]:
    return [(row["name"], row["code"]) for row in ward.rows("SELECT * FROM audit_event WHERE action = 'repair'")]


def test_a_sound_database_needs_no_repair(tended: Ward) -> None:
    report = repair(tended.store, tended.clock)
    assert (report.repaired, report.findings, events(tended)) == ((), (), [])


def test_next_times_that_are_gone_or_wrong_are_computed_anew(tended: Ward) -> None:
    before = [tended.state(name)["next_due_at"] for name in ("tick", "berlin")]
    tended.sql("UPDATE trigger_state SET next_due_at = NULL, fingerprint = NULL WHERE name = 'tick'")
    tended.sql("UPDATE trigger_state SET next_due_at = next_due_at + 1 WHERE name = 'berlin'")
    assert {finding.code for finding in looked(tended).findings} == {"projection_missing", "projection_drift"}
    report = repair(tended.store, tended.clock)
    assert report.findings == ()
    assert sorted(report.repaired) == [f"the next time of {name} is computed anew" for name in ("berlin", "tick")]
    assert [tended.state(name)["next_due_at"] for name in ("tick", "berlin")] == before
    assert sorted(events(tended)) == [("berlin", "projection_computed"), ("tick", "projection_computed")]


def test_a_mark_that_moved_back_is_moved_up_so_that_nothing_fires_twice(tended: Ward) -> None:
    work = tended.work()
    tended.sql("UPDATE trigger_state SET mark_at = mark_at - 600000000 WHERE name = 'tick'")
    report = repair(tended.store, tended.clock)
    assert report.findings == ()
    assert "the mark of tick is moved up to its newest decision" in report.repaired
    tended.pass_once()
    assert tended.work() == work


def test_runs_steps_and_questions_without_an_owner_are_ended(tended: Ward) -> None:
    work = tended.work()[0]["id"]
    run = tended.run_of(work, "waiting")
    tended.question_of(run, work)
    step = {"position": 0, "step_id": "say", "kind": "ask", "status": "waiting", "attempt": 1}
    tended.insert("flow_step", {"run_id": run, **step})
    tended.sql("UPDATE work SET status = 'cancelled', ended_at = created_at WHERE id = ?", work)
    assert {finding.code for finding in looked(tended).findings} == {"run_of_ended_work"}
    report = repair(tended.store, tended.clock)
    assert report.findings == ()
    assert [line.split()[0] for line in report.repaired] == ["run", "step", "question"]
    assert len(events(tended)) == 3


def test_lost_decisions_and_work_are_told_and_left_alone(tended: Ward) -> None:
    tended.sql("DELETE FROM occurrence WHERE is_range")
    tended.sql("DELETE FROM work WHERE trigger_name = 'berlin'")
    before = tended.occurrences(), tended.work()
    report = repair(tended.store, tended.clock)
    assert {finding.code for finding in report.findings} == {"undecided", "admitted_without_work"}
    assert (tended.occurrences(), tended.work()) == before
    assert report.repaired == ()


def test_one_workspace_is_repaired_without_the_others(tended: Ward) -> None:
    tended.sql("UPDATE trigger_state SET next_due_at = next_due_at + 1")
    assert repair(tended.store, tended.clock, "another").repaired == ()
    assert len(repair(tended.store, tended.clock, tended.scope.workspace_id).repaired) == 2
