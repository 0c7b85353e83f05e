"""Moves a mark back: the one thing that may, by hand, with a reason, on the audit trail.

It is for a mark that lies ahead because the clock did. What lies above the new mark is decided as if for the first
time; an instant that has its own row keeps it, so that none gets a second Work. Times that were counted in a range are
counted in a new one, so they may be in the history twice; the checker counts on from the newest time that was decided
before the move.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from core.access import audit
from core.access.scope import Scope
from core.admission import rows
from core.admission.manual import named_state
from core.admission.plan import Plan, Plans
from core.admission.recovery import plan_for, rebase
from core.admission.windows import windows_of
from core.clock import epoch_seconds, format_instant, from_epoch
from core.errors import Fault, Invalid, Precondition
from core.storage import admission as statements
from core.storage import marks, vitals
from core.storage.admission import StateRow
from core.storage.store import Transaction
from core.views import Effect

LONGEST_NOTE = 500


def move_mark(
    tx: Transaction, scope: Scope, namespace: str, name: str, *, to: datetime, note: str, now: datetime
) -> Effect:
    """Move a Trigger's mark back to an instant, in whole seconds, and compute its next time from there.

    Raise `Invalid` without a reason, `Precondition` where the mark does not lie beyond the instant.
    """
    scope.require("resources/write")
    _check(to, note)
    state = named_state(tx, scope.workspace_id, namespace, name)
    mark = from_epoch(epoch_seconds(to))
    if state.mark_at is None or mark >= state.mark_at:
        stands = "is not set" if state.mark_at is None else f"stands at {format_instant(state.mark_at)}"
        message = f"the mark of {name} {stands}, so it cannot move back to {format_instant(mark)}"
        raise Precondition(message, "name an earlier instant; only decisions move a mark ahead")
    plan, principal_id = _plan(tx, state)
    moved = _moved(tx, rebase(tx, state, plan, principal_id, now), plan, mark, now)
    statements.save_states(tx, [moved])
    marks.lower_revisions(tx, state.trigger_uid, mark)
    tx.changed(state.workspace_id, "trigger", state.trigger_uid)
    detail = {"from": format_instant(state.mark_at), "to": format_instant(mark), "note": note.strip()}
    audit.record(tx, scope, "move_mark", "Trigger", state.trigger_uid, name, detail=detail)
    return Effect(name, _sentence(moved, mark), _notices(plan, state.mark_at, mark, now))


def _check(to: datetime, note: str) -> None:
    faults = []
    if to.utcoffset() is None:
        faults.append(Fault("to", f"{to.isoformat()} has no offset", "add Z for UTC or an offset such as +02:00"))
    if not note.strip():
        faults.append(Fault("note", "is missing", "say why the mark moves back; it is kept on the audit trail"))
    if len(note) > LONGEST_NOTE:
        faults.append(Fault("note", f"has {len(note)} characters", f"use at most {LONGEST_NOTE}"))
    if faults:
        raise Invalid(faults)


def _plan(tx: Transaction, state: StateRow) -> tuple[Plan | None, str]:
    """Return the Trigger's plan, None where it cannot be read, and under whom it fires."""
    row = statements.definitions(tx, [state.trigger_uid]).get(state.trigger_uid)
    return (None, "") if row is None else (plan_for(Plans(), state.workspace_id, row), row.principal_id)


def _moved(tx: Transaction, state: StateRow, plan: Plan | None, mark: datetime, now: datetime) -> StateRow:
    """Return the state with its mark moved; one that cannot be evaluated waits for the worker's next look."""
    state = replace(state, mark_moves=state.mark_moves + 1)
    newest = vitals.newest_decision(tx, state.trigger_uid)
    if newest is not None and newest > mark:
        state = replace(state, decided_from=max(newest, state.decided_from or newest))
    if plan is None:
        return replace(state, mark_at=mark, mark_wall=None)
    windows = windows_of(tx, [replace(state, mark_at=mark)], now).get(state.trigger_uid, ())
    return rows.projected(state, plan, epoch_seconds(mark), windows, now)


def _sentence(state: StateRow, mark: datetime) -> str:
    said = f"the mark of {state.name} stands at {format_instant(mark)}"
    if not state.enabled:
        return f"{said}; it is disabled"
    due = state.next_due_at
    return f"{said}; it will not fire again" if due is None else f"{said}; it is due next at {format_instant(due)}"


def _notices(plan: Plan | None, before: datetime, mark: datetime, now: datetime) -> tuple[str, ...]:
    """Say how many nominal times up to now are decided anew."""
    until = min(before, now)
    count = 0 if plan is None or until <= mark else plan.schedule.count(epoch_seconds(mark), epoch_seconds(until))
    if not count:
        return ()
    times = "1 nominal time" if count == 1 else f"{count} nominal times"
    return (f"{times} up to now will be decided anew, as misfirePolicy says; none that has a Work gets a second one",)
