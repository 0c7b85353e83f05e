"""What a decision writes: occurrences, counted ranges, Work and the Trigger's state, as plain rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from core.admission.decide import Candidate, Range, Verdict, Window, project
from core.admission.identity import occurrence_id, pause_range_id, range_id
from core.admission.plan import Plan, fingerprint, unprojected
from core.clock import format_instant, from_epoch
from core.storage.admission import StateRow, Subject
from core.views import Reason

Row = dict[str, Any]

FIRST_BACKOFF_S = 5.0
LONGEST_BACKOFF_S = 300.0
HEALING_CODES = frozenset({"schedule_invalid", "internal_error"})


@dataclass(frozen=True, slots=True)
class Moment:
    """When due Triggers were seen and when their rows were made."""

    observed: datetime
    admitted: datetime


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """The exact Flow version that a candidate would run."""

    flow_uid: str
    namespace: str
    name: str
    version: int


def candidate_row(subject: Subject, candidate: Candidate, verdict: Verdict, moment: Moment) -> Row:
    """Return the occurrence of one nominal time; Work has the same identity where the verdict fires."""
    state = subject.state
    identity = occurrence_id(state.workspace_id, state.trigger_uid, candidate.nominal)
    alone = candidate.count == 1 and candidate.reason != "coalesced"
    return _occurrence(subject, identity, "scheduled", moment) | {
        "at": from_epoch(candidate.nominal),
        "nominal_at": from_epoch(candidate.nominal),
        "due_at": from_epoch(candidate.due),
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "message": verdict.message,
        "work_id": identity if verdict.fires else None,
        "count": candidate.count,
        "first_at": None if alone else from_epoch(candidate.first),
        "last_at": None if alone else from_epoch(candidate.last),
    }


def range_row(subject: Subject, part: Range, moment: Moment) -> Row:
    """Return the one row of many nominal times that were decided together."""
    state, last = subject.state, from_epoch(part.last)
    if part.window_id is None:
        identity = range_id(state.workspace_id, state.trigger_uid, part.reason, part.first, state.mark_moves)
    else:
        identity = pause_range_id(state.workspace_id, state.trigger_uid, part.window_id, state.mark_moves)
    return _occurrence(subject, identity, "scheduled", moment) | {
        "at": last,
        "outcome": "skipped",
        "reason": part.reason,
        "message": part.note,
        "is_range": True,
        "count": part.count,
        "first_at": from_epoch(part.first),
        "last_at": last,
    }


def manual_row(subject: Subject, identity: str, verdict: Verdict, moment: Moment) -> Row:
    """Return the occurrence of a request by hand; it has no nominal time."""
    return _occurrence(subject, identity, "manual", moment) | {
        "at": moment.observed,
        "due_at": moment.observed,
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "message": verdict.message,
        "work_id": identity if verdict.fires else None,
    }


def invalid_row(subject: Subject, nominal: datetime, message: str, moment: Moment) -> Row:
    """Return the failed occurrence of a nominal time whose schedule can no longer be evaluated."""
    state = subject.state
    identity = occurrence_id(state.workspace_id, state.trigger_uid, int(nominal.timestamp()))
    return _occurrence(subject, identity, "scheduled", moment) | {
        "at": nominal,
        "nominal_at": nominal,
        "due_at": state.next_due_at,
        "outcome": "failed",
        "reason": "schedule_invalid",
        "message": message,
    }


def work_row(
    subject: Subject, identity: str, target: ResolvedTarget, *, title: str, values: Mapping[str, Any], moment: Moment
) -> Row:
    """Return the Work of an admitted occurrence: pending, so that it is the outbox as well."""
    state = subject.state
    return {
        "id": identity,
        "occurrence_id": identity,
        "workspace_id": state.workspace_id,
        "trigger_uid": state.trigger_uid,
        "trigger_name": state.name,
        "namespace": state.namespace,
        "title": title or state.name,
        "flow_uid": target.flow_uid,
        "flow_name": target.name,
        "flow_namespace": target.namespace,
        "flow_version": target.version,
        "input": values,
        "status": "pending",
        "is_test": False,
        "attempts": 0,
        "created_at": moment.admitted,
        "principal_id": subject.principal_id,
    }


def _occurrence(subject: Subject, identity: str, kind: str, moment: Moment) -> Row:
    state = subject.state
    return {
        "id": identity,
        "workspace_id": state.workspace_id,
        "trigger_uid": state.trigger_uid,
        "trigger_name": state.name,
        "namespace": state.namespace,
        "generation": subject.generation,
        "kind": kind,
        "at": None,
        "nominal_at": None,
        "due_at": None,
        "observed_at": moment.observed,
        "admitted_at": moment.admitted,
        "outcome": "",
        "reason": "",
        "message": "",
        "work_id": None,
        "is_range": False,
        "count": 1,
        "first_at": None,
        "last_at": None,
        "principal_id": subject.principal_id,
    }


# -- state -----------------------------------------------------------------------------------------------------------


def covering(windows: Sequence[Window], now: datetime) -> Window | None:
    """Return the pause that covers the next whole second, if one does: nominal times lie on those alone."""
    at = math.ceil(now.timestamp())
    return next((w for w in windows if w.from_s <= at and (w.until_s is None or at < w.until_s)), None)


def projected(
    state: StateRow, plan: Plan, mark_s: int, windows: Sequence[Window], now: datetime, **also: Any
) -> StateRow:
    """Return the state with this mark, next time and phase as definition and mark give them, and these fields."""
    following = project(plan.schedule, plan.due_of, mark_s) if state.enabled else None
    phase = _phase(state, ended=following is None, paused=covering(windows, now) is not None)
    return replace(
        state,
        phase=phase,
        observed_generation=plan.generation,
        mark_at=from_epoch(mark_s),
        mark_wall=wall_text(plan, mark_s),
        next_nominal_at=from_epoch(following[0]) if following else None,
        next_due_at=from_epoch(following[1]) if following else None,
        fingerprint=fingerprint(plan.generation),
        time_zone=plan.time_zone,
        retry_at=None,
        **also,
    )


def put_away(state: StateRow, generation: int, mark_s: int) -> StateRow:
    """Return the state of a Trigger that is disabled while its definition cannot be read.

    The wall time of its last mark stays, and the zone data that it was set under: enabling goes by them. What fell due
    before cannot be counted, so it cannot be checked either.
    """
    mark = from_epoch(mark_s)
    return replace(
        state,
        phase="disabled",
        observed_generation=generation,
        mark_at=mark,
        decided_from=mark,
        next_nominal_at=None,
        next_due_at=None,
        fingerprint=unprojected(state.fingerprint),
        retry_at=None,
    )


def _phase(state: StateRow, *, ended: bool, paused: bool) -> str:
    if not state.enabled:
        return "disabled"
    if ended:
        return "completed"
    if paused:
        return "paused"
    return "degraded" if state.last_error_code else "scheduled"


def wall_text(plan: Plan, instant_s: int) -> str | None:
    """Return the wall time of an instant in the rule's zone, None for a rule that follows no wall clock."""
    zone = plan.schedule.zone
    return None if zone is None else format_instant(from_epoch(zone.wall_at(instant_s))).removesuffix("Z")


