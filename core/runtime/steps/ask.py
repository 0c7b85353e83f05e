"""The ask step: a row in the inbox; the run costs nothing until it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.clock import format_instant
from core.flows.expressions import render_text
from core.flows.steps import Ask
from core.runtime.context import StepError, StepResult
from core.storage.work import ActionFacts, WorkFacts
from core.work.actions import NEGATIVE


def question(
    ask: Ask, work: WorkFacts, values: Mapping[str, Any], *, step_id: str, run_id: str, position: int, now: datetime
) -> dict[str, Any]:
    """Return the question's row, without its id; raises ExpressionError."""
    form = {"schema": dict(ask.schema), "choices": [render_text(one, values) for one in ask.choices]}
    return {
        "workspace_id": work.workspace_id,
        "work_id": work.id,
        "run_id": run_id,
        "position": position,
        "step_id": step_id,
        "trigger_uid": work.trigger_uid,
        "kind": ask.kind,
        "title": render_text(ask.title, values)[:300],
        "message": render_text(ask.message, values),
        "form": form,
        "status": "pending",
        "created_at": now,
        "expires_at": now + ask.expires_after,
    }


def outcome(ask: Ask, action: ActionFacts) -> StepResult | None:
    """Return how the step ended by its question, or None while that is open."""
    if action.status == "pending":
        return None
    decision = "expired" if action.status == "expired" else action.decision or action.status
    at = format_instant(action.ended_at) if action.ended_at else None
    output = {"decision": decision, "values": action.values or {}, "by": action.answered_by, "at": at}
    if decision == "expired" and ask.on_expiry == "fail":
        error = StepError("expired", f"nobody answered {action.title!r} in time", retryable=False)
        return StepResult(output=output, error=error)
    if decision in NEGATIVE and ask.on_reject == "fail":
        reason = (action.values or {}).get("reason")
        message = f"{action.answered_by} {decision} {action.title!r}" + (f": {reason}" if reason else "")
        return StepResult(output=output, error=StepError("rejected", message, retryable=False))
    return StepResult(output=output)
