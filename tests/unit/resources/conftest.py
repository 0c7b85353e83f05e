from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.clock import ManualClock
from core.storage.opening import open_store
from tests.unit.resources.desk import Desk

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    store = open_store(tmp_path / "deck.sqlite3", clock=ManualClock(NOW))
    yield Desk(store)
    store.close()
