"""What people do to a Trigger, and what that does to times that are due, undecided or to come."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.errors import Invalid, NotFound, Precondition
from tests.integration.admission.world import EVERY_MINUTE, HOURLY, START, World, definition


def test_a_new_trigger_counts_from_the_moment_it_was_saved(world: World) -> None:
    world.trigger("tick", definition(misfirePolicy="fireOnce"))
    world.pass_once()
    assert world.occurrences() == []
    assert world.at(world.state("tick")["mark_at"]) == START
    assert world.at(world.state("tick")["next_due_at"]) == START + timedelta(minutes=1)


def test_an_edit_of_the_schedule_records_what_was_undecided_and_never_fires_it(world: World) -> None:
    world.trigger("tick", definition(misfirePolicy="fireOnce"))
    world.advance(minutes=10)
    world.edit("tick", source={"kind": "schedule", "schedule": HOURLY})
    world.pass_once()
    (row,) = world.occurrences()
    assert (row["outcome"], row["reason"], row["count"], row["generation"]) == ("skipped", "definition_changed", 10, 1)
    assert world.work() == []
    assert world.at(world.state("tick")["mark_at"]) == START + timedelta(minutes=10)
    assert world.at(world.state("tick")["next_due_at"]) == START + timedelta(hours=1)


def test_an_edit_of_any_other_field_moves_nothing(world: World) -> None:
    """Renaming or retargeting fires nothing twice and loses nothing that was due."""
    world.trigger("tick", definition(misfirePolicy="fireOnce"))
    world.advance(minutes=10)
    world.edit("tick", displayName="Tick", input={"a": 1})
    assert world.at(world.state("tick")["mark_at"]) == START
    world.pass_once()
    assert world.decisions() == [("pending", "coalesced", 10)]
    assert world.occurrences()[0]["generation"] == 2


def test_the_same_instant_is_not_fired_again_under_another_generation(world: World) -> None:
    world.trigger("tick")
    world.advance(minutes=1)
    world.pass_once()
    world.edit("tick", source={"kind": "schedule", "schedule": {**EVERY_MINUTE, "expression": "0 0/1 * * * ?"}})
    world.pass_once()
    assert len(world.work()) == 1


def test_disabling_ends_the_future_and_enabling_does_not_fire_the_past(world: World) -> None:
    world.trigger("tick", definition(misfirePolicy="fireOnce"))
    world.advance(minutes=1)
    (first,) = world.pass_once().submitted
    world.advance(minutes=2)
    effect = world.disable("tick")
    assert effect.notices == (f"Work {first[:8]} (pending) goes on; cancel it if it should not",)
    assert world.decisions()[1:] == [("skipped", "definition_changed", 2)]
    world.advance(hours=5)
    world.pass_once()
    world.enable("tick")
    world.advance(minutes=1)
    world.pass_once()
    assert [(reason, count) for _, reason, count in world.decisions()] == [
        ("on_time", 1), ("definition_changed", 2), ("on_time", 1),
    ]  # fmt: skip
    assert world.at(world.occurrences()[-1]["nominal_at"]) == START + timedelta(hours=5, minutes=4)


def test_enabling_twice_says_so_and_changes_nothing(world: World) -> None:
    world.trigger("tick")
    before = world.state("tick")
    assert "already" in world.enable("tick").message
    assert world.state("tick") == before


def test_a_rule_that_can_never_fire_again_is_refused_when_it_is_enabled(world: World) -> None:
    world.trigger("once", definition({"type": "once", "at": "2026-03-02T10:00:00Z"}, enabled=False))
    world.advance(hours=2)
    with pytest.raises(Invalid, match="never fire again"):
        world.enable("once")
    assert world.state("once")["phase"] == "disabled"


def test_a_spent_trigger_can_still_be_disabled_and_renamed(world: World) -> None:
    world.trigger("once", definition({"type": "once", "at": "2026-03-02T10:00:00Z"}))
    world.advance(hours=2)
    world.pass_once()
    world.edit("once", displayName="Only once")
    assert world.state("once")["phase"] == "completed"
    assert world.disable("once").message == "once is disabled; it does not fire any more"


def test_a_pause_records_its_times_as_one_growing_range_and_leaves_the_definition_alone(world: World) -> None:
    world.trigger("tick")
    before = world.rows("SELECT generation, etag FROM resource WHERE name = 'tick'")
    world.pause("tick", note="release freeze")
    for _ in range(5):
        world.advance(minutes=1)
        world.pass_once()
    (row,) = world.occurrences()
    assert (row["reason"], row["count"], row["message"]) == ("paused", 5, "release freeze")
    assert world.at(row["first_at"]) == START + timedelta(minutes=1)
    assert world.at(row["last_at"]) == START + timedelta(minutes=5)
    assert world.state("tick")["phase"] == "paused"
    assert world.rows("SELECT generation, etag FROM resource WHERE name = 'tick'") == before


def test_a_pause_ends_at_its_time_also_when_the_worker_was_down(world: World) -> None:
    """What a pause covered does not fire later, what it did not cover is not lost."""
    world.trigger("tick", definition(misfirePolicy="fireOnce"))
    world.pause("tick", until=START + timedelta(minutes=30))
    world.advance(minutes=45)
    world.restart()
    world.pass_once()
    assert world.decisions() == [("skipped", "paused", 29), ("pending", "coalesced", 16)]
    assert world.state("tick")["phase"] == "scheduled"


def test_the_phase_follows_the_end_of_a_pause_without_any_fire(world: World) -> None:
    world.trigger("hourly", definition(HOURLY))
    world.pause("hourly", until=START + timedelta(minutes=5))
    world.advance(minutes=2)
    assert world.pass_once().next_due_at == START + timedelta(minutes=5)
    world.advance(minutes=3)
    world.pass_once()
    assert world.state("hourly")["phase"] == "scheduled"


def test_resume_does_not_fire_the_past(world: World) -> None:
    world.trigger("tick", definition(misfirePolicy="fireOnce"))
    world.pause("tick")
    world.advance(minutes=20, seconds=30)
    effect = world.resume("tick")
    assert effect.message == "tick is resumed; it fires next at 2026-03-02T09:21:00Z"
    world.pass_once()
    assert world.decisions() == [("skipped", "paused", 20)]
    world.advance(minutes=1)
    world.pass_once()
    assert world.decisions()[1:] == [("pending", "on_time", 1)]


def test_a_pause_within_a_second_is_seen_and_can_be_resumed_at_once(world: World) -> None:
    world.flow()
    world.trigger("tick")
    world.advance(milliseconds=200)
    world.pause("tick", note="a slip")
    assert world.rows("SELECT phase FROM trigger_state")[0]["phase"] == "paused"
    world.advance(milliseconds=300)
    world.resume("tick")
    assert world.rows("SELECT phase FROM trigger_state")[0]["phase"] == "scheduled"


def test_resuming_what_is_not_paused_is_refused(world: World) -> None:
    world.trigger("tick")
    with pytest.raises(Precondition, match="not paused"):
        world.resume("tick")


def test_a_pause_into_the_past_is_refused(world: World) -> None:
    world.trigger("tick")
    with pytest.raises(Invalid, match="has passed"):
        world.pause("tick", until=START - timedelta(seconds=1))


def test_a_second_pause_replaces_the_first(world: World) -> None:
    world.trigger("tick")
    world.pause("tick", until=START + timedelta(hours=9))
    world.advance(minutes=5)
    world.pass_once()
    world.pause("tick", until=START + timedelta(minutes=10))
    world.advance(minutes=6)
    world.pass_once()
    assert world.decisions() == [
        ("skipped", "paused", 5), ("skipped", "paused", 4), ("skipped", "missed", 1), ("pending", "on_time", 1),
    ]  # fmt: skip


def test_run_now_is_an_occurrence_of_its_own_and_moves_neither_mark_nor_next_time(world: World) -> None:
    world.trigger("tick")
    before = world.state("tick")
    effect = world.run("tick")
    (row,), (work,) = world.occurrences(), world.work()
    assert effect.occurrence_id == effect.work_id == row["id"] == work["id"]
    assert (row["kind"], row["reason"], row["nominal_at"]) == ("manual", "manual", None)
    after = world.state("tick")
    unmoved = ("mark_at", "next_nominal_at", "next_due_at", "last_scheduled_at", "fingerprint")
    assert [after[name] for name in unmoved] == [before[name] for name in unmoved]
    world.advance(minutes=1)
    assert len(world.pass_once().submitted) == 1


def test_run_now_does_not_use_up_max_occurrences(world: World) -> None:
    rule = {"type": "interval", "every": "PT1M", "startAt": "2026-03-02T09:01:00Z", "maxOccurrences": 2}
    world.trigger("twice", definition(rule))
    world.run("twice")
    for _ in range(4):
        world.advance(minutes=1)
        world.pass_once()
    assert [reason for _, reason, _ in world.decisions()] == ["manual", "on_time", "on_time"]


def test_run_now_is_refused_when_disabled_with_what_to_do(world: World) -> None:
    world.trigger("tick", definition(enabled=False))
    with pytest.raises(Precondition) as refused:
        world.run("tick")
    assert refused.value.sentence() == "tick is disabled; enable it first, or test-fire its Flow"
    assert world.occurrences() == []


def test_run_now_is_allowed_when_paused_and_says_so(world: World) -> None:
    world.trigger("tick")
    world.pause("tick", note="release freeze")
    effect = world.run("tick")
    assert effect.work_id is not None
    assert effect.notices == ("its schedule stays paused: release freeze",)


def test_run_now_is_held_back_by_active_work_under_skip(world: World) -> None:
    world.trigger("tick", definition(concurrencyPolicy="skip"))
    first = world.run("tick").work_id
    assert first is not None
    effect = world.run("tick")
    assert effect.work_id is None
    assert effect.message == f"tick did not start: Work {first[:8]} is still pending"
    assert [reason for _, reason, _ in world.decisions()] == ["manual", "concurrency_skip"]


def test_manual_work_counts_against_the_next_scheduled_fire(world: World) -> None:
    world.trigger("tick", definition(concurrencyPolicy="skip"))
    world.run("tick")
    world.advance(minutes=1)
    world.pass_once()
    assert world.decisions()[-1] == ("skipped", "concurrency_skip", 1)


def test_run_now_takes_another_input_for_this_once(world: World) -> None:
    world.trigger("tick", definition(input={"rows": 1}))
    world.run("tick", {"rows": 7})
    world.run("tick")
    assert [work["input"] for work in world.work()] == ['{"rows":7}', '{"rows":1}']


def test_an_unknown_trigger_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        world.run("nobody")


def test_a_deleted_trigger_leaves_its_history_and_fires_no_more(world: World) -> None:
    world.trigger("tick")
    world.advance(minutes=3)
    world.delete("tick")
    assert world.pass_once().admitted == 0
    assert world.decisions("tick") == [("skipped", "definition_changed", 3)]
    assert world.rows("SELECT * FROM trigger_state") == []
