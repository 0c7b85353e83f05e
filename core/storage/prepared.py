"""Statements that are run again and again: compiled once, handed to the driver as they are.

To build a query, to look it up among the compiled ones and to describe its result costs SQLAlchemy ten times what
SQLite needs to answer it. Here the statement is still made of our tables, and values still pass their column types
both ways; only the walk is ours. Lists of constants are compiled in; a list that varies is bound as JSON (`listed`).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from sqlalchemy import Insert, Select, Text, Update, bindparam, func, insert, select, update
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.dialects.sqlite.dml import Insert as SqliteInsert

from core.storage.columns import table_of
from core.storage.store import Transaction

_DIALECT = sqlite_dialect(paramstyle="qmark")
_Make = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class _Place:
    """One parameter: a value of this name, made so; or, without a name, a constant of the statement."""

    name: str
    make: _Make | None
    constant: Any = None


class _Compiled:
    """A statement as the driver takes it, and how its parameters are made."""

    def __init__(self, statement: Select[Any] | Insert | SqliteInsert | Update) -> None:
        self._statement = statement

    @cached_property
    def _form(self) -> tuple[str, list[_Place]]:
        """Return the text and its parameters, made at the first use: a start should not wait for them."""
        compiled: Any = self._statement.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
        if getattr(compiled, "insert_prefetch", None) or getattr(compiled, "update_prefetch", None):
            raise ValueError(f"a default that Python would fill in is missing in {compiled}")
        return str(compiled), [_place(compiled, name) for name in compiled.positiontup]

    def execute(self, tx: Transaction, values: Mapping[str, Any]) -> sqlite3.Cursor:
        """Run it with these values; a missing one is a KeyError."""
        sql, places = self._form
        made = [_made(place.make, values[place.name]) if place.name else place.constant for place in places]
        return tx.driver.execute(sql, made)


class Query(_Compiled):
    """A select with a `given` for each value; rows are tuples in the order of its columns."""

    def __init__(self, statement: Select[Any]) -> None:
        super().__init__(statement)
        self._selected = statement

    @cached_property
    def _reads(self) -> list[tuple[int, _Make]]:
        types = [column.type.dialect_impl(_DIALECT) for column in self._selected.selected_columns]
        reads = [kind.result_processor(_DIALECT, None) for kind in types]
        return [(place, read) for place, read in enumerate(reads) if read is not None]

    def all(self, tx: Transaction, **values: Any) -> list[tuple[Any, ...]]:
        """Return every row."""
        return list(map(self._row, self.execute(tx, values).fetchall()))

    def first(self, tx: Transaction, **values: Any) -> tuple[Any, ...] | None:
        """Return the first row, if any."""
        cursor = self.execute(tx, values)
        row = cursor.fetchone()
        cursor.close()
        return None if row is None else self._row(row)

    def scalar(self, tx: Transaction, **values: Any) -> Any:
        """Return the first column of the first row, or None."""
        row = self.first(tx, **values)
        return None if row is None else row[0]

    def _row(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        if not self._reads:
            return row
        made = list(row)
        for place, read in self._reads:
            if made[place] is not None:
                made[place] = read(made[place])
        return tuple(made)


class Command(_Compiled):
    """An insert or update with a `given` for each value."""

    def run(self, tx: Transaction, **values: Any) -> int:
        """Run it; return how many rows it touched."""
        return int(self.execute(tx, values).rowcount)


class Rows:
    """The single rows of one table: stored and changed by statements that are compiled at their first use."""

    def __init__(self, model: Any, *keys: str) -> None:
        self._table = table_of(model)
        self._keys = keys
        self._inserting = lru_cache(maxsize=64)(self._insert)
        self._updating = lru_cache(maxsize=256)(self._update)

    def insert(self, tx: Transaction, **values: Any) -> None:
        """Store one row."""
        self._inserting(tuple(values)).run(tx, **values)

    def change(self, tx: Transaction, *keys: Any, was: Iterable[str] | None = None, **values: Any) -> int:
        """Change the rows with these keys, whose status is one of `was` where it is given; return how many."""
        command = self._updating(tuple(values), None if was is None else tuple(was))
        where = {f"key_{name}": key for name, key in zip(self._keys, keys, strict=True)}
        return command.run(tx, **where, **values)

    def _insert(self, names: tuple[str, ...]) -> Command:
        return Command(insert(self._table).values({name: self._bound(name, name) for name in names}))

    def _update(self, names: tuple[str, ...], was: tuple[str, ...] | None) -> Command:
        columns = self._table.c
        where = [columns[name] == self._bound(name, f"key_{name}") for name in self._keys]
        if was is not None:
            where.append(columns.status.in_(was))
        return Command(update(self._table).where(*where).values({name: self._bound(name, name) for name in names}))

    def _bound(self, column: str, name: str) -> Any:
        return given(name, self._table.c[column].type)


def given(name: str, type_: Any = None) -> Any:
    """Return the place of a value that is given when the statement runs."""
    return bindparam(name, None, type_=Text() if type_ is None else type_, required=False)


def listed(column: Any, name: str = "listed") -> Any:
    """Return that a column is among the JSON array bound under a name: one text for lists of any length."""
    return column.in_(select(func.json_each(given(name)).table_valued("value").c.value))


def as_list(values: Iterable[str]) -> str:
    """Return values as `listed` takes them."""
    return json.dumps(list(values))


def _place(compiled: Any, name: str) -> _Place:
    """Return one parameter of a compiled statement; lists that were compiled in have no bind of their own name."""
    bound = compiled.binds.get(name)
    make = None if bound is None else bound.type.dialect_impl(_DIALECT).bind_processor(_DIALECT)
    if bound is not None and not bound.unique and bound.value is None:
        return _Place(name, make)
    return _Place("", None, _made(make, compiled.params[name]))


def _made(make: _Make | None, value: Any) -> Any:
    return value if make is None or value is None else make(value)