def healed(state: StateRow) -> StateRow:
    """Return the state without its error."""
    if state.last_error_code is None and not state.failures and not state.conditions:
        return state
    return replace(state, last_error_code=None, last_error_message=None, failures=0, conditions=None)


def ailing(state: StateRow, code: Reason | str, message: str, now: datetime) -> StateRow:
    """Return the state with an error, its condition and one more failure in a row."""
    condition = {
        "type": "Ready",
        "status": "False",
        "reason": code,
        "message": message,
        "lastTransitionAt": _since(state, code, now),
    }
    return replace(
        state,
        last_error_code=code,
        last_error_message=message,
        failures=state.failures + 1,
        conditions=[condition],
    )


def _since(state: StateRow, code: str, now: datetime) -> str:
    """Return since when the condition holds: the same reason as before keeps its instant."""
    for condition in state.conditions or ():
        if condition.get("reason") == code:
            return str(condition.get("lastTransitionAt"))
    return format_instant(now)


def backed_off(state: StateRow, now: datetime) -> StateRow:
    """Return a state that cannot be evaluated, looked at again after a pause that doubles with each failure."""
    delay_s = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** min(state.failures - 1, 30))
    return replace(
        state,
        phase="degraded",
        next_nominal_at=None,
        next_due_at=None,
        fingerprint=unprojected(state.fingerprint),
        retry_at=now + timedelta(seconds=delay_s),
    )
