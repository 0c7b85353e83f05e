"""Statements about log lines; they are bulk writes and never enter the change table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select

from core.storage.columns import table_of
from core.storage.store import Transaction
from core.storage.tables import LogLine

_line = table_of(LogLine)


def append(tx: Transaction, lines: Sequence[Mapping[str, Any]]) -> None:
    """Store log lines in their order."""
    tx.run(insert(_line), lines)


def texts(tx: Transaction, work_id: str) -> list[tuple[str, str, str]]:
    """Return (step id, stream, text) of every line of a Work, in order."""
    query = select(_line.c.step_id, _line.c.stream, _line.c.text).where(_line.c.work_id == work_id)
    return [tuple(row) for row in tx.all(query.order_by(_line.c.id))]
