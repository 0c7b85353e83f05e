"""The durable engine behind the port: DBOS Transact, embedded, on a SQLite file of its own beside ours.

Imported in the worker only: it costs about 60 MB. Runs are started directly, nothing is polled for them. One stable
workflow calls one step again and again; its inputs and results are small JSON. What the engine forgets, `reconcile`
gives it again from our tables.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSConfig, Serializer, SetWorkflowID

from core import failpoints
from core.runtime.port import Abandoned, Advance, Executing, Progress, Segment, Submission
from core.storage.enginefile import begin_epoch, engine_path, open_engine_file
from core.storage.failures import translated
from core.storage.store import Store

APPLICATION = "triggerdeck"
APPLICATION_VERSION = "1"  # constant: an upgrade must not strand runs; raised only together with a migration
EXECUTOR = "local"  # fixed: SQLite has one worker, which the file lock sees to
THREADS = 32
FORGET_AFTER = 200
_TERMINAL = frozenset({"SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"})

log = logging.getLogger(__name__)


class JsonSerializer(Serializer):
    """Plain JSON instead of pickle; an exception becomes its words."""

    def serialize(self, data: Any) -> str:
        """Return JSON text."""
        return json.dumps(data, separators=(",", ":"), default=str)

    def deserialize(self, serialized_data: str) -> Any:
        """Return the value."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """Return the name under which rows note how they were written."""
        return "triggerdeck_json"


class DbosRuntime:
    """Executes segments as DBOS workflows; one per process, since DBOS is one per process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._path = engine_path(store.path)
        self._executing = Executing()
        self._advance: Advance | None = None
        self._abandoned: Abandoned | None = None
        self._hashes: dict[str, str] = {}
        self._finished: list[str] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._writing: dict[str, asyncio.Task[Any]] = {}

    async def start(self, advance: Advance, abandoned: Abandoned | None = None) -> None:
        """Begin to execute; workflows that a dead worker left pending go on by the engine's own recovery."""
        global _current
        if _current is not None:
            raise RuntimeError("there is one engine per process, and it runs already")
        _current, self._advance, self._abandoned = self, advance, abandoned
        _tame_logging()
        with translated(self._path):
            await asyncio.to_thread(begin_epoch, self._store)
            DBOS(config=_config(self._path))
            DBOS.launch()

    async def submit(self, segment: Segment) -> Submission:
        """Take a segment once; the workflow id is the key, our input hash tells another run from the same."""
        with translated(self._path):
            known = self._hashes.get(segment.id) or await self._remembered(segment)
            if known is not None:
                return Submission.DUPLICATE if known == segment.input_hash else Submission.CONFLICT
            await self._begin(segment)
        return Submission.ACCEPTED

    async def cancel(self, run_id: str) -> None:
        """Ask a run's segment to end: its step sees the event, and the rows say the rest."""
        self._executing.cancel(run_id)

    async def reconcile(self, unfinished: Iterable[Segment]) -> dict[str, Submission]:
        """Make each segment execute: what the engine holds to be over or gave up, but our rows do not, starts anew."""
        answers = {}
        for segment in unfinished:
            if segment.id not in self._executing:
                with translated(self._path):
                    await self._forget_if_over(segment)
            answers[segment.id] = await self.submit(segment)
        return answers

    async def drain(self, timeout_s: float) -> bool:
        """Wait until no segment executes, and the engine has written that down."""
        if not await self._executing.idle(timeout_s):
            return False
        await asyncio.gather(*self._tasks, return_exceptions=True)
        return True

    async def stop(self) -> None:
        """Abandon what still executes; the engine is told nothing, so it stays pending there as it does with us."""
        global _current  # noqa: PLW0603 - as in start
        instance = _instance()
        tasks = [task for task in getattr(instance, "_workflow_tasks", ()) if not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *self._tasks, return_exceptions=True)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(ThreadPoolExecutor(1, "engine-stop"), DBOS.destroy)
        loop.set_default_executor(ThreadPoolExecutor(thread_name_prefix="triggerdeck"))  # DBOS took its own with it
        if _current is self:
            _current = None

    # -- inside the workflow ----------------------------------------------------------------------------------------

    async def advance(self, segment: Segment) -> Progress:
        """Advance a segment by one step for the workflow."""
        if self._advance is None:
            raise RuntimeError("the runtime was not started")
        self._hashes.setdefault(segment.id, segment.input_hash)
        return await self._advance(segment, self._executing.enter(segment))

    def left(self, segment: Segment, *, ended: bool) -> None:
        """Note that a segment's workflow returns; where it did not come to its end, the engine failed under it."""
        self._executing.leave(segment)
        if not ended:
            if self._abandoned is not None:
                self._abandoned(segment)
            return
        self._finished.append(segment.id)
        if len(self._finished) >= FORGET_AFTER:
            self._spawn(self._forget_finished())

    # -- the engine's memory ----------------------------------------------------------------------------------------

    async def _begin(self, segment: Segment) -> None:
        self._hashes[segment.id] = segment.input_hash
        self._executing.enter(segment)
        keys = (segment.run_id, segment.number, segment.input_hash)
        try:
            with SetWorkflowID(segment.id):
                handle = await DBOS.start_workflow_async(run_segment, *keys)
        except BaseException:
            self._executing.leave(segment)  # its file could not be written: the segment may be handed over again
            raise
        failpoints.reach("dispatch.engine_took")
        self._writing[segment.id] = self._spawn(handle.get_result())
        self._writing[segment.id].add_done_callback(lambda _: self._writing.pop(segment.id, None))

    async def _remembered(self, segment: Segment) -> str | None:
        """Return the hash under which the engine knows this id."""
        status = await DBOS.get_workflow_status_async(segment.id)
        if status is None:
            return None
        stored: Any = status.input
        return str(stored["args"][-1])

    async def _forget_if_over(self, segment: Segment) -> None:
        if segment.id in self._writing:
            await asyncio.gather(self._writing[segment.id], return_exceptions=True)
        status = await DBOS.get_workflow_status_async(segment.id)
        given_up = segment.id in self._hashes  # it began in this process, and executes no more
        if status is not None and (given_up or status.status in _TERMINAL):
            await DBOS.delete_workflow_async(segment.id)
            status = None
        if status is None:
            self._hashes.pop(segment.id, None)

    async def _forget_finished(self) -> None:
        """Delete finished workflows from the engine's file: it never has to answer for them again."""
        finished, self._finished = self._finished, []
        try:
            await DBOS.delete_workflows_async(finished)
        except Exception as error:  # noqa: BLE001 - only the size of a cache is at stake, and the next start drops it
            log.warning("engine.forget_failed", extra={"reason": str(error)})

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen: what a segment raised was logged where it happened


