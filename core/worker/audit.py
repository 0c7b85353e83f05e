"""What the worker itself puts on the audit trail."""

from __future__ import annotations

from datetime import timedelta

from core.access.standing import system_user
from core.storage import access, beats
from core.storage.store import Store


def record_jump(store: Store, jumped: timedelta) -> None:
    """Record one jump of the wall clock in every workspace."""
    detail = {"seconds": round(jumped.total_seconds(), 3)}
    with store.write() as tx:
        for workspace_id, principal_id in beats.places_of(tx, system_user()):
            access.add_event(
                tx,
                tx.clock.now(),
                workspace_id=workspace_id,
                principal_id=principal_id,
                action="clock_jumped",
                kind="Worker",
                uid="",
                name="",
                outcome="observed",
                code="",
                detail=detail,
            )
            tx.changed(workspace_id, "worker", "clock")
