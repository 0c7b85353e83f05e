"""One simulated month of one database: operators, time, faults and restarts, all drawn from a seed."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import tzdata
from sqlalchemy import Engine, select, update

from core import failpoints, zones
from core.access.scope import Scope
from core.access.service import open_scope
from core.admission.pipeline import Pipeline
from core.clock import ManualClock
from core.deck import Deck
from core.errors import Denied, Invalid, NotFound, Precondition, StorageUnusable
from core.runtime.execution import Execution
from core.storage.columns import table_of
from core.storage.opening import open_store
from core.storage.tables import Membership, TriggerState
from core.upkeep.checker import check
from core.views import Finding, WorkQuery
from tests.simulation.faults import Crash, Faults, FaultyRuntime, FaultyStore
from tests.simulation.inline import InlineExecutor

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
USER = "operator"

FLOWS: dict[str, list[dict[str, Any]]] = {
    "slow": [{"id": "hold", "wait": {"for": "PT3H"}}, {"id": "rest", "wait": {"for": "PT40M"}}],
    "quick": [{"id": "skipped", "when": "false", "wait": {"for": "PT1H"}}],
    "asks": [
        {"id": "ok", "ask": {"kind": "approvalRequired", "title": "Go on?", "expiresAfter": "PT20H"}},
        {"id": "rest", "wait": {"for": "PT30M"}},
    ],
    "lenient": [
        {
            "id": "size",
            "ask": {
                "kind": "inputRequired",
                "title": "How many?",
                "expiresAfter": "PT5H",
                "onExpiry": "continue",
                "schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
            },
        }
    ],
}

SCHEDULES: list[dict[str, Any]] = [
    {"type": "cron", "expression": "0 30 2 * * ?", "timeZone": "Europe/Berlin"},
    {"type": "cron", "expression": "0 0 * * * ?", "timeZone": "America/New_York"},
    {"type": "cron", "expression": "0 15 9 ? * MON-FRI", "timeZone": "Asia/Kathmandu", "jitter": "PT45M"},
    {"type": "cron", "expression": "0 0/5 * * * ?", "timeZone": "Australia/Lord_Howe"},
    {"type": "cron", "expression": "0 0 0 L * ?", "timeZone": "Africa/Casablanca"},
    {"type": "interval", "every": "PT7H", "startAt": "2026-03-01T00:00:00Z"},
    {"type": "interval", "every": "P1D", "startAt": "2026-02-28T02:15:00+01:00", "timeZone": "Europe/Berlin"},
    {"type": "interval", "every": "PT1S", "startAt": "2026-03-03T00:00:00Z", "endAt": "2026-03-20T00:00:00Z"},
    {"type": "cron", "expression": "0 0 6 * * ?", "timeZone": "UTC", "startAt": "2026-03-02T00:00:00Z",
     "maxOccurrences": 9},
    {"type": "once", "at": "2026-03-15T10:00:00+01:00"},
]  # fmt: skip


_COMPILED: dict[Any, Any] = {}
"""Statements compiled once for all seeds: the SQL is the same, only the files differ."""


class Unsound(AssertionError):
    """The checker found something, or a mark moved back."""


class World:
    """A database file with one worker and one operator; `run` lives through the days of a seed."""

    def __init__(self, seed: int, folder: Path, days: int) -> None:
        self.seed = seed
        self.path = folder / f"seed-{seed}.sqlite3"
        self.end = START + timedelta(days=days)
        self.draw = random.Random(seed)
        self.clock = ManualClock(START)
        self.faults = Faults(seed)
        self.scope: Scope | None = None
        self.engine: Engine | None = None
        self.told: list[str] = []
        self.marks: dict[str, datetime] = {}
        self.did: Counter[str] = Counter()

    # -- a process ----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Open everything as a new process would."""
        if self.engine is None:
            self.engine = open_store(self.path, clock=self.clock).engine
            self.engine.update_execution_options(compiled_cache=_COMPILED)
        self.store = FaultyStore(self.engine, self.path, self.clock, read_only=False)
        self.store.faults = self.faults
        self.scope = self.scope or open_scope(self.store, user=USER, now=self.clock.now())
        self.deck = Deck(self.store, self.scope, "default", self.clock)
        self.pipeline = Pipeline(self.store, self.clock)
        self.runtime = FaultyRuntime(self.faults)
        self.execution = Execution(self.store, self.clock, self.runtime, slots=4)

    async def start(self) -> None:
        """Begin, reconcile, and begin again for as long as the start itself crashes."""
        for _ in range(50):
            self.begin()
            try:
                await self._guarded(self._reconcile)
            except (Crash, StorageUnusable):
                await self.end_process()
            else:
                return
        raise Unsound("no start in fifty came through")

    async def _reconcile(self) -> None:
        self.pipeline.reconcile()
        await self.execution.start()

    async def _guarded(self, action: Callable[[], Any]) -> None:
        """Do something; a crash anywhere in it, also in a task of the runtime, is a crash of the process."""
        self.faults.crashed = False
        await action()
        await self.runtime.drain(30.0)
        if self.faults.crashed:
            raise Crash("in a task")

    async def end_process(self) -> None:
        """Let go of everything as a killed process would: no transaction is left, nothing else is said."""
        active, self.faults.active = self.faults.active, False
        await self.execution.stop()
        self.store.close()
        self.faults.active = active

    async def turn(self) -> None:
        """Make one worker turn; a crash restarts the process, an unusable storage ends the turn."""
        try:
            await self._guarded(self._turn)
        except Crash as crash:
            self.say(f"crash at {crash}")
            await self.end_process()
            await self.start()
        except StorageUnusable as error:
            self.say(error.message)

    async def _turn(self) -> None:
        self.pipeline.pass_once()
        await self.execution.pass_once()

    # -- a month ------------------------------------------------------------------------------------------------------

    async def run(self) -> Counter[str]:
        """Live through the days; raise `Unsound` with what was found and the story that led there."""
        await self.start()
        self.deck.apply(_manifests(self.draw))
        self.faults.active = True
        try:
            while self.clock.now() < self.end:
                self.let_time_pass()
                await self.act()
                await self.turn()
                if self.draw.random() < 0.15:
                    self.examine(settled=False)
            await self.come_to_rest()
        except Unsound as unsound:
            story = "\n".join(self.told[-60:])
            raise Unsound(f"seed {self.seed}: {unsound}\n{story}") from unsound
        finally:
            await self.end_process()
        return self.did + self.faults.seen

    def let_time_pass(self) -> None:
        """Move the clock: to some due time, over an outage, through a suspend, or in a step either way."""
        kind = self.draw.random()
        due = self.draw.choice([row.next_due_at for row in self.deck.triggers(limit=None).rows])
        if kind < 0.40 and due is not None and due > self.clock.now():
            self.clock.advance(due - self.clock.now() + timedelta(milliseconds=self.draw.randrange(400)))
        elif kind < 0.90:
            self.clock.advance(timedelta(minutes=self.draw.randrange(1, 3600)))
        elif kind < 0.95:
            self.say("suspend")
            self.clock.step(self.clock.now() + timedelta(hours=self.draw.randrange(1, 30)))
        else:
            self.clock.step(self.clock.now() + timedelta(minutes=self.draw.randrange(-90, 90)))
            self.say("the wall clock was set")

    async def act(self) -> None:
        """Let the operator do something, as the seed says."""
        if self.draw.random() < 0.3:
            return
        action = self.draw.choice(
            [self.edit, self.toggle, self.pause, self.resume, self.run_now, self.answer, self.cancel, self.retry,
             self.revoke, self.recreate, self.restart, self.renew_zones]
        )  # fmt: skip
        try:
            await self._guarded(lambda: _awaited(action()))
            self.did[action.__name__] += 1
        except (Precondition, Invalid, NotFound, Denied) as refusal:
            self.did[f"{action.__name__} refused"] += 1
            self.say(f"{action.__name__}: {refusal}")
        except StorageUnusable as error:
            self.say(f"{action.__name__}: {error.message}")
        except Crash as crash:
            self.say(f"{action.__name__}: crash at {crash}")
            await self.end_process()
            await self.start()

    # -- what an operator does ----------------------------------------------------------------------------------------

    def edit(self) -> None:
        """Change a schedule, a policy, or only a name."""
        name = self._name()
        manifest = self.deck.manifest("Trigger", name)
        definition = manifest["definition"]
        kind = self.draw.randrange(3)
        if kind == 0:
            definition["source"]["schedule"] = self.draw.choice(SCHEDULES)
        elif kind == 1:
            definition["misfirePolicy"] = self.draw.choice(["skip", "fireOnce"])
            definition["concurrencyPolicy"] = self.draw.choice(["skip", "allow"])
        else:
            definition["displayName"] = f"{name} {self.draw.randrange(100)}"
        self.say(f"edit {name} ({kind})")
        self.deck.apply(json.dumps(manifest))

    def toggle(self) -> None:
        """Enable what is disabled and the other way round."""
        name = self._name()
        enabled = self.deck.trigger(name).row.enabled
        self.say(f"{'disable' if enabled else 'enable'} {name}")
        (self.deck.disable if enabled else self.deck.enable)(name)

    def pause(self) -> None:
        """Pause for some hours or until resumed."""
        until = None if self.draw.random() < 0.3 else self.clock.now() + timedelta(hours=self.draw.randrange(1, 60))
        name = self._name()
        self.say(f"pause {name} until {until}")
        self.deck.pause(name, note="simulated", until=until)

    def resume(self) -> None:
        """End a pause."""
        name = self._name()
        self.say(f"resume {name}")
        self.deck.resume(name)

    def run_now(self) -> None:
        """Fire by hand; what comes next must not move."""
        name = self._name()
        before = self.deck.trigger(name).row.next_due_at
        self.say(f"run {name}")
        self.deck.run(name)
        if self.deck.trigger(name).row.next_due_at != before:
            raise Unsound(f"run now moved the next time of {name}")

    def answer(self) -> None:
        """Answer the oldest question; a second answer must be refused."""
        waiting = self.deck.actions()
        if not waiting:
            return
        view = self.deck.action(waiting[0].id)
        decision = self.draw.choice(view.decisions)
        self.say(f"answer {view.row.id[:8]} {decision}")
        self.deck.answer(view.row.id, decision, {"reason": "simulated"} if decision == "rejected" else {})
        try:
            self.deck.answer(view.row.id, decision, {"reason": "again"})
        except Precondition:
            return
        raise Unsound(f"question {view.row.id} was answered twice")

    def cancel(self) -> None:
        """Cancel some active Work."""
        active = self.deck.works(WorkQuery(active=True)).rows
        if active:
            chosen = self.draw.choice(active)
            self.say(f"cancel {chosen.id[:8]} ({chosen.status})")
            self.deck.cancel(chosen.id)

    def retry(self) -> None:
        """Run something that failed once more."""
        failed = self.deck.works(WorkQuery(status="failed")).rows
        if failed:
            self.say(f"retry {failed[0].id[:8]}")
            self.deck.retry(failed[0].id)

    def revoke(self) -> None:
        """Suspend the operator's membership, or restore it; the operator's open deck keeps its scope."""
        members = table_of(Membership).c
        with self.store.write() as tx:
            state = tx.scalar(select(members.state).where(members.principal_id == self.scope.principal_id))
            other = "suspended" if state == "active" else "active"
            tx.run(update(Membership).where(members.principal_id == self.scope.principal_id).values(state=other))
        self.say(f"membership {other}")

    def recreate(self) -> None:
        """Delete a Trigger and make another of the same name."""
        name = self._name()
        manifest = self.deck.manifest("Trigger", name)
        self.say(f"recreate {name}")
        self.deck.delete("Trigger", name)
        manifest["metadata"].pop("eTag", None)
        self.deck.apply(json.dumps(manifest))

    async def restart(self) -> None:
        """Stop the worker and start another."""
        self.say("restart")
        await self.end_process()
        await self.start()

    async def renew_zones(self) -> None:
        """Bring new zone data: Casablanca follows other rules from here on; needs a restart to be seen."""
        renewed = not _renewed()
        self.say(f"zone data {'renewed' if renewed else 'as before'}")
        await self.end_process()
        _renew_zone_data(renewed=renewed)
        await self.start()

    # -- judging ------------------------------------------------------------------------------------------------------

    def examine(self, *, settled: bool) -> None:
        """Ask the checker, and look that no mark moved back."""
        with self.store.read() as tx:
            findings = check(tx, now=self.clock.now(), settled=settled)
            states = table_of(TriggerState).c
            marks = {uid: mark for uid, mark in tx.all(select(states.trigger_uid, states.mark_at)) if mark}
        self._raise_for(findings)
        for uid, mark in marks.items():
            if mark < self.marks.get(uid, mark):
                raise Unsound(f"the mark of {uid} moved back from {self.marks[uid]} to {mark}")
        self.marks |= marks

    def _raise_for(self, findings: tuple[Finding, ...]) -> None:
        errors = [f"{finding.code} {finding.subject}: {finding.message}" for finding in findings]
        if errors:
            raise Unsound("\n  ".join(errors))

    async def come_to_rest(self) -> None:
        """End the faults, let everything that runs come to its end, and examine what is left."""
        self.faults.active = False
        await self.restart()
        await self.turn()
        self.examine(settled=True)
        for row in self.deck.triggers(limit=None).rows:
            if row.enabled:
                self.deck.disable(row.name)
        for _ in range(60):
            await self.turn()
            if not self.deck.works(WorkQuery(active=True), limit=1).rows:
                break
            self.clock.advance(timedelta(hours=4))
        else:
            left = self.deck.works(WorkQuery(active=True)).rows
            raise Unsound(f"Work never ends: {[(row.id[:8], row.status) for row in left]}")
        self.examine(settled=True)

    def say(self, what: str) -> None:
        """Note one line of the story."""
        self.told.append(f"{self.clock.now():%m-%d %H:%M:%S} {what}")

    def _name(self) -> str:
        return self.draw.choice([row.name for row in self.deck.triggers(limit=None).rows])


