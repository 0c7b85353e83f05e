"""Put a scene on a headless terminal: the real app over the real core, a held clock, nothing that moves by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from core.clock import ManualClock
from core.deck import Deck
from tests.tui import world
from tests.tui.driver import Driver
from tui.app import DeckApp
from tui.gateway import Door, Gateway


@contextmanager
def held_still() -> Iterator[None]:
    """Freeze what a picture must not depend on: zone, user, editor, cursors that blink."""
    with pytest.MonkeyPatch.context() as patch, world.story_maker():
        patch.setenv("TZ", "Europe/Berlin")
        for name in ("NO_COLOR", "VISUAL", "EDITOR"):
            patch.delenv(name, raising=False)
        patch.setattr(Input.cursor_blink, "_default", False)
        patch.setattr(TextArea.cursor_blink, "_default", False)
        yield


class Stage(Driver):
    """The driver of an app that somebody else runs."""

    def __init__(self, app: DeckApp, clock: ManualClock) -> None:
        self.app, self.clock = app, clock

    async def begin(self, pilot: Pilot[Any]) -> None:
        """Open the deck and read the status once."""
        self.pilot = pilot
        await self.settle()
        await self.look()

    @property
    def deck(self) -> Deck:
        """Return the deck that the app has opened."""
        return self.app.gateway._deck.result(timeout=0)


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
    return Stage(app, held)
