"""What the deck says when it is left: the truth about its worker."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tui.__main__ as entry
from cli.demo import show
from core.clock import ManualClock
from tests.tui.driver import opened
from tui.app import DeckApp
from tui.common_actions import farewell
from tui.config import load
from tui.screens.editor import EditorScreen
from tui.widgets.dialog import Confirm


def test_a_worker_that_is_kept_goes_on_and_it_is_said_how_to_end_it() -> None:
    told = farewell(running=True, kept=True)
    assert told is not None
    assert told.startswith("The worker goes on")
    assert "`triggerdeck worker stop`" in told


def test_a_worker_that_is_not_kept_ends() -> None:
    assert farewell(running=True, kept=False) == (
        "The worker ends with the deck, as soon as the steps that run have ended."
    )


@pytest.mark.parametrize("kept", [True, False])
def test_nothing_is_said_of_a_worker_that_does_not_run(kept: bool) -> None:
    assert farewell(running=False, kept=kept) is None


@pytest.mark.parametrize(("kept", "words"), [(True, "goes on"), (False, "ends with the deck")])
async def test_leaving_says_what_becomes_of_the_worker(
    database: Path, clock: ManualClock, kept: bool, words: str
) -> None:
    async with opened(database, clock) as driver:
        assert driver.app.status is not None
        driver.app.worker_kept = kept
        driver.app.status = replace(driver.app.status, worker="running")
        await driver.pilot.press("q")
        (told,) = driver.app._exit_renderables
    assert words in str(told)


async def test_ctrl_q_asks_before_unsaved_edits_are_lost(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("a")
        await driver.type("night")
        await driver.press("ctrl+q", "ctrl+q")
        assert "Leave without saving?" in driver.screen(Confirm)._title
        assert len([screen for screen in driver.app.screen_stack if isinstance(screen, Confirm)]) == 1
        await driver.press("n")
        driver.screen(EditorScreen)
        assert driver.app.return_code is None
        await driver.press("ctrl+q")
        await driver.pilot.press("y")
        assert driver.app.return_code == 0


async def test_ctrl_q_keeps_what_q_keeps(database: Path, clock: ManualClock, tmp_path: Path) -> None:
    async with opened(database, clock, config_file=tmp_path / "deck.toml") as driver:
        await driver.press("s")
        await driver.pilot.press("ctrl+q")
    assert load(tmp_path / "deck.toml").places["triggers"].sort == "name"


def test_the_example_says_that_its_worker_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened_with: list[bool] = []

    def run(app: DeckApp) -> None:
        opened_with.append(app.worker_kept)

    monkeypatch.setattr(DeckApp, "run", run)
    monkeypatch.setattr("cli.commands.deck.need_terminal", lambda: None)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert show.with_deck(str(tmp_path / "demo")) == 0
    assert entry.run(tmp_path / "demo" / "triggerdeck.sqlite3", start_worker=False) == 0
    assert opened_with == [False, True]
