"""Statements that are run for thousands of rows: compiled once, handed to the driver as tuples.

What SQLAlchemy does for each row of an `executemany` costs more than SQLite's own work. Here the statement is still
made of our tables, and values still pass their column types; only the walk over each row is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlalchemy import Insert, Update
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.dialects.sqlite.dml import Insert as SqliteInsert

from core.storage.store import Transaction

Row = Mapping[str, Any]


class Bulk:
    """One insert or update with a bound parameter for each value of a row."""

    def __init__(self, statement: Insert | SqliteInsert | Update) -> None:
        dialect = sqlite_dialect(paramstyle="qmark")
        compiled: Any = statement.compile(dialect=dialect)
        self._sql = str(compiled)
        self._takes: list[tuple[str, Callable[[Any], Any] | None]] = [
            (name, compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect))
            for name in compiled.positiontup
        ]

    def run(self, tx: Transaction, rows: Iterable[Row]) -> None:
        """Run the statement for every row; rows have a value for each parameter."""
        takes = self._takes
        values = [tuple([row[name] if make is None else make(row[name]) for name, make in takes]) for row in rows]
        if values:
            tx.connection.exec_driver_sql(self._sql, values)
