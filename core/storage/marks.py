"""The statement that only a mark moved back needs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import update

from core.storage.columns import table_of
from core.storage.store import Transaction
from core.storage.tables import Revision

_revision = table_of(Revision).c


def lower_revisions(tx: Transaction, uid: str, mark: datetime) -> None:
    """Let generations that came into force beyond a mark have come into force at it."""
    beyond = (_revision.uid == uid, _revision.mark_at > mark)
    tx.run(update(table_of(Revision)).where(*beyond).values(mark_at=mark))
