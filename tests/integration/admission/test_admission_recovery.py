"""Projections follow from definition and mark, whatever was stored of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core import zones
from core.admission.recovery import drift
from tests.integration.admission.world import HOURLY, World, definition

BERLIN = {"type": "cron", "expression": "0 0/5 * * * ?", "timeZone": "Europe/Berlin"}


def projections(world: World) -> list[object]:
    """Return everything that reconciling may touch, of every Trigger."""
    return [dict(row) for row in world.rows("SELECT * FROM trigger_state ORDER BY name")]


@pytest.fixture
def busy(world: World) -> World:
    """Return a world with Triggers in every phase, an hour after its start."""
    world.trigger("berlin", definition(BERLIN))
    world.trigger("jitter", definition({**HOURLY, "jitter": "PT10M"}))
    world.trigger("off", definition(enabled=False))
    world.trigger("once", definition({"type": "once", "at": "2026-03-02T09:30:00Z"}))
    world.trigger("held", definition(HOURLY))
    world.trigger("denied", definition())
    world.pause("held", note="freeze")
    world.sql("UPDATE resource SET principal_id = 'nobody' WHERE name = 'denied'")
    world.advance(hours=1)
    world.pass_once()
    assert sorted(row["phase"] for row in world.rows("SELECT phase FROM trigger_state")) == [
        "completed", "degraded", "disabled", "paused", "scheduled", "scheduled",
    ]  # fmt: skip
    return world


def test_setting_every_next_due_time_to_null_and_restarting_gives_the_same_rows(busy: World) -> None:
    before = projections(busy)
    busy.sql("UPDATE trigger_state SET next_due_at = NULL")
    busy.restart()
    assert projections(busy) == before


def test_losing_the_whole_projection_and_restarting_gives_the_same_rows(busy: World) -> None:
    before = projections(busy)
    busy.sql("UPDATE trigger_state SET next_due_at = NULL, next_nominal_at = NULL, fingerprint = NULL WHERE enabled")
    busy.restart()
    assert projections(busy) == before


def test_restarting_an_intact_database_writes_nothing(busy: World) -> None:
    before = busy.rows("SELECT max(seq) AS seq FROM change")
    assert busy.pipeline.reconcile().repaired == 0
    busy.restart()
    assert busy.rows("SELECT max(seq) AS seq FROM change") == before


def test_a_projection_of_another_evaluator_or_generation_is_computed_again(busy: World) -> None:
    before = projections(busy)
    made_otherwise = f"0/{zones.data_version()}/0"
    query = "UPDATE trigger_state SET fingerprint = ?, next_due_at = 1, mark_wall = NULL WHERE name = 'berlin'"
    busy.sql(query, made_otherwise)
    busy.restart()
    assert projections(busy) == before


def test_health_names_a_projection_that_drifted(busy: World) -> None:
    with busy.store.read() as tx:
        assert drift(tx, busy.scope.workspace_id, 10) == []
    busy.sql("UPDATE trigger_state SET next_due_at = next_due_at + 1000000 WHERE name = 'berlin'")
    with busy.store.read() as tx:
        (found,) = drift(tx, busy.scope.workspace_id, 10)
    assert found.trigger_name == "berlin"
    assert found.stored is not None
    assert found.computed == datetime(2026, 3, 2, 10, 5, tzinfo=UTC)


def test_new_zone_data_does_not_fire_the_same_local_time_twice(world: World) -> None:
    """The zone moved an hour to the west: 09:00 there has fired, and comes again as an instant."""
    world.trigger("nine", definition({"type": "cron", "expression": "0 0 9 * * ?", "timeZone": "Etc/GMT-1"}))
    world.clock.step(datetime(2026, 3, 3, 8, 0, tzinfo=UTC))
    world.pass_once()
    assert len(world.work()) == 1
    pretend_old_zone_data(world, "nine", wall="2026-03-03T10:00:00")  # an hour later than today's data would say
    world.restart()
    state = world.state("nine")
    assert world.at(state["mark_at"]) == datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
    assert world.at(state["next_due_at"]) == datetime(2026, 3, 4, 8, 0, tzinfo=UTC)
    assert state["fingerprint"].split("/")[1] == zones.data_version()


def test_what_new_zone_data_passes_over_is_recorded_as_superseded(world: World) -> None:
    world.trigger("often", definition({**BERLIN, "timeZone": "Etc/GMT-1"}))
    world.advance(minutes=5)
    world.pass_once()
    pretend_old_zone_data(world, "often", wall="2026-03-02T11:05:00")
    world.restart()
    assert world.decisions()[1:] == [("skipped", "superseded", 12)]


def test_new_zone_data_that_changes_nothing_for_the_zone_moves_no_mark(world: World) -> None:
    world.trigger("berlin", definition(BERLIN))
    world.advance(minutes=5)
    world.pass_once()
    before = world.state("berlin")
    pretend_old_zone_data(world, "berlin", wall=before["mark_wall"])
    world.restart()
    assert world.state("berlin")["mark_at"] == before["mark_at"]


def test_the_wall_time_of_the_second_half_of_an_overlap_is_kept_apart_by_its_instant(world: World) -> None:
    world.clock.step(datetime(2026, 10, 25, 0, 0, tzinfo=UTC))
    world.trigger("berlin", definition(BERLIN))
    world.advance(minutes=90)
    world.pass_once()
    before = world.state("berlin")
    pretend_old_zone_data(world, "berlin", wall=before["mark_wall"])
    world.restart()
    assert world.state("berlin")["mark_at"] == before["mark_at"]


def pretend_old_zone_data(world: World, name: str, *, wall: str) -> None:
    """Store the mark as an older release of the zone data would have: with this wall time."""
    world.sql("UPDATE trigger_state SET mark_wall = ?, fingerprint = '1/1999a/1' WHERE name = ?", wall, name)


def test_the_marks_wall_time_is_that_of_the_rules_zone(world: World) -> None:
    world.trigger("berlin", definition(BERLIN))
    assert world.state("berlin")["mark_wall"] == "2026-03-02T10:00:00"
