"""Worlds that begin at the instant of a report; what a test leaves behind is checked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from tests.integration.admission.world import World
from tests.integration.public_failures.living import MakeWorld


@pytest.fixture
def world_at(tmp_path: Path) -> Iterator[MakeWorld]:
    """Make worlds, with the Flow `print`, that begin at an instant."""
    made: list[World] = []

    def make(start: datetime) -> World:
        world = World(tmp_path / f"deck-{len(made)}.sqlite3", start)
        world.flow()
        made.append(world)
        return world

    yield make
    for world in made:
        assert world.tampered or world.proven() == ()
        world.store.close()
