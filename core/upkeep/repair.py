"""Puts right what can be put right without a guess; each repair is conditional and on the audit trail.

Repaired are things that follow from other rows: next times, marks that lie behind a decision, and runs, steps and
questions whose owner has ended. Never touched are decisions and Work: what is lost there stays lost, and is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from core.access.standing import system_user
from core.admission import recovery
from core.admission.plan import Plans
from core.clock import Clock
from core.storage import access, beats, checks, runs, vitals
from core.storage import work as works
from core.storage.checks import Contradiction
from core.storage.store import Store, Transaction
from core.upkeep.checker import trigger_findings, triggers

AT_ONCE = 200
CODE = "repaired"
MESSAGE = "its owner had ended without it"
TRIGGER_CODES = ("mark_behind", "projection_missing", "projection_drift")


def repair_all(store: Store, clock: Clock, workspace_id: str | None = None) -> tuple[str, ...]:
    """Repair what is safe to repair; return one sentence for each repair."""
    done = list(_rules(store, clock, workspace_id))
    for name, find, mend in (
        ("run", checks.runs_of_ended_work, _end_run),
        ("step", checks.steps_of_ended_runs, _end_step),
        ("question", checks.questions_without_run, _withdraw),
    ):
        with store.write() as tx:
            for found in find(tx, AT_ONCE, workspace_id):
                if mend(tx, found, clock.now()):
                    done.append(f"{name} {found.id} of {found.name or 'a lost Work'} is ended")
                    _record(tx, found.workspace_id, name, found.id, found.name, f"{name}_ended")
    return tuple(done)


def _rules(store: Store, clock: Clock, workspace_id: str | None) -> Iterator[str]:
    """Repair marks and next times; yield a sentence for each."""
    with store.read() as tx:
        ill = [
            (trigger.uid, codes)
            for trigger, revisions in triggers(tx, workspace_id)
            if (codes := {one.code for one in trigger_findings(tx, trigger, revisions, clock.now())} & {*TRIGGER_CODES})
        ]
    for uid, codes in ill:
        with store.write() as tx:
            yield from _repair_trigger(tx, uid, codes)
    if workspace_id is None:
        recovery.reconcile(store, Plans())


def _repair_trigger(tx: Transaction, uid: str, codes: set[str]) -> Iterator[str]:
    place, newest = vitals.trigger_of(tx, uid), vitals.newest_decision(tx, uid)
    if place is None:
        return
    if "mark_behind" in codes and newest is not None and vitals.raise_mark(tx, uid, newest):
        yield f"the mark of {place[1]} is moved up to its newest decision"
        _record(tx, place[0], "Trigger", uid, place[1], "mark_raised")
    if recovery.repair(tx, Plans(), [uid]):
        yield f"the next time of {place[1]} is computed anew"
        _record(tx, place[0], "Trigger", uid, place[1], "projection_computed")


def _end_run(tx: Transaction, found: Contradiction, now: datetime) -> bool:
    values = {"status": "cancelled", "ended_at": now, "error_code": CODE, "error_message": MESSAGE, "resume_at": None}
    return runs.set_run(tx, found.id, was=(*runs.OPEN, *runs.PARKED), **values)


def _end_step(tx: Transaction, found: Contradiction, now: datetime) -> bool:
    run_id, _, position = found.id.rpartition("/")
    values = {"status": "cancelled", "ended_at": now, "error_code": CODE, "error_message": MESSAGE, "resume_at": None}
    return runs.set_step(tx, run_id, int(position), was=("running", "waiting"), **values)


def _withdraw(tx: Transaction, found: Contradiction, now: datetime) -> bool:
    ended = works.end_action(tx, found.id, "cancelled", now, still_due=False)
    if ended:
        tx.changed(found.workspace_id, "action", found.id)
    return ended


def _record(tx: Transaction, workspace_id: str, kind: str, uid: str, name: str, code: str) -> None:  # noqa: PLR0917 - the event's own fields
    principals = dict(beats.places_of(tx, system_user()))
    access.add_event(
        tx,
        tx.clock.now(),
        workspace_id=workspace_id,
        principal_id=principals.get(workspace_id, ""),
        action="repair",
        kind=kind,
        uid=uid,
        name=name,
        outcome="allowed",
        code=code,
        detail=None,
    )
