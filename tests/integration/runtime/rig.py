"""A store with one Owner, Flows, fired Work and an Execution over any engine; waits end by events, with a deadline."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import insert, select

from core.access.service import open_scope
from core.clock import Clock, SystemClock
from core.flows.publishing import publish
from core.runtime.execution import Execution
from core.runtime.port import Runtime
from core.runtime.secrets import Secrets
from core.storage import logs, runs
from core.storage import work as works
from core.storage.columns import table_of
from core.storage.store import Store
from core.storage.tables import Change, Notification, Occurrence, PendingAction, Resource
from core.storage.work import ActionFacts, WorkFacts
from core.work import service

START = datetime(2026, 3, 28, 13, 0, tzinfo=UTC)
KEEPER = "keeper.py"
ENDED = ("completed", "failed", "cancelled")


class Rig:
    """One database and one worker's worth of runtime over it."""

    def __init__(
        self,
        folder: Path,
        runtime: Runtime,
        *,
        clock: Clock | None = None,
        slots: int = 8,
        secrets: Mapping[str, str] | None = None,
        kill_after_s: float = 1.0,
        user: str = "tester",
    ) -> None:
        self.folder = folder
        self.clock = clock or SystemClock()
        self.store = Store.open(folder / "deck.sqlite3", clock=self.clock)
        with self.store.write() as tx:
            self.scope = open_scope(tx, workspace="default", user=user, now=self.clock.now())
        self.closed = False
        self._options: dict[str, Any] = {"secrets": Secrets(secrets or {}), "kill_after_s": kill_after_s}
        self._slots = slots
        self.use(runtime)

    def use(self, runtime: Runtime) -> None:
        """Drive this engine from now on."""
        self.runtime = runtime
        self.execution = Execution(self.store, self.clock, runtime, self._slots, **self._options)

    def flow(self, *steps: Mapping[str, Any], name: str = "import", **rest: Any) -> str:
        """Store a Flow of these steps and publish it as the active version."""
        definition = {"displayName": name, "steps": list(steps), **rest}
        now = self.clock.now()
        with self.store.write() as tx:
            known = tx.scalar(select(table_of(Resource).c.uid).where(table_of(Resource).c.name == name))
            if known is None:
                row = {"uid": tx.clock.new_id(), "workspace_id": self.scope.workspace_id, "kind": "Flow"}
                row |= {"namespace": "default", "name": name, "generation": 1, "etag": "e", "created_at": now}
                row |= {"principal_id": self.scope.principal_id, "updated_at": now, "definition": definition}
                tx.run(insert(table_of(Resource)).values(**row))
            else:
                tx.run(
                    table_of(Resource).update().where(table_of(Resource).c.uid == known).values(definition=definition)
                )
            publish(tx, self.scope, "default", name, True, now)
        return name

    def fire(
        self, *steps: Mapping[str, Any], name: str = "import", given: Mapping[str, Any] | None = None, **rest: Any
    ) -> str:
        """Fire a Flow of these steps; return the Work's id, which is pending."""
        if steps:
            self.flow(*steps, name=name, **rest)
        with self.store.write() as tx:
            effect = service.test_fire(tx, self.scope, "default", name, given or {}, self.clock.now())
        assert effect.work_id is not None
        return effect.work_id

    # -- driving -----------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Rig:
        await self.execution.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed = True
        await self.execution.stop()
        self.store.close()

    async def until(self, work_id: str, *statuses: str, within_s: float = 20.0) -> WorkFacts:
        """Drive passes until the Work has one of the statuses; fails the test after the deadline."""
        async with asyncio.timeout(within_s):
            while True:
                await self.execution.pass_once()
                work = self.work(work_id)
                if work.status in (statuses or ENDED) and (work.status in ENDED or not self.execution.running):
                    return work
                await self.next_event()

    async def until_step(self, work_id: str, position: int, status: str, within_s: float = 20.0) -> runs.StepFacts:
        """Drive passes until a step of the newest run has a status."""
        async with asyncio.timeout(within_s):
            while True:
                await self.execution.pass_once()
                step = self.steps(work_id).get(position)
                if step is not None and step.status == status and (status != "running" or step.pid is not None):
                    return step
                await self.next_event()

    async def next_event(self) -> None:
        """Return when a segment ended, or soon: a step may have begun without an event."""
        try:
            async with asyncio.timeout(0.02):
                await self.execution.woken.wait()
        except TimeoutError:
            return

    # -- reading -----------------------------------------------------------------------------------------------------

    def work(self, work_id: str) -> WorkFacts:
        with self.store.read() as tx:
            found = works.work(tx, work_id)
        assert found is not None
        return found

    def column(self, work_id: str, name: str) -> Any:
        from core.storage.tables import Work

        with self.store.read() as tx:
            return tx.scalar(select(table_of(Work).c[name]).where(table_of(Work).c.id == work_id))

    def occurrence(self, work_id: str) -> Any:
        with self.store.read() as tx:
            return tx.first(select(table_of(Occurrence)).where(table_of(Occurrence).c.id == work_id))

    def run(self, work_id: str) -> runs.RunFacts:
        with self.store.read() as tx:
            found = runs.newest(tx, work_id)
        assert found is not None
        return found

    def steps(self, work_id: str) -> dict[int, runs.StepFacts]:
        with self.store.read() as tx:
            run = runs.newest(tx, work_id)
            return runs.steps(tx, run.id) if run else {}

    def outputs(self, work_id: str) -> list[Any]:
        return [step.output for step in self.steps(work_id).values()]

    def log(self, work_id: str, stream: str | None = None) -> list[str]:
        with self.store.read() as tx:
            return [text for _, kind, text in logs.texts(tx, work_id) if stream in {None, kind}]

    def action(self, work_id: str) -> ActionFacts:
        with self.store.read() as tx:
            run = runs.newest(tx, work_id)
            assert run is not None
            found = works.open_actions(tx, [run.id])
        assert len(found) == 1
        return found[0]

    def actions(self) -> list[Any]:
        with self.store.read() as tx:
            return list(tx.all(select(table_of(PendingAction))))

    def notifications(self) -> list[Any]:
        with self.store.read() as tx:
            return list(tx.all(select(table_of(Notification))))

    def change_kinds(self) -> set[str]:
        with self.store.read() as tx:
            return {row.kind for row in tx.all(select(table_of(Change).c.kind))}

    # -- steering ----------------------------------------------------------------------------------------------------

    def answer(self, action_id: str, decision: str, values: Mapping[str, Any] | None = None) -> None:
        with self.store.write() as tx:
            service.answer(tx, self.scope, action_id, decision, values, self.clock.now())

    def cancel(self, work_id: str) -> Any:
        with self.store.write() as tx:
            return service.cancel(tx, self.scope, work_id, self.clock.now())

    def retry(self, work_id: str) -> Any:
        with self.store.write() as tx:
            return service.retry(tx, self.scope, work_id, self.clock.now())


def die_unguarded(worker: subprocess.Popen[bytes]) -> None:
    """Kill a worker after everything that would end the processes of its steps, so that they live on."""
    worker.send_signal(signal.SIGSTOP)
    keepers = [one for one in psutil.Process(worker.pid).children(recursive=True) if KEEPER in " ".join(one.cmdline())]
    for keeper in keepers:  # the first one first: it would end what the others leave
        keeper.kill()
    worker.kill()
    worker.wait()


def sh(script: str, *, step_id: str = "one", **rest: Any) -> dict[str, Any]:
    """Return a command step that runs a shell script."""
    return {"id": step_id, "command": {"argv": ["/bin/sh", "-c", script]}, **rest}


def python(script: str, *, step_id: str = "one", **rest: Any) -> dict[str, Any]:
    """Return a command step that runs Python."""
    return {"id": step_id, "command": {"argv": ["python3", "-c", script]}, **rest}
