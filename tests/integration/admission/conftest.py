"""A fresh world for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.admission.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Return a database with the Flow `print`, at 09:00 UTC on Monday 2 March 2026; what a test leaves is checked."""
    made = World(tmp_path / "triggerdeck.sqlite3")
    made.flow()
    yield made
    assert made.tampered or made.proven() == ()
    made.store.close()
