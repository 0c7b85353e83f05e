"""New zone data meets people before it meets the worker: no local time fires twice, whatever they do first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from core import zones
from core.upkeep.checker import check
from tests.integration.admission.world import World, definition

NINE = {"type": "cron", "expression": "0 0 9 * * ?", "timeZone": "Etc/GMT-1"}


@pytest.fixture
def fired(world: World) -> World:
    """A Trigger that fired at 09:00 local time; the present data lets that hour come once more."""
    world.trigger("nine", definition(NINE))
    world.clock.step(datetime(2026, 3, 3, 8, 0, tzinfo=UTC))
    world.pass_once()
    assert len(world.work()) == 1
    world.sql("UPDATE trigger_state SET mark_wall = '2026-03-03T10:00:00', fingerprint = '1/1999a/1'")
    return world


def pausing(world: World) -> None:
    world.pause("nine")
    world.resume("nine")


def renaming(world: World) -> None:
    world.edit("nine", displayName="Nine o'clock")


def disabling(world: World) -> None:
    world.disable("nine")
    world.enable("nine")


@pytest.mark.parametrize("act", [pausing, renaming, disabling])
def test_what_people_do_before_the_workers_start_keeps_a_local_time_from_firing_twice(
    fired: World, act: Callable[[World], None]
) -> None:
    act(fired)
    state = fired.state("nine")
    assert fired.at(state["mark_at"]) == datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
    assert fired.at(state["next_due_at"]) == datetime(2026, 3, 4, 8, 0, tzinfo=UTC)
    assert fired.at(state["decided_from"]) == datetime(2026, 3, 3, 8, 0, tzinfo=UTC)


def test_a_trigger_that_cannot_be_read_for_a_while_remembers_the_zone_data_of_its_mark(fired: World) -> None:
    fired.sql("UPDATE resource SET definition = replace(definition, 'GMT-1', 'Nowhere')")
    fired.clock.step(datetime(2026, 3, 4, 8, 0, tzinfo=UTC))
    fired.restart()
    fired.pass_once()
    assert fired.state("nine")["fingerprint"] == "0/1999a/0"
    fired.sql("UPDATE resource SET definition = replace(definition, 'Nowhere', 'GMT-1')")
    fired.restart()
    assert fired.state("nine")["fingerprint"].split("/")[1] == zones.data_version()
    assert fired.state("nine")["decided_from"] is not None


def test_the_checker_says_nothing_of_a_past_whose_rule_cannot_be_read_any_more(fired: World) -> None:
    for table in ("resource", "revision"):
        fired.sql(f"UPDATE {table} SET definition = replace(definition, 'GMT-1', 'Nowhere')")  # noqa: S608 - two tables
    fired.sql("UPDATE trigger_state SET fingerprint = NULL")
    with fired.store.read() as tx:
        codes = [finding.code for finding in check(tx, now=fired.clock.now())]
    assert "not_in_schedule" not in codes
    assert "decided_twice" not in codes
