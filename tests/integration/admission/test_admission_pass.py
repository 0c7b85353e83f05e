"""What a pass admits, records and leaves alone, over the real store."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from core.admission.identity import occurrence_id
from core.errors import Denied
from core.flows.publishing import publish
from tests.integration.admission.world import EVERY_MINUTE, HOURLY, START, World, definition


def test_a_due_trigger_makes_one_occurrence_and_one_work_under_the_same_identity(world: World) -> None:
    uid = world.trigger("tick")
    world.advance(seconds=60.2)
    report = world.pass_once()
    (row,), (work,) = world.occurrences(), world.work()
    nominal = int((START + timedelta(minutes=1)).timestamp())
    assert row["id"] == work["id"] == occurrence_id(world.scope.workspace_id, uid, nominal)
    assert (row["outcome"], row["reason"], row["kind"], row["generation"]) == ("pending", "on_time", "scheduled", 1)
    assert (work["status"], work["flow_uid"], work["flow_version"]) == ("pending", world.uid("print"), 1)
    assert row["principal_id"] == work["principal_id"] == world.scope.principal_id
    assert report.submitted == (work["id"],)
    assert report.lags_ms == pytest.approx((200.0,))
    assert report.next_due_at == START + timedelta(minutes=2)


def test_nothing_fires_before_its_time(world: World) -> None:
    world.trigger("tick")
    world.advance(seconds=59.999)
    report = world.pass_once()
    assert world.occurrences() == []
    assert report.next_due_at == START + timedelta(minutes=1)


def test_a_second_pass_at_the_same_instant_does_nothing(world: World) -> None:
    world.trigger("tick")
    world.advance(seconds=61)
    world.pass_once()
    again = world.pass_once()
    assert (again.admitted, len(world.work())) == (0, 1)


def test_skip_counts_an_outage_as_one_range_and_fires_what_is_on_time(world: World) -> None:
    """With a threshold of PT1M the newest fires on time, the older ones are one missed range."""
    world.trigger("tick", definition(misfirePolicy="skip", misfireThreshold="PT1M"))
    world.advance(hours=3, seconds=5)
    world.pass_once()
    assert world.decisions() == [("skipped", "missed", 179), ("pending", "on_time", 1)]
    missed = world.occurrences()[0]
    assert world.at(missed["first_at"]) == START + timedelta(minutes=1)
    assert world.at(missed["last_at"]) == START + timedelta(minutes=179)


def test_fire_once_makes_one_work_for_everything_missed(world: World) -> None:
    """A backlog is one Work and never a burst."""
    world.trigger("hourly", definition(HOURLY, misfirePolicy="fireOnce"))
    world.advance(days=3, minutes=30)
    world.pass_once()
    (row,) = world.occurrences()
    assert (row["reason"], row["count"], row["is_range"]) == ("coalesced", 72, 0)
    assert world.at(row["first_at"]) == START + timedelta(hours=1)
    assert world.at(row["nominal_at"]) == START + timedelta(hours=72)
    assert len(world.work()) == 1


def test_a_per_second_rule_that_was_off_for_a_year_costs_one_row(world: World) -> None:
    """A long outage neither stops the schedule nor counts to a limit."""
    world.trigger("second", definition({"type": "interval", "every": "PT1S", "startAt": "2026-01-01T00:00:00Z"}))
    world.advance(days=365)
    report = world.pass_once()
    assert world.decisions() == [("skipped", "missed", 31_535_999), ("pending", "on_time", 1)]
    assert report.next_due_at == START + timedelta(days=365, seconds=1)


def test_what_is_late_beyond_its_threshold_is_missed_and_not_fired(world: World) -> None:
    """A fire that is a moment too late is recorded, not silently dropped."""
    world.trigger("hourly", definition(HOURLY, misfireThreshold="PT10S"))
    world.advance(hours=1, seconds=10.001)
    world.pass_once()
    assert world.decisions() == [("skipped", "missed", 1)]
    assert world.work() == []


def test_the_next_fire_after_an_outage_keeps_the_rule_and_not_the_time_of_the_restart(world: World) -> None:
    """The anchor is the definition's, whatever restarts."""
    world.trigger("interval", definition({"type": "interval", "every": "PT7M", "startAt": "2026-03-02T00:00:00Z"}))
    world.advance(minutes=61)
    world.restart()
    report = world.pass_once()
    assert report.next_due_at == datetime(2026, 3, 2, 10, 2, tzinfo=UTC)


