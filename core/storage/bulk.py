"""Statements that are run for thousands of rows: compiled once, handed to the driver as tuples.

What SQLAlchemy does for each row of an `executemany` costs more than SQLite's own work. Here the statement is still
made of our tables, and values still pass their column types; only the walk over each row is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter, itemgetter
from typing import Any

from sqlalchemy import Insert, Update
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.dialects.sqlite.dml import Insert as SqliteInsert

from core.storage.store import Transaction


class Bulk:
    """One insert or update with a bound parameter for each value of a row.

    Rows are mappings or, with `attributes`, objects; a parameter's name less a trailing underscore is the key.
    """

    def __init__(self, statement: Insert | SqliteInsert | Update, *, attributes: bool = False) -> None:
        dialect = sqlite_dialect(paramstyle="qmark")
        compiled: Any = statement.compile(dialect=dialect)
        keys = [name.removesuffix("_") for name in compiled.positiontup]
        makes = [
            compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect) for name in compiled.positiontup
        ]
        self._sql = str(compiled)
        self._read: Callable[[Any], Iterable[Any]] = attrgetter(*keys) if attributes else itemgetter(*keys)
        self._makes = [(place, make) for place, make in enumerate(makes) if make is not None]

    def run(self, tx: Transaction, rows: Iterable[Any]) -> None:
        """Run the statement for every row."""
        values = [self._values(row) for row in rows]
        if values:
            tx.driver.executemany(self._sql, values)

    def _values(self, row: Any) -> tuple[Any, ...]:
        values = list(self._read(row))
        for place, make in self._makes:
            if values[place] is not None:
                values[place] = make(values[place])
        return tuple(values)
