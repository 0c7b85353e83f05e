"""`n` and `N` go from match to match through a list, loaded or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from core.clock import ManualClock
from tests.tui.conftest import OpenStage
from tests.tui.driver import Driver, opened
from tui.present import matches
from tui.present.lines import line
from tui.widgets.dialog import Sheet
from tui.widgets.filter_input import FilterInput


def order(start: int, total: int, step: int) -> list[int]:
    seen: list[int] = []
    for first, end in matches.stretches(start, total, step):
        seen += range(first, end) if step > 0 else reversed(range(first, end))
    return seen


@pytest.mark.parametrize(("start", "total"), [(0, 1), (0, 5), (3, 5), (4, 5), (700, 1600), (0, 1600), (1599, 1600)])
def test_a_search_reads_every_other_row_once_around(start: int, total: int) -> None:
    after = [*range(start + 1, total), *range(start)]
    assert order(start, total, 1) == after
    assert order(start, total, -1) == after[::-1]


def test_a_search_stops_reading_where_the_filter_serves_better() -> None:
    read: list[int] = []

    def page(first: int, count: int) -> Sequence[int]:
        read.append(first)
        return range(first, first + count)

    assert matches.find(page, lambda _: False, 0, 10**6, 1) is None
    assert len(read) == matches.SEARCHED_MOST // matches.STRETCH


def test_a_row_matches_with_all_words_in_any_case_and_any_column() -> None:
    cells = (line("Nightly-Import"), line("02:30 daily · Berlin"))
    assert matches.shows(cells, ("import", "berlin"))
    assert not matches.shows(cells, ("import", "paris"))


def here(driver: Driver) -> str:
    name: str = driver.table.row.name
    return name


async def looked_for(driver: Driver, words: str) -> None:
    await driver.press("slash")
    await driver.type(words)
    await driver.press("enter", "escape")


async def test_n_goes_on_through_the_whole_list_once_the_filter_is_away(
    many: Callable[[int], Path], clock: ManualClock
) -> None:
    database = many(260)
    async with opened(database, clock) as driver:
        await driver.press("s")
        await looked_for(driver, "bulk-25")
        assert driver.table.total == 265
        found = []
        for _ in range(3):
            await driver.press("n")
            found.append(here(driver))
        assert found == ["bulk-250", "bulk-251", "bulk-252"]
        await driver.press("N", "N")
        assert here(driver) == "bulk-250"
        await driver.press("N")
        assert here(driver) == "bulk-259", "it goes around"


async def test_what_was_looked_for_is_lit_until_escape_forgets_it(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await looked_for(driver, "digest")
        assert driver.table.needle == "digest"
        await driver.press("escape")
        assert driver.table.needle == ""
        await driver.press("n")
        assert driver.flash == "! nothing was looked for yet: / takes words"


async def test_a_match_that_nothing_else_shows_is_said(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await looked_for(driver, "us-digest")
        await driver.press("n")
        assert here(driver) == "us-digest"
        await driver.press("n")
        assert driver.flash == "! no other row shows 'us-digest'"


async def test_without_a_search_the_key_opens_the_notifications(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("N")
        driver.screen(Sheet)
        await driver.press("escape", "f2")
        driver.screen(Sheet)


async def test_a_filter_sent_with_a_fault_stays_open_and_says_what_is_wrong(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24)) as stage:
        for place, text in (("1", "phase:nonsense"), ("3", "state:bad"), ("4", "status:bad")):
            await stage.press(place, "slash")
            await stage.type(text)
            await stage.press("enter")
            assert isinstance(stage.app.focused, FilterInput)
            assert "does not know" in stage.prose
            await stage.press("ctrl+u")
            assert "does not know" not in stage.prose
            await stage.press("enter")
            assert stage.app.focused is stage.table
            assert stage.table.total
