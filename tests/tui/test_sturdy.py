"""Nothing breaks what is on the screen: resizing under a dialog, tiny terminals, pasted text, long and wide texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events
from textual.screen import ModalScreen
from textual.widgets import Input

from core.clock import ManualClock
from tests.tui.conftest import OpenStage
from tests.tui.desk import trigger_yaml
from tests.tui.driver import deck_on, opened
from tui.present.lines import plain, wrap
from tui.screens.editor import EditorScreen
from tui.screens.place import Place

DIALOGS = {
    "help": ("1", "question_mark"),
    "palette": ("1", "ctrl+p"),
    "go to": ("1", "colon"),
    "zones": ("1", "Z"),
    "copy": ("1", "y"),
    "export": ("1", "x"),
    "notifications": ("1", "f2"),
    "preview": ("1", "p"),
    "pause": ("1", "P"),
    "delete": ("1", "D"),
    "lanes": ("2", "slash"),
    "why not": ("3", "W"),
    "snooze": ("5", "s"),
    "stop the worker": ("6", "X"),
}


@pytest.mark.parametrize("keys", DIALOGS.values(), ids=DIALOGS)
async def test_a_dialog_outlives_a_resize_and_escape_gives_the_keys_back(
    on_stage: OpenStage, keys: tuple[str, ...]
) -> None:
    async with on_stage() as stage:
        await stage.press(keys[0])
        under, held = stage.app.screen, stage.app.focused
        await stage.press(*keys[1:])
        assert isinstance(stage.app.screen, ModalScreen)
        for size in ((80, 24), (50, 14), (200, 50)):
            await stage.pilot.resize_terminal(*size)
            await stage.settle()
            assert all(cell_len(row) <= size[0] for row in stage.lines)
            box = stage.app.screen.query("Vertical").first().region
            assert box.x >= 0
            assert box.right <= size[0]
            assert box.bottom <= size[1]
        await stage.press("escape")
        assert stage.app.screen is under
        assert stage.app.focused is held


@pytest.mark.parametrize("size", [(40, 12), (20, 6), (10, 3)])
async def test_a_tiny_terminal_shows_less_and_breaks_nothing(on_stage: OpenStage, size: tuple[int, int]) -> None:
    async with on_stage(size=size) as stage:
        for key in "123456":
            await stage.press(key)
            assert all(cell_len(row) <= size[0] for row in stage.lines)
        await stage.press("1", "e")
        stage.screen(EditorScreen)


async def test_text_of_many_lines_pasted_into_a_field_is_its_first_line(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("a")
        field = driver.place.query_one("#row-expression Input", Input)
        field.focus()
        await driver.press("end", "ctrl+u")
        field.post_message(events.Paste("0 15 6 * * ?\nrm -rf /\n"))
        await driver.settle()
        assert field.value == "0 15 6 * * ?"
        assert "at 06:15:00 every day" in driver.text


async def test_text_pasted_over_a_list_does_nothing(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        before = driver.text
        driver.table.post_message(events.Paste("Dyq"))
        await driver.settle()
        assert isinstance(driver.app.screen, Place)
        assert driver.text == before


async def test_the_longest_name_leaves_room_for_the_next_time(database: Path, clock: ManualClock) -> None:
    async with deck_on(database, clock) as deck:
        deck.apply(trigger_yaml("n" * 63))
    async with opened(database, clock, size=(80, 24)) as driver:
        (row,) = [row for row in driver.lines if "nnnn" in row]
        assert "…" in row
        assert "Sun 03:30" in row or "Sun 02:30" in row or "Sat 21:30" in row
        assert cell_len(row) <= 80


@pytest.mark.parametrize("cells", [10, 11, 24])
def test_wrapping_loses_no_letter_of_words_longer_than_a_line_wide_ones_included(cells: int) -> None:
    text = "see https://runbooks.example/very/long/path/without/blanks and 全ての行を確認してください now"
    rows = wrap(text, cells)
    assert all(cell_len(plain(row)) <= cells for row in rows)
    assert "".join("".join(plain(row) for row in rows).split()) == "".join(text.split())


def test_wrapping_indents_what_follows() -> None:
    assert [plain(row) for row in wrap("· one two three", 8, "", "  ")] == ["· one", "  two", "  three"]


async def test_a_sheet_is_read_with_the_keys_of_a_list(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        await driver.press("p")
        top = driver.text
        await driver.press("G")
        last = driver.text
        assert last != top
        await driver.press("j")
        assert driver.text == last
        await driver.press("g")
        assert driver.text == top
