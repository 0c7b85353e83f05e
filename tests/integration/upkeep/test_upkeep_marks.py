"""A mark that is moved back by hand: audited, computed anew, sound, and nothing runs twice."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from core.access.roles import permissions_of
from core.admission.marks import move_mark
from core.admission.plan import Plans
from core.admission.recovery import reconcile
from core.errors import Denied, Invalid, NotFound, Precondition
from core.views import Effect
from tests.integration.admission.world import START
from tests.integration.upkeep.ward import HALF_HOURLY, Ward, definition

YEAR = timedelta(days=365)


def move(ward: Ward, name: str, to: datetime, note: str = "the clock was wrong") -> Effect:
    with ward.store.write() as tx:
        return move_mark(tx, ward.scope, "default", name, to=to, note=note, now=ward.clock.now())


def leap(ward: Ward) -> None:
    """Let the clock run a year ahead for one pass and come back."""
    ward.clock.step(ward.clock.now() + YEAR)
    ward.pass_once()
    ward.clock.step(ward.clock.now() - YEAR)
    assert ward.pass_once().admitted == 0


def test_a_mark_that_ran_ahead_with_the_clock_comes_back_and_the_trigger_fires_again(ward: Ward) -> None:
    ward.trigger("tick")
    ward.advance(minutes=1)
    ward.pass_once()
    leap(ward)
    told = move(ward, "tick", ward.clock.now())
    assert told.message == "the mark of tick stands at 2026-03-02T09:01:00Z; it is due next at 2026-03-02T09:02:00Z"
    assert told.notices == ()
    assert ward.codes() == []
    for _ in range(3):
        ward.advance(minutes=1)
        assert len(ward.pass_once().submitted) == 1
        assert ward.codes(settled=True) == []


def test_times_beyond_all_that_was_decided_before_are_proven_again(ward: Ward) -> None:
    ward.trigger("tick")
    ward.clock.step(ward.clock.now() + timedelta(hours=1))
    ward.pass_once()
    ward.clock.step(ward.clock.now() - timedelta(hours=1))
    move(ward, "tick", ward.clock.now())
    for _ in range(3):
        ward.advance(minutes=50)
        ward.pass_once()
        assert ward.codes(settled=True) == []
    ward.sql("DELETE FROM occurrence WHERE is_range AND at = (SELECT max(at) FROM occurrence WHERE is_range)")
    assert ward.codes() == ["undecided"]


def test_what_has_its_work_gets_no_second_one(ward: Ward) -> None:
    ward.trigger("tick", definition(misfirePolicy="fireOnce"))
    for _ in range(5):
        ward.advance(minutes=1)
        ward.pass_once()
    works = len(ward.work())
    told = move(ward, "tick", START)
    assert told.notices == (
        "5 nominal times up to now will be decided anew, as misfirePolicy says; none that has a Work gets a second one",
    )
    ward.pass_once()
    assert len(ward.work()) == works
    assert ward.codes(settled=True) == []
    ward.advance(minutes=1)
    assert len(ward.pass_once().submitted) == 1
    assert ward.codes(settled=True) == []


def test_generations_that_came_into_force_under_the_wrong_clock_are_sound(ward: Ward) -> None:
    ward.trigger("tick")
    ward.advance(minutes=1)
    ward.pass_once()
    ward.clock.step(ward.clock.now() + YEAR)
    ward.edit("tick", **definition(HALF_HOURLY))
    ward.edit("tick", **definition(HALF_HOURLY, enabled=False))
    ward.edit("tick", **definition(HALF_HOURLY))
    ward.clock.step(ward.clock.now() - YEAR)
    move(ward, "tick", ward.clock.now())
    for _ in range(3):
        ward.advance(minutes=40)
        ward.pass_once()
        assert ward.codes(settled=True) == []


def test_new_zone_data_after_the_move_leaves_it_sound(ward: Ward) -> None:
    ward.trigger("berlin", definition(HALF_HOURLY))
    leap(ward)
    move(ward, "berlin", ward.clock.now())
    ward.sql("UPDATE trigger_state SET fingerprint = '1/1999a/1'")
    reconcile(ward.store, Plans())
    ward.advance(hours=2)
    ward.pass_once()
    assert ward.codes(settled=True) == []


def test_a_move_after_new_zone_data_is_not_compared_with_what_was_decided_under_the_old(ward: Ward) -> None:
    ward.trigger("berlin", definition(HALF_HOURLY))
    for _ in range(3):
        ward.advance(minutes=30)
        ward.pass_once()
    ward.advance(minutes=25)
    ward.edit("berlin", **definition(HALF_HOURLY, enabled=False))
    ward.sql("UPDATE occurrence SET nominal_at = nominal_at + 600000000, at = at + 600000000")  # as the old data had it
    ward.sql("UPDATE trigger_state SET fingerprint = '1/1999a/1'")
    move(ward, "berlin", START + timedelta(hours=1, minutes=45))
    assert ward.codes(settled=True) == []


def test_a_disabled_trigger_keeps_the_moved_mark_until_it_is_enabled(ward: Ward) -> None:
    ward.trigger("tick")
    leap(ward)
    ward.edit("tick", **definition(enabled=False))
    assert move(ward, "tick", ward.clock.now()).message.endswith("; it is disabled")
    ward.edit("tick", **definition())
    ward.advance(minutes=1)
    assert len(ward.pass_once().submitted) == 1
    assert ward.codes(settled=True) == []


def test_a_pause_holds_over_the_move(ward: Ward) -> None:
    ward.trigger("tick")
    leap(ward)
    ward.pause("tick")
    move(ward, "tick", ward.clock.now())
    assert ward.state("tick")["phase"] == "paused"
    ward.advance(minutes=5)
    assert not ward.pass_once().submitted
    ward.resume("tick")
    assert ward.codes(settled=True) == []


def test_times_beyond_an_earlier_range_are_decided_though_the_range_is_made_again(ward: Ward) -> None:
    ward.trigger("tick", definition(misfireThreshold="PT1S"))
    ward.advance(minutes=3, seconds=30)
    ward.pass_once()
    move(ward, "tick", START)
    ward.advance(minutes=3)
    ward.pass_once()
    assert ward.at(ward.state("tick")["mark_at"]) == START + timedelta(minutes=6)
    assert [(row["reason"], row["count"]) for row in ward.occurrences()] == [("missed", 3), ("missed", 6)]
    assert ward.codes(settled=True) == []


def test_times_of_a_pause_beyond_the_old_mark_are_counted_after_the_move(ward: Ward) -> None:
    ward.trigger("tick")
    ward.pause("tick")
    ward.advance(minutes=5)
    ward.pass_once()
    move(ward, "tick", START + timedelta(minutes=2))
    ward.advance(minutes=5)
    ward.pass_once()
    ward.resume("tick")
    assert ward.codes(settled=True) == []
    ward.advance(minutes=1)
    ward.pass_once()
    assert ward.codes(settled=True) == []
    assert [(row["reason"], row["count"]) for row in ward.occurrences()] == [
        ("paused", 5),
        ("paused", 8),
        ("on_time", 1),
    ]


def test_a_trigger_that_cannot_be_read_keeps_waiting_for_its_next_look(ward: Ward) -> None:
    ward.trigger("tick")
    ward.sql("UPDATE resource SET definition = 'no json', generation = 2 WHERE name = 'tick'")
    ward.advance(minutes=3)
    ward.pass_once()
    before = ward.state("tick")
    move(ward, "tick", START - timedelta(minutes=1))
    after = ward.state("tick")
    assert (after["phase"], after["retry_at"]) == ("degraded", before["retry_at"])
    assert after["mark_at"] < before["mark_at"]


def test_the_audit_trail_says_who_moved_it_from_where_to_where_and_why(ward: Ward) -> None:
    ward.trigger("tick")
    leap(ward)
    stood = ward.state("tick")["mark_at"]
    move(ward, "tick", ward.clock.now() + timedelta(seconds=0.5), "  the clock ran a year ahead ")
    (event,) = ward.rows("SELECT * FROM audit_event WHERE action = 'move_mark'")
    assert (event["kind"], event["name"], event["outcome"]) == ("Trigger", "tick", "allowed")
    assert event["principal_id"] == ward.scope.principal_id
    detail = json.loads(event["detail"])
    assert (detail["to"], detail["note"]) == ("2026-03-02T09:00:00Z", "the clock ran a year ahead")
    assert stood > ward.micros()


@pytest.mark.parametrize("note", ["", "  ", "x" * 501], ids=["empty", "blank", "long"])
def test_a_move_without_a_reason_is_refused(ward: Ward, note: str) -> None:
    ward.trigger("tick")
    with pytest.raises(Invalid) as refused:
        move(ward, "tick", START - timedelta(hours=1), note)
    assert [fault.field for fault in refused.value.faults] == ["note"]


def test_an_instant_without_an_offset_is_refused_with_the_missing_note(ward: Ward) -> None:
    ward.trigger("tick")
    with pytest.raises(Invalid) as refused:
        move(ward, "tick", START.replace(tzinfo=None), "")
    assert [fault.field for fault in refused.value.faults] == ["to", "note"]


@pytest.mark.parametrize("ahead_s", [0, 0.9, 3600])
def test_a_mark_never_moves_ahead_by_hand(ward: Ward, ahead_s: float) -> None:
    ward.trigger("tick")
    with pytest.raises(Precondition, match="the mark of tick stands at 2026-03-02T09:00:00Z"):
        move(ward, "tick", START + timedelta(seconds=ahead_s))


def test_who_may_not_write_may_not_move_a_mark(ward: Ward) -> None:
    ward.trigger("tick")
    ward.scope = replace(ward.scope, role="Member", permissions=permissions_of("Member"))
    with pytest.raises(Denied, match="resources/write"):
        move(ward, "tick", START - timedelta(hours=1))


def test_a_trigger_that_is_not_there_has_no_mark(ward: Ward) -> None:
    with pytest.raises(NotFound):
        move(ward, "tock", START - timedelta(hours=1))
