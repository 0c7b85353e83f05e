"""`+` and `_` give the second pane more room or less, and the room is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.clock import ManualClock
from tests.tui.conftest import OpenStage
from tests.tui.driver import Driver, opened
from tui.config import load, parse


def width(driver: Driver, selector: str) -> int:
    return driver.place.query_one(selector).outer_size.width


def height(driver: Driver, selector: str) -> int:
    return driver.place.query_one(selector).outer_size.height


async def test_the_detail_grows_and_shrinks_and_the_table_takes_the_rest(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("plus")
        larger = width(driver, "#detail")
        assert larger == 60
        await driver.press("underscore", "underscore")
        assert width(driver, "#detail") == 36
        assert width(driver, "#detail") + width(driver, "#rows") == 120


async def test_a_pane_has_a_least_and_a_greatest_size(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press(*["plus"] * 6)
        assert width(driver, "#detail") == 96
        assert driver.flash == "! the pane is as large as it gets"
        await driver.press(*["underscore"] * 7)
        assert width(driver, "#detail") == 24
        assert "as small as it gets" in driver.flash


async def test_where_nothing_stands_beside_the_key_says_so(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        await driver.press("plus")
        assert driver.flash == "! larger pane: nothing stands beside what is shown"


async def test_the_chain_under_the_history_grows_upwards(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24)) as stage:
        await stage.press("3")
        before = height(stage, "#why")
        await stage.press("plus", "plus")
        assert height(stage, "#why") > before
        assert height(stage, "#why") + height(stage, "#rows") == stage.place.query_one("#body").size.height


async def test_the_room_holds_when_the_terminal_turns_narrow_and_wide_again(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("5", "plus")
        wide = width(stage, "#question")
        await stage.pilot.resize_terminal(80, 24)
        await stage.settle()
        assert width(stage, "#question") == 80
        assert height(stage, "#rows") > 2
        await stage.pilot.resize_terminal(120, 36)
        await stage.settle()
        assert width(stage, "#question") == wide


async def test_the_room_is_remembered_until_the_next_visit(database: Path, clock: ManualClock, tmp_path: Path) -> None:
    file = tmp_path / "deck.toml"
    async with opened(database, clock, config_file=file) as driver:
        await driver.press("plus", "q")
    assert load(file).places["triggers"].pane == 50
    async with opened(database, clock, config_file=file) as driver:
        assert width(driver, "#detail") == 60


@pytest.mark.parametrize(
    ("pane", "told"), [(7, "must lie between 20 and 80"), ("50", "has the wrong kind"), (True, "has the wrong kind")]
)
def test_a_room_that_is_none_is_refused_with_a_sentence(pane: object, told: str) -> None:
    read = parse({"places": {"triggers": {"pane": pane}}})
    assert read.places["triggers"].pane == 0
    assert any(told in fault for fault in read.faults)
