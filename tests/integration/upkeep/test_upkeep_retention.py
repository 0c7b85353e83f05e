"""What is old goes, in short transactions; what is active, needed or newest stays, and the checker agrees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.storage.store import Store
from core.upkeep import retention
from core.upkeep.retention import Keep, RetentionPolicy, RetentionTask, prune
from core.views import PruneReport
from tests.integration.admission.world import HOURLY, START
from tests.integration.upkeep.ward import Ward, definition

DAY = timedelta(days=1)


def pruned(ward: Ward, policy: RetentionPolicy, **more: int) -> PruneReport:
    return prune(ward.store, ward.clock, policy, rest=lambda _: None, **more)


def only(days: float = 1) -> RetentionPolicy:
    return RetentionPolicy().older_than(timedelta(days=days))


def count(ward: Ward, table: str) -> int:
    return int(ward.rows(f"SELECT count(*) AS n FROM {table}")[0]["n"])  # noqa: S608 - a test's own table


@pytest.fixture(scope="module")
def four_days(tmp_path_factory: pytest.TempPathFactory) -> Ward:
    """Return a ward that fired hourly for four days, each Work with run, steps, log, question and notification."""
    ward = Ward(tmp_path_factory.mktemp("aged") / "triggerdeck.sqlite3")
    ward.flow()
    ward.trigger("hourly", definition(HOURLY, concurrencyPolicy="skip"))
    ward.trigger("minute")
    for _ in range(4 * 24):
        ward.advance(hours=1)
        ward.pass_once()
        ward.end_work()
    ward.furnish()
    assert ward.codes(settled=True) == []
    ward.store.close()
    return ward


@pytest.fixture
def aged(four_days: Ward, tmp_path: Path) -> Iterator[Ward]:
    """Return a copy of the four days."""
    path = tmp_path / "triggerdeck.sqlite3"
    path.write_bytes(four_days.path.read_bytes())
    ward = Ward(path, start=four_days.clock.now())
    for _ in range(1_000):
        ward.clock.new_id()  # past the identities that the four days used
    yield ward
    ward.store.close()


def test_ended_work_goes_with_all_that_belongs_to_it(aged: Ward) -> None:
    report = pruned(aged, only(1))
    old = (aged.clock.now() - DAY).timestamp() * 1_000_000
    assert aged.rows("SELECT * FROM work WHERE created_at < ?", old) == []
    kept = count(aged, "work")
    assert kept == 2 * 25
    for table in ("flow_run", "flow_step", "log_line", "pending_action", "notification"):
        assert count(aged, table) == kept
    assert report.deleted["work"] == 2 * 71
    assert report.deleted["occurrence"] == 2 * 71 + 72
    assert report.total == sum(report.deleted.values())
    assert not report.more


def test_after_pruning_the_checker_knows_from_where_history_is_complete(aged: Ward) -> None:
    pruned(aged, only(1))
    assert aged.codes(settled=True) == []
    assert aged.state("minute")["decided_from"] is not None
    aged.advance(hours=5)
    aged.pass_once()
    assert aged.codes(settled=True) == []
    aged.sql("DELETE FROM occurrence WHERE id = (SELECT id FROM occurrence WHERE is_range ORDER BY at DESC LIMIT 1)")
    assert aged.codes(settled=True) == ["undecided"]


def test_marks_and_next_times_do_not_move(aged: Ward) -> None:
    names = ("mark_at", "next_due_at", "next_nominal_at", "fingerprint", "last_fired_at")
    before = [{name: aged.state(key)[name] for name in names} for key in ("hourly", "minute")]
    pruned(aged, only(0))
    assert [{name: aged.state(key)[name] for name in names} for key in ("hourly", "minute")] == before


def test_the_newest_decision_of_each_trigger_stays_for_ever(aged: Ward) -> None:
    aged.advance(days=4000)
    pruned(aged, only(1))
    assert sorted(row["trigger_name"] for row in aged.occurrences()) == ["hourly", "minute"]
    assert count(aged, "work") == 2
    assert aged.codes() == []


@pytest.mark.parametrize("status", ["pending", "queued", "running", "waitingForInput", "waitingForApproval"])
def test_active_work_is_never_pruned(ward: Ward, status: str) -> None:
    ward.trigger("tick")
    for _ in range(3):
        ward.advance(minutes=1)
        ward.pass_once()
    first = ward.work()[0]["id"]
    ward.sql("UPDATE work SET status = 'completed', ended_at = created_at")
    ward.furnish()
    ward.sql("UPDATE work SET status = ?, ended_at = NULL WHERE id = ?", status, first)
    ward.advance(days=4000)
    pruned(ward, only(0))
    assert first in {row["id"] for row in ward.work()}
    assert first in {row["id"] for row in ward.occurrences()}
    for table in ("flow_run", "log_line", "pending_action"):
        assert first in {row["work_id"] for row in ward.rows(f"SELECT work_id FROM {table}")}  # noqa: S608 - our own table
    assert f"{first}.1" in {row["run_id"] for row in ward.rows("SELECT run_id FROM flow_step")}


def test_each_end_has_its_own_age(ward: Ward) -> None:
    ward.trigger("tick")
    for status in ("completed", "failed", "cancelled", "completed"):
        ward.advance(minutes=1)
        ward.pass_once()
        ward.end_work(status)
    ward.advance(days=200)
    pruned(ward, RetentionPolicy())
    assert [row["status"] for row in ward.work()] == ["failed", "completed"]


def test_work_that_was_made_long_ago_and_ended_lately_is_kept(aged: Ward) -> None:
    first = aged.work()[0]["id"]
    aged.sql("UPDATE work SET ended_at = ? WHERE id = ?", aged.micros() - 1, first)
    pruned(aged, only(1))
    assert first in {row["id"] for row in aged.work()}
    assert count(aged, "work") == 2 * 25 + 1
    assert aged.codes(settled=True) == []


def test_more_than_the_count_goes_oldest_first(aged: Ward) -> None:
    newest = [row["id"] for row in aged.work()][-10:]
    pruned(aged, RetentionPolicy(completed=Keep(timedelta(days=999), 10)))
    assert [row["id"] for row in aged.work()] == newest
    assert aged.codes(settled=True) == []


def test_more_skipped_times_than_the_count_go_oldest_first(aged: Ward) -> None:
    pruned(aged, RetentionPolicy(skipped=Keep(timedelta(days=999), 5)))
    assert len([row for row in aged.occurrences() if row["outcome"] == "skipped"]) == 5
    assert aged.codes(settled=True) == []


@pytest.mark.parametrize(("outcome", "kind"), [("failed", "refused"), ("joined", "joined")])
def test_each_outcome_without_work_has_a_count_of_its_own(ward: Ward, outcome: str, kind: str) -> None:
    ward.trigger("tick")
    ward.sql("UPDATE membership SET state = 'suspended'")
    for _ in range(9):
        ward.advance(minutes=1)
        ward.pass_once()
    ward.sql("UPDATE occurrence SET outcome = ?", outcome)
    pruned(ward, replace(RetentionPolicy(), **{kind: Keep(timedelta(days=999), 4)}))
    kept = ward.occurrences()
    assert [(ward.at(row["nominal_at"]) or START) - START for row in kept] == [
        timedelta(minutes=n) for n in (6, 7, 8, 9)
    ]


@pytest.mark.parametrize(("table", "kind"), [("audit_event", "audit"), ("notification", "notifications")])
def test_what_is_told_to_people_has_a_count_as_well_as_an_age(aged: Ward, table: str, kind: str) -> None:
    newest = [row["id"] for row in aged.rows(f"SELECT id FROM {table} ORDER BY id")][-3:]  # noqa: S608 - our own table
    pruned(aged, replace(RetentionPolicy(), **{kind: Keep(timedelta(days=999), 3)}))
    assert [row["id"] for row in aged.rows(f"SELECT id FROM {table} ORDER BY id")] == newest  # noqa: S608 - as above


def test_what_was_pruned_is_not_fired_again_where_the_clock_is_set_back(aged: Ward) -> None:
    aged.pass_once()
    aged.end_work()
    pruned(aged, only(0))
    kept = {row["id"] for row in aged.work()}
    aged.clock.step(aged.clock.now() - 3 * DAY)
    aged.restart()
    for _ in range(24):
        aged.advance(hours=1)
        assert aged.pass_once().submitted == ()
    assert {row["id"] for row in aged.work()} == kept


def test_logs_go_before_their_work(aged: Ward) -> None:
    pruned(aged, RetentionPolicy(log_age=2 * DAY))
    assert count(aged, "work") == 2 * 96
    assert count(aged, "log_line") == 2 * 49


def test_a_long_log_goes_in_many_batches(ward: Ward) -> None:
    ward.trigger("tick")
    for _ in range(2):
        ward.advance(minutes=1)
        ward.pass_once()
        ward.end_work()
    work = ward.work()[0]["id"]
    with ward.store.write() as tx:
        tx.connection.exec_driver_sql(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1800)"
            " INSERT INTO log_line (work_id, run_id, step_id, attempt, at, stream, text)"
            " SELECT ?, 'r', 's', 1, 0, 'out', 'x' FROM n", (work,)
        )  # fmt: skip
    ward.advance(days=100)
    report = pruned(ward, only(1))
    assert (report.deleted["log_line"], count(ward, "log_line"), count(ward, "work")) == (1800, 0, 1)


def test_audit_keeps_its_own_age_and_changes_their_number(aged: Ward) -> None:
    aged.sql("UPDATE audit_event SET at = 0 WHERE id = 1")
    events, newest = count(aged, "audit_event"), aged.rows("SELECT max(seq) AS seq FROM change")[0]["seq"]
    pruned(aged, RetentionPolicy(changes=7))
    assert count(aged, "audit_event") == events - 1
    assert [row["seq"] for row in aged.rows("SELECT seq FROM change ORDER BY seq")] == list(
        range(newest - 6, newest + 1)
    )
    pruned(aged, RetentionPolicy(changes=0))
    assert count(aged, "change") == 1


def test_no_transaction_deletes_more_than_five_hundred_rows_of_a_kind(
    aged: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    original = RetentionTask._run

    def measured(task: RetentionTask, batch: retention._Batch) -> bool:
        before = task.deleted.copy()
        more = original(task, batch)
        seen.append(max((task.deleted - before).values(), default=0))
        return more

    monkeypatch.setattr(RetentionTask, "_run", measured)
    pruned(aged, RetentionPolicy(changes=1).older_than(DAY))
    assert 0 < max(seen) <= retention.ROWS_AT_ONCE
    assert len(seen) > 6


def test_a_bounded_call_says_that_there_is_more_and_the_next_goes_on(aged: Ward) -> None:
    first = pruned(aged, only(1), most_batches=2)
    assert first.more
    assert first.batches == 2
    assert not pruned(aged, only(1)).more
    assert count(aged, "work") == 2 * 25


def test_between_batches_others_get_their_turn(aged: Ward) -> None:
    rests: list[float] = []
    prune(aged.store, aged.clock, only(1), rest=rests.append)
    assert len(rests) > 6
    assert all(0 <= rest <= retention.LONGEST_REST_S for rest in rests)


def test_an_idle_worker_prunes_step_by_step_and_then_once_an_hour(aged: Ward) -> None:
    task = RetentionTask(aged.store, aged.clock, only(1))
    steps = 0
    while task.step():
        steps += 1
    assert steps > 6
    assert count(aged, "work") == 2 * 25
    assert not task.step()
    aged.advance(hours=1)
    aged.pass_once()
    aged.end_work()
    assert task.step()


def test_firing_goes_on_between_the_steps(aged: Ward) -> None:
    task = RetentionTask(aged.store, aged.clock, only(1))
    while task.step():
        aged.advance(minutes=1)
        aged.pass_once()
        aged.end_work()
        assert aged.codes(settled=True) == []


def test_a_second_round_finds_nothing_to_do(aged: Ward) -> None:
    pruned(aged, only(1))
    assert pruned(aged, only(1)).total == 0


def test_a_deleted_triggers_history_is_pruned_like_any_other(aged: Ward) -> None:
    aged.delete("minute")
    aged.advance(days=30)
    pruned(aged, only(1))
    assert len([row for row in aged.occurrences() if row["trigger_name"] == "minute"]) == 1
    assert aged.codes() == []


def test_pruning_uses_an_index_for_every_candidate(ward: Ward) -> None:
    queries = (
        "SELECT id FROM work WHERE status = 'failed' AND created_at < 9 ORDER BY created_at, id",
        "SELECT id FROM occurrence WHERE workspace_id = 'w' AND outcome = 'skipped' AND at < 9 ORDER BY at, id",
    )
    for query in queries:
        plan = " ".join(str(row["detail"]) for row in ward.rows(f"EXPLAIN QUERY PLAN {query}"))
        assert "USING" in plan
        assert "TEMP B-TREE" not in plan


def test_a_store_that_is_read_only_is_refused_in_one_sentence(aged: Ward) -> None:
    from core.errors import StorageUnusable
    from core.storage.opening import open_store

    store: Store = open_store(aged.path, clock=aged.clock, read_only=True)
    with pytest.raises(StorageUnusable, match="read-only"):
        prune(store, aged.clock, only(1))
    store.close()
