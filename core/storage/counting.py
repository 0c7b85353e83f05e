"""Counts of a long history, without reading all of it for each page.

Up to `EXACT` rows are counted each time, which an index serves within milliseconds. Beyond, a full count is made and
kept for a minute: it is a scroll bar's length, and nothing is decided by it. Who goes on from page to page is told what
the first one counted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, Engine, func, literal, select

from core.storage.columns import table_of
from core.storage.store import Transaction

EXACT = 10_000
KEPT_S = 60.0
KEPT_COUNTS = 256

_Kept = OrderedDict[Hashable, tuple[float, int]]
_counts: WeakKeyDictionary[Engine, _Kept] = WeakKeyDictionary()


def count(
    tx: Transaction, model: Any, sources: Sequence[ColumnElement[bool]], key: Hashable, *, again: bool = False
) -> int:
    """Return how many rows the sources match together; `key` says what was asked, `again` that it goes on with that."""
    kept = _counts.setdefault(tx.connection.engine, OrderedDict())
    now_s, asked = tx.clock.monotonic(), (table_of(model).name, key)
    if asked in kept and now_s - kept[asked][0] < KEPT_S and (again or kept[asked][1] > EXACT):
        return kept[asked][1]
    total = sum(_bounded(tx, model, source) for source in sources)
    if total > EXACT:
        total = sum(_all(tx, model, source) for source in sources)
    kept[asked] = (now_s, total)
    kept.move_to_end(asked)
    if len(kept) > KEPT_COUNTS:
        kept.popitem(last=False)
    return total


def _bounded(tx: Transaction, model: Any, source: ColumnElement[bool]) -> int:
    some = select(literal(1)).select_from(table_of(model)).where(source).limit(EXACT + 1).subquery()
    return int(tx.scalar(select(func.count()).select_from(some)))


def _all(tx: Transaction, model: Any, source: ColumnElement[bool]) -> int:
    return int(tx.scalar(select(func.count()).select_from(table_of(model)).where(source)))
