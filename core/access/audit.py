"""The audit trail: every change and denial, append-only; ids and codes, no payloads."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from core.access.scope import Scope
from core.errors import Denied
from core.storage import access
from core.storage.store import Store, Transaction


def record(  # noqa: PLR0917 - the order of the sentence: who did what to which thing, and how it went
    tx: Transaction,
    scope: Scope,
    action: str,
    kind: str,
    uid: str,
    name: str,
    outcome: str = "allowed",
    code: str = "",
    detail: dict[str, Any] | None = None,
    *,
    at: datetime | None = None,
) -> None:
    """Append one event in the transaction of the change that it tells of."""
    access.add_event(
        tx,
        at or tx.clock.now(),
        workspace_id=scope.workspace_id,
        principal_id=scope.principal_id,
        action=action,
        kind=kind,
        uid=uid,
        name=name,
        outcome=outcome,
        code=code,
        detail=detail,
    )


def denied(store: Store, scope: Scope, refusal: Denied, now: datetime, *, action: str = "") -> None:
    """Append a denial in a transaction of its own, since the refused one was rolled back.

    A database that is open for reading only keeps no record: nothing could have been changed in it either.
    """
    if store.read_only:
        return
    detail = {"sentence": refusal.message}
    with store.write() as tx:
        record(tx, scope, action or "request", "", "", "", "denied", refusal.code, detail, at=now)


def recent(tx: Transaction, scope: Scope, limit: int = 200) -> list[dict[str, Any]]:
    """Return the workspace's newest events with the principal's name, newest first; 0 gives all."""
    scope.require("authorization/read")
    return access.events(tx, scope.workspace_id, limit)
