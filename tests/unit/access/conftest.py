from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.clock import ManualClock
from core.storage.opening import open_store
from core.storage.store import Store

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "deck.sqlite3", clock=ManualClock(NOW))
    yield opened
    opened.close()
