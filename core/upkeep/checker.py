"""Proves on a database that nothing was lost and nothing doubled; shared by tests, simulation and doctor.

Each invariant is one small function that yields findings; a sound database yields none. What has to hold:

1. every nominal time of every Trigger, from its first enabling to its mark, has exactly one decision (`history`);
2. the mark never lies behind a decision; next times are what definition and mark give;
3. at most one Work per occurrence, under the same identity; none for what was refused; none without an occurrence;
4. no more active Work than the policy that admitted it allows;
5. no run, step or question without somebody who will end it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby, islice

from core.admission.decide import newest_due, project
from core.admission.plan import Plan, fingerprint, read_plan
from core.clock import epoch_seconds, format_instant, from_epoch
from core.errors import Invalid
from core.storage import checks
from core.storage.checks import ActiveFacts, Contradiction, RevisionFacts, TriggerFacts
from core.storage.store import Transaction
from core.upkeep.history import history_findings
from core.views import Finding

MOST_FINDINGS = 200
TRIGGERS_AT_ONCE = 200
DEAD_AFTER = timedelta(seconds=30)


def check(
    tx: Transaction,
    *,
    now: datetime,
    workspace_id: str | None = None,
    limit: int = MOST_FINDINGS,
    settled: bool = False,
) -> tuple[Finding, ...]:
    """Return at most `limit` findings on one snapshot, of one workspace or of all.

    `settled` says that a pass has just ended: then nothing that is due at `now` may be undecided.
    """
    return tuple(islice(_findings(tx, now, workspace_id, limit, settled=settled), limit))


def _findings(
    tx: Transaction, now: datetime, workspace_id: str | None, limit: int, *, settled: bool
) -> Iterator[Finding]:
    yield from _work_findings(tx, now, workspace_id, limit)
    yield from _too_much_active(tx, workspace_id)
    for trigger, revisions in triggers(tx, workspace_id):
        yield from trigger_findings(tx, trigger, revisions, now, settled=settled)


def triggers(tx: Transaction, workspace_id: str | None) -> Iterator[tuple[TriggerFacts, Sequence[RevisionFacts]]]:
    """Yield every Trigger with its generations, oldest first."""
    after = ""
    while batch := checks.triggers_after(tx, after, TRIGGERS_AT_ONCE, workspace_id):
        revisions = checks.revisions_of(tx, [trigger.uid for trigger in batch])
        yield from ((trigger, revisions.get(trigger.uid, ())) for trigger in batch)
        after = batch[-1].uid


def trigger_findings(
    tx: Transaction, trigger: TriggerFacts, revisions: Sequence[RevisionFacts], now: datetime, *, settled: bool = False
) -> Iterator[Finding]:
    """Yield what is wrong with one Trigger's past and next time."""
    yield from history_findings(tx, trigger, revisions)
    yield from _projection_findings(trigger, now, settled=settled)


# -- projection ------------------------------------------------------------------------------------------------------


def _projection_findings(trigger: TriggerFacts, now: datetime, *, settled: bool) -> Iterator[Finding]:
    if trigger.generation is None or trigger.definition is None:
        yield _about(trigger, "definition_missing", "its definition is gone", "apply the Trigger again, or delete it")
        return
    plan = _plan(trigger)
    if plan is None or trigger.mark_at is None or trigger.retry_at is not None:
        return  # it cannot be evaluated and says so itself; the worker looks at it again
    if trigger.enabled and trigger.fingerprint is None:
        remedy = "repair computes it; so does the worker at its next start"
        yield _about(trigger, "projection_missing", "its next time is not computed", remedy, repairable=True)
        return
    if trigger.enabled and trigger.fingerprint != fingerprint(trigger.generation):
        return  # made with other zone data or by another evaluator: the worker computes it anew at its start
    mark = epoch_seconds(trigger.mark_at)
    yield from _drift(trigger, plan, mark)
    if settled and trigger.enabled and newest_due(plan.schedule, plan.due_of, mark, now.timestamp()) is not None:
        yield _about(trigger, "overdue", "times that are due have no decision yet", "start a worker")


def _drift(trigger: TriggerFacts, plan: Plan, mark: int) -> Iterator[Finding]:
    following = project(plan.schedule, plan.due_of, mark) if trigger.enabled else None
    computed = (from_epoch(following[0]), from_epoch(following[1])) if following else (None, None)
    if computed != (trigger.next_nominal_at, trigger.next_due_at):
        message = f"its next time is stored as {_instant(trigger.next_due_at)}, computed as {_instant(computed[1])}"
        yield _about(trigger, "projection_drift", message, "repair computes it anew", repairable=True)


