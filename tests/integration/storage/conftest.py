from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from core.storage.opening import open_store
from core.storage.store import Store

NOBODY = 65_534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deck.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = open_store(path)
    yield opened
    opened.close()


@pytest.fixture
def as_somebody(tmp_path: Path) -> Callable[[], AbstractContextManager[None]]:
    """Return a way to act without root's rights, which no permission binds."""

    @contextmanager
    def act() -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        for folder in (tmp_path, *tmp_path.parents):
            if folder.owner() == "root" and folder != Path("/") and not folder.stat().st_mode & 0o001:
                folder.chmod(folder.stat().st_mode | 0o011)
        os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)

    return act
