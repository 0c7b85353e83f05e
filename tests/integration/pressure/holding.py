"""A reader that does not let go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.storage.files import connect


@contextmanager
def held_cursor(database: Path) -> Iterator[None]:
    """Keep a snapshot open, in the middle of its rows, for as long as the block lasts."""
    connection = connect(database, read_only=True)
    cursor = connection.execute("BEGIN").execute("SELECT a.seq FROM change a, change b, change c")
    assert cursor.fetchone() is not None
    try:
        yield
    finally:
        cursor.close()
        connection.close()
