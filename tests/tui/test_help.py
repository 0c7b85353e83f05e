"""The help is the registry: it finds every key, and runs what it shows."""

from __future__ import annotations

import pytest

from tests.tui.conftest import OpenStage
from tests.tui.scenes import row
from tui.actions import clashes
from tui.navigation import PLACES
from tui.screens.help import HelpScreen
from tui.screens.run import RunDetail
from tui.screens.timeline import TimelinePlace


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
