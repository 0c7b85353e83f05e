"""What the deck answers over a real history: lists, pages, timelines and why-not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from core.deck import Deck
from core.errors import NotFound, Usage
from core.storage import read_history
from core.views import OccurrenceQuery, TriggerQuery, WorkQuery
from tests.integration.admission.world import EVERY_MINUTE, HOURLY, START, World, definition

BERLIN = {"type": "cron", "expression": "0 30 2 * * ?", "timeZone": "Europe/Berlin"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "deck.sqlite3")
    made.flow()
    yield made
    made.store.close()


@pytest.fixture
def deck(world: World) -> Deck:
    return Deck(world.store, world.scope, "default", world.clock)


def minutes(world: World, count: int) -> None:
    for _ in range(count):
        world.advance(minutes=1)
        world.pass_once()


def test_a_trigger_in_the_list_has_its_next_fire_its_last_outcomes_and_a_short_rule(world: World, deck: Deck) -> None:
    world.trigger("often", definition(EVERY_MINUTE, displayName="Often"))
    world.trigger("nightly", definition(BERLIN))
    minutes(world, 3)
    often, nightly = deck.triggers().rows
    assert (often.name, often.recent, often.active_work, often.summary) == ("often", "rrr", 3, "every minute · UTC")
    assert (nightly.name, nightly.recent, nightly.summary) == ("nightly", "", "02:30 daily · Berlin")
    assert often.next_due_at == START + timedelta(minutes=4)


def test_a_fire_that_a_gap_moves_is_noted_in_the_list(world: World, deck: Deck) -> None:
    world.trigger("nightly", definition(BERLIN))
    world.clock.step(datetime.fromisoformat("2026-03-28T12:00:00+00:00"))
    world.pass_once()
    assert deck.triggers().rows[0].next_note == "02:30 does not exist; shifted to 03:30"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (TriggerQuery(text="NIGHT berlin"), ["nightly"]),
        (TriggerQuery(sort="name", descending=True), ["often", "nightly", "hourly"]),
        (TriggerQuery(enabled=False), ["hourly"]),
        (TriggerQuery(flow="prin", phase="scheduled", sort="name"), ["nightly", "often"]),
        (TriggerQuery(text="nothing like it"), []),
    ],
)
def test_a_query_chooses_and_orders(world: World, deck: Deck, query: TriggerQuery, names: list[str]) -> None:
    world.trigger("often")
    world.trigger("nightly", definition(BERLIN))
    world.trigger("hourly", definition(HOURLY, enabled=False))
    page = deck.triggers(query)
    assert [row.name for row in page.rows] == names
    assert page.total == len(names)


def test_pages_by_cursor_give_each_row_once_while_new_ones_arrive(world: World, deck: Deck) -> None:
    world.trigger("often")
    minutes(world, 25)
    everything = [row.id for row in deck.occurrences(limit=None).rows]
    page = deck.occurrences(limit=10)
    seen = [row.id for row in page.rows]
    minutes(world, 5)
    while page.cursor is not None:
        page = deck.occurrences(cursor=page.cursor, limit=10)
        seen += [row.id for row in page.rows]
    assert seen == everything


def test_a_foreign_cursor_and_an_unknown_id_are_refused(world: World, deck: Deck) -> None:
    world.trigger("often")
    minutes(world, 12)
    with pytest.raises(Usage, match="not a page cursor"):
        deck.occurrences(cursor="page 2")
    with pytest.raises(NotFound, match="no occurrence 'zzz'"):
        deck.occurrence("zzz")
    with pytest.raises(Usage, match="no occurrence id"):
        deck.occurrence("")


def test_the_timeline_counts_what_fired_and_what_will(world: World, deck: Deck) -> None:
    world.trigger("often")
    minutes(world, 10)
    shown = deck.timeline(START, START + timedelta(hours=1), slots=6)
    lane = shown.lanes[0]
    assert lane.past == (9, 1, 0, 0, 0, 0)
    assert lane.forecast == (0, 9, 10, 10, 10, 10)
    assert shown.total == (9, 10, 10, 10, 10, 10)


def test_the_timeline_marks_what_was_missed_and_where_clocks_change(world: World, deck: Deck) -> None:
    world.trigger("nightly", definition(BERLIN))
    world.clock.step(datetime.fromisoformat("2026-03-28T12:00:00+00:00"))
    world.pass_once()
    start = datetime.fromisoformat("2026-03-28T00:00:00+00:00")
    shown = deck.timeline(start, start + timedelta(days=2), slots=48)
    assert shown.transitions == ((datetime.fromisoformat("2026-03-29T01:00:00+00:00"), "Europe/Berlin"),)
    assert (1, "skipped") in shown.lanes[0].marks
    assert (25, "gap") in shown.lanes[0].marks
    assert shown.lanes[0].forecast[25] == 1


def test_a_timeline_that_ends_before_it_begins_is_refused(deck: Deck) -> None:
    with pytest.raises(Usage, match="ends before it begins"):
        deck.timeline(START, START - timedelta(hours=1))


def test_an_instant_without_a_row_is_explained(world: World, deck: Deck) -> None:
    world.trigger("hourly", definition(HOURLY))
    world.advance(hours=3, minutes=30)
    world.pass_once()
    reasons = {
        START + timedelta(minutes=5): "names no time at",
        START - timedelta(hours=1): "edits are never retroactive",
        START + timedelta(hours=2): "the misfire policy is skip",
        START + timedelta(hours=9): "still to come",
    }
    for at, words in reasons.items():
        assert words in deck.why_not("hourly", at).sentence
    world.advance(hours=1)
    assert "due and not decided yet" in deck.why_not("hourly", START + timedelta(hours=4)).sentence
    world.disable("hourly")
    world.advance(hours=1)
    assert "is disabled" in deck.why_not("hourly", START + timedelta(hours=5)).sentence


def test_a_missed_time_is_found_inside_the_range_that_counts_it(world: World, deck: Deck) -> None:
    world.trigger("hourly", definition(HOURLY))
    world.advance(hours=5, minutes=30)
    world.pass_once()
    told = deck.why_not("hourly", START + timedelta(hours=3))
    assert told.occurrence is not None
    assert (told.occurrence.is_range, told.occurrence.count) == (True, 5)
    assert (told.previous_nominal, told.next_nominal) == (START + timedelta(hours=3), START + timedelta(hours=4))


def test_what_happened_since_the_last_visit_is_told_once(world: World, deck: Deck) -> None:
    world.trigger("often")
    assert deck.away().since is None
    minutes(world, 4)
    assert deck.away().fired == 4
    assert deck.away().fired == 0


def test_the_history_is_kept_under_the_name_of_a_deleted_trigger(world: World, deck: Deck) -> None:
    world.trigger("often")
    minutes(world, 2)
    deck.delete("Trigger", "often")
    rows = deck.occurrences(OccurrenceQuery(trigger="often")).rows
    assert [row.reason for row in rows] == ["on_time", "on_time"]
    assert deck.occurrence(rows[0].id).definition["target"]["flow"]["name"] == "print"


def test_an_edit_shows_how_it_moves_the_coming_fires(deck: Deck) -> None:
    later = {**BERLIN, "expression": "0 0 4 * * ?"}
    change = deck.fire_change(BERLIN, later, days=3)
    assert (change.added, change.removed, change.kept) == ((), (), 0)
    assert [(after - before) for before, after in change.moved] == [timedelta(minutes=90)] * 3
    weekly = deck.fire_change(BERLIN, {**BERLIN, "expression": "0 30 2 ? * SUN"}, days=14)
    assert (len(weekly.removed), weekly.kept) == (12, 2)


def test_databases_with_equal_identities_keep_their_own_rules(tmp_path: Path, world: World, deck: Deck) -> None:
    """Identities repeat in a restored copy: what is remembered of one must not answer for the other."""
    other = World(tmp_path / "copy.sqlite3")
    other.flow()
    assert world.trigger("same", definition(HOURLY)) == other.trigger("same", definition(BERLIN))
    copy = Deck(other.store, other.scope, "default", other.clock)
    assert deck.trigger("same").fires[0].wall == "2026-03-02 10:00:00"
    assert copy.trigger("same").fires[0].wall == "2026-03-03 02:30:00"
    assert not deck.health().drifts
    assert not copy.health().drifts
    other.store.close()


def test_rules_that_fire_too_often_are_compared_as_far_as_both_are_known(deck: Deck) -> None:
    often = {"type": "interval", "every": "PT5S", "startAt": "2026-01-01T00:00:00Z"}
    change = deck.fire_change(often, often | {"every": "PT10S"})
    assert change.until_at is not None
    assert (len(change.added), len(change.removed), change.kept) == (0, 5_000, 5_000)
    assert deck.fire_change(BERLIN, BERLIN).until_at is None


def test_words_find_the_history_of_every_trigger_whose_name_holds_them(
    world: World, deck: Deck, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("slow-import", "fast-import", "export"):
        world.trigger(name, definition(EVERY_MINUTE))
    minutes(world, 2)

    def found(words: str) -> set[str]:
        occurrences, works = (
            deck.occurrences(OccurrenceQuery(trigger_like=words)),
            deck.works(WorkQuery(trigger_like=words)),
        )
        assert {row.trigger_name for row in works.rows} == {row.trigger_name for row in occurrences.rows}
        assert occurrences.total == len(occurrences.rows)
        return {row.trigger_name for row in occurrences.rows}

    for few in (50, 1):  # one Trigger at a time, or the history walked once
        monkeypatch.setattr(read_history, "FEW_TRIGGERS", few)
        assert found("IMPORT") == {"slow-import", "fast-import"}
        assert found("import slow") == {"slow-import"}
        assert found("100%") == set()


@pytest.mark.parametrize("few", [50, 0], ids=["by Trigger", "by time"])
def test_work_of_one_namespace_holds_its_test_fires(
    world: World, deck: Deck, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_history, "FEW_TRIGGERS", few)
    world.trigger("often", definition(EVERY_MINUTE))
    minutes(world, 2)
    deck.test_fire("print")
    found = deck.works(WorkQuery(namespace="default"))
    assert [row.is_test for row in found.rows].count(True) == 1
    assert (len(found.rows), found.total) == (3, 3)
    assert deck.works(WorkQuery(namespace="default", trigger_like="oft")).total == 2
    assert deck.works(WorkQuery(namespace="other")).rows == ()
    assert deck.works(WorkQuery(namespace="other", status="pending")).total == 0
