"""A stretch of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A stretch of rows out of `total`; `cursor` asks for the next stretch, None at the end."""

    rows: tuple[Row, ...]
    total: int
    offset: int = 0
    cursor: str | None = None
