"""The change table: what woke worker and screens, in order of commit.

Pruning always leaves the newest row, so sequence numbers never repeat. A reader whose last number was pruned away
is told that everything may have changed.
"""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy import delete, func, select

from core.storage.columns import table_of
from core.storage.store import Transaction
from core.storage.tables import Change

_change = table_of(Change)
EVERYTHING = "*"
"""The key, and the kind, that stand for "anything": read it all again."""
KEPT = 50_000


def latest(tx: Transaction) -> int:
    """Return the newest sequence number, 0 where nothing ever changed."""
    return int(tx.scalar(select(func.max(_change.c.seq))) or 0)


def since(tx: Transaction, seq: int, workspace_id: str | None = None) -> tuple[int, dict[str, frozenset[str]]]:
    """Return the newest number and the keys that changed after `seq`, by kind; `{"*": {"*"}}` after a gap."""
    newest = latest(tx)
    if seq >= newest:
        return newest, {}
    oldest = int(tx.scalar(select(func.min(_change.c.seq))) or 0)
    if seq + 1 < oldest:
        return newest, {EVERYTHING: frozenset({EVERYTHING})}
    query = select(_change.c.kind, _change.c.key).where(_change.c.seq > seq).distinct()
    if workspace_id is not None:
        query = query.where(_change.c.workspace_id == workspace_id)
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for kind, key in tx.all(query):
        keys[kind].add(key)
    return newest, {kind: frozenset(found) for kind, found in keys.items()}


def prune(tx: Transaction, keep: int = KEPT) -> int:
    """Delete all but the newest `keep` (at least one) numbers; return how many rows went."""
    cut = latest(tx) - max(1, keep)
    return int(tx.run(delete(_change).where(_change.c.seq <= cut)).rowcount) if cut > 0 else 0
