"""What people do to a Trigger: save, enable, disable, pause, resume, run now, delete. Edits are never retroactive.

Every function works in the caller's transaction and checks the acting scope. `definition_saved` and `deleted` are the
hooks that `core.resources.service` calls whenever it stores or removes a Trigger.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from core.access import audit
from core.access.scope import Scope
from core.admission import rows
from core.admission.decide import Judgement, Window, project, withdraw
from core.admission.manual import named_state, pause_notices, run_now
from core.admission.plan import Plan, plan_of, read_plan
from core.admission.recovery import rebase
from core.admission.windows import windows_of
from core.clock import epoch_seconds, format_instant, from_epoch
from core.errors import Fault, Invalid, Precondition
from core.storage import admission as statements
from core.storage.admission import PauseRow, StateRow, Subject
from core.storage.store import Transaction
from core.triggers import explain
from core.views import Effect

__all__ = ["Saved", "definition_saved", "deleted", "disable", "enable", "pause", "resume", "run_now"]


class Saved(Protocol):
    """What the hooks need of a stored Trigger."""

    @property
    def uid(self) -> str:
        """Return its identity."""
        ...

    @property
    def namespace(self) -> str:
        """Return its namespace."""
        ...

    @property
    def name(self) -> str:
        """Return its name."""
        ...

    @property
    def generation(self) -> int:
        """Return the number of its definition."""
        ...

    @property
    def definition(self) -> Mapping[str, Any]:
        """Return its definition."""
        ...

    @property
    def principal_id(self) -> str:
        """Return under whom it fires."""
        ...


# -- hooks -----------------------------------------------------------------------------------------------------------


def definition_saved(tx: Transaction, scope: Scope, stored: Saved, previous: Saved | None, now: datetime) -> None:
    """Keep the Trigger's state true to a definition that was just stored.

    A change of the schedule or of `enabled` records what was undecided as `definition_changed` and moves the mark to
    now; any other change moves nothing. A definition that cannot be read is refused as `Invalid`, unless all that was
    done to it is to disable it.
    """
    plan = _plan_to_follow(scope, stored, previous)
    enabled = bool(stored.definition.get("enabled"))
    old = statements.states_of(tx, [stored.uid]).get(stored.uid)
    if old is not None:
        old = rebase(tx, old, *_former_plan(tx, old, previous), now)
    reruled = previous is None or previous.definition.get("source") != stored.definition.get("source")
    toggled = old is None or old.enabled != enabled
    mark = epoch_seconds(now) if old is None or old.mark_at is None else epoch_seconds(old.mark_at)
    if old is not None and (reruled or toggled):
        mark = _withdraw(tx, old, previous, now).mark
    state = rows.healed(_named(old, scope, stored, plan, enabled=enabled))
    windows = windows_of(tx, [state], now).get(stored.uid, ())
    fresh = rows.projected(state, plan, mark, windows, now) if plan else rows.put_away(state, stored.generation, mark)
    if reruled or toggled:
        statements.set_revision_mark(tx, stored.uid, stored.generation, from_epoch(mark))
    (statements.insert_states if old is None else statements.save_states)(tx, [fresh])
    tx.changed(scope.workspace_id, "trigger", stored.uid)


def deleted(tx: Transaction, scope: Scope, uid: str, now: datetime) -> None:
    """Record what a deleted Trigger left undecided and forget its state; its history stays."""
    state = statements.states_of(tx, [uid]).get(uid)
    if state is None:
        return
    _withdraw(tx, rebase(tx, state, *_former_plan(tx, state, None), now), None, now)
    statements.delete_state(tx, uid)
    tx.changed(scope.workspace_id, "trigger", uid)


def _plan_to_follow(scope: Scope, stored: Saved, previous: Saved | None) -> Plan | None:
    """Return the plan of a definition that was just stored, None where it is only disabled and cannot be read."""
    try:
        return plan_of(scope.workspace_id, stored.uid, stored.generation, stored.definition)
    except Invalid:
        if previous is None or stored.definition != {**previous.definition, "enabled": False}:
            raise
        return None


def _named(old: StateRow | None, scope: Scope, stored: Saved, plan: Plan | None, *, enabled: bool) -> StateRow:
    base = old or StateRow(
        trigger_uid=stored.uid,
        workspace_id=scope.workspace_id,
        namespace=stored.namespace,
        name=stored.name,
        enabled=enabled,
        phase="disabled",
        observed_generation=stored.generation,
    )
    base = replace(base, namespace=stored.namespace, name=stored.name, enabled=enabled)
    if plan is None:
        return base
    return replace(
        base,
        words=explain(plan.schedule).words,
        flow_namespace=plan.target.namespace,
        flow_name=plan.target.name,
    )


def _withdraw(tx: Transaction, state: StateRow, previous: Saved | None, now: datetime) -> Judgement:
    """Record all undecided nominal times up to now as ranges; return the moved mark with them."""
    until = epoch_seconds(now)
    mark = until if state.mark_at is None else epoch_seconds(state.mark_at)
    plan, principal_id = _former_plan(tx, state, previous)
    if plan is None or not state.enabled:
        return Judgement(max(mark, until))
    windows = windows_of(tx, [state], now).get(state.trigger_uid, ())
    made = withdraw(plan.schedule, "definition_changed", mark=mark, until=until, windows=windows)
    subject = Subject(state, plan.generation, principal_id)
    written = [rows.range_row(subject, part, rows.Moment(now, now)) for part in made.ranges]
    statements.grow_ranges(tx, written)
    tx.changed(state.workspace_id, "occurrence", *(row["id"] for row in written))
    return made


def _former_plan(tx: Transaction, state: StateRow, previous: Saved | None) -> tuple[Plan | None, str]:
    """Return the plan that held until now and its principal; None where it says nothing."""
    workspace_id, uid = state.workspace_id, state.trigger_uid
    try:
        if previous is not None:
            plan = plan_of(workspace_id, uid, previous.generation, previous.definition)
            return plan, previous.principal_id
        row = statements.last_definition(tx, uid)
        return (
            (None, "")
            if row is None
            else (read_plan(workspace_id, uid, row.generation, row.definition), row.principal_id)
        )
    except Invalid:
        return None, ""


# -- commands --------------------------------------------------------------------------------------------------------


def enable(tx: Transaction, scope: Scope, namespace: str, name: str, now: datetime) -> Effect:
    """Enable a Trigger from now on; refuse a rule that can never fire again."""
    if _found(tx, scope, namespace, name).enabled:
        return Effect(name, f"{name} is enabled already")
    _set_enabled(tx, scope, namespace, name, enabled=True, now=now)
    state = _found(tx, scope, namespace, name)
    return Effect(name, f"{name} is enabled; {_next(state.next_due_at)}", pause_notices(tx, state, now))


def disable(tx: Transaction, scope: Scope, namespace: str, name: str, now: datetime) -> Effect:
    """Disable a Trigger; what it started goes on and is named."""
    state = _found(tx, scope, namespace, name)
    if not state.enabled:
        return Effect(name, f"{name} is disabled already")
    unread = _why_unread(tx, state)
    _set_enabled(tx, scope, namespace, name, enabled=False, now=now)
    active = statements.active_work(tx, [state.trigger_uid]).get(state.trigger_uid, [])
    notices = tuple(f"Work {row.work_id[:8]} ({row.status}) goes on; cancel it if it should not" for row in active)
    return Effect(name, f"{name} is disabled; it does not fire any more", unread + notices)


def pause(
    tx: Transaction, scope: Scope, namespace: str, name: str, *, note: str, until: datetime | None, now: datetime
) -> Effect:
    """Open a pause from now on, replacing the present one; the definition and its ETag stay as they are."""
    scope.require("resources/write")
    state = _found(tx, scope, namespace, name)
    if until is not None and until <= now:
        raise Invalid([Fault("until", f"{format_instant(until)} has passed", "name a later instant, or none")])
    if not state.enabled:
        raise Precondition(f"{name} is disabled, so there is nothing to pause", "enable it first")
    until = until and until.replace(microsecond=0)
    statements.end_pauses(tx, state.trigger_uid, now)
    row = PauseRow(tx.clock.new_id(), state.trigger_uid, now, until, note)
    statements.insert_pause(tx, row, scope.principal_id)
    _refresh(tx, state, now)
    detail = {"until": format_instant(until)} if until else None
    audit.record(tx, scope, "pause", "Trigger", state.trigger_uid, name, detail=detail)
    span = f"until {format_instant(until)}" if until else "until it is resumed"
    return Effect(name, f"{name} is paused {span}; its fire times are recorded as paused")


def resume(tx: Transaction, scope: Scope, namespace: str, name: str, now: datetime) -> Effect:
    """End the present pause; what it covered is recorded as paused and never fires."""
    scope.require("resources/write")
    state = _found(tx, scope, namespace, name)
    if rows.covering(windows_of(tx, [state], now).get(state.trigger_uid, ()), now) is None:
        raise Precondition(f"{name} is not paused", "nothing needs to be done")
    statements.end_pauses(tx, state.trigger_uid, now)
    plan = _refresh(tx, state, now)
    audit.record(tx, scope, "resume", "Trigger", state.trigger_uid, name)
    following = project(plan.schedule, plan.due_of, epoch_seconds(now)) if plan else None
    return Effect(name, f"{name} is resumed; {_next(from_epoch(following[1]) if following else None)}")


def _why_unread(tx: Transaction, state: StateRow) -> tuple[str, ...]:
    """Return a sentence on a rule that cannot be read, nothing where it can."""
    row = statements.last_definition(tx, state.trigger_uid)
    try:
        if row is not None:
            read_plan(state.workspace_id, state.trigger_uid, row.generation, row.definition)
    except Invalid as invalid:
        since = format_instant(state.mark_at) if state.mark_at else "its last mark"
        return (f"its definition cannot be read, so what fell due since {since} is not counted: {invalid.sentence()}",)
    return ()


def _found(tx: Transaction, scope: Scope, namespace: str, name: str) -> StateRow:
    return named_state(tx, scope.workspace_id, namespace, name)


def _set_enabled(tx: Transaction, scope: Scope, namespace: str, name: str, *, enabled: bool, now: datetime) -> None:
    """Change `definition.enabled` as an edit, so that generation, revision and audit say so."""
    from core.resources import service

    stored = service.get(tx, scope, "Trigger", namespace, name)
    service.set_enabled(tx, scope, stored, enabled, hooks=sys.modules[__name__], now=now)


def _refresh(tx: Transaction, state: StateRow, now: datetime) -> Plan | None:
    """Compute phase and projection again after a pause changed; the mark does not move. Return the plan."""
    row = statements.definitions(tx, [state.trigger_uid])[state.trigger_uid]
    windows: Sequence[Window] = windows_of(tx, [state], now).get(state.trigger_uid, ())
    tx.changed(state.workspace_id, "trigger", state.trigger_uid)
    try:
        plan = read_plan(state.workspace_id, state.trigger_uid, row.generation, row.definition)
    except Invalid:
        return None
    state = rebase(tx, state, plan, row.principal_id, now)
    statements.save_states(tx, [rows.projected(state, plan, epoch_seconds(state.mark_at or now), windows, now)])
    return plan


def _next(due: datetime | None) -> str:
    return "it will not fire again" if due is None else f"it fires next at {format_instant(due)}"
