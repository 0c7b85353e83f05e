"""The words that columns and answers are made of."""

from __future__ import annotations

from typing import Literal

Kind = Literal["Trigger", "Flow"]
ChangeKind = Literal["trigger", "flow", "occurrence", "work", "action", "notification", "access", "worker"]
Phase = Literal["disabled", "scheduled", "paused", "completed", "degraded"]
Outcome = Literal["pending", "submitted", "skipped", "failed", "joined", "deferred", "dropped"]
Reason = Literal[
    "on_time", "coalesced", "caught_up", "manual", "event", "backfill", "joined", "buffered",
    "concurrency_skip", "buffer_full", "replaced", "missed", "paused", "excluded", "gap_skipped",
    "definition_changed", "restored", "deduplicated", "superseded",
    "denied", "target_unresolved", "input_invalid", "schedule_invalid",
]  # fmt: skip
WorkStatus = Literal[
    "pending", "queued", "running", "waitingForInput", "waitingForApproval", "completed", "failed", "cancelled"
]
WorkResult = Literal["success", "no_work", "failed", "cancelled", "outcome_unknown"]
StepStatus = Literal["pending", "running", "waiting", "completed", "failed", "skipped", "cancelled"]
ActionStatus = Literal["pending", "completed", "cancelled", "expired"]

LinkState = Literal["ok", "stop", "info"]

ACTIVE_WORK: tuple[str, ...] = ("pending", "queued", "running", "waitingForInput", "waitingForApproval")
