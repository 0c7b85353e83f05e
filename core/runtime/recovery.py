"""Puts right, before anything new starts, what a worker left that is no longer there."""

from __future__ import annotations

from datetime import datetime

from core import failpoints
from core.flows.definition import parse_flow
from core.runtime.guard import end_recorded_group
from core.storage import flows, runs
from core.storage import work as works
from core.storage.runs import StepFacts
from core.storage.store import Store, Transaction

CRASH_LIMIT = 10
CRASHED = "crashed"


def recover(store: Store, now: datetime) -> int:
    """End the process groups that a dead worker left and queue its runs again; return how many steps were in flight.

    A step in flight runs again (`onCrash: rerun`, at most CRASH_LIMIT times) or fails with code `crashed`.
    """
    with store.read() as tx:
        left = runs.in_flight(tx)
        owners = {step.run_id: run.work_id for step in left if (run := runs.run(tx, step.run_id)) is not None}
    for step in left:
        if step.pid is not None and step.pid_started_at is not None:
            end_recorded_group(step.pid, step.pid_started_at, owners.get(step.run_id, ""))
    with store.write() as tx:
        for step in runs.in_flight(tx):
            _put_right(tx, step, now)
        for run in runs.unfinished(tx):
            runs.set_run(tx, run.id, was=("running",), status="queued", worker_id=None)
        failpoints.reach("start.recovering")
    return len(left)


def _put_right(tx: Transaction, step: StepFacts, now: datetime) -> None:
    policy = _policy(tx, step)
    if policy == "rerun" and step.attempt < CRASH_LIMIT:
        message = "the worker died while this step ran; it runs again"
        values = {"status": "pending", "error_code": CRASHED, "error_message": message}
    else:
        message = "the worker died while this step ran; whether it finished is not known"
        values = {"status": "failed", "ended_at": now, "error_code": CRASHED, "error_message": message}  # type: ignore[dict-item]
    runs.set_step(tx, step.run_id, step.position, was=("running",), pid=None, pid_started_at=None, **values)


def _policy(tx: Transaction, step: StepFacts) -> str:
    run = runs.run(tx, step.run_id)
    work = works.work(tx, run.work_id) if run is not None else None
    definition = flows.definition_of(tx, work.flow_uid, work.flow_version) if work is not None else None
    if definition is None:
        return "fail"
    return parse_flow(definition).steps[step.position].on_crash
