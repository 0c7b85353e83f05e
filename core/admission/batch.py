"""One transaction of a pass: lock state, re-check, authorise, resolve, decide, write.

1. `due_states` is read under the write lock, so nobody else decides the same Triggers.
2. Each Trigger is evaluated alone; whatever is wrong with one degrades that one.
3. Facts about all candidates are asked in a constant number of queries.
4. Occurrences, ranges, Work, states and changes go out in one statement each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from core.admission import decide
from core.admission.decide import Judgement, Verdict, Window, judge
from core.admission.facts import Answer, Inputs, Want, gather
from core.admission.plan import Plan, Plans, read_plan
from core.admission.recovery import rebased
from core.admission.rows import (
    HEALING_CODES,
    Moment,
    Row,
    ailing,
    backed_off,
    candidate_row,
    covering,
    healed,
    invalid_row,
    projected,
    range_row,
    work_row,
)
from core.admission.windows import windows_of
from core.clock import Clock, epoch_seconds, from_epoch
from core.errors import Invalid
from core.failpoints import reach
from core.storage import admission as statements
from core.storage.admission import StateRow, Subject
from core.storage.store import Transaction

Windows = Mapping[str, Sequence[Window]]
"""The pauses of each Trigger, by its uid."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One Trigger that could not be handled, with a stable code and a sentence."""

    trigger_uid: str
    trigger_name: str
    code: str
    message: str


@dataclass(slots=True)
class Writing:
    """What one transaction is going to write, and what the pass reports of it."""

    moment: Moment
    occurrences: list[Row] = field(default_factory=list)
    ranges: list[Row] = field(default_factory=list)
    work: list[Row] = field(default_factory=list)
    states: list[StateRow] = field(default_factory=list)
    degraded: list[StateRow] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    lags_ms: list[float] = field(default_factory=list)
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """One Trigger that was evaluated: what is due of it, under which pauses."""

    subject: Subject
    plan: Plan
    judgement: Judgement
    windows: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """What a pipeline remembers from pass to pass; losing it costs time only."""

    plans: Plans = field(default_factory=Plans)
    inputs: Inputs = field(default_factory=Inputs)


def warm(tx: Transaction, memory: Memory, now: datetime, limit: int) -> bool:
    """Read, before the lock is taken, the definitions that the next batch needs; return whether anything is due."""
    due = statements.due_keys(tx, now, limit)
    places = {uid: place for uid, place, generation in due if not memory.plans.known(uid, generation)}
    if places:
        for row in statements.definitions(tx, places).values():
            with suppress(Exception):  # the batch meets it again and degrades the Trigger
                memory.plans.keep(read_plan(places[row.uid], row.uid, row.generation, row.definition))
    return bool(due)


def admit_due(tx: Transaction, memory: Memory, clock: Clock, limit: int) -> Writing:
    """Decide up to `limit` Triggers that are due and write it all; return what was written."""
    now = clock.now()
    writing = admit(tx, memory, statements.due_subjects(tx, now, limit), now, clock)
    reach("admission.before_commit")
    return writing


def admit(tx: Transaction, memory: Memory, due: Sequence[Subject], now: datetime, clock: Clock) -> Writing:
    """Decide these Triggers as of `now`."""
    writing = Writing(Moment(now, now), seen=len(due))
    if not due:
        return writing
    windows = windows_of(tx, [it.state for it in due], now)
    learn(tx, memory.plans, due, windows, writing)
    seen = [found for it in due if (found := _look(it, memory, windows.get(it.state.trigger_uid, ()), writing))]
    answers = gather(tx, [want_of(it.subject, it.plan) for it in seen if it.judgement.candidate], memory.inputs)
    reach("admission.decided")
    writing.moment = Moment(now, clock.now())
    for it in seen:
        _settle(it, answers.get(it.plan.uid), writing)
    write(tx, writing)
    return writing


def learn(tx: Transaction, plans: Plans, subjects: Iterable[Subject], windows: Windows, writing: Writing) -> None:
    """Read the definitions of the Triggers whose plan is not known; degrade those that cannot be read."""
    unknown = {it.state.trigger_uid: it for it in subjects if not plans.known(it.state.trigger_uid, it.generation)}
    if not unknown:
        return
    found = statements.definitions(tx, unknown)
    for uid, subject in unknown.items():
        row, pauses = found.get(uid), windows.get(uid, ())
        if row is None:
            degrade(subject, "definition_missing", "its definition is gone; apply the Trigger again", pauses, writing)
            continue
        try:
            plans.keep(read_plan(subject.state.workspace_id, uid, row.generation, row.definition))
        except Invalid as invalid:
            degrade(subject, "schedule_invalid", invalid.sentence(), pauses, writing)
        except Exception as error:  # noqa: BLE001 - whatever one definition does to us, the others fire
            degrade(subject, "internal_error", f"{type(error).__name__}: {error}", pauses, writing)


def _look(subject: Subject, memory: Memory, windows: tuple[Window, ...], writing: Writing) -> Seen | None:
    """Evaluate one Trigger; None where it cannot be."""
    plan = memory.plans.known(subject.state.trigger_uid, subject.generation)
    if plan is None:
        return None
    try:
        state, moved = rebased(subject.state, plan)
        if moved or state is not subject.state:
            subject = replace(subject, state=state)
        writing.ranges.extend(range_row(subject, part, writing.moment) for part in moved)
        now = writing.moment.observed
        mark = epoch_seconds(state.mark_at or now)
        judged = judge(plan.schedule, plan.due_of, plan.policy, mark=mark, now=now.timestamp(), windows=windows)
    except Exception as error:  # noqa: BLE001 - whatever one rule does to us, the others fire
        degrade(subject, "internal_error", f"{type(error).__name__}: {error}", windows, writing)
        return None
    return Seen(subject, plan, judged, windows)


