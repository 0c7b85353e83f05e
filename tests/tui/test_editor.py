"""The editor of a Trigger over a real database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from core.clock import ManualClock
from tests.tui.driver import Driver, deck_on, opened
from tui.frame import Crumb
from tui.present.lines import plain
from tui.screens.change_dialog import ChangeDialog, ConflictDialog
from tui.screens.editor import EditorScreen
from tui.screens.trigger_steering import bare
from tui.screens.triggers import TriggersPlace
from tui.widgets.chooser import Chooser
from tui.widgets.dialog import Confirm
from tui.widgets.fields import FieldRow
from tui.widgets.lines_view import LinesView


async def edit(driver: Driver, name: str) -> EditorScreen:
    driver.table.move_to_key(f"default/{name}")
    await driver.press("e")
    return driver.screen(EditorScreen)


async def put(driver: Driver, key: str, text: str) -> None:
    """Write a text into a field by keys."""
    row = driver.place.query_one(f"#row-{key}", FieldRow)
    row.control.focus()
    await driver.press("end", "ctrl+u")
    await driver.type(text)


def fault(driver: Driver, key: str) -> str:
    label = driver.place.query_one(f"#row-{key} .fault")
    return str(label.render()) if label.has_class("on") else ""


async def test_a_new_trigger_is_written_by_keys_and_stands_in_the_list(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        await driver.press("a")
        driver.screen(EditorScreen)
        await driver.type("hourly-check")
        await put(driver, "expression", "0 0 * * * ?")
        await put(driver, "flow", "load")
        await driver.press("ctrl+s")
        driver.screen(ChangeDialog)
        assert "Create hourly-check" in driver.text
        assert "+336" in driver.text, "an hourly rule has 336 fires in 14 days"
        await driver.press("enter")
        driver.screen(TriggersPlace)
        manifest = deck.manifest("Trigger", "hourly-check")
        assert manifest["definition"]["source"]["schedule"]["expression"] == "0 0 * * * ?"
        assert manifest["definition"]["enabled"] is False, "what is new does not fire by itself"
        assert driver.table.row.name == "hourly-check"


async def test_undo_after_creating_takes_the_trigger_away_again(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        await driver.press("a")
        await driver.type("hourly-check")
        await put(driver, "flow", "load")
        await driver.press("ctrl+s", "enter", "u")
        assert "hourly-check" not in {row.name for row in deck.triggers().rows}


async def test_a_five_field_line_is_recognised_while_typing(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await edit(driver, "nightly-import")
        await put(driver, "expression", "30 2 * * *")
        assert "0 30 2 * * ?" in fault(driver, "expression"), "the remedy shows the Quartz form"
        await put(driver, "expression", "0 30 2 * * ?")
        assert fault(driver, "expression") == ""


async def test_the_cron_field_under_the_cursor_is_named(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        screen = await edit(driver, "nightly-import")
        field = screen.query_one("#row-expression", FieldRow).control
        field.focus()
        assert isinstance(field, Input)
        field.cursor_position = 5
        await driver.settle()
        assert "hour: 2" in driver.text
        await driver.press("home")
        assert "second: 0" in driver.text


async def test_the_preview_shows_the_gap_as_core_says_it(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await edit(driver, "nightly-import")
        assert "02:30 does not exist" in driver.prose
        assert "Sun 29 Mar 03:30 +02" in driver.prose
        driver.place.query_one("#row-gap", FieldRow).control.focus()
        await driver.press("right", "right")
        assert "✕ Sun 29 Mar 02:30 —" in driver.prose
        assert "02:30 does not exist; skipped" in driver.prose


async def test_an_edit_shows_how_the_fires_move_before_it_is_saved(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        await edit(driver, "nightly-import")
        await put(driver, "expression", "0 0 4 * * ?")
        assert "moved 14" in driver.prose
        assert "unsaved" in driver.bar(Crumb)
        await driver.press("ctrl+s")
        driver.screen(ChangeDialog)
        assert "0 30 2 * * ?" in driver.text
        assert "0 0 4 * * ?" in driver.text
        assert deck.trigger("nightly-import").generation == 1, "nothing is stored before the change was confirmed"
        await driver.press("enter")
        assert deck.trigger("nightly-import").generation == 2
        await driver.press("u")
        schedule = deck.manifest("Trigger", "nightly-import")["definition"]["source"]["schedule"]
        assert schedule["expression"] == "0 30 2 * * ?"


async def test_editing_one_field_rewrites_nothing_else(database: Path, clock: ManualClock) -> None:
    odd = """
