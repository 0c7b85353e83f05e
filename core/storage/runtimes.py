"""Statements about how long Work takes."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select

from core.storage.columns import table_of
from core.storage.store import Transaction
from core.storage.tables import Work

_work = table_of(Work).c
LOOKED_AT = 5_000
"""How many of the newest completed Works are looked at: the answer costs the same however long the history is."""


def newest(
    tx: Transaction, workspace_id: str, namespace: str, name: str, limit: int
) -> list[tuple[datetime, datetime]]:
    """Return start and end of the newest completed Works of a Flow, tests aside."""
    recent = (
        select(_work.flow_namespace, _work.flow_name, _work.started_at, _work.ended_at)
        .where(_work.workspace_id == workspace_id, _work.status == "completed", ~_work.is_test)
        .order_by(_work.created_at.desc())
        .limit(LOOKED_AT)
        .subquery()
    ).c
    wanted = (recent.flow_namespace == namespace, recent.flow_name == name, recent.started_at.is_not(None))
    return [(row[0], row[1]) for row in tx.all(select(recent.started_at, recent.ended_at).where(*wanted).limit(limit))]