def want_of(subject: Subject, plan: Plan) -> Want:
    """Return the question about one Trigger's own target and input."""
    state = subject.state
    return Want(
        state.workspace_id, subject.principal_id, state.trigger_uid, subject.generation, plan.target, plan.input
    )


def _settle(seen: Seen, answer: Answer | None, writing: Writing) -> None:
    """Add the rows of one evaluated Trigger."""
    verdict = _verdict(seen, answer)
    state = _after(seen, verdict, writing.moment)
    writing.ranges.extend(range_row(seen.subject, part, writing.moment) for part in seen.judgement.ranges)
    writing.states.append(state)
    candidate = seen.judgement.candidate
    if verdict is None or candidate is None:
        return
    row = candidate_row(seen.subject, candidate, verdict, writing.moment)
    writing.occurrences.append(row)
    if verdict.outcome == "failed":
        _report(seen.subject.state, state, writing)
    if verdict.fires and answer is not None and answer.target is not None:
        plan = seen.plan
        writing.work.append(
            work_row(seen.subject, row["id"], answer.target, title=plan.title, values=plan.input, moment=writing.moment)
        )
        lag = writing.moment.observed - from_epoch(candidate.due)
        if verdict.reason == "on_time":
            writing.lags_ms.append(lag.total_seconds() * 1000)


def _verdict(seen: Seen, answer: Answer | None) -> Verdict | None:
    candidate = seen.judgement.candidate
    return None if candidate is None or answer is None else decide.admit(candidate, seen.plan.policy, answer.facts)


def _after(seen: Seen, verdict: Verdict | None, moment: Moment) -> StateRow:
    """Return the Trigger's state with the decision in it."""
    state, made = seen.subject.state, seen.judgement
    if verdict is not None and verdict.outcome == "failed":
        state = ailing(state, verdict.reason, verdict.message, moment.admitted)
    elif verdict is not None or state.last_error_code in HEALING_CODES:
        state = healed(state)
    if not made.decided:
        return projected(state, seen.plan, made.mark, seen.windows, moment.observed)
    fires = verdict is not None and verdict.fires
    return projected(
        state,
        seen.plan,
        made.mark,
        seen.windows,
        moment.observed,
        last_scheduled_at=from_epoch(made.mark),
        last_outcome="submitted" if fires else verdict.outcome if verdict else "skipped",
        last_fired_at=moment.admitted if fires else state.last_fired_at,
    )


def degrade(subject: Subject, code: str, message: str, windows: Sequence[Window], writing: Writing) -> None:
    """Postpone a Trigger that cannot be evaluated; the time it was projected for is decided as failed.

    One that a pause covers is left to the pause: it is counted there once the Trigger can be evaluated again.
    """
    before, now = subject.state, writing.moment.observed
    state = backed_off(ailing(before, code, message[:500], now), now)
    nominal = before.next_nominal_at
    is_due = nominal is not None and before.next_due_at is not None and before.next_due_at <= now
    if nominal is not None and is_due and covering(windows, nominal) is None:
        writing.occurrences.append(invalid_row(subject, nominal, message[:500], writing.moment))
        mark = max(nominal, before.mark_at or nominal)
        state = replace(state, mark_at=mark, mark_wall=None, last_scheduled_at=mark, last_outcome="failed")
    writing.states.append(state)
    _report(before, state, writing)


def _report(before: StateRow, after: StateRow, writing: Writing) -> None:
    """Tell of a failure; a person is told once, when it begins or changes its code."""
    code, message = after.last_error_code or "", after.last_error_message or ""
    writing.troubles.append(Trouble(after.trigger_uid, after.name, code, message))
    if before.last_error_code != code:
        writing.degraded.append(after)


def write(tx: Transaction, writing: Writing) -> None:
    """Write what was decided; an occurrence that is there already makes no second Work."""
    known = statements.known_occurrences(tx, [row["id"] for row in writing.occurrences])
    fresh = [row for row in writing.occurrences if row["id"] not in known]
    work = [row for row in writing.work if row["id"] not in known]
    statements.insert_occurrences(tx, fresh)
    reach("admission.occurrences_written")
    statements.grow_ranges(tx, writing.ranges)
    statements.insert_work(tx, work)
    reach("admission.work_written")
    statements.save_states(tx, writing.states)
    statements.insert_notices(tx, [_notice(state, writing.moment) for state in writing.degraded])
    statements.record_changes(tx, _changes(fresh, writing, work))
    writing.occurrences, writing.work = fresh, work


def _notice(state: StateRow, moment: Moment) -> Row:
    return {
        "workspace_id": state.workspace_id,
        "at": moment.admitted,
        "kind": "trigger_degraded",
        "severity": "error",
        "title": f"{state.name} does not fire: {state.last_error_message}",
        "trigger_uid": state.trigger_uid,
    }


def _changes(fresh: Sequence[Row], writing: Writing, work: Sequence[Row]) -> Iterable[tuple[str, str, str]]:
    """Yield (workspace, kind, key) of everything that changed."""
    yield from ((state.workspace_id, "trigger", state.trigger_uid) for state in writing.states)
    yield from ((row["workspace_id"], "occurrence", row["id"]) for row in (*fresh, *writing.ranges))
    yield from ((row["workspace_id"], "work", row["id"]) for row in work)
    yield from ((state.workspace_id, "notification", state.trigger_uid) for state in writing.degraded)
