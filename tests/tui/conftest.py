"""The day that every test of the app looks at is made once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from core.clock import ManualClock
from core.deck import Deck
from tests.tui import world
from tests.tui.desk import clock, database, many, quiet
from tests.tui.stage import Stage, held_still, stage

__all__ = ["clock", "database", "many", "quiet"]

OpenStage = Callable[..., AbstractAsyncContextManager[Stage]]


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the database of the story."""
    return world.make(tmp_path_factory.mktemp("story"))


@pytest.fixture(scope="session")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a database in which nothing was ever written."""
    database = tmp_path_factory.mktemp("nothing") / "deck.sqlite3"
    with world.story_maker():
        Deck.open(database, clock=ManualClock(world.NOW)).close()
    return database


@pytest.fixture
def still() -> Iterator[None]:
    """Hold zone, user and cursors still."""
    with held_still():
        yield


@pytest.fixture
def copy_of(still: None, story: Path, nothing: Path, tmp_path: Path) -> Callable[[bool], Path]:
    """Return a function that copies the empty database, or the story, for one test."""
    return lambda empty: world.copied(nothing if empty else story, tmp_path / "deck")


@pytest.fixture
def on_stage(copy_of: Callable[[bool], Path]) -> OpenStage:
    """Return a function that runs the app over a copy of the story."""

    @asynccontextmanager
    async def run(
        *, empty: bool = False, read_only: bool = False, size: tuple[int, int] = (120, 36)
    ) -> AsyncIterator[Stage]:
        made = stage(copy_of(empty), read_only=read_only)
        async with made.app.run_test(size=size) as pilot:
            await made.begin(pilot)
            yield made
        made.app.gateway.close()
        assert not made.app.gateway.faults

    return run
