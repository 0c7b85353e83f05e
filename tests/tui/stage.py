"""Put a scene on a headless terminal: the real app over the real core, a held clock, nothing that moves by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from core.clock import ManualClock
from core.deck import Deck
from tests.tui import world
from tui.app import DeckApp
from tui.gateway import Door, Gateway
from tui.screens.place import Place
from tui.widgets.frame import Flash

SETTLES = 60


@contextmanager
def held_still() -> Iterator[None]:
    """Freeze what a picture must not depend on: zone, user, cursors that blink."""
    with pytest.MonkeyPatch.context() as patch, world.story_maker():
        patch.setenv("TZ", "Europe/Berlin")
        patch.delenv("NO_COLOR", raising=False)
        patch.setattr(Input.cursor_blink, "_default", False)
        patch.setattr(TextArea.cursor_blink, "_default", False)
        yield


@dataclass
class Stage:
    """The app with its pilot; every act waits until nothing is asked and nothing is left to draw."""

    app: DeckApp
    pilot: Pilot[Any] = field(init=False)

    @property
    def place(self) -> Place:
        """Return the place in sight."""
        return next(screen for screen in reversed(self.app.screen_stack) if isinstance(screen, Place))

    @property
    def flash(self) -> str:
        """Return the sentence above the footer."""
        return self.place.query_one(Flash).text

    @property
    def deck(self) -> Deck:
        """Return the deck that the app has opened."""
        return self.app.gateway._deck.result(timeout=0)

    def get(self, selector: Any) -> Any:
        """Return a widget of the screen in sight."""
        return self.app.screen.query_one(selector)

    async def begin(self, pilot: Pilot[Any]) -> None:
        """Open the deck and read the status once."""
        self.pilot = pilot
        await self.settle()
        self.app.live.look()
        await self.settle()

    async def settle(self) -> None:
        """Wait until no question is under way and no message waits."""
        for _ in range(SETTLES):
            await self.pilot.pause()
            running = [worker for worker in self.app.workers if not worker.is_finished]
            if not running:
                await self.pilot.pause()
                if all(worker.is_finished for worker in self.app.workers):
                    return
            await self.app.workers.wait_for_complete(running)
        raise AssertionError("the app does not come to rest")

    async def press(self, *keys: str) -> None:
        """Press keys one after another, waiting after each."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type(self, text: str) -> None:
        """Type a text as keys."""
        for mark in text:
            await self.pilot.press({" ": "space"}.get(mark, mark))
        await self.settle()

    async def look(self) -> None:
        """Let the app see what changed in the database."""
        self.app.live.look()
        await self.settle()

    def screen_text(self) -> str:
        """Return what stands on the screen, line by line."""
        return "\n".join("".join(part.text for part in strip) for strip in self.app.screen._compositor.render_strips())


Act = Callable[[Stage], Awaitable[None]]


def stage(
    database: Path, *, read_only: bool = False, theme: str = "deck-dark", clock: ManualClock | None = None
) -> Stage:
    """Return the app over a database, not yet running."""
    held = clock or ManualClock(world.NOW)
    door = Door(database, read_only=read_only, start_worker=False, clock=held)
    gateway = Gateway(lambda: world.SceneDeck.open(database, read_only=read_only, clock=held))
    app = DeckApp(door, gateway=gateway, live=False)
    app.animation_level = "none"
    app.theme = theme
    return Stage(app)