_current: DbosRuntime | None = None


@DBOS.step(name="advance", preemptible=True)
async def _advance(run_id: str, number: int, input_hash: str) -> str:
    runtime = _current
    if runtime is None:
        raise RuntimeError("the engine runs without its runtime")
    return str(await runtime.advance(Segment(run_id, number, input_hash)))


@DBOS.workflow(name="run_segment")
async def run_segment(run_id: str, number: int, input_hash: str) -> str:
    """Advance a segment until it has ended; every call is one checkpoint, and all of them look alike."""
    done = str(Progress.MORE)
    try:
        while done == Progress.MORE:
            done = await _advance(run_id, number, input_hash)
    finally:
        if _current is not None:
            _current.left(Segment(run_id, number, input_hash), ended=done == Progress.ENDED)
    return "ended"


def _config(path: Path) -> DBOSConfig:
    return DBOSConfig(
        name=APPLICATION,
        system_database_url=f"sqlite:///{path}",
        system_database_engine=open_engine_file(path),
        application_version=APPLICATION_VERSION,
        executor_id=EXECUTOR,
        serializer=JsonSerializer(),
        enable_otlp=False,
        use_listen_notify=False,
        max_executor_threads=THREADS,
        notification_listener_polling_interval_sec=0.25,  # looks at two empty maps; how soon a stop is noticed
        scheduler_polling_interval_sec=3600.0,
        log_level="WARNING",
    )


def _tame_logging() -> None:
    """Send the engine's log through ours, warnings and worse only."""
    engine_log = logging.getLogger("dbos")
    engine_log.handlers = [logging.NullHandler()]  # a handler must exist, or DBOS adds one that writes to the terminal
    engine_log.propagate = True
    engine_log.setLevel(logging.WARNING)


def _instance() -> Any:
    from dbos import _dbos

    return _dbos._dbos_global_instance
