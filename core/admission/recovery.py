"""Makes every projection follow from definition and mark again: at start, and after new zone data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core import zones
from core.admission import rows
from core.admission.decide import Range, Window, project, withdraw
from core.admission.plan import Plan, Plans, fingerprint, read_plan, zone_data_of
from core.admission.windows import windows_of
from core.clock import epoch_seconds, from_epoch
from core.errors import Invalid
from core.failpoints import reach
from core.storage import admission as statements
from core.storage.admission import StateRow, Subject
from core.storage.store import Store, Transaction
from core.triggers import read_instant
from core.views import Drift

BATCH = 500
ZONE_DATA_FACT = "zone_data"


@dataclass(frozen=True, slots=True)
class Reconciled:
    """How many Triggers were looked at and how many had a projection to be computed again."""

    seen: int
    repaired: int


def rebased(state: StateRow, plan: Plan) -> tuple[StateRow, tuple[Range, ...]]:
    """Return the state under the present zone data, and what its moved mark passes over.

    The mark becomes the later of itself and the new instant of its wall time, so that no local time fires twice; the
    nominal times between are recorded as superseded. What was decided before can no longer be checked against the rule.
    """
    mark = None if state.mark_at is None else epoch_seconds(state.mark_at)
    if mark is None or not has_other_zone_data(state):
        return state, ()
    moved = mark if state.mark_wall is None else moved_mark(plan, mark, state.mark_wall)
    passed = withdraw(plan.schedule, "superseded", mark=mark, until=moved, note="its wall time was decided before")
    state = replace(state, mark_at=from_epoch(moved), decided_from=_known_from(state))
    return state, passed.ranges if state.enabled else ()


def has_other_zone_data(state: StateRow) -> bool:
    """Say whether a Trigger's mark was set under zone data that is not the present one."""
    return zone_data_of(state.fingerprint) not in {None, zones.data_version()}


def rebase(tx: Transaction, state: StateRow, plan: Plan | None, principal_id: str, now: datetime) -> StateRow:
    """Return the state under the present zone data before anything else is done to it, recording what it passes over.

    Without a plan there is no wall time to go by: the mark stays, and its past can no longer be checked.
    """
    if plan is None:
        return replace(state, decided_from=_known_from(state)) if has_other_zone_data(state) else state
    moved, ranges = rebased(state, plan)
    subject, moment = Subject(moved, plan.generation, principal_id), rows.Moment(now, now)
    statements.grow_ranges(tx, [rows.range_row(subject, part, moment) for part in ranges])
    return moved


def _known_from(state: StateRow) -> datetime | None:
    """Return from when on decisions can be checked once zone data has changed: from the mark."""
    return max(filter(None, (state.mark_at, state.decided_from)), default=None)


def moved_mark(plan: Plan, mark: int, wall: str) -> int:
    """Return the later of the mark and the instant at which the rule's zone now shows the mark's wall time."""
    zone = plan.schedule.zone
    if zone is None:
        return mark
    shown, _ = read_instant(f"{wall}Z", "mark")
    instants = zone.instants(shown)
    return mark if mark in instants else max([mark, *instants])


def reconcile(store: Store, plans: Plans) -> Reconciled:
    """Compute again every projection that is missing or was made with something else; 500 Triggers at a time."""
    seen = repaired = 0
    after = ""
    while True:
        with store.read() as tx:
            batch = statements.states_after(tx, after, BATCH)
            stale = _stale(tx, batch)
        if stale:
            with store.write() as tx:
                repaired += repair(tx, plans, stale)
                reach("start.repairing")
            reach("start.repaired")
        seen += len(batch)
        if len(batch) < BATCH:
            break
        after = batch[-1].trigger_uid
    with store.write() as tx:
        statements.set_fact(tx, ZONE_DATA_FACT, zones.data_version())
    reach("start.reconciled")
    return Reconciled(seen, repaired)


def _stale(tx: Transaction, states: Sequence[StateRow]) -> list[str]:
    """Return the uids of enabled Triggers whose projection cannot be trusted."""
    live = statements.generations(tx, (state.trigger_uid for state in states))
    return [
        state.trigger_uid
        for state in states
        if state.enabled and state.trigger_uid in live and _untrusted(state, live[state.trigger_uid])
    ]


def _untrusted(state: StateRow, generation: int) -> bool:
    missing = state.next_due_at is None and state.phase != "completed"
    return missing or state.fingerprint != fingerprint(generation)


def repair(tx: Transaction, plans: Plans, uids: Iterable[str]) -> int:
    """Compute these Triggers' projections again; one that cannot be read stays as it is, for the pass to judge."""
    states = statements.states_of(tx, uids)
    found = statements.definitions(tx, states)
    windows = windows_of(tx, list(states.values()), tx.clock.now())
    moment = rows.Moment(tx.clock.now(), tx.clock.now())
    saved, passed = [], []
    for uid, row in found.items():
        plan = plan_for(plans, states[uid].workspace_id, row)
        if plan is None:
            continue
        state, ranges = rebased(states[uid], plan)
        subject = Subject(state, plan.generation, row.principal_id)
        passed += [rows.range_row(subject, part, moment) for part in ranges]
        saved.append(_fresh(state, plan, windows.get(uid, ()), moment.observed))
    changed = [state for state in saved if state != states[state.trigger_uid]]
    statements.grow_ranges(tx, passed)
    statements.save_states(tx, changed)
    statements.record_changes(tx, ((state.workspace_id, "trigger", state.trigger_uid) for state in changed))
    return len(changed)


def _fresh(state: StateRow, plan: Plan, windows: Sequence[Window], now: datetime) -> StateRow:
    if state.last_error_code in rows.HEALING_CODES:
        state = rows.healed(state)
    return rows.projected(state, plan, epoch_seconds(state.mark_at or now), windows, now)


def plan_for(plans: Plans, workspace_id: str, row: statements.DefinitionRow) -> Plan | None:
    """Return the plan of a stored definition, None where it cannot be read."""
    known = plans.known(row.uid, row.generation)
    if known is not None:
        return known
    try:
        return plans.keep(read_plan(workspace_id, row.uid, row.generation, row.definition))
    except Invalid:
        return None


def drift(tx: Transaction, workspace_id: str, limit: int, *, checked: int = 200) -> list[Drift]:
    """Return up to `limit` projections that differ from what definition and mark give, of the `checked` next due."""
    states = statements.projected_states(tx, workspace_id, checked)
    found = statements.definitions(tx, (state.trigger_uid for state in states))
    plans, drifts = Plans(), list[Drift]()
    for state in states:
        row = found.get(state.trigger_uid)
        plan = plan_for(plans, workspace_id, row) if row else None
        if plan is None or state.mark_at is None or state.retry_at is not None:
            continue
        following = project(plan.schedule, plan.due_of, epoch_seconds(state.mark_at))
        computed = from_epoch(following[1]) if following else None
        if computed != state.next_due_at:
            drifts.append(Drift(state.name, state.next_due_at, computed))
        if len(drifts) >= limit:
            break
    return drifts