apiVersion: agentstration.io/v1
kind: Trigger
metadata: {name: odd-one, tags: [b, a]}
definition:
  misfireThreshold: PT30S
  enabled: false
  target: {kind: flow, flow: {version: 1, name: load}}
  source: {kind: schedule, schedule: {timeZone: Europe/Berlin, type: cron, expression: "0  30 2 * * ?", jitter: PT60S}}
  displayName: Odd
  input: {b: 1, a: [1, 2, {c: "ü"}]}
"""
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        deck.apply(odd)
        before = bare(deck.manifest("Trigger", "odd-one"))
        await driver.look()
        await edit(driver, "odd-one")
        await put(driver, "displayName", "Even")
        await driver.press("ctrl+s", "enter")
        after = bare(deck.manifest("Trigger", "odd-one"))
        before["definition"]["displayName"] = "Even"
        assert json.dumps(after) == json.dumps(before), "spelling, order and pins stay"


async def test_going_through_the_kinds_and_back_changes_nothing(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        screen = await edit(driver, "nightly-import")
        screen.query_one("#row-type", FieldRow).control.focus()
        await driver.press("right", "right", "right")
        assert screen.draft is not None
        assert not screen.draft.changed


async def test_a_save_over_a_newer_generation_shows_three_columns_and_keeps_both_changes(
    database: Path, clock: ManualClock
) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        await edit(driver, "nightly-import")
        other: dict[str, Any] = bare(deck.manifest("Trigger", "nightly-import"))
        other["definition"]["displayName"] = "From elsewhere"
        deck.apply(json.dumps(other))
        await put(driver, "expression", "0 0 4 * * ?")
        await driver.press("ctrl+s")
        driver.screen(ConflictDialog)
        assert "From elsewhere" in driver.text
        assert "STORED NOW" in driver.text
        await driver.press("m", "ctrl+s", "enter")
        stored = deck.manifest("Trigger", "nightly-import")["definition"]
        assert stored["displayName"] == "From elsewhere"
        assert stored["source"]["schedule"]["expression"] == "0 0 4 * * ?"


async def test_broken_json_is_told_at_its_field_and_not_sent(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        screen = await edit(driver, "nightly-import")
        screen.query_one("#row-input", FieldRow).control.focus()
        await driver.type("[1")
        assert "is not JSON from line 1, column" in fault(driver, "input")
        await driver.press("ctrl+s")
        driver.screen(EditorScreen)
        assert "input" in driver.flash
        assert deck.trigger("nightly-import").generation == 1


async def test_a_flow_that_does_not_exist_is_told_at_its_field(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await edit(driver, "nightly-import")
        await put(driver, "flow", "nowhere")
        assert "no such flow" in driver.prose
        assert fault(driver, "flow")


async def test_the_zone_is_picked_from_all_zones_by_typing(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        screen = await edit(driver, "nightly-import")
        await put(driver, "timeZone", "")
        await driver.press("enter")
        driver.screen(Chooser)
        await driver.type("lord howe")
        assert "Australia/Lord_Howe" in driver.text
        assert "+1030" in driver.text or "+11" in driver.text
        await driver.press("enter")
        assert screen.draft is not None
        assert screen.draft.schedule["timeZone"] == "Australia/Lord_Howe"


async def test_leaving_with_unsaved_edits_asks_first(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await edit(driver, "nightly-import")
        await put(driver, "displayName", "Other")
        await driver.press("escape")
        driver.screen(Confirm)
        await driver.press("n")
        driver.screen(EditorScreen)
        await driver.press("escape", "y")
        driver.screen(TriggersPlace)


async def test_yaml_in_the_editor_comes_back_into_the_form(
    database: Path, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "edit.sh"
    script.write_text('#!/bin/sh\nsed -i "s/0 30 2/0 45 2/" "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(script))
    async with opened(database, clock) as driver:
        monkeypatch.setattr(driver.app, "suspend", _no_suspend)
        screen = await edit(driver, "nightly-import")
        await driver.press("f4")
        assert screen.draft is not None
        assert screen.draft.schedule["expression"] == "0 45 2 * * ?"
        assert "metadata" in screen.draft.manifest
        assert screen.draft.manifest["metadata"]["eTag"], "the save is still made against what was read"


class _no_suspend:  # noqa: N801  stands for a method
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


async def test_the_transition_key_shows_fires_around_the_change_of_the_clocks(
    database: Path, clock: ManualClock
) -> None:
    async with opened(database, clock) as driver:
        await edit(driver, "nightly-import")
        await driver.press("f6")
        assert "Around the change of the clocks" in driver.text
        assert "Sun 29 Mar 03:30 +02" in driver.prose


async def test_a_clone_is_off_and_has_a_name_of_its_own(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        driver.table.move_to_key("default/nightly-import")
        await driver.press("c", "ctrl+s", "enter")
        copy = deck.trigger("nightly-import-copy")
        assert copy.phase == "disabled"
        assert copy.row.words == deck.trigger("nightly-import").row.words


async def test_the_narrow_editor_shows_the_fires_below_the_form(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        await edit(driver, "nightly-import")
        assert any("Cron" in line and "0 30 2 * * ?" in line for line in driver.lines)
        assert "at 02:30" in driver.prose


async def test_nobody_is_blamed_for_fields_that_wait_to_be_filled_in(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("a")
        assert fault(driver, "name") == ""
        assert fault(driver, "flow") == ""
        await driver.press("ctrl+s")
        assert "is not a name" in fault(driver, "name")


async def test_a_fault_is_shown_whole_however_narrow_the_form(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        await driver.press("a")
        await driver.type("No Name At All")
        await driver.settle()
        told = driver.place.query_one("#row-name .fault")
        assert told.size.height >= 2
        assert "use 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit" in driver.prose


async def test_a_new_trigger_that_is_off_says_how_to_turn_it_on(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("a")
        await put(driver, "name", "fresh")
        await put(driver, "flow", "load")
        await driver.press("ctrl+s", "enter")
        assert driver.flash == "✓ fresh created, gen 1; it is off, t turns it on · u undoes"


async def test_the_change_dialog_tells_the_fires_first_and_a_new_field_on_one_line(
    database: Path, clock: ManualClock
) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        await driver.press("a")
        await put(driver, "name", "fresh")
        await put(driver, "flow", "load")
        await driver.press("ctrl+s")
        rows = [plain(row) for row in driver.screen(ChangeDialog).query_one(LinesView).lines]
        assert rows[0].startswith("FIRES IN 14 DAYS  +14")
        assert any(row.split() == ["source.schedule.type", "+", "cron"] for row in rows)


async def test_a_save_is_not_cluttered_with_what_the_server_owns(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await edit(driver, "nightly-import")
        await put(driver, "expression", "0 45 2 * * ?")
        await driver.press("ctrl+s")
        told = " ".join(plain(row) for row in driver.screen(ChangeDialog).query_one(LinesView).lines)
        assert "ignored" not in told
        await driver.press("enter")
        assert "nightly-import saved, gen 2" in driver.flash


async def test_the_narrow_editor_shows_fires_before_notes(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        await edit(driver, "nightly-import")
        assert "Sun 29 Mar 03:30 +02" in driver.text
        assert "Mon 30 Mar 02:30 +02" in driver.text
