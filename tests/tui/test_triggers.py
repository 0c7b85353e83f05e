"""The list of Triggers over a real database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from core.clock import ManualClock
from core.views import TriggerRow
from tests.tui.conftest import OpenStage
from tests.tui.desk import trigger_yaml
from tests.tui.driver import Driver, deck_on, opened
from tui.frame import Crumb, StatusBar
from tui.present.lines import plain
from tui.screens.trigger_screen import TriggerScreen
from tui.widgets.dialog import Confirm, ShortForm
from tui.widgets.lines_view import LinesView


def names(driver: Driver) -> list[str]:
    rows: tuple[TriggerRow, ...] = driver.table.loaded()
    return [row.name for row in rows]


async def test_the_list_opens_in_the_order_of_the_next_fire(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        assert names(driver) == ["crm-pull", "nightly-import", "us-digest", "ledger-close", "disk-usage"]
        assert "Triggers 5" in driver.bar(Crumb)


async def test_a_fire_in_the_gap_is_marked_in_the_list_and_told_in_the_detail(
    database: Path, clock: ManualClock
) -> None:
    async with opened(database, clock) as driver:
        driver.table.move_to_key("default/nightly-import")
        await driver.settle()
        assert any("nightly-import" in row and "⚠" in row for row in driver.lines)
        assert "02:30 does not exist" in driver.text
        assert "Sun 29 Mar 2026 03:30:00 +02" in driver.text


async def test_the_countdown_follows_the_core_clock(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        driver.table.move_to_key("default/nightly-import")
        await driver.settle()
        assert "12:26:49" in driver.text
        clock.advance(timedelta(seconds=9))
        await driver.beat()
        assert "12:26:40" in driver.text


async def test_the_filter_narrows_as_one_types_and_escape_takes_it_away(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("slash")
        await driver.type("enabled flow~pull")
        await driver.press("enter")
        assert sorted(names(driver)) == ["crm-pull", "us-digest"]
        assert "filter: enabled flow~pull" in driver.bar(Crumb)
        await driver.press("escape")
        assert len(names(driver)) == 5


async def test_a_filter_that_cannot_be_read_says_what_would_be(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("slash")
        await driver.type("phase:broken")
        await driver.press("enter")
        assert "use one of disabled, scheduled" in driver.flash
        assert len(names(driver)) == 5


async def test_sorting_by_name_and_back_keeps_every_row(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("s")
        assert names(driver) == sorted(names(driver))
        await driver.press("S")
        assert names(driver) == sorted(names(driver), reverse=True)


async def test_a_trigger_that_cannot_be_read_can_be_disabled_and_says_why_it_cannot_be_enabled(
    database: Path, clock: ManualClock
) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE resource SET definition = replace(definition, 'New_York', 'Gotham')")
    async with opened(database, clock) as driver:
        driver.table.move_to_key("default/us-digest")
        await driver.press("t")
        assert "us-digest is disabled; it does not fire any more" in driver.flash
        await driver.press("t")
        told = " ".join(plain(row) for row in driver.screen(Confirm).query_one(LinesView).lines)
        assert "us-digest: it cannot be enabled. timeZone: 'America/Gotham' is not a time zone" in told
        await driver.press("y")
        assert "definition.source.schedule.timeZone" in driver.flash
    async with deck_on(database, clock) as deck:
        assert deck.trigger("us-digest").phase == "disabled"


async def test_disabling_does_not_ask_and_undo_enables_again(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        driver.table.move_to_key("default/ledger-close")
        await driver.press("t")
        assert deck.trigger("ledger-close").phase == "disabled"
        await driver.press("u")
        assert deck.trigger("ledger-close").phase == "scheduled"


async def test_enabling_shows_the_next_fires_and_asks_once(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        driver.table.move_to_key("default/disk-usage")
        await driver.press("t")
        told = " ".join(plain(row) for row in driver.screen(Confirm).query_one(LinesView).lines)
        assert "Enable disk-usage?" in driver.text
        assert "28 Mar 2026 13:03:20 Z, Sat 28 Mar 2026 13:03:30 Z" in told
        await driver.press("n")
        assert deck.trigger("disk-usage").phase == "disabled"
        await driver.press("t", "y")
        assert deck.trigger("disk-usage").phase == "scheduled"


async def test_forty_filtered_and_marked_are_paused_at_once_and_one_key_resumes_them(
    many: Callable[[int], Path], clock: ManualClock
) -> None:
    database = many(40)
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        await driver.press("slash")
        await driver.type("tag:bulk")
        await driver.press("enter", "asterisk")
        assert "40 marked" in driver.bar(Crumb)
        await driver.press("P")
        driver.screen(ShortForm)
        await driver.type("storage moves")
        await driver.press("enter")
        await driver.type("12h")
        await driver.press("enter")
        paused = [row for row in deck.triggers(limit=None).rows if row.phase == "paused"]
        assert len(paused) == 40
        view = deck.trigger("bulk-007")
        assert view.pause is not None
        assert view.pause.note == "storage moves"
        assert view.pause.until_at == clock.now() + timedelta(hours=12)
        await driver.press("u")
        assert not [row for row in deck.triggers(limit=None).rows if row.phase == "paused"]


async def test_a_pause_without_a_note_is_not_sent(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        driver.table.move_to_key("default/crm-pull")
        await driver.press("P", "enter", "enter")
        assert "say why" in driver.text
        assert deck.trigger("crm-pull").phase == "scheduled"


async def test_deleting_asks_and_undo_brings_the_definition_back(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        before = deck.manifest("Trigger", "us-digest")["definition"]["source"]
        driver.table.move_to_key("default/us-digest")
        await driver.press("D", "enter")
        driver.screen(Confirm)
        await driver.press("y")
        assert "us-digest" not in names(driver)
        await driver.press("u")
        assert deck.manifest("Trigger", "us-digest")["definition"]["source"] == before


async def test_running_now_makes_a_manual_occurrence(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        driver.table.move_to_key("default/crm-pull")
        await driver.press("r")
        rows = deck.occurrences().rows
        assert [(row.trigger_name, row.kind) for row in rows] == [("crm-pull", "manual")]
        assert driver.flash


async def test_a_disabled_trigger_says_why_it_does_not_run(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        driver.table.move_to_key("default/disk-usage")
        await driver.press("r")
        assert "a disabled Trigger does not run; t enables it" in driver.flash
        assert deck.occurrences().total == 0


async def test_read_only_closes_every_change_and_says_so(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, read_only=True) as driver, deck_on(database, clock) as deck:
        assert "READ-ONLY" in driver.bar(StatusBar)
        for key in ("r", "e", "t", "P", "D", "a", "E"):
            await driver.press(key)
            assert "opened read-only" in driver.flash, key
        assert len(driver.app.screen_stack) == 1
        assert deck.occurrences().total == 0


async def test_read_only_by_hand_opens_again(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("ctrl+l", "t")
        assert "ctrl+l opens it" in driver.flash
        await driver.press("ctrl+l")
        assert "READ-ONLY" not in driver.bar(StatusBar)


async def test_a_change_elsewhere_appears_and_the_cursor_stays_on_its_trigger(
    database: Path, clock: ManualClock
) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        driver.table.move_to_key("default/nightly-import")
        await driver.settle()
        deck.apply(trigger_yaml("early-bird", '{type: interval, every: PT1M, startAt: "2026-03-28T00:00:00Z"}'))
        await driver.look()
        assert "early-bird" in names(driver)
        assert driver.table.row.name == "nightly-import"


async def test_a_narrow_terminal_opens_the_detail_as_a_screen(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        driver.table.move_to_key("default/nightly-import")
        await driver.press("enter")
        driver.screen(TriggerScreen)
        assert "02:30 does not exist" in driver.text
        assert "until next" in driver.text
        await driver.press("escape")
        assert names(driver)


async def test_the_display_zone_goes_from_the_triggers_own_to_mine_to_utc(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:

        def row() -> str:
            return next(line for line in driver.lines if "nightly-import" in line)

        assert "Sun 03:30" in row()
        await driver.press("z")
        assert "21:30" in row()
        await driver.press("z")
        assert "Sun 01:30" in row()


async def test_preview_shows_fires_in_three_zones(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        driver.table.move_to_key("default/nightly-import")
        await driver.press("p")
        assert "you (New_York)" in driver.text
        assert "Mon 30 Mar 02:30 +02" in driver.text
        assert "Mon 00:30Z" in driver.text


async def test_marking_all_marks_also_what_was_never_in_sight(many: Callable[[int], Path], clock: ManualClock) -> None:
    database = many(130)
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        await driver.press("asterisk")
        assert "135 marked" in driver.bar(Crumb)
        await driver.press("t", "y")
        assert {row.phase for row in deck.triggers(limit=None).rows} == {"disabled"}


async def test_the_next_time_is_told_in_the_triggers_zone_in_mine_and_in_utc(
    database: Path, clock: ManualClock
) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        driver.table.move_to_key("default/us-digest")
        driver.app.mine = "Asia/Kathmandu"
        await driver.press("enter")
        for told in ("08:00:00 -04 New_York", "17:45:00 +0545 Kathmandu", "12:00:00 Z UTC"):
            assert told in driver.prose


async def test_the_detail_says_what_people_call_it(database: Path, clock: ManualClock) -> None:
    async with deck_on(database, clock) as deck:
        manifest = trigger_yaml("night").replace("displayName: night", 'displayName: "Nightly [b]run[/b] 日本語"')
        deck.apply(manifest.replace("  enabled:", "  description: it feeds the warehouse\n  enabled:"))
    async with opened(database, clock, size=(80, 24)) as driver:
        driver.table.move_to_key("default/night")
        await driver.press("enter")
        assert "Nightly [b]run[/b] 日本語" in driver.text
        assert "it feeds the warehouse" in driver.text


async def test_the_detail_comes_when_the_terminal_grows(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        assert not driver.place.query_one("#detail", LinesView).lines
        await driver.pilot.resize_terminal(120, 36)
        await driver.settle()
        assert any("until next" in plain(row) for row in driver.place.query_one("#detail", LinesView).lines)


async def test_the_title_says_when_next_times_are_in_each_triggers_own_zone(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        assert "NEXT (OWN) ↑" in driver.text
        await driver.press("z")
        assert "NEXT ↑" in driver.text
        assert "(OWN)" not in driver.text


async def test_what_goes_on_after_disabling_is_a_sentence_of_its_own(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("1")
        stage.table.move_to_key("default/nightly-import")
        await stage.press("t")
        assert "nightly-import is disabled; it does not fire any more. Work " in stage.flash


async def test_a_long_detail_is_gone_through_with_the_keys_of_a_list(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        driver.table.move_to_key("default/us-digest")
        await driver.press("enter")
        top = driver.text
        await driver.press("G")
        assert "fires as" in driver.text
        assert driver.text != top
        await driver.press("g")
        assert driver.text == top
