"""What really happens is found sound; each single harm is found, and nothing else with it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.work import service as works
from tests.integration.admission.world import EVERY_MINUTE, HOURLY
from tests.integration.upkeep.ward import HALF_HOURLY, Ward, definition


def test_an_empty_database_is_sound(ward: Ward) -> None:
    assert ward.examine(settled=True) == []


def test_fires_misses_and_coalesced_times_are_sound(ward: Ward) -> None:
    ward.trigger("tick")
    ward.trigger("once-for-all", definition(HOURLY, misfirePolicy="fireOnce"))
    ward.trigger("berlin", definition(HALF_HOURLY))
    for minutes in (1, 1, 45, 600, 1, 60 * 24 * 40):
        ward.advance(minutes=minutes, seconds=0.3)
        ward.pass_once()
        assert ward.codes(settled=True) == []
    assert {reason for _, reason, _ in ward.decisions()} >= {"on_time", "missed", "coalesced"}


def test_a_pause_of_any_length_is_sound_while_it_lasts_and_after(ward: Ward) -> None:
    ward.trigger("tick", definition(HOURLY, misfirePolicy="fireOnce"))
    ward.advance(hours=2)
    ward.pass_once()
    ward.pause("tick", until=ward.clock.now() + timedelta(hours=5, minutes=1))
    for hours in (1, 1, 9):
        ward.advance(hours=hours)
        ward.pass_once()
        assert ward.codes(settled=True) == []
    assert "paused" in {reason for _, reason, _ in ward.decisions()}


def test_paused_times_inside_a_coalesced_one_are_sound(ward: Ward) -> None:
    ward.trigger("tick", definition(HOURLY, misfirePolicy="fireOnce"))
    ward.advance(hours=1, minutes=30)
    ward.pause("tick", until=ward.clock.now() + timedelta(hours=2))
    ward.advance(hours=8)
    ward.pass_once()
    assert ward.decisions() == [("skipped", "paused", 2), ("pending", "coalesced", 7)]
    assert ward.codes(settled=True) == []


def test_a_changed_schedule_is_judged_by_the_rule_that_held(ward: Ward) -> None:
    ward.trigger("tick")
    ward.advance(minutes=10, seconds=30)
    ward.edit("tick", **definition(HOURLY))
    ward.advance(hours=3)
    ward.pass_once()
    ward.edit("tick", **definition(HOURLY, misfirePolicy="fireOnce"))
    ward.advance(hours=3)
    ward.pass_once()
    assert ward.codes(settled=True) == []
    assert ("skipped", "definition_changed", 10) in ward.decisions()


def test_the_time_while_disabled_needs_no_decision(ward: Ward) -> None:
    ward.trigger("tick", definition(enabled=False))
    ward.advance(hours=1)
    ward.edit("tick", **definition())
    ward.advance(minutes=5, seconds=1)
    ward.pass_once()
    ward.edit("tick", **definition(enabled=False))
    ward.advance(days=1)
    ward.edit("tick", **definition())
    ward.advance(minutes=5, seconds=1)
    ward.pass_once()
    assert ward.codes(settled=True) == []


def test_one_pause_across_edits_is_sound(ward: Ward) -> None:
    ward.trigger("tick")
    ward.advance(minutes=3)
    ward.pass_once()
    ward.pause("tick")
    ward.advance(minutes=4, seconds=1)
    ward.pass_once()
    ward.edit("tick", **definition(HOURLY))
    ward.advance(hours=4)
    ward.pass_once()
    ward.resume("tick")
    ward.advance(hours=1)
    ward.pass_once()
    assert ward.codes(settled=True) == []


def test_a_clock_that_steps_back_under_an_edit_and_a_pause_is_sound(ward: Ward) -> None:
    ward.trigger("tick")
    ward.advance(hours=1)
    ward.pass_once()
    ward.clock.step(ward.clock.now() - timedelta(minutes=30))
    ward.edit("tick", **definition({**EVERY_MINUTE, "expression": "30 * * * * ?"}))
    assert ward.codes() == []
    ward.pause("tick")
    ward.advance(hours=2)
    ward.pass_once()
    ward.resume("tick")
    ward.advance(minutes=2)
    ward.pass_once()
    assert ward.codes(settled=True) == []


def test_a_jittered_time_that_is_not_due_yet_may_wait(ward: Ward) -> None:
    ward.trigger("tick", definition({**HOURLY, "jitter": "PT30M"}))
    for _ in range(30):
        ward.advance(minutes=7)
        ward.pass_once()
        assert ward.codes(settled=True) == []


def test_a_request_by_hand_is_no_decision_on_a_nominal_time(ward: Ward) -> None:
    ward.trigger("tick", definition(HOURLY))
    before = ward.state("tick")
    ward.advance(minutes=20)
    ward.run("tick")
    assert ward.codes(settled=True) == []
    assert ward.state("tick")["next_due_at"] == before["next_due_at"]
    assert ward.state("tick")["mark_at"] == before["mark_at"]


def test_what_is_refused_is_a_decision_without_work(ward: Ward) -> None:
    ward.trigger("tick")
    ward.flow("other")
    ward.sql("UPDATE flow_version SET active = 0 WHERE flow_uid = ?", ward.uid("print"))
    ward.trigger("busy", definition(flow="other", concurrencyPolicy="skip"))
    for _ in range(3):
        ward.advance(minutes=1)
        ward.pass_once()
    assert {reason for _, reason, _ in ward.decisions()} == {"target_unresolved", "on_time", "concurrency_skip"}
    assert ward.codes(settled=True) == []


def test_due_times_are_overdue_only_where_a_pass_has_just_ended(ward: Ward) -> None:
    ward.trigger("tick")
    ward.advance(minutes=5)
    assert ward.codes() == []
    assert ward.codes(settled=True) == ["overdue"]


def test_a_trigger_whose_schedule_cannot_be_read_tells_of_itself(ward: Ward) -> None:
    ward.trigger("tick")
    ward.sql("UPDATE resource SET definition = 'no json', generation = 2 WHERE name = 'tick'")
    ward.advance(minutes=3)
    ward.pass_once()
    assert ward.codes(settled=True) == []
    assert ward.state("tick")["phase"] == "degraded"


def test_history_of_other_zone_data_is_not_judged(ward: Ward) -> None:
    ward.trigger("berlin", definition(HALF_HOURLY))
    ward.advance(hours=3)
    ward.pass_once()
    ward.sql("DELETE FROM occurrence WHERE is_range")
    assert ward.codes() == ["undecided"]
    ward.sql("UPDATE trigger_state SET fingerprint = '1/1999a/1'")
    assert ward.codes() == []
    ward.restart()
    assert ward.state("berlin")["decided_from"] == ward.state("berlin")["mark_at"]
    ward.advance(hours=3)
    ward.pass_once()
    assert ward.codes(settled=True) == []


# -- each harm by itself -----------------------------------------------------------------------------------------------


@pytest.fixture
def busy(ward: Ward) -> Ward:
    """Return a ward with every kind of decision, ended and active Work, and a run that waits for an answer."""
    ward.trigger("tick", definition(concurrencyPolicy="skip"))
    ward.advance(minutes=1)
    ward.pass_once()
    ward.end_work()
    ward.advance(minutes=30)
    ward.pass_once()
    ward.advance(minutes=1)
    ward.pass_once()
    active = ward.work()[-1]["id"]
    ward.sql("UPDATE work SET status = 'waitingForApproval', attempts = 1 WHERE id = ?", active)
    ward.sql("UPDATE occurrence SET outcome = 'submitted' WHERE work_id = ?", active)
    ward.question_of(ward.run_of(active, "waiting"), active)
    ward.insert("flow_step", {
        "run_id": f"{active}.1", "position": 0, "step_id": "say", "kind": "ask", "status": "waiting", "attempt": 1,
    })  # fmt: skip
    assert ward.decisions() == [
        ("submitted", "on_time", 1),
        ("skipped", "missed", 29),
        ("submitted", "on_time", 1),
        ("skipped", "concurrency_skip", 1),
    ]
    assert ward.codes(settled=True) == []
    return ward


LATEST = "(SELECT id FROM work ORDER BY created_at DESC LIMIT 1)"
EARLIEST = "(SELECT id FROM work ORDER BY created_at LIMIT 1)"
SKIPPED = "(SELECT id FROM occurrence WHERE reason = 'concurrency_skip')"
COLUMNS = (
    "workspace_id, trigger_uid, trigger_name, namespace, title, flow_uid, flow_name, flow_namespace, flow_version,"
    " is_test, attempts, created_at, principal_id"
)
# ruff: noqa: S608, ISC004 - the statements are the test's own
HARMS: dict[str, tuple[list[str], str]] = {
    "a range is lost": (["undecided"], "DELETE FROM occurrence WHERE is_range"),
    "a skipped time is lost": (["undecided"], "DELETE FROM occurrence WHERE reason = 'concurrency_skip'"),
    "a range counts one too few": (["undecided"], "UPDATE occurrence SET count = 28 WHERE is_range"),
    "a range counts one too many": (["decided_twice"], "UPDATE occurrence SET count = 30 WHERE is_range"),
    "a range reaches over a fire": (
        ["decided_twice"],
        "UPDATE occurrence SET last_at = last_at + 60000000, at = at + 60000000, count = 30 WHERE is_range",
    ),
    "a time is decided that the rule does not name": (
        ["not_in_schedule"],
        "INSERT INTO occurrence SELECT 'wrong', workspace_id, trigger_uid, trigger_name, namespace, generation, kind,"
        " at - 1000000, nominal_at - 1000000, due_at, observed_at, admitted_at, NULL, outcome, reason, message, NULL,"
        " is_range, count, NULL, NULL, principal_id FROM occurrence WHERE reason = 'concurrency_skip'",
    ),
    "a time is decided twice": (
        ["decided_twice"],
        "INSERT INTO occurrence SELECT 'again', workspace_id, trigger_uid, trigger_name, namespace, generation, kind,"
        " at, nominal_at, due_at, observed_at, admitted_at, NULL, outcome, reason, message, NULL,"
        " is_range, count, NULL, NULL, principal_id FROM occurrence WHERE reason = 'concurrency_skip'",
    ),
    "the next time is wrong": (["projection_drift"], "UPDATE trigger_state SET next_due_at = next_due_at + 1000000"),
    "the next time is gone": (
        ["projection_missing"],
        "UPDATE trigger_state SET next_due_at = NULL, fingerprint = NULL",
    ),
    "the definition is gone": (
        ["definition_missing"],
        "UPDATE resource SET deleted_at = updated_at WHERE kind = 'Trigger'",
    ),
    "Work lost its occurrence": (
        ["work_without_occurrence", "undecided"],
        f"DELETE FROM occurrence WHERE id = {EARLIEST}",
    ),
    "an admitted occurrence lost its Work": (["admitted_without_work"], f"DELETE FROM work WHERE id = {EARLIEST}"),
    "a refused occurrence has Work": (
        ["work_of_refused"],
        f"INSERT INTO work (id, occurrence_id, status, {COLUMNS}) SELECT {SKIPPED}, {SKIPPED}, 'completed', {COLUMNS}"
        f" FROM work WHERE id = {EARLIEST}",
    ),
    "Work has an identity of its own": (
        ["work_named_otherwise"],
        f"UPDATE work SET id = 'another' WHERE id = {EARLIEST}",
    ),
    "the question's run ended": (
        ["work_without_run", "step_of_ended_run", "question_without_run"],
        "UPDATE flow_run SET status = 'completed'",
    ),
    "the question was lost": (["waiting_without_question"], "DELETE FROM pending_action"),
    "the run of active Work was lost": (
        ["work_without_run", "step_of_ended_run", "question_without_run"],
        "DELETE FROM flow_run",
    ),
    "Work ended without its run": (
        ["run_of_ended_work"],
        f"UPDATE work SET status = 'failed' WHERE id = {LATEST}",
    ),
    "a step went on after its run": (
        ["step_of_ended_run"],
        "INSERT INTO flow_step (run_id, position, step_id, kind, status, attempt)"
        f" VALUES ({EARLIEST} || '.1', 0, 'say', 'command', 'running', 1)",
    ),
}


@pytest.mark.parametrize("harm", HARMS)
def test_each_harm_is_found_and_nothing_else(busy: Ward, harm: str) -> None:
    codes, statement = HARMS[harm]
    with busy.store.write() as tx:  # SQLite itself would refuse one of them
        tx.connection.exec_driver_sql("PRAGMA ignore_check_constraints=ON")
        tx.connection.exec_driver_sql(statement)
        tx.connection.exec_driver_sql("PRAGMA ignore_check_constraints=OFF")
    assert busy.codes(settled=True) == codes


def test_a_mark_that_moved_back_is_found(busy: Ward) -> None:
    busy.sql(
        "UPDATE trigger_state SET mark_at = mark_at - 600000000, next_due_at = next_due_at - 600000000,"
        " next_nominal_at = next_nominal_at - 600000000"
    )
    assert busy.codes() == ["mark_behind"]


def test_a_mark_that_ran_ahead_is_found(busy: Ward) -> None:
    busy.sql(
        "UPDATE trigger_state SET mark_at = mark_at + 600000000, next_due_at = next_due_at + 600000000,"
        " next_nominal_at = next_nominal_at + 600000000"
    )
    (finding,) = busy.examine()
    assert finding.code == "undecided"
    assert "2026-03-02T09:33:00Z to 2026-03-02T09:42:00Z" in finding.message
    assert "10 expected, 0 found" in finding.message


def test_a_second_active_work_under_skip_is_found(ward: Ward) -> None:
    ward.trigger("tick", definition(concurrencyPolicy="skip"))
    ward.trigger("other", definition(concurrencyPolicy="allow", maxActive=2))
    for _ in range(4):
        ward.advance(minutes=1)
        ward.pass_once()
    assert ward.codes() == []
    ward.sql("UPDATE work SET trigger_uid = ?, trigger_name = 'tick'", ward.uid("tick"))
    found = [finding for finding in ward.examine() if finding.code == "too_much_active"]
    assert {finding.subject for finding in found} == {"tick"}
    assert len(found) == 2


def test_more_active_work_than_the_policy_of_today_is_sound_where_that_of_its_day_allowed_it(ward: Ward) -> None:
    ward.trigger("tick", definition(concurrencyPolicy="allow", maxActive=3))
    for _ in range(3):
        ward.advance(minutes=1)
        ward.pass_once()
    ward.save("tick", definition(concurrencyPolicy="skip"))
    ward.advance(minutes=1)
    ward.pass_once()
    assert [row["status"] for row in ward.work()] == ["pending"] * 3
    assert ward.codes(settled=True) == []


@pytest.mark.parametrize("attempts", [0, 1], ids=["cancelled before it ran", "cancelled while it ran"])
def test_retried_work_counts_against_no_policy_before_its_next_run_has_begun(ward: Ward, attempts: int) -> None:
    ward.trigger("tick", definition(concurrencyPolicy="skip"))
    ward.advance(minutes=1)
    ward.pass_once()
    (first,) = ward.work()
    if attempts:
        ward.run_of(first["id"], "cancelled", ended_at=ward.micros())
    ward.sql("UPDATE work SET status = 'cancelled', attempts = ?, ended_at = ?", attempts, ward.micros())
    ward.sql("UPDATE occurrence SET outcome = ?", "submitted" if attempts else "dropped")
    ward.advance(minutes=1)
    ward.pass_once()
    with ward.store.write() as tx:
        works.retry(tx, ward.scope, first["id"], ward.clock.now())
    assert ward.codes() == []
    ward.run_of(first["id"], "queued", id=f"{first['id']}.2", attempt=2)
    ward.sql("UPDATE work SET status = 'queued' WHERE id = ?", first["id"])
    assert [row["status"] for row in ward.work()] == ["queued", "pending"]
    assert ward.codes() == []


BEAT = {
    "pid": 1, "host": "here", "version": "0", "zone_data": "0", "state": "running", "pass_ms": 0.0, "slots": 1,
    "running": 0,
}  # fmt: skip


def beat(ward: Ward, worker_id: str, *, started: timedelta, seen: timedelta, state: str = "running") -> None:
    now, unit = ward.micros(), timedelta(microseconds=1)
    instants = {"started_at": now - started // unit, "beat_at": now - seen // unit}
    ward.insert("worker_beat", {**BEAT, "worker_id": worker_id, "state": state, **instants})


@pytest.mark.parametrize(
    ("own", "other", "found"),
    [
        (timedelta(seconds=1), None, []),
        (timedelta(hours=1), None, []),
        (timedelta(hours=1), timedelta(hours=1), ["run_without_owner"]),
        (None, timedelta(hours=1), ["run_without_owner"]),
        (timedelta(hours=1), timedelta(seconds=5), []),
    ],
    ids=["its worker lives", "no worker lives", "another lives", "its worker is unknown", "another has just begun"],
)
def test_a_run_without_an_owner_is_found_where_a_worker_should_have_taken_it_over(
    ward: Ward, own: timedelta | None, other: timedelta | None, found: list[str]
) -> None:
    ward.trigger("tick")
    ward.advance(minutes=1)
    ward.pass_once()
    work = ward.work()[0]["id"]
    ward.sql("UPDATE work SET status = 'running', attempts = 1")
    ward.run_of(work, "running", worker_id="own")
    if own is not None:
        beat(ward, "own", started=timedelta(days=1), seen=own)
    if other is not None:
        beat(ward, "other", started=other, seen=timedelta(seconds=1))
    assert ward.codes() == found


def test_only_as_many_findings_as_asked_for_are_returned(ward: Ward) -> None:
    from core.upkeep.checker import check

    for number in range(5):
        ward.trigger(f"tick-{number}")
    ward.advance(minutes=5)
    with ward.store.read() as tx:
        found = check(tx, now=ward.clock.now(), settled=True, limit=3)
    assert [finding.code for finding in found] == ["overdue"] * 3


def test_another_workspace_is_left_alone(busy: Ward) -> None:
    from core.upkeep.checker import check

    busy.sql("DELETE FROM occurrence WHERE is_range")
    with busy.store.read() as tx:
        assert check(tx, now=busy.clock.now(), workspace_id="another") == ()
        assert [one.code for one in check(tx, now=busy.clock.now(), workspace_id=busy.scope.workspace_id)] == [
            "undecided"
        ]
