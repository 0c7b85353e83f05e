"""Rows stand before the deck is open, and the deck's own take their place."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from core.clock import ManualClock
from core.deck import Deck
from tests.tui.driver import Driver
from tui.app import DeckApp
from tui.gateway import Door


class ShutDoor(Door):
    """A door that stays shut until it is told."""

    def open(self) -> Deck:
        """Open once it is allowed."""
        assert ALLOWED.wait(60)
        return super().open()


ALLOWED = threading.Event()


@pytest.fixture
def app(database: Path, clock: ManualClock) -> DeckApp:
    """Return the app before a deck that opens when it is allowed."""
    ALLOWED.clear()
    return DeckApp(ShutDoor(database, start_worker=False, clock=clock), live=False)


async def until_rows_stand(driver: Driver, first: str) -> None:
    for _ in range(5000):
        await driver.pilot.pause()
        row = driver.app.screen_stack[0].table.row_at(0)  # type: ignore[attr-defined]  # the list of Triggers
        if row is not None and row.name == first:
            return
    raise AssertionError(f"{first} never stood first: {driver.app.gateway.faults}")


async def test_rows_stand_while_the_deck_is_still_shut(app: DeckApp, clock: ManualClock) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        driver = Driver(app, pilot, clock)
        await until_rows_stand(driver, "crm-pull")
        assert not app.gateway.ready
        assert "Triggers 5" in driver.text
        ALLOWED.set()
        await driver.settle()
        assert app.gateway.ready
        assert "nightly-import" in driver.text


async def test_another_order_is_answered_while_the_deck_is_still_shut(app: DeckApp, clock: ManualClock) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        driver = Driver(app, pilot, clock)
        await until_rows_stand(driver, "crm-pull")
        await pilot.press("s")
        await until_rows_stand(driver, "crm-pull")
        await pilot.press("S")
        await until_rows_stand(driver, "us-digest")
        assert not app.gateway.ready
        ALLOWED.set()
        await driver.settle()


async def test_a_first_look_that_fails_leaves_the_rows_to_the_deck(
    app: DeckApp, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(Door, "first_triggers", fail)
    ALLOWED.set()
    async with app.run_test(size=(120, 36)) as pilot:
        driver = Driver(app, pilot, clock)
        await driver.settle()
        assert "nightly-import" in driver.text
    assert [str(fault) for fault in app.gateway.faults] == ["out of order"]
