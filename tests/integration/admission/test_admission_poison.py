"""One bad Trigger among twenty: nineteen fire in the same pass, that one shows its error and backs off."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from core.admission.pipeline import Pipeline
from tests.integration.admission.world import World, definition


def unknown_zone(world: World) -> None:
    world.sql("UPDATE resource SET definition = replace(definition, 'UTC', 'Mars/Olympus') WHERE name = 'bad'")


def malformed_definition(world: World) -> None:
    world.sql("UPDATE resource SET definition = '{\"source\":' WHERE name = 'bad'")


def definition_of_another_shape(world: World) -> None:
    world.sql("UPDATE resource SET definition = '[1, 2]' WHERE name = 'bad'")


def missing_flow(world: World) -> None:
    world.sql("UPDATE resource SET definition = replace(definition, 'print', 'gone') WHERE name = 'bad'")


def vanished_owner(world: World) -> None:
    world.sql("UPDATE resource SET principal_id = 'nobody' WHERE name = 'bad'")


def malformed_input(world: World) -> None:
    world.sql("UPDATE resource SET definition = json_set(definition, '$.input', 7) WHERE name = 'bad'")


def vanished_definition(world: World) -> None:
    world.sql("UPDATE resource SET deleted_at = 1 WHERE name = 'bad'")


@pytest.mark.parametrize(
    ("spoil", "code", "reason"),
    [
        (unknown_zone, "schedule_invalid", "schedule_invalid"),
        (malformed_definition, "schedule_invalid", "schedule_invalid"),
        (definition_of_another_shape, "schedule_invalid", "schedule_invalid"),
        (malformed_input, "schedule_invalid", "schedule_invalid"),
        (missing_flow, "target_unresolved", "target_unresolved"),
        (vanished_owner, "denied", "denied"),
        (vanished_definition, "definition_missing", "schedule_invalid"),
    ],
)
def test_one_bad_trigger_degrades_alone(world: World, spoil: Callable[[World], None], code: str, reason: str) -> None:
    """One broken schedule never stops the others."""
    for number in range(19):
        world.trigger(f"good-{number}")
    world.trigger("bad", definition(input={"a": 1}))
    spoil(world)
    world.restart()
    world.advance(minutes=1)
    report = world.pass_once()
    assert len(report.submitted) == 19
    assert world.work("bad") == []
    assert [(error.trigger_name, error.code) for error in report.errors] == [("bad", code)]
    (row,) = world.occurrences("bad")
    assert (row["outcome"], row["reason"]) == ("failed", reason)
    state = world.state("bad")
    assert (state["phase"], state["last_error_code"], state["failures"]) == ("degraded", code, 1)
    assert code in state["conditions"]
    assert [note["kind"] for note in world.rows("SELECT kind FROM notification")] == ["trigger_degraded"]


def test_a_trigger_that_cannot_be_read_is_looked_at_less_and_less_often_and_heals_by_itself(world: World) -> None:
    world.trigger("bad")
    unknown_zone(world)
    world.restart()
    world.advance(minutes=1)
    waits = []
    for _ in range(8):
        report = world.pass_once()
        assert report.next_due_at is not None
        waits.append((report.next_due_at - world.clock.now()) / timedelta(seconds=1))
        world.clock.step(report.next_due_at)
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300]
    assert len(world.occurrences()) == 1
    world.sql("UPDATE resource SET definition = replace(definition, 'Mars/Olympus', 'UTC') WHERE name = 'bad'")
    world.pass_once()
    state = world.state("bad")
    assert (state["phase"], state["last_error_code"], state["failures"]) == ("scheduled", None, 0)
    decided = sum(count for _, _, count in world.decisions())
    elapsed = world.at(state["mark_at"])
    assert elapsed is not None
    assert decided == (elapsed - world.start) / timedelta(minutes=1)


def test_a_time_in_a_pause_stays_the_pauses_though_the_trigger_cannot_be_read_meanwhile(world: World) -> None:
    world.trigger("bad")
    world.pause("bad")
    unknown_zone(world)
    world.restart()
    world.advance(minutes=1)
    assert [error.code for error in world.pass_once().errors] == ["schedule_invalid"]
    assert world.occurrences("bad") == []
    world.sql("UPDATE resource SET definition = replace(definition, 'Mars/Olympus', 'UTC') WHERE name = 'bad'")
    world.advance(minutes=10)
    world.pass_once()
    assert world.decisions("bad") == [("skipped", "paused", 11)]
    assert world.proven() == ()


def refused_row(world: World) -> None:
    world.sql(
        "CREATE TRIGGER poison BEFORE INSERT ON work WHEN new.trigger_name = 'bad'"
        " BEGIN SELECT RAISE(ABORT, 'poisonous row'); END"
    )


def test_a_row_that_the_database_refuses_is_postponed_and_the_others_fire(world: World) -> None:
    for name in ("good-1", "bad", "good-2"):
        world.trigger(name)
    refused_row(world)
    world.advance(minutes=1)
    report = world.pass_once()
    assert len(report.submitted) == 2
    assert [(error.trigger_name, error.code) for error in report.errors] == [("bad", "internal_error")]
    assert world.occurrences("bad") == []
    assert (world.state("bad")["phase"], world.state("bad")["mark_at"]) == ("degraded", world.start.timestamp() * 1e6)
    world.sql("DROP TRIGGER poison")
    world.advance(seconds=5)
    world.pass_once()
    assert world.decisions("bad") == [("pending", "on_time", 1)]
    assert world.state("bad")["phase"] == "scheduled"


def test_what_somebody_does_to_a_poisonous_trigger_is_not_undone_by_its_postponement(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("good", "bad"):
        world.trigger(name)
    refused_row(world)
    world.advance(minutes=1)
    postpone = Pipeline._postpone

    def disabled_just_before(pipeline: Pipeline, *found: Any) -> None:
        world.disable("bad")
        postpone(pipeline, *found)

    monkeypatch.setattr(Pipeline, "_postpone", disabled_just_before)
    assert world.pass_once().errors == ()
    assert (world.state("bad")["enabled"], world.state("bad")["phase"]) == (0, "disabled")
    assert world.decisions("bad") == [("skipped", "definition_changed", 1)]
    world.advance(minutes=1)
    world.pass_once()
    assert world.decisions("bad") == [("skipped", "definition_changed", 1)]
    assert world.proven() == ()