def _plan(trigger: TriggerFacts) -> Plan | None:
    try:
        return read_plan(trigger.workspace_id, trigger.uid, trigger.generation or 0, trigger.definition or "")
    except Invalid:
        return None


# -- Work ------------------------------------------------------------------------------------------------------------


def _work_findings(tx: Transaction, now: datetime, workspace_id: str | None, limit: int) -> Iterator[Finding]:
    for code, query, message, remedy, repairable in _CONTRADICTIONS:
        for found in query(tx, limit, workspace_id):
            yield _contradiction(code, found, message, remedy, repairable=repairable)
    for found in checks.runs_without_owner(tx, now - DEAD_AFTER, limit, workspace_id):
        message = "run {id} is running under worker {detail}, which shows no sign of life"
        yield _contradiction("run_without_owner", found, message, "restart the worker: it takes the run over")


def _contradiction(code: str, found: Contradiction, message: str, remedy: str, *, repairable: bool = False) -> Finding:
    text = message.format(id=found.id, detail=found.detail or "nobody")
    return Finding(code, "error", found.name or found.id, text, remedy, repairable)


_LOST = "restore a backup if the history matters; nothing will run by itself"
_Query = Callable[[Transaction, int, str | None], list[Contradiction]]
_CONTRADICTIONS: tuple[tuple[str, _Query, str, str, bool], ...] = (
    ("work_without_occurrence", checks.work_without_occurrence, "Work {id} has no occurrence", _LOST, False),
    (
        "work_of_refused",
        checks.work_of_refused,
        "Work {id} exists though its occurrence was decided as {detail}",
        "cancel the Work if it is still active",
        False,
    ),
    (
        "admitted_without_work",
        checks.admitted_without_work,
        "occurrence {id} was admitted ({detail}) and has no Work",
        _LOST,
        False,
    ),
    (
        "work_named_otherwise",
        checks.work_named_otherwise,
        "Work {id} has another identity than its occurrence {detail}",
        "compare both: one occurrence may have run twice",
        False,
    ),
    (
        "work_without_run",
        checks.work_without_run,
        "Work {id} is {detail} but no run of it is",
        "cancel it, then retry it",
        False,
    ),
    (
        "run_of_ended_work",
        checks.runs_of_ended_work,
        "run {id} is {detail} though its Work has ended",
        "repair ends the run",
        True,
    ),
    (
        "step_of_ended_run",
        checks.steps_of_ended_runs,
        "step {id} is {detail} though its run has ended",
        "repair ends the step",
        True,
    ),
    (
        "question_without_run",
        checks.questions_without_run,
        "question {id} waits for an answer that no run takes (its run: {detail})",
        "repair withdraws the question",
        True,
    ),
    (
        "waiting_without_question",
        checks.waiting_without_question,
        "Work {id} is {detail} but asks nothing",
        "cancel it, then retry it",
        False,
    ),
)


def _too_much_active(tx: Transaction, workspace_id: str | None) -> Iterator[Finding]:
    """Yield Work that was admitted while as much as its generation allows was active, and still is.

    Of Work that was never retried, all that is active and older was active at each admission; so the n-th must have
    been admitted under a limit of at least n.
    """
    for uid, rows in groupby(checks.active_work(tx, workspace_id), key=lambda row: row.trigger_uid):
        fresh = [row for row in rows if not row.retried]
        if len(fresh) > 1:
            yield from _beyond_limit(fresh, _limits(tx, uid))


def _beyond_limit(active: Sequence[ActiveFacts], limits: dict[int, int | None]) -> Iterator[Finding]:
    for number, row in enumerate(active, start=1):
        limit = limits.get(row.generation)
        if limit is not None and number > limit:
            message = f"Work {row.work_id} was admitted as number {number} where {limit} may be active"
            yield Finding("too_much_active", "error", row.trigger_name, message, "cancel what should not run")


def _limits(tx: Transaction, uid: str) -> dict[int, int | None]:
    """Return how much Work each generation allows at once, None where there is no limit or it cannot be read."""
    found: dict[int, int | None] = {}
    for revision in checks.revisions_of(tx, [uid]).get(uid, ()):
        try:
            policy = read_plan("", uid, revision.generation, revision.definition).policy
        except Invalid:
            continue
        found[revision.generation] = 1 if policy.overlap == "skip" else policy.max_active
    return found


def _about(trigger: TriggerFacts, code: str, message: str, remedy: str, *, repairable: bool = False) -> Finding:
    return Finding(code, "error", trigger.name, message, remedy, repairable)


def _instant(at: datetime | None) -> str:
    return "none" if at is None else format_instant(at)
