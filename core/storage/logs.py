"""Statements about log lines; they are bulk writes and never enter the change table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select

from core.storage.columns import table_of
from core.storage.store import Transaction
from core.storage.tables import LogLine

_line = table_of(LogLine)


@dataclass(frozen=True, slots=True)
class LastLine:
    """One line of a step's log; `stream` is out, err or note."""

    at: datetime
    attempt: int
    stream: str
    text: str


def append(tx: Transaction, lines: Sequence[Mapping[str, Any]]) -> None:
    """Store log lines in their order."""
    tx.run(insert(_line), lines)


def tail(tx: Transaction, work_id: str, run_id: str, step_id: str, limit: int) -> list[LastLine]:
    """Return the newest lines that one step of a run wrote, whichever its try, oldest first."""
    where = (_line.c.work_id == work_id, _line.c.run_id == run_id, _line.c.step_id == step_id)
    query = select(_line.c.at, _line.c.attempt, _line.c.stream, _line.c.text).where(*where)
    return [LastLine(*row) for row in reversed(tx.all(query.order_by(_line.c.id.desc()).limit(limit)))]


def texts(tx: Transaction, work_id: str) -> list[tuple[str, str, str]]:
    """Return (step id, stream, text) of every line of a Work, in order."""
    query = select(_line.c.step_id, _line.c.stream, _line.c.text).where(_line.c.work_id == work_id)
    return [tuple(row) for row in tx.all(query.order_by(_line.c.id))]