def test_overlap_skip_names_the_work_that_is_in_the_way(world: World) -> None:
    """A skipped fire says which Work kept it from starting."""
    world.trigger("tick", definition(concurrencyPolicy="skip"))
    world.advance(seconds=60)
    first = world.pass_once().submitted[0]
    world.sql("UPDATE work SET status = 'waitingForApproval'")
    world.sql(
        "INSERT INTO pending_action (id, workspace_id, work_id, run_id, position, step_id, trigger_uid, kind, title,"
        ' message, form, status, created_at, expires_at, "values") VALUES'
        " ('a', 'w', ?, 'r', 0, 's', 't', 'approvalRequired', 'Release 3 rows?', '', '{}', 'pending', 0, 0, 'null')",
        first,
    )
    world.advance(seconds=60)
    world.pass_once()
    row = world.occurrences()[-1]
    assert (row["outcome"], row["reason"], row["work_id"]) == ("skipped", "concurrency_skip", None)
    assert row["message"] == f'Work {first[:8]} waits for an answer to "Release 3 rows?"'
    world.end_work()
    world.advance(seconds=60)
    assert len(world.pass_once().submitted) == 1


def test_a_backlog_that_active_work_holds_back_is_decided_once_around_a_pause(world: World) -> None:
    """What a pause covers is no part of what one skipped decision stands for."""
    world.trigger("tick", definition(misfirePolicy="fireOnce", concurrencyPolicy="skip"))
    world.run("tick")
    world.advance(minutes=10, seconds=30)
    world.pause("tick", until=START + timedelta(minutes=20))
    world.advance(minutes=20)
    world.pass_once()
    assert [(reason, count) for _, reason, count in world.decisions()] == [
        ("manual", 1), ("paused", 9), ("concurrency_skip", 21),
    ]  # fmt: skip


def test_allow_with_a_limit_lets_so_many_run_and_no_more(world: World) -> None:
    """The limit of `maxActive` is held by what is active and not by what was started."""
    world.trigger("tick", definition(concurrencyPolicy="allow", maxActive=2))
    for _ in range(4):
        world.advance(seconds=60)
        world.pass_once()
    assert [reason for _, reason, _ in world.decisions()] == [
        "on_time",
        "on_time",
        "concurrency_skip",
        "concurrency_skip",
    ]
    world.sql("UPDATE work SET status = 'failed' WHERE rowid = (SELECT min(rowid) FROM work)")
    world.advance(seconds=60)
    assert len(world.pass_once().submitted) == 1


def test_a_suspended_principal_is_denied_and_restoring_it_does_not_fire_the_past(world: World) -> None:
    world.trigger("tick")
    world.sql("UPDATE membership SET state = 'suspended'")
    world.advance(seconds=60)
    report = world.pass_once()
    (row,) = world.occurrences()
    assert (row["outcome"], row["reason"], row["work_id"]) == ("failed", "denied", None)
    assert "suspended" in row["message"]
    assert [error.code for error in report.errors] == ["denied"]
    assert (world.state("tick")["phase"], world.state("tick")["last_error_code"]) == ("degraded", "denied")
    world.sql("UPDATE membership SET state = 'active'")
    world.pass_once()
    assert world.work() == []
    world.advance(seconds=60)
    world.pass_once()
    assert len(world.work()) == 1
    assert (world.state("tick")["phase"], world.state("tick")["last_error_code"]) == ("scheduled", None)


def test_an_input_that_does_not_fit_the_schema_fails_its_occurrence(world: World) -> None:
    schema = {"type": "object", "required": ["rows"], "properties": {"rows": {"type": "integer"}}}
    world.trigger("tick")
    world.sql("UPDATE flow_version SET definition = json_set(definition, '$.inputSchema', json(?))", json.dumps(schema))
    world.advance(seconds=60)
    world.pass_once()
    (row,) = world.occurrences()
    assert (row["outcome"], row["reason"]) == ("failed", "input_invalid")
    assert "rows" in row["message"]


