"""Drive the app as a person would: keys in, what stands on the screen out; waits for idle, never for time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from textual.pilot import Pilot
from textual.screen import Screen
from textual.worker import WorkerState

from core.clock import ManualClock
from core.deck import Deck
from tui.app import DeckApp
from tui.frame import Crumb, Flash, Footer, StatusBar
from tui.gateway import Door
from tui.screens.place import Place
from tui.screens.table_place import TablePlace
from tui.widgets.row_table import RowTable

Found = TypeVar("Found", bound=Screen[Any])
BUSY = {WorkerState.PENDING, WorkerState.RUNNING}


class Driver:
    """One running app, seen through its screen."""

    def __init__(self, app: DeckApp, pilot: Pilot[None], clock: ManualClock) -> None:
        self.app, self.pilot, self.clock = app, pilot, clock

    async def settle(self) -> None:
        """Wait until no thread works, nothing is due soon and every message was handled."""
        for _ in range(2000):
            await self.pilot.pause()
            working = any(worker.state in BUSY for worker in self.app.workers)
            if not working and not any(place.waits for place in self.app.places()):
                await self.pilot.pause()
                return
        raise AssertionError("the app does not come to rest")

    async def press(self, *keys: str) -> None:
        """Press keys one after another and wait for rest after each."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type(self, text: str) -> None:
        """Type a text into what has the keys, and wait for rest."""
        for mark in text:
            await self.pilot.press({" ": "space"}.get(mark, mark))
        await self.settle()

    async def look(self) -> None:
        """Let the app see what changed in the database."""
        self.app.live.look()
        await self.settle()

    async def beat(self) -> None:
        """Let the app see the clock."""
        self.app.live.beat()
        await self.settle()

    # -- what stands there ----------------------------------------------------------------------------------------

    @property
    def lines(self) -> list[str]:
        """Return the rows of the screen in sight."""
        strips = self.app.screen._compositor.render_strips()  # the only way to what is drawn
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]

    @property
    def text(self) -> str:
        """Return the whole screen."""
        return "\n".join(self.lines)

    @property
    def prose(self) -> str:
        """Return the whole screen as running text: no boxes, one blank between words."""
        return " ".join(self.text.translate(str.maketrans("│╭╮╰╯─", "      ")).split())

    @property
    def place(self) -> Place:
        """Return the place in sight, under popups if there are any."""
        return next(screen for screen in reversed(self.app.screen_stack) if isinstance(screen, Place))

    @property
    def table(self) -> RowTable[Any]:
        """Return the place's table."""
        assert isinstance(self.place, TablePlace)
        return self.place.table

    def screen(self, kind: type[Found]) -> Found:
        """Return the screen on top as what it must be."""
        assert isinstance(self.app.screen, kind), f"{self.app.screen!r} is on top"
        return self.app.screen

    @property
    def flash(self) -> str:
        """Return the sentence above the footer."""
        return self.place.query_one(Flash).text

    def bar(self, kind: type[StatusBar | Crumb | Footer]) -> str:
        """Return one of the frame's lines at the screen's width."""
        line = self.place.query_one(kind).line(self.app.size.width)
        return "".join(piece.text for piece in line).strip()


@asynccontextmanager
async def opened(
    database: Path,
    clock: ManualClock,
    *,
    size: tuple[int, int] = (120, 36),
    read_only: bool = False,
    config_file: Path | None = None,
) -> AsyncIterator[Driver]:
    """Open the app on a database; a fault of the program behind any answer fails the test."""
    door = Door(database, read_only=read_only, start_worker=False, clock=clock)
    app = DeckApp(door, live=False, config_file=config_file)
    app.mine = "America/New_York"
    app.animation_level = "none"
    async with app.run_test(size=size) as pilot:
        driver = Driver(app, pilot, clock)
        await driver.settle()
        await driver.look()
        yield driver
        assert not app.gateway.faults, app.gateway.faults
    app.gateway.close()


@asynccontextmanager
async def deck_on(database: Path, clock: ManualClock) -> AsyncIterator[Deck]:
    """Open the deck beside the app, as another person would."""
    deck = Deck.open(database, clock=clock)
    try:
        yield deck
    finally:
        deck.close()