def _manifests(draw: random.Random) -> str:
    documents = [_document("Flow", name, {"displayName": name, "steps": steps}) for name, steps in FLOWS.items()]
    for number, schedule in enumerate(draw.sample(SCHEDULES, 6)):
        definition = {
            "displayName": f"Trigger {number}",
            "enabled": True,
            "source": {"kind": "schedule", "schedule": schedule},
            "target": {"kind": "flow", "flow": {"name": draw.choice(list(FLOWS))}},
            "misfirePolicy": draw.choice(["skip", "fireOnce"]),
            "concurrencyPolicy": draw.choice(["skip", "allow"]),
        }
        documents.append(_document("Trigger", f"t{number}", definition))
    return "\n---\n".join(map(json.dumps, documents))


def _document(kind: str, name: str, definition: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "agentstration.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "definition": definition,
    }


async def _awaited(result: Any) -> None:
    if result is not None:
        await result


# -- zone data ------------------------------------------------------------------------------------------------------

_REAL_FILE = zones._package_file
_REAL_VERSION = tzdata.IANA_VERSION


def _renewed() -> bool:
    return tzdata.IANA_VERSION != _REAL_VERSION


def _renew_zone_data(*, renewed: bool) -> None:
    def other_file(package: str, name: str) -> bytes:
        return _REAL_FILE(package, {"Africa/Casablanca": "Europe/Lisbon"}.get(name, name))

    zones._package_file = other_file if renewed else _REAL_FILE
    tzdata.IANA_VERSION = "2999z" if renewed else _REAL_VERSION
    zones.zone.cache_clear()
    zones.data_version.cache_clear()


@contextmanager
def _watched(faults: Faults) -> Iterator[None]:
    failpoints.watch(faults.crash_at)
    try:
        yield
    finally:
        failpoints.watch(None)
        _renew_zone_data(renewed=False)


def _leave_crashes(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say nothing of a task that crashed: the world noticed."""
    if not isinstance(context.get("exception"), Crash):
        loop.default_exception_handler(context)


def simulate(seed: int, folder: Path, days: int = 30) -> Counter[str]:
    """Live through one seed; return what was done and which faults struck. Raises `Unsound`."""
    world = World(seed, folder, days)
    loop = asyncio.new_event_loop()
    loop.set_default_executor(InlineExecutor())
    loop.set_exception_handler(_leave_crashes)
    try:
        with _watched(world.faults):
            return loop.run_until_complete(world.run())
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        for leftover in folder.glob(f"{world.path.name}*"):
            leftover.unlink()