def test_a_pinned_version_is_written_on_the_work(world: World) -> None:
    world.flow("print", {"steps": [{"id": "say", "command": {"argv": ["echo", "2"]}}]})
    with world.store.write() as tx:
        assert publish(tx, world.scope, "default", "print", True, world.clock.now()) == 2
    world.trigger("pinned", definition(version=1))
    world.trigger("newest")
    world.advance(seconds=60)
    world.pass_once()
    assert [work["flow_version"] for work in (*world.work("pinned"), *world.work("newest"))] == [1, 2]


def test_more_due_triggers_than_fit_one_transaction_all_fire_in_one_pass(world: World) -> None:
    for number in range(3):
        world.trigger(f"t{number}")
    world.pipeline._limit = 2
    world.advance(seconds=60)
    report = world.pass_once()
    assert len(report.submitted) == 3
    assert len(report.batches_ms) >= 2


def test_an_occurrence_that_is_decided_already_makes_no_second_work(world: World) -> None:
    world.trigger("tick")
    world.advance(seconds=60)
    world.pass_once()
    world.sql("UPDATE trigger_state SET mark_at = mark_at - 60000000, next_due_at = next_due_at - 60000000")
    report = world.pass_once()
    assert report.submitted == ()
    assert len(world.work()) == len(world.occurrences()) == 1
    assert world.at(world.state("tick")["mark_at"]) == START + timedelta(minutes=1)


def test_the_last_time_of_a_rule_completes_the_trigger(world: World) -> None:
    """A single fire is decided once and then over, also when it was missed."""
    world.trigger("once", definition({"type": "once", "at": "2026-03-02T10:00:00Z"}))
    world.advance(hours=5)
    report = world.pass_once()
    assert world.decisions() == [("skipped", "missed", 1)]
    assert (world.state("once")["phase"], report.next_due_at) == ("completed", None)


def test_a_jittered_fire_waits_for_its_due_time_and_is_then_on_time(world: World) -> None:
    world.trigger("jitter", definition({**HOURLY, "jitter": "PT30M"}))
    due = world.at(world.state("jitter")["next_due_at"])
    assert due is not None
    assert START + timedelta(hours=1) < due <= START + timedelta(hours=1, minutes=30)
    world.clock.step(due - timedelta(seconds=1))
    world.pass_once()
    assert world.occurrences() == []
    world.clock.step(due)
    world.pass_once()
    (row,) = world.occurrences()
    assert (row["reason"], world.at(row["nominal_at"]), world.at(row["due_at"])) == (
        "on_time", START + timedelta(hours=1), due,
    )  # fmt: skip


def test_a_clock_that_is_set_back_fires_nothing_again(world: World) -> None:
    """Time that repeats decides nothing twice."""
    world.trigger("tick")
    world.advance(minutes=10)
    world.pass_once()
    before = world.decisions()
    world.clock.step(START)
    for _ in range(10):
        world.advance(minutes=1)
        world.pass_once()
    assert world.decisions() == before
    world.advance(minutes=1)
    world.pass_once()
    assert world.decisions()[len(before) :] == [("pending", "on_time", 1)]


def test_a_clock_that_jumps_ahead_is_one_misfire_decision(world: World) -> None:
    """One decision for the leap, then the rule goes on at its own times."""
    world.trigger("tick", definition(misfirePolicy="fireOnce"))
    world.clock.step(START + timedelta(hours=8, seconds=30))
    world.pass_once()
    assert world.decisions() == [("pending", "coalesced", 480)]
    assert world.at(world.state("tick")["next_due_at"]) == START + timedelta(hours=8, minutes=1)


def test_the_change_table_names_what_changed(world: World) -> None:
    world.trigger("tick")
    world.sql("DELETE FROM change")
    world.advance(seconds=60)
    (identity,) = world.pass_once().submitted
    found = {(row["kind"], row["key"]) for row in world.rows("SELECT kind, key FROM change")}
    assert found == {("trigger", world.uid("tick")), ("occurrence", identity), ("work", identity)}


def test_a_viewer_may_neither_pause_nor_run(world: World) -> None:
    world.trigger("tick", definition(EVERY_MINUTE))
    world.scope = type(world.scope).of(
        role="Viewer",
        tenant_id=world.scope.tenant_id,
        workspace_id=world.scope.workspace_id,
        principal_id=world.scope.principal_id,
        principal="ann",
    )
    with pytest.raises(Denied):
        world.pause("tick")
    with pytest.raises(Denied):
        world.run("tick")
    assert world.occurrences() == []
