"""A Flow is written from the deck: an operator gets from an empty database to a firing Trigger with nothing else."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from core.clock import ManualClock
from core.deck import Deck
from core.views import WorkQuery
from tests.tui.driver import Driver, deck_on, opened
from tui.frame import Crumb
from tui.screens.editor import EditorScreen
from tui.widgets.dialog import Confirm


def _no_suspend() -> AbstractContextManager[None]:
    return nullcontext()


@pytest.fixture
def blank(tmp_path: Path, clock: ManualClock) -> Path:
    file = tmp_path / "blank.sqlite3"
    Deck.open(file, clock=clock).close()
    return file


class Hand:
    """Stands for the person's editor: a script that changes the file as it is told."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._script = folder / "edit.sh"
        self.seen = folder / "seen.yaml"
        self._patch = patch

    def will(self, command: str) -> None:
        self._script.write_text(f'#!/bin/sh\ncp "$1" {self.seen}\n{command}\n')
        self._script.chmod(0o755)
        self._patch.setenv("EDITOR", str(self._script))


@pytest.fixture
def hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hand:
    return Hand(tmp_path, monkeypatch)


def quiet(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver.app, "suspend", _no_suspend)


async def test_an_empty_deck_says_how_to_begin_and_the_key_writes_the_first_flow(
    blank: Path, clock: ManualClock, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.will('sed -i "s/my-flow/hello/" "$1"')
    async with opened(blank, clock) as driver:
        quiet(driver, monkeypatch)
        assert "no Trigger yet: a writes the first one, F a Flow for it to run" in driver.text
        await driver.press("F")
        assert driver.flash == "✓ flow hello stored, version 1 is active"
        async with deck_on(blank, clock) as deck:
            assert [flow.name for flow in deck.flows()] == ["hello"]


async def test_the_list_of_flows_says_how_to_write_the_first(blank: Path, clock: ManualClock) -> None:
    async with opened(blank, clock) as driver:
        await driver.press("a")
        driver.place.query_one("#row-flow Input").focus()
        await driver.press("enter")
        assert "no Flow yet: esc, then f9 writes the first one" in driver.text


async def test_a_text_that_is_refused_comes_back_with_its_faults(
    blank: Path, clock: ManualClock, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.will('sed -i "s/my-flow/Not A Name/; s/argv/arg/" "$1"')
    async with opened(blank, clock) as driver:
        quiet(driver, monkeypatch)
        await driver.press("F")
        assert driver.flash.startswith("✗ not stored: ")
        assert "the same key opens your text again" in driver.flash
        hand.will('sed -i "s/Not A Name/mended/; s/arg:/argv:/" "$1"')
        await driver.press("F")
        again = hand.seen.read_text()
        assert again.startswith("# ✗ ")
        assert "Not A Name" in again
        assert driver.flash == "✓ flow mended stored, version 1 is active"


async def test_a_changed_flow_is_a_draft_until_publishing_is_said(
    database: Path, clock: ManualClock, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.will('sed -i "s/print(1)/print(2)/" "$1"')
    async with opened(database, clock) as driver:
        quiet(driver, monkeypatch)
        driver.table.move_to_key("default/crm-pull")
        await driver.settle()
        await driver.press("F")
        driver.screen(Confirm)
        assert "what fires still runs the version that is active" in driver.prose
        await driver.press("y")
        assert driver.flash == "✓ flow pull: version 2 is active"
        async with deck_on(database, clock) as deck:
            assert {flow.name: flow.active_version for flow in deck.flows()} == {"load": 1, "pull": 2}


async def test_what_is_no_flow_is_not_stored(
    database: Path, clock: ManualClock, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.will('printf "just: words\\n" > "$1"')
    async with opened(database, clock) as driver:
        quiet(driver, monkeypatch)
        await driver.press("F")
        assert driver.flash.startswith("✗ not stored: ")


async def test_a_test_run_of_the_flow_is_marked_and_saves_nothing(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        driver.table.move_to_key("default/crm-pull")
        await driver.settle()
        await driver.press("e", "f7")
        driver.screen(Confirm)
        assert "marked as a test" in driver.prose
        await driver.press("y")
        driver.screen(EditorScreen)
        assert "Test of pull (version 1) is on its way" in driver.flash
        async with deck_on(database, clock) as deck:
            assert [(work.is_test, work.trigger_name) for work in deck.works(WorkQuery()).rows] == [(True, "")]


async def test_yaml_with_a_fault_is_opened_again_as_it_was_left(
    database: Path, clock: ManualClock, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.will('printf "a: [1\\n" > "$1"')
    async with opened(database, clock) as driver:
        quiet(driver, monkeypatch)
        driver.table.move_to_key("default/crm-pull")
        await driver.settle()
        await driver.press("e", "f4")
        assert "f4 opens your text again" in driver.flash
        hand.will("true")
        await driver.press("f4")
        assert hand.seen.read_text().splitlines()[1] == "a: [1"
        assert "line 2: is not YAML: " in driver.flash
        assert "unicode string" not in driver.flash
        assert "unsaved ●" in driver.bar(Crumb)
        await driver.press("escape")
        assert "Leave without saving?" in driver.text


async def test_a_refused_flow_is_asked_about_before_one_leaves_and_is_not_opened_for_another(
    database: Path, clock: ManualClock, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.will('printf "broken: [\\n" > "$1"')
    async with opened(database, clock) as driver:
        quiet(driver, monkeypatch)
        driver.table.move_to_key("default/crm-pull")
        await driver.settle()
        await driver.press("F")
        assert driver.flash.startswith("✗ not stored: ")
        hand.will("true")
        driver.table.move_to_key("default/nightly-import")
        await driver.settle()
        await driver.press("F")
        assert "broken" not in hand.seen.read_text()
        assert "name: load" in hand.seen.read_text()
        await driver.press("q")
        assert "Leave without saving?" in driver.text


@pytest.mark.parametrize("editor", ["vi 'unbalanced", "no-such-editor-anywhere"])
async def test_an_editor_that_cannot_be_started_is_said_to(
    database: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, editor: str
) -> None:
    monkeypatch.setenv("EDITOR", editor)
    async with opened(database, clock) as driver:
        quiet(driver, monkeypatch)
        await driver.press("E")
        assert "the editor could not be started" in driver.flash


async def test_what_is_no_text_is_not_taken(
    database: Path, clock: ManualClock, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.will("printf '\\377\\376' > \"$1\"")
    async with opened(database, clock) as driver:
        quiet(driver, monkeypatch)
        await driver.press("E")
        assert "what the editor saved is not UTF-8; save it as UTF-8" in driver.flash
