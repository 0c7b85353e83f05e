"""The line above the footer: a sentence is shown whole, in the display zone, and goes by itself unless it is bad."""

from __future__ import annotations

from pathlib import Path

from core.clock import ManualClock
from tests.tui.driver import Driver, opened
from tui.frame import Flash, Footer

LONG = "not saved: definition.source.schedule.expression: " + "this sentence tells what is wrong and what to do " * 3


def rows(driver: Driver) -> list[str]:
    flash = driver.place.query_one(Flash)
    return [driver.lines[flash.region.y + at] for at in range(flash.size.height)]


async def test_a_long_sentence_takes_more_lines_and_gives_them_back(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        driver.app.flash(LONG.strip(), "bad")
        await driver.settle()
        assert len(rows(driver)) == 3
        assert " ".join(" ".join(rows(driver)).split()) == f"✗ {LONG.strip()}"
        assert driver.lines[23].strip() == driver.bar(Footer)
        driver.app.flash("short")
        await driver.settle()
        assert [row.strip() for row in rows(driver)] == ["short"]


async def test_what_does_not_fit_three_lines_ends_with_an_ellipsis(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, size=(80, 24)) as driver:
        driver.app.flash(LONG * 3, "warn")
        await driver.settle()
        assert len(rows(driver)) == 3
        assert rows(driver)[-1].endswith("…")


async def test_instants_are_told_in_the_display_zone(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        driver.table.move_to_key("default/disk-usage")
        await driver.press("t", "y")
        assert driver.flash.startswith("✓ disk-usage is enabled; it fires next at 28 Mar 09:03:20 -04")
