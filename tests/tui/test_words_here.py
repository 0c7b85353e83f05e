"""Footer, help and palette offer what works here and now, in the words that fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.clock import ManualClock
from tests.tui.conftest import OpenStage
from tests.tui.driver import opened
from tests.tui.scenes import row
from tui.frame import Footer
from tui.screens.help import HelpScreen
from tui.screens.place import Place


def helped(place: Place, action_id: str) -> str:
    return next(action.help for action in place.offered() if action.id == action_id)


@pytest.mark.parametrize(
    ("title", "wanted", "unwanted"),
    [
        ("Release", ("approve a", "reject r"), ("choose a", "decline r")),
        ("Which account", ("choose a",), ("reject", "decline", "approve")),
    ],
)
async def test_the_inbox_foot_offers_what_the_kind_of_question_takes(
    on_stage: OpenStage, title: str, wanted: tuple[str, ...], unwanted: tuple[str, ...]
) -> None:
    async with on_stage() as stage:
        await row("5", lambda text: title in text)(stage)
        foot = stage.bar(Footer)
        assert all(words in foot for words in wanted)
        assert not any(words in foot for words in unwanted)


async def test_a_choice_is_not_refused_by_a_key_that_help_does_not_name(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("5", lambda text: "Which account" in text, "question_mark")(stage)
        stage.screen(HelpScreen)
        await stage.type("refuse")
        assert "no key does that" in stage.text
        await stage.press("escape", "r")
        assert stage.flash == "! reject: this question can only be answered"


@pytest.mark.parametrize(("kept", "told"), [(True, "the worker goes on"), (False, "the worker ends with it")])
async def test_help_says_what_becomes_of_the_worker(on_stage: OpenStage, kept: bool, told: str) -> None:
    async with on_stage() as stage:
        stage.app.worker_kept = kept
        assert helped(stage.place, "quit") == f"Leave the deck; {told}"


async def test_help_speaks_of_no_worker_where_none_runs(on_stage: OpenStage) -> None:
    async with on_stage(empty=True) as stage:
        assert helped(stage.place, "quit") == "Leave the deck; no worker runs"


async def test_undo_stands_in_the_foot_once_there_is_something_to_undo(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        assert "undo" not in driver.bar(Footer)
        await driver.press("u")
        assert driver.flash == "! undo: there is nothing to undo"
        driver.table.move_to_key("default/crm-pull")
        await driver.press("t")
        assert "undo u" in driver.bar(Footer)


async def test_a_screen_upon_another_shows_the_way_back(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        assert "esc" not in driver.bar(Footer)
        await driver.press("enter")
        assert "back esc" in driver.bar(Footer)
        await driver.press("escape", "e")
        assert "cancel esc" in driver.bar(Footer)


async def test_a_small_foot_still_names_filter_and_help(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        assert "filter /" in driver.bar(Footer)
        assert "help ?" in driver.bar(Footer)


async def test_marks_stand_in_the_foot_only_where_many_can_be_steered(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        assert "mark space" in stage.bar(Footer)
        await stage.press("4")
        assert "mark" not in stage.bar(Footer)


async def test_the_palette_begins_with_the_keys_of_the_place(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("ctrl+p", "enter")
        assert "runs now" in driver.flash or "disabled" in driver.flash
