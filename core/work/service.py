"""What a person may do with Work and its questions; every command is checked, conditional and recorded."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.access import audit
from core.access.scope import Scope
from core.access.service import authorise_many
from core.errors import Denied, Invalid, NotFound, Precondition
from core.flows.resolve import Resolved, resolve_many
from core.flows.schema import validate_input
from core.storage import flows, runs
from core.storage import work as works
from core.storage.store import Transaction
from core.storage.work import ActionFacts, WorkFacts
from core.views import ACTIVE_WORK, Effect
from core.work.actions import NEGATIVE, check_answer, normal_decision
from core.work.ending import finish, move
from core.work.statuses import RETRYABLE

OUTSIDE = "what a step already did outside is not undone"


def cancel(tx: Transaction, scope: Scope, work_id: str, now: datetime) -> Effect:
    """Ask for the end of active Work: at once where nothing runs, else as soon as the process group has ended.

    Raises Denied, NotFound, or Precondition where it has ended already.
    """
    _require_now(tx, scope)
    work = _work(tx, scope, work_id)
    if work.status not in ACTIVE_WORK:
        raise Precondition(f"this Work is {work.status} already", "only active Work can be cancelled")
    works.request_cancel(tx, work.id, scope.principal_id, now)
    run = runs.newest(tx, work.id)
    audit.record(tx, scope, "cancel", "Work", work.id, work.trigger_name)
    tx.changed(scope.workspace_id, "work", work.id)
    if run is not None and run.status in runs.OPEN:
        message = f"{_name(work)} is asked to stop; its process group ends within seconds"
        return Effect(work.trigger_name, message, (OUTSIDE,), work.id, work.id)
    finish(tx, work, run, "cancelled", now, code="cancelled", message=f"cancelled by {scope.principal}")
    return Effect(work.trigger_name, f"{_name(work)} is cancelled", (OUTSIDE,) if run else (), work.id, work.id)


def retry(tx: Transaction, scope: Scope, work_id: str, now: datetime) -> Effect:
    """Run failed or cancelled Work again as a new run under the same principal, which is authorised anew.

    Raises Denied, NotFound, or Precondition for Work that is active or completed.
    """
    _require_now(tx, scope)
    work = _work(tx, scope, work_id)
    if work.status not in RETRYABLE:
        raise Precondition(f"this Work is {work.status}", "only failed or cancelled Work can be retried")
    verdict = authorise_many(tx, [(work.workspace_id, work.principal_id)])[work.workspace_id, work.principal_id]
    if not verdict:
        raise Denied(f"the Work cannot run again: {verdict.why}", "restore the right, or save the Trigger yourself")
    cleared = {"result": None, "error_code": None, "error_message": None, "ended_at": None}
    move(tx, work.id, "pending", cancel_requested_at=None, cancel_requested_by=None, **cleared)
    audit.record(tx, scope, "retry", "Work", work.id, work.trigger_name)
    tx.changed(scope.workspace_id, "work", work.id)
    message = f"{_name(work)} runs again as attempt {work.attempts + 1} at {now:%H:%M:%S} UTC"
    return Effect(work.trigger_name, message, (), work.id, work.id)


def answer(  # noqa: PLR0917 - the contract's order
    tx: Transaction, scope: Scope, action_id: str, decision: str, values: Mapping[str, Any] | None, now: datetime
) -> None:
    """Answer a pending question; the first answer wins, and the run goes on at the worker's next pass.

    Raises Denied, NotFound, Invalid with a fault for each value, or Precondition for one that was answered,
    cancelled or expired before.
    """
    _require_now(tx, scope)
    action = _action(tx, scope, action_id)
    _refuse_ended(action, now)
    word, given = normal_decision(decision), dict(values or {})
    if faults := check_answer(action.kind, action.form, word, given):
        raise Invalid(faults)
    ended = works.end_action(tx, action.id, "completed", now, decision=word, values=given, answered_by=scope.principal)
    if not ended:
        _refuse_ended(_action(tx, scope, action_id), now)
    wake_run(tx, action, now)
    detail = {"decision": word, "negative": word in NEGATIVE}
    audit.record(tx, scope, "answer", "PendingAction", action.id, action.step_id, detail=detail)


def snooze(tx: Transaction, scope: Scope, action_id: str, until: datetime, now: datetime) -> None:
    """Hide a pending question from the inbox until an instant before it expires."""
    _require_now(tx, scope)
    action = _action(tx, scope, action_id)
    _refuse_ended(action, now)
    if until <= now:
        raise Precondition("that instant is past", "snooze until one in the future")
    if until >= action.expires_at:
        raise Precondition(f"the question expires at {action.expires_at:%Y-%m-%d %H:%M:%SZ}", "snooze it for less")
    works.snooze(tx, action.id, until, now)
    tx.changed(action.workspace_id, "action", action.id)


def test_fire(  # noqa: PLR0917 - the contract's order
    tx: Transaction,
    scope: Scope,
    namespace: str,
    name: str,
    values: Mapping[str, Any] | None,
    now: datetime,
    version: int | None = None,  # noqa: PT028 - a command, not a test
) -> Effect:
    """Fire a Flow by hand without a Trigger, marked as a test: the active version, else the newest one.

    The occurrence has no Trigger (an empty uid and name), so it counts against no Trigger's overlap policy.
    Raises Denied, NotFound, or Invalid for an input that does not fit.
    """
    _require_now(tx, scope)
    resolved = _resolve(tx, scope, namespace, name, version)
    given = dict(values or {})
    if faults := validate_input(resolved.input_schema, given):
        raise Invalid(fault.under("input") for fault in faults)
    work_id = tx.clock.new_id()
    title = f"Test of {resolved.display_name or name}"
    _insert_test(tx, scope, work_id, namespace, name, resolved, given, title, now)
    audit.record(tx, scope, "test_fire", "Flow", resolved.flow_uid, name)
    tx.changed(scope.workspace_id, "occurrence", work_id)
    tx.changed(scope.workspace_id, "work", work_id)
    return Effect(name, f"{title} (version {resolved.version}) is on its way", (), work_id, work_id)


def wake_run(tx: Transaction, action: ActionFacts, now: datetime) -> None:
    """Queue the next segment of the run that waited for a question."""
    run = runs.run(tx, action.run_id)
    if run is not None and runs.set_run(tx, run.id, was=("waiting",), status="queued", segment=run.segment + 1):
        move(tx, action.work_id, "running")
        runs.set_step(tx, run.id, action.position, was=("waiting",), resume_at=now)
    tx.changed(action.workspace_id, "action", action.id)
    tx.changed(action.workspace_id, "work", action.work_id)


def _require_now(tx: Transaction, scope: Scope) -> None:
    """Raise Denied unless the principal holds the right at this moment, whatever it held when its scope was taken."""
    scope.require("runs/execute")
    pair = (scope.workspace_id, scope.principal_id)
    if not (verdict := authorise_many(tx, [pair])[pair]):
        raise Denied(f"runs/execute is denied: {verdict.why}", "ask an Owner of the workspace")


def _work(tx: Transaction, scope: Scope, work_id: str) -> WorkFacts:
    work = works.work(tx, work_id)
    if work is None or work.workspace_id != scope.workspace_id:
        raise NotFound(f"there is no Work {work_id}")
    return work


def _action(tx: Transaction, scope: Scope, action_id: str) -> ActionFacts:
    action = works.action(tx, action_id)
    if action is None or action.workspace_id != scope.workspace_id:
        raise NotFound(f"there is no question {action_id}")
    return action


def _refuse_ended(action: ActionFacts, now: datetime) -> None:
    if action.status == "completed" and action.ended_at is not None:
        at = f"{action.ended_at:%Y-%m-%d %H:%M:%SZ}"
        raise Precondition(f"{action.answered_by} {action.decision} this at {at}", "the first answer counts")
    if action.status == "cancelled":
        raise Precondition("the run that asked this has ended", "there is nothing left to answer")
    if action.status == "expired" or action.expires_at <= now:
        raise Precondition(
            f"this question expired at {action.expires_at:%Y-%m-%d %H:%M:%SZ}", "retry the Work to be asked again"
        )


def _resolve(tx: Transaction, scope: Scope, namespace: str, name: str, version: int | None) -> Resolved:
    draft = flows.draft(tx, scope.workspace_id, namespace, name)
    if draft is None:
        raise NotFound(f"there is no flow {namespace}/{name}", "apply it first")
    known = flows.versions(tx, draft.uid)
    if version is None and known and not any(one.active for one in known):
        version = known[-1].number
    target = (scope.workspace_id, namespace, name, version)
    found = resolve_many(tx, [target])[target]
    if isinstance(found, Resolved):
        return found
    raise NotFound(found.message, found.remedy)


def _insert_test(  # noqa: PLR0917 - the parts of one row
    tx: Transaction,
    scope: Scope,
    work_id: str,
    namespace: str,
    name: str,
    resolved: Resolved,
    given: Mapping[str, Any],
    title: str,
    now: datetime,
) -> None:
    shared = {
        "id": work_id,
        "workspace_id": scope.workspace_id,
        "trigger_uid": "",
        "trigger_name": "",
        "namespace": namespace,
        "principal_id": scope.principal_id,
    }
    instants = {"at": now, "due_at": now, "observed_at": now, "admitted_at": now}
    decided = {"generation": 0, "kind": "manual", "outcome": "pending", "reason": "manual", "message": title}
    works.insert_occurrence(tx, {**shared, **instants, **decided, "work_id": work_id})
    flow = {
        "flow_uid": resolved.flow_uid,
        "flow_name": name,
        "flow_namespace": namespace,
        "flow_version": resolved.version,
    }
    body = {"occurrence_id": work_id, "title": title, "input": given, "status": "pending", "is_test": True}
    works.insert_work(tx, {**shared, **flow, **body, "created_at": now})


def _name(work: WorkFacts) -> str:
    return work.title or work.trigger_name or work.flow_name
