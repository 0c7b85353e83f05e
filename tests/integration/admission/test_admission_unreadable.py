"""A Trigger that can no longer be read, its zone gone from the zone data, say: it can be disabled, and only that."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from core.errors import Invalid
from core.upkeep.checker import check
from tests.integration.admission.world import EVERY_MINUTE, START, World, definition

MARS = {**EVERY_MINUTE, "timeZone": "Mars/Olympus"}


def lose_zone(world: World) -> None:
    """Let the zone vanish from zone data, which the stored definitions name still."""
    for table in ("resource", "revision"):
        world.sql(f"UPDATE {table} SET definition = replace(definition, 'Europe/Berlin', 'Mars/Olympus')")  # noqa: S608 - two tables
    world.restart()


def find_zone(world: World) -> None:
    """Let the zone come back."""
    for table in ("resource", "revision"):
        world.sql(f"UPDATE {table} SET definition = replace(definition, 'Mars/Olympus', 'Europe/Berlin')")  # noqa: S608 - two tables
    world.restart()


@pytest.fixture
def lost(world: World) -> World:
    """A Trigger that fired twice and then could not be read any more, which two passes have met."""
    world.trigger("lost", definition({**EVERY_MINUTE, "timeZone": "Europe/Berlin"}))
    for _ in range(2):
        world.advance(minutes=1)
        world.pass_once()
    lose_zone(world)
    for _ in range(2):
        world.advance(minutes=1)
        world.pass_once()
    assert (world.state("lost")["phase"], world.state("lost")["failures"]) == ("degraded", 2)
    return world


def test_a_trigger_that_cannot_be_read_can_be_disabled(lost: World) -> None:
    before = lost.rows("SELECT generation, etag, definition FROM resource WHERE name = 'lost'")[0]
    effect = lost.disable("lost")
    assert effect.message == "lost is disabled; it does not fire any more"
    assert "cannot be read, so what fell due since 2026-03-02T09:03:00Z is not counted" in effect.notices[0]
    assert "definition.source.schedule.timeZone" in effect.notices[0]
    after = lost.rows("SELECT generation, etag, definition FROM resource WHERE name = 'lost'")[0]
    assert json.loads(after["definition"]) == {**json.loads(before["definition"]), "enabled": False}
    assert (after["generation"], after["etag"] != before["etag"]) == (before["generation"] + 1, True)
    state = lost.state("lost")
    assert (state["enabled"], state["phase"], state["observed_generation"]) == (0, "disabled", 2)
    assert [state[field] for field in ("retry_at", "next_due_at", "last_error_code")] == [None, None, None]
    assert lost.at(state["mark_at"]) == START + timedelta(minutes=4)


def test_once_disabled_it_degrades_and_backs_off_no_more(lost: World) -> None:
    lost.disable("lost")
    state, decisions = lost.state("lost"), lost.decisions()
    for _ in range(6):
        lost.advance(minutes=5)
        report = lost.pass_once()
        assert (report.errors, report.next_due_at) == ((), None)
    lost.restart()
    assert (lost.state("lost"), lost.decisions()) == (state, decisions)
    assert [row["kind"] for row in lost.rows("SELECT kind FROM notification")] == ["trigger_degraded"]


def test_one_that_no_pass_has_met_yet_can_be_disabled_too(world: World) -> None:
    world.trigger("lost", definition({**EVERY_MINUTE, "timeZone": "Europe/Berlin"}))
    lose_zone(world)
    world.disable("lost")
    world.advance(minutes=10)
    assert world.pass_once().errors == ()
    assert world.occurrences() == []


def test_enabling_it_again_is_refused_with_field_and_remedy_while_it_cannot_be_read(lost: World) -> None:
    lost.disable("lost")
    state = lost.state("lost")
    with pytest.raises(Invalid) as refused:
        lost.enable("lost")
    (fault,) = refused.value.faults
    assert (fault.field, bool(fault.remedy)) == ("definition.source.schedule.timeZone", True)
    assert "Mars/Olympus" in fault.message
    assert lost.state("lost") == state


def test_every_fault_of_a_definition_is_told_when_it_is_enabled(lost: World) -> None:
    lost.disable("lost")
    lost.sql("UPDATE resource SET definition = json_set(definition, '$.input', 7, '$.misfirePolicy', 'never')")
    with pytest.raises(Invalid) as refused:
        lost.enable("lost")
    assert {fault.field for fault in refused.value.faults} == {
        "definition.source.schedule.timeZone", "definition.input", "definition.misfirePolicy",
    }  # fmt: skip


@pytest.mark.parametrize(
    "fields", [{"enabled": True, "displayName": "Lost"}, {"enabled": False, "displayName": "Lost"}, {"enabled": True}]
)
def test_no_other_edit_of_it_is_taken(lost: World, fields: dict[str, object]) -> None:
    before = lost.rows("SELECT generation, etag FROM resource")
    with pytest.raises(Invalid, match="Mars/Olympus"):
        lost.edit("lost", **fields)
    assert lost.rows("SELECT generation, etag FROM resource") == before


def test_when_its_zone_comes_back_it_is_enabled_from_then_on_and_nothing_is_proven_lost(lost: World) -> None:
    lost.disable("lost")
    lost.advance(hours=1)
    find_zone(lost)
    lost.enable("lost")
    lost.advance(minutes=1)
    lost.pass_once()
    assert lost.decisions()[-1] == ("pending", "on_time", 1)
    assert lost.at(lost.occurrences()[-1]["nominal_at"]) == START + timedelta(hours=1, minutes=5)
    with lost.store.read() as tx:
        assert check(tx, now=lost.clock.now()) == ()


def test_a_local_time_that_fired_before_does_not_fire_again_after_it_was_disabled_unread(world: World) -> None:
    """The wall time of the last mark, and the zone data that it was set under, outlive the time without a rule."""
    world.trigger("nine", definition({"type": "cron", "expression": "0 0 9 * * ?", "timeZone": "Etc/GMT-1"}))
    world.clock.step(datetime(2026, 3, 3, 8, 0, tzinfo=UTC))
    world.pass_once()
    world.sql("UPDATE trigger_state SET mark_wall = '2026-03-03T10:00:00', fingerprint = '1/1999a/1'")
    world.sql("UPDATE resource SET definition = replace(definition, 'GMT-1', 'Nowhere')")
    world.disable("nine")
    world.sql("UPDATE resource SET definition = replace(definition, 'Nowhere', 'GMT-1')")
    world.enable("nine")
    assert world.at(world.state("nine")["mark_at"]) == datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
