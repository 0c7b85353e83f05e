"""The help is the registry: it finds every key, and runs what it shows."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from tests.tui.conftest import OpenStage
from tests.tui.scenes import row
from tui.actions import clashes, printed
from tui.navigation import PLACES
from tui.present.columns import layout
from tui.screens.help import HelpScreen
from tui.screens.run import RunDetail
from tui.screens.timeline import TimelinePlace
from tui.widgets.chooser import Chooser
from tui.widgets.row_table import RowTable


async def test_searching_finds_an_action_and_enter_runs_it(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("2", "question_mark")
        stage.screen(HelpScreen)
        await stage.type("most fires")
        await stage.press("enter")
        assert isinstance(stage.app.screen, TimelinePlace)
        assert "cursor Sun 00:00" in stage.text


async def test_help_says_why_a_key_is_closed(on_stage: OpenStage) -> None:
    async with on_stage(read_only=True) as stage:
        await stage.press("5", "question_mark")
        await stage.type("snooze")
        assert "closed, the deck was opened read-only" in stage.text


async def test_a_search_for_nothing_says_so_and_escape_leaves(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("3", "question_mark")
        await stage.type("zzzz")
        assert "no key does that" in stage.text
        await stage.press("enter")
        stage.screen(HelpScreen)
        await stage.press("escape")
        assert not isinstance(stage.app.screen, HelpScreen)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.mode)
def test_no_two_actions_of_a_place_claim_the_same_key(place: object) -> None:
    assert clashes(place.load().all_actions()) == ()  # type: ignore[attr-defined]


def test_no_two_actions_of_a_run_claim_the_same_key() -> None:
    assert clashes(RunDetail.all_actions()) == ()


async def test_every_action_that_is_shown_can_be_done(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        for number in "123456":
            await stage.press(number)
            for action in stage.place.all_actions():
                doer = getattr(stage.place, f"do_{action.id}", None) or stage.app.common.doer(action.id)
                assert action.widget or doer is not None, f"{action.id} of {stage.place.place_id} does nothing"


async def test_a_run_has_its_own_keys_in_the_help(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("4", lambda text: "approval" in text, "enter", "question_mark")(stage)
        await stage.type("wrap")
        assert "Wrap long log lines" in stage.text


SCREENS = {
    **{place.mode: (str(place.number),) for place in PLACES},
    "trigger": ("1", "enter"),
    "occurrence": ("3", "enter"),
    "run": ("4", "enter"),
    "editor": ("1", "e"),
}


@pytest.mark.parametrize("opened_by", SCREENS.values(), ids=SCREENS)
async def test_no_words_of_the_palette_are_cut_in_a_small_terminal(
    on_stage: OpenStage, opened_by: tuple[str, ...]
) -> None:
    async with on_stage(size=(80, 24)) as stage:
        await stage.press(*opened_by, "ctrl+p")
        table = stage.screen(Chooser).table
        _, title, text = layout(table.columns, table.scrollable_content_region.width - 2)
        for action in stage.place.offered():
            assert cell_len(action.title) <= title
            assert cell_len(action.help) <= text


@pytest.mark.parametrize("opened_by", SCREENS.values(), ids=SCREENS)
async def test_no_words_of_the_help_are_cut_in_a_small_terminal(
    on_stage: OpenStage, opened_by: tuple[str, ...]
) -> None:
    async with on_stage(size=(80, 24)) as stage:
        await stage.press(*opened_by, "f1")
        table = stage.screen(HelpScreen).query_one(RowTable)
        rooms = layout(table.columns, table.scrollable_content_region.width - 2)
        actions = [action for action in stage.place.offered() if not action.hidden]
        assert len(table.loaded()) == len(actions) > 20
        for action in actions:
            keys = " ".join(map(printed, action.keys[:3]))
            for told, column, room in zip(("", keys, action.title, action.help), table.columns, rooms, strict=True):
                assert cell_len(told) <= room, f"{told!r} has {room} cells in the column {column.key!r}"


async def test_the_help_tells_a_closed_key_in_full_with_what_it_does(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24), read_only=True) as stage:
        await stage.press("4", "question_mark")
        await stage.type("cancel")
        told = "End the Work; what steps did outside stays done; closed, the deck was opened read-only"
        assert told in stage.prose
