"""Puts right, before anything new starts, what a worker left that is no longer there."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from core import failpoints
from core.errors import Invalid
from core.flows.definition import parse_flow
from core.runtime import progress, uncertain
from core.runtime.folders import steps_folder
from core.runtime.guard import end_left_behind, end_recorded_group
from core.runtime.progress import Walk
from core.runtime.uncertain import Known, Process
from core.storage import beats, flows, logs, runs
from core.storage import work as works
from core.storage.runs import StepFacts
from core.storage.store import Store, Transaction
from core.work.statuses import OUTCOME_UNKNOWN

CRASH_LIMIT = 10
CRASHED = "crashed"


def recover(store: Store, now: datetime) -> int:
    """End the processes that a dead worker left and queue its runs again; return how many steps were in flight.

    A step in flight runs again (`onCrash: rerun`, at most CRASH_LIMIT times), fails with code `crashed`, or waits
    until a person says whether it finished (`onCrash: ask`).
    """
    with store.read() as tx:
        left = runs.in_flight(tx)
        owners = {step.run_id: run.work_id for step in left if (run := runs.run(tx, step.run_id)) is not None}
    processes = {(step.run_id, step.position): _end_process(step, owners.get(step.run_id, "")) for step in left}
    end_left_behind(steps_folder(store.path))
    failpoints.reach("start.groups_ended")
    with store.write() as tx:
        for step in runs.in_flight(tx):
            _put_right(tx, step, now, processes.get((step.run_id, step.position), "none"))
        for run in runs.unfinished(tx):
            runs.set_run(tx, run.id, was=("running",), status="queued", worker_id=None)
        failpoints.reach("start.recovering")
    return len(left)


def _end_process(step: StepFacts, work_id: str) -> Process:
    """End what is left of a step's process group; say whether there was anything."""
    if step.pid is None or step.pid_started_at is None:
        return "none"
    return "ended" if end_recorded_group(step.pid, step.pid_started_at, work_id) else "gone"


def _put_right(tx: Transaction, step: StepFacts, now: datetime, process: Process) -> None:
    walk = _walk(tx, step, now)
    policy = walk.flow.steps[step.position].on_crash if walk is not None else "fail"
    code = OUTCOME_UNKNOWN if policy == "ask" else CRASHED
    values: dict[str, Any] = {
        "pid": None,
        "pid_started_at": None,
        "error_code": code,
        "error_message": uncertain.UNKNOWN,
    }
    if walk is not None and policy == "ask" and _goes_on(walk):
        progress.ask_person(tx, walk, step.position, _question(tx, walk, step, process), **values)
        return
    if policy == "rerun" and step.attempt < CRASH_LIMIT:
        values |= {"status": "pending", "error_message": "the worker died while this step ran; it runs again"}
    else:
        values |= {"status": "failed", "ended_at": now}
    runs.set_step(tx, step.run_id, step.position, was=("running",), **values)


def _walk(tx: Transaction, step: StepFacts, now: datetime) -> Walk | None:
    """Return the run that a step belongs to; None where it is gone or this release cannot read its version."""
    run = runs.run(tx, step.run_id)
    work = works.work(tx, run.work_id) if run is not None else None
    definition = flows.definition_of(tx, work.flow_uid, work.flow_version) if work is not None else None
    if run is None or work is None or definition is None:
        return None
    try:
        return Walk(work, run, parse_flow(definition), runs.steps(tx, run.id), now)
    except Invalid:
        return None


def _goes_on(walk: Walk) -> bool:
    """Tell whether the run would go on after an answer: nobody is asked about one that ends in any case."""
    overdue = walk.run.deadline_at is not None and walk.run.deadline_at <= walk.now
    return walk.work.cancel_requested_at is None and not overdue


def _question(tx: Transaction, walk: Walk, step: StepFacts, process: Process) -> dict[str, Any]:
    worker_id = walk.run.worker_id
    seen = beats.last_seen(tx, worker_id) if worker_id is not None else None
    tail = logs.tail(tx, walk.work.id, step.run_id, step.step_id, uncertain.TAIL_LINES)
    known = Known(step, process, seen, tail, may_run_again=step.attempt < CRASH_LIMIT)
    return uncertain.question(known, walk.work, walk.now)
