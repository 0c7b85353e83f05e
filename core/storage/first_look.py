"""Read the first page of Triggers with nothing but SQLite, for a screen that must not wait for the database library.

The statements are the deck's own, compiled beforehand (`first_look_statements`). Whatever is unusual (no file, another
schema, a lock, damage) ends the look without a word: the deck is opened right after it and says what is wrong.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from core.clock import from_epoch_us
from core.storage.files import APPLICATION_ID, SCHEMA, connect
from core.storage.objects import read_object
from core.storage.records import Member, Place, TriggerRecord
from core.views.triggers import TriggerQuery

PATIENCE_MS = 100
STATEMENTS = Path(__file__).with_suffix(".json")
_READERS: dict[str, Callable[[Any], Any]] = {
    "Instant": from_epoch_us,
    "Json": json.loads,
    "JsonObject": read_object,
    "Boolean": bool,
}


class FirstLook:
    """One snapshot of a database, read by the compiled statements."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._statements = json.loads(STATEMENTS.read_text(encoding="utf-8"))

    def place(self, workspace: str) -> Place | None:
        """Return a workspace by name."""
        return next((Place._make(row) for row in self._rows("place", workspace=workspace)), None)

    def member(self, place: Place, name: str) -> Member | None:
        """Return a principal by name as the workspace knows it."""
        for principal_id, _ in self._rows("principal", tenant_id=place.tenant_id, name=name):
            found = self._rows("membership", workspace_id=place.workspace_id, principal_id=principal_id)
            return next(map(Member._make, found), None)
        return None

    def triggers(self, workspace_id: str, query: TriggerQuery, limit: int) -> tuple[list[TriggerRecord], int]:
        """Return the first Triggers in the query's order, and how many there are; the query may hold no filter."""
        [[total]] = self._rows("count", workspace_id=workspace_id)
        rows = self._rows(order_name(query), workspace_id=workspace_id, limit=limit)
        return [TriggerRecord._make(row) for row in rows], total

    def letters(self, uid: str) -> str:
        """Return a Trigger's last 20 outcomes as letters, oldest first."""
        return "".join((text or "")[::-1] for _, text in self._rows("letters", uid=uid))

    def _rows(self, statement: str, **given: Any) -> Iterator[list[Any]]:
        compiled = self._statements[statement]
        readers = [_READERS.get(kind) for kind in compiled["columns"]]
        for row in self._connection.execute(compiled["sql"], compiled["constants"] | given):
            yield [
                value if read is None or value is None else read(value)
                for read, value in zip(readers, row, strict=True)
            ]


@contextmanager
def first_look(path: Path) -> Iterator[FirstLook | None]:
    """Open a snapshot of a database of today's schema; None where the file is missing or another."""
    if not path.is_file():
        yield None
        return
    with closing(connect(path, read_only=True)) as connection:
        connection.execute(f"PRAGMA busy_timeout={PATIENCE_MS}").close()
        known = all(
            connection.execute(f"PRAGMA {name}").fetchone() == (value,)
            for name, value in (("application_id", APPLICATION_ID), ("user_version", SCHEMA))
        )
        connection.execute("BEGIN")
        yield FirstLook(connection) if known else None


def order_name(query: TriggerQuery) -> str:
    """Return the name of the statement that lists Triggers in a query's order."""
    return f"triggers by {query.sort} {'down' if query.descending else 'up'}"
