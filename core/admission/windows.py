"""Pauses in whole seconds, as a decision wants them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from core.admission.decide import Window
from core.clock import epoch_seconds
from core.storage import admission as statements
from core.storage.admission import PauseRow, StateRow
from core.storage.store import Transaction


def windows_of(tx: Transaction, states: Sequence[StateRow], now: datetime) -> dict[str, tuple[Window, ...]]:
    """Return the pauses that cover `now` or can cover an undecided time of these Triggers."""
    if not states:
        return {}
    oldest = min([now, *(state.mark_at for state in states if state.mark_at is not None)])
    found = statements.pauses(tx, (state.trigger_uid for state in states), oldest)
    return {uid: tuple(map(window_of, rows)) for uid, rows in found.items()}


def window_of(row: PauseRow) -> Window:
    """Return a pause in whole seconds: it covers the nominal times at or after its start and before its end."""
    until = None if row.until_at is None else _ceiling(row.until_at)
    return Window(row.id, _ceiling(row.from_at), until, row.note)


def _ceiling(instant: datetime) -> int:
    return epoch_seconds(instant) + (1 if instant.microsecond else 0)
