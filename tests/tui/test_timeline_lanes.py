"""The timeline's lanes: they keep their order and their cursor, and go on where one stretch ends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from core.clock import ManualClock
from tests.tui.desk import trigger_yaml
from tests.tui.driver import Driver, deck_on, opened
from tui.frame import Crumb
from tui.screens import timeline, timeline_counts
from tui.screens.timeline import TimelinePlace


def place(driver: Driver) -> TimelinePlace:
    assert isinstance(driver.place, TimelinePlace)
    return driver.place


def lane(driver: Driver) -> str:
    strip = place(driver).strip
    assert strip.timeline is not None
    return strip.timeline.lanes[strip.lane].name


async def test_lanes_stay_where_they_are_however_the_next_fires_change(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("2", "j", "j")
        strip = place(driver).strip
        assert strip.timeline is not None
        before, here = [each.name for each in strip.timeline.lanes], lane(driver)
        async with deck_on(database, clock) as deck:
            deck.apply(trigger_yaml("aaa-soon", "{type: cron, expression: '* * * * * ?', timeZone: UTC}"))
            deck.disable(before[0])
        clock.advance(timedelta(hours=5))
        await driver.press("ctrl+r")
        assert [each.name for each in place(driver).strip.timeline.lanes] == [*before, "aaa-soon"]  # type: ignore[union-attr]
        assert lane(driver) == here


async def test_the_lanes_after_the_last_one_follow_by_the_same_key(
    many: Callable[[int], Path], clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (timeline, timeline_counts):
        monkeypatch.setattr(module, "LANES", 10)
    async with opened(many(18), clock) as driver:
        await driver.press("2")
        assert "triggers 1–10 of 23" in driver.bar(Crumb)
        assert "these · fires" in driver.text
        await driver.press("G")
        assert "triggers 21–23 of 23" in driver.bar(Crumb)
        assert lane(driver) == "us-digest"
        await driver.press("g")
        assert "triggers 1–10 of 23" in driver.bar(Crumb)
        assert lane(driver) == "bulk-000"
        await driver.press(*["j"] * 10)
        assert "triggers 11–20 of 23" in driver.bar(Crumb)
        assert lane(driver) == "bulk-010"
        await driver.press("k")
        assert lane(driver) == "bulk-009"
        assert "triggers 1–10 of 23" in driver.bar(Crumb)


async def test_few_lanes_are_all_there_and_say_how_many(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("2")
        assert driver.bar(Crumb).endswith("5 triggers")
        assert "all · fires" in driver.text


async def test_a_filter_without_a_match_says_so(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("2", "slash")
        await driver.type("nowhere")
        await driver.press("enter")
        assert "no trigger matches this filter; esc takes it away" in driver.text
        await driver.press("escape")
        assert driver.bar(Crumb).endswith("5 triggers")


async def test_narrow_hours_of_a_week_are_bars_that_do_not_run_into_each_other(
    database: Path, clock: ManualClock
) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        async with deck_on(database, clock) as deck:
            deck.enable("disk-usage")
        await driver.press("2", "minus")
        rows = [row for row in driver.lines if row.startswith(" Mon 30 Mar")]
        assert len(rows) == 1
        assert "█ █" in rows[0]
        assert rows[0].endswith("8,739"), "the sum of a day is told with its thousands apart"
