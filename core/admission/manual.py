"""Run now: a distinct occurrence asked for by a person, through the same decision as every other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.access import audit
from core.access.scope import Scope
from core.admission import rows
from core.admission.decide import Candidate, Verdict, admit
from core.admission.facts import Answer, Inputs, Want, gather, given_faults
from core.admission.plan import Plan, read_plan
from core.admission.windows import windows_of
from core.clock import epoch_seconds, format_instant, from_epoch
from core.errors import Invalid, Precondition
from core.failpoints import reach
from core.resources.reading import not_found
from core.storage import admission as statements
from core.storage.admission import StateRow, Subject
from core.storage.store import Transaction
from core.views import Effect


def run_now(
    tx: Transaction, scope: Scope, namespace: str, name: str, *, values: Mapping[str, Any] | None, now: datetime
) -> Effect:
    """Admit one manual occurrence as the acting principal; schedule, mark and maxOccurrences do not move.

    `values` replace the Trigger's input and are refused as `Invalid` where they do not fit. A disabled Trigger is
    refused, a paused one runs with a notice. Overlap and resolution are decided as for any other occurrence.
    """
    scope.require("runs/execute")
    state = named_state(tx, scope.workspace_id, namespace, name)
    if not state.enabled:
        raise Precondition(f"{name} is disabled", "enable it first, or test-fire its Flow")
    plan = _plan(tx, state)
    subject = Subject(state, plan.generation, scope.principal_id)
    given = plan.input if values is None else values
    want = Want(scope.workspace_id, scope.principal_id, state.trigger_uid, plan.generation, plan.target, given)
    answer = gather(tx, [want], Inputs())[state.trigger_uid]
    _refuse_given(tx, want, answer, given=values is not None)
    verdict = admit(_candidate(now), plan.policy, answer.facts)
    identity = _write(tx, subject, plan, answer, values=given, verdict=verdict, now=now)
    detail = {"occurrence": identity, "reason": verdict.reason}
    audit.record(
        tx, scope, "run", "Trigger", state.trigger_uid, name, outcome="allowed", code=verdict.reason, detail=detail
    )
    notices = pause_notices(tx, state, now)
    return Effect(name, _sentence(name, identity, verdict), notices, identity, identity if verdict.fires else None)


def named_state(tx: Transaction, workspace_id: str, namespace: str, name: str) -> StateRow:
    """Return the state of the Trigger with this name; raise NotFound, with the name that was probably meant."""
    state = statements.state_named(tx, workspace_id, namespace, name)
    if state is None:
        raise not_found(tx, workspace_id, "Trigger", namespace, name)
    return state


def pause_notices(tx: Transaction, state: StateRow, now: datetime) -> tuple[str, ...]:
    """Return a sentence about the pause that covers `now`, if one does."""
    window = rows.covering(windows_of(tx, [state], now).get(state.trigger_uid, ()), now)
    if window is None:
        return ()
    span = "" if window.until_s is None else f" until {format_instant(from_epoch(window.until_s))}"
    return (f"its schedule stays paused{span}" + (f": {window.note}" if window.note else ""),)


def _plan(tx: Transaction, state: StateRow) -> Plan:
    row = statements.definitions(tx, [state.trigger_uid])[state.trigger_uid]
    return read_plan(state.workspace_id, state.trigger_uid, row.generation, row.definition)


def _candidate(now: datetime) -> Candidate:
    at = epoch_seconds(now)
    return Candidate(at, at, "manual", 1, at, at)


def _refuse_given(tx: Transaction, want: Want, answer: Answer, *, given: bool) -> None:
    """Refuse an input that a person just wrote; a faulty input of the definition is recorded instead."""
    refusal = answer.facts.refusal
    if given and refusal is not None and refusal.reason == "input_invalid":
        raise Invalid(given_faults(tx, want))


def _write(
    tx: Transaction,
    subject: Subject,
    plan: Plan,
    answer: Answer,
    *,
    values: Mapping[str, Any],
    verdict: Verdict,
    now: datetime,
) -> str:
    """Write occurrence, Work and what the list shows; return the new identity."""
    state, identity, moment = subject.state, tx.clock.new_id(), rows.Moment(now, now)
    statements.insert_occurrences(tx, [rows.manual_row(subject, identity, verdict, moment)])
    tx.changed(state.workspace_id, "occurrence", identity)
    if verdict.fires and answer.target is not None:
        work = rows.work_row(subject, identity, answer.target, title=plan.title, values=values, moment=moment)
        statements.insert_work(tx, [work])
        tx.changed(state.workspace_id, "work", identity)
    outcome = "submitted" if verdict.fires else verdict.outcome
    fired = now if verdict.fires else state.last_fired_at
    statements.save_states(tx, [replace(state, last_outcome=outcome, last_fired_at=fired)])
    tx.changed(state.workspace_id, "trigger", state.trigger_uid)
    reach("admission.manual_written")
    return identity


def _sentence(name: str, identity: str, verdict: Verdict) -> str:
    if verdict.fires:
        return f"{name} runs now as Work {identity[:8]}"
    return f"{name} did not start: {verdict.message}"
