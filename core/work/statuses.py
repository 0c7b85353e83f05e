"""The life of Work, in one table.

    pending → queued → running → completed | failed | cancelled
    running ↔ waitingForInput | waitingForApproval          failed, cancelled → pending (retry)

Every change is one conditional update: from a status that this table allows, or nothing happens.
"""

from __future__ import annotations

TRANSITIONS: dict[str, frozenset[str]] = {
    "pending": frozenset({"queued", "running", "cancelled", "failed"}),
    "queued": frozenset({"running", "cancelled", "failed"}),
    "running": frozenset({"waitingForInput", "waitingForApproval", "completed", "failed", "cancelled"}),
    "waitingForInput": frozenset({"running", "failed", "cancelled"}),
    "waitingForApproval": frozenset({"running", "failed", "cancelled"}),
    "completed": frozenset(),
    "failed": frozenset({"pending"}),
    "cancelled": frozenset({"pending"}),
}
ENDED: frozenset[str] = frozenset({"completed", "failed", "cancelled"})
OUTCOME_UNKNOWN = "outcome_unknown"
"""The result of Work, and the error code of a step, of which nobody knows whether it was done."""
RETRYABLE: frozenset[str] = frozenset({"failed", "cancelled"})
WAITING_FOR: dict[str, str] = {
    "inputRequired": "waitingForInput",
    "choiceRequired": "waitingForInput",
    "confirmationRequired": "waitingForApproval",
    "approvalRequired": "waitingForApproval",
}


def sources_of(status: str) -> tuple[str, ...]:
    """Return the statuses from which Work may enter `status`."""
    return tuple(source for source, targets in TRANSITIONS.items() if status in targets)


def may(source: str, target: str) -> bool:
    """Return whether Work may go from one status to another."""
    return target in TRANSITIONS.get(source, frozenset())
