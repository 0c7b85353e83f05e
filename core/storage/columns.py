"""Column types shared by all tables: instants as integers, JSON as compact text."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Text, UnaryExpression
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.operators import custom_op
from sqlalchemy.types import TypeDecorator

from core.clock import epoch_us, from_epoch_us
from core.storage.objects import read_object


class Instant(TypeDecorator[datetime]):
    """An aware UTC datetime, stored as integer microseconds since 1970."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Return microseconds; a naive datetime is a programming error."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a naive datetime reached the store: {value!r}")
        return epoch_us(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - as above
        """Return the aware instant."""
        return None if value is None else from_epoch_us(value)


class Json(TypeDecorator[Any]):
    """A JSON value, stored as compact UTF-8 text; SQL NULL is Python None."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002 - as above
        """Return compact JSON text."""
        return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002 - as above
        """Return the value read back."""
        return None if value is None else json.loads(value)


class JsonObject(Json):
    """A JSON object; one that is damaged reads as an empty one."""

    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002 - as above
        """Return the object read back."""
        return None if value is None else read_object(value)


def table_of(model: Any) -> Any:
    """Return a SQLModel class's Core table, whose columns type checkers would take for plain values."""
    return model.__table__


def without_index(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return `+column`, which SQLite compares like the column and looks up in no index."""
    return UnaryExpression(column, operator=custom_op("+"), type_=column.type)
