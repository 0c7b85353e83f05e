"""The worker as a process: takes the lock, opens the store, runs the loop, drains on SIGTERM."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from dataclasses import dataclass

from core.admission.pipeline import Pipeline
from core.clock import Clock, SystemClock
from core.errors import StorageUnusable
from core.failpoints import reach
from core.runtime.execution import DEFAULT_SLOTS, Execution
from core.runtime.port import Runtime
from core.settings import database_path
from core.storage.opening import open_store
from core.storage.store import Store
from core.worker.deadman import Deadman, heartbeat_settings
from core.worker.lock import WorkerLock
from core.worker.log import Log, open_log
from core.worker.loop import Loop
from core.worker.pulse import Pulse
from core.worker.tending import Tending

GRACE_S = 20.0
LAST_PING_S = 6.0


@dataclass(frozen=True, slots=True)
class Options:
    """How one worker runs; `grace_s` is how long running steps may go on after SIGTERM."""

    stderr: bool = True
    slots: int = DEFAULT_SLOTS
    grace_s: float = GRACE_S


def run(database: str | os.PathLike[str], *, options: Options | None = None, clock: Clock | None = None) -> int:
    """Run the worker of a database until SIGTERM or SIGINT; return the exit status.

    Raise `Precondition` that names the pid where another worker holds the file, or says that the file is an older copy;
    `StorageUnusable` where it cannot be used at the start; `Invalid` for what the environment says of the heartbeat.
    Later trouble with the storage is told and waited for.
    """
    options, clock, heartbeat = options or Options(), clock or SystemClock(), heartbeat_settings()
    path = database_path(database)
    store = open_store(path, clock=clock)
    try:
        with WorkerLock.take(path):
            reach("worker.locked")
            log = open_log(path, stderr=options.stderr)
            try:
                asyncio.run(_work(store, clock, log, options, Deadman(heartbeat, clock, log)))
            finally:
                log.close()
    finally:
        store.close()
    return 0


async def _work(store: Store, clock: Clock, log: Log, options: Options, deadman: Deadman) -> None:
    """Start everything, loop, drain, stop; in this order, whatever fails."""
    tending = Tending(store, clock, log)
    await asyncio.to_thread(tending.begin)
    worker_id = clock.new_id()
    main = asyncio.get_running_loop()
    loop: Loop

    def wake() -> None:
        main.call_soon_threadsafe(loop.nudge)

    execution = Execution(
        store,
        clock,
        durable_runtime(store),
        options.slots,
        worker_id=worker_id,
        on_wake=wake,
    )
    pipeline = Pipeline(store, clock)
    pulse = Pulse(store, clock, worker_id, options.slots, lambda: execution.running)
    loop = Loop(store, clock, pipeline, execution, pulse, log, tending, deadman)
    for number in (signal.SIGTERM, signal.SIGINT):
        main.add_signal_handler(number, loop.stop)
    await _begin(pipeline, execution, pulse, log)
    gc.freeze()  # what is loaded by now stays: a collection in the middle of a batch need not walk it
    reach("worker.started")
    try:
        await loop.run()
    finally:
        await _end(execution, pulse, log, options.grace_s)
        await asyncio.to_thread(deadman.settle, LAST_PING_S)
    if loop.refused is not None:
        raise loop.refused
    await _leave_stamp(tending, log)


async def _leave_stamp(tending: Tending, log: Log) -> None:
    try:
        await asyncio.to_thread(tending.end)
    except StorageUnusable as error:
        log.problem("storage_unusable", message=error.sentence(), admitting=False)


def durable_runtime(store: Store) -> Runtime:
    """Return the durable engine of an embedded database; imported here, because it takes a second."""
    from core.runtime.engine import DbosRuntime

    return DbosRuntime(store)


async def _begin(pipeline: Pipeline, execution: Execution, pulse: Pulse, log: Log) -> None:
    """Say that we are here, put right what a dead worker left, and make projections true."""
    await asyncio.to_thread(pulse.begin)
    reach("worker.seen")
    log.info("worker_started", pid=os.getpid(), worker=pulse.worker_id, slots=pulse.slots)
    found = await asyncio.to_thread(pipeline.reconcile)
    interrupted = await execution.start()
    log.info("reconciled", triggers=found.seen, repaired=found.repaired, interrupted_steps=interrupted)


async def _end(execution: Execution, pulse: Pulse, log: Log, grace_s: float) -> None:
    """Let running steps finish for a while, then leave them to the next start."""
    pulse.state = "draining"
    log.info("worker_draining", running=execution.running, grace_s=grace_s)
    await _beat_if_possible(pulse, log)
    drained = await execution.drain(grace_s)
    reach("worker.drained")
    if not drained:
        log.warning("steps_left_for_recovery", running=execution.running)
    await execution.stop()
    reach("worker.engine_stopped")
    pulse.state = "stopped"
    await _beat_if_possible(pulse, log)
    log.info("worker_stopped", drained=drained)


async def _beat_if_possible(pulse: Pulse, log: Log) -> None:
    try:
        await asyncio.to_thread(pulse.beat)
    except StorageUnusable as error:
        log.problem("storage_unusable", message=error.sentence(), admitting=False)
