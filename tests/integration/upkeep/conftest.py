"""A fresh ward for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.upkeep.ward import Ward


@pytest.fixture
def ward(tmp_path: Path) -> Iterator[Ward]:
    """Return a database with the Flow `print`, at 09:00 UTC on Monday 2 March 2026."""
    made = Ward(tmp_path / "triggerdeck.sqlite3")
    made.flow()
    yield made
    made.store.close()
