"""One simulated month of one database: people, time, faults and restarts, all drawn from a seed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import random
import tempfile
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Dialect, Engine

from core import failpoints
from core.admission.pipeline import Pipeline
from core.clock import ManualClock, epoch_us, from_epoch_us
from core.errors import StorageUnusable
from core.flows.steps import Command
from core.runtime import interpreter
from core.runtime.context import StepContext, StepResult
from core.runtime.execution import Execution
from core.storage.opening import open_store
from core.storage.store import make_engine
from core.upkeep.checker import check
from core.upkeep.retention import Keep, RetentionPolicy, RetentionTask
from tests.simulation import zonedata
from tests.simulation.faults import Crash, EngineMemory, Faults, FaultyRuntime, FaultyStore, Process
from tests.simulation.ledger import Ledger
from tests.simulation.loop import SimulatedLoop
from tests.simulation.outside import Outside
from tests.simulation.people import ACTIVE, People, found
from tests.simulation.scenery import flow_documents, trigger_documents

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
SLOTS = 4
REST_TURNS = 100
FEW, SOME = Keep(timedelta(days=6), 8), Keep(timedelta(days=6), 20)
LITTLE_KEPT = RetentionPolicy(SOME, FEW, FEW, SOME, FEW, FEW, timedelta(days=2), SOME, SOME, changes=200)
PRUNED, PRUNES = 3, 0.5
EXAMINED = 0.1

_COMPILED: dict[Any, Any] = {}
"""Statements compiled once for all seeds: the SQL is the same, only the files differ. Keys hold the dialect."""
_DIALECT: list[Dialect] = []


class Unsound(AssertionError):
    """The checker found something, or one of the simulation's own judges did."""


@dataclass(frozen=True, slots=True)
class Life:
    """What happened in one seed, and a digest of everything that was left in its database."""

    seed: int
    did: Counter[str]
    digest: str


class World:
    """A database file with one worker and two people; `run` lives through the days of a seed."""

    def __init__(self, seed: int, folder: Path, days: int) -> None:
        self.seed = seed
        self.path = folder / f"seed-{seed}.sqlite3"
        self.draw = random.Random(seed)
        self.clock = ManualClock(START)
        self.end = START + timedelta(days=days)
        self.faults = Faults(seed)
        self.loop = SimulatedLoop(self.clock)
        self.loop.set_exception_handler(_leave_crashes)
        self.told: list[str] = []
        self.did: Counter[str] = Counter()
        self._memory = EngineMemory()
        self._busy_between = False
        self._stores: list[FaultyStore] = []
        self.engine = _engine(self.path)
        self.ledger = Ledger(self.path)
        self.outside = Outside(seed, self.faults, self.ledger.look, self.ledger.denied)
        self.people = People(self.draw, self.clock, self.faults, self.ledger, self.outside, self.say)
        self.people.settle_in(self._store())
        self.ledger.note_rights()
        self.deck = self.people.deck

    def close(self) -> None:
        """Let go of the files."""
        self.ledger.close()
        for store in self._stores:
            store.close()
        self.loop.close()

    # -- a process ----------------------------------------------------------------------------------------------------

    def _store(self) -> FaultyStore:
        store = FaultyStore(self.engine, self.path, self.clock, read_only=False)
        store.seeded = self.faults
        self._stores.append(store)
        return store

    def begin(self) -> None:
        """Make everything that a new worker process would."""
        self.faults.process = Process()
        self.store = self._store()
        self.store.between = self.come_between
        self.pipeline = Pipeline(self.store, self.clock)
        self.runtime = FaultyRuntime(self.faults, self._memory)
        self.execution = Execution(self.store, self.clock, self.runtime, slots=SLOTS)
        self.retention = RetentionTask(self.store, self.clock, LITTLE_KEPT) if self.seed % PRUNED == 0 else None

    async def start(self) -> None:
        """Begin, reconcile, and begin again for as long as the start itself fails."""
        for _ in range(50):
            self.begin()
            try:
                await self._alive(self._reconcile)
            except (Crash, StorageUnusable) as failure:
                self.say(f"the start failed: {failure}")
                await self.end_process()
            else:
                self._blame(self.ledger.stale())
                return
        raise Unsound("no start in fifty came through")

    async def _reconcile(self) -> None:
        self.pipeline.reconcile()
        await self.execution.start()

    async def _alive(self, action: Callable[[], Awaitable[Any]]) -> None:
        """Do something and what follows from it; a crash anywhere in it is a crash of the process."""
        await action()
        await self.loop.quiet()
        if self.faults.process.dead:
            raise Crash("in a task")

    async def end_process(self, *, killed: bool = True) -> None:
        """Let go of everything; a killed process writes nothing more, and its steps end with it."""
        self.faults.process.dead = killed
        with suppress(Crash, StorageUnusable):
            await self.execution.stop()
        self.faults.process.dead = True
        await self.loop.quiet()
        self.outside.end_life()

    async def restart(self, *, killed: bool = True) -> None:
        """End the worker and start another."""
        await self.end_process(killed=killed)
        await self.start()

    async def turn(self) -> None:
        """Make one worker turn; a crash restarts the process, an unusable storage ends the turn."""
        try:
            await self._alive(self._turn)
        except Crash as crash:
            self.say(f"crash at {crash}")
            await self.restart()
        except StorageUnusable as error:
            self.say(error.message)
            await self.loop.quiet()
            if self.faults.process.dead:
                await self.restart()

    async def _turn(self) -> None:
        self.pipeline.pass_once()
        await self.execution.pass_once()
        if self.retention is not None and self.draw.random() < PRUNES:
            self._prune(self.retention)

    def _prune(self, retention: RetentionTask) -> None:
        for _ in range(self.draw.randrange(1, 16)):
            if not retention.step():
                break
            self.did["pruning steps"] += 1

    # -- a month ------------------------------------------------------------------------------------------------------

    async def run(self) -> Life:
        """Live through the days; raise `Unsound` with what was found and the story that led there."""
        try:
            await self.start()
            self._furnish()
            self.faults.active = True
            while self.clock.now() < self.end:
                await self.live_on()
            await self.come_to_rest()
        except Unsound as unsound:
            story = "\n".join(self.told[-400:])
            raise Unsound(f"seed {self.seed}: {unsound}\n{story}") from unsound
        finally:
            self.faults.active = False
            await self.end_process()
        self.did += self.people.did + self.faults.seen + self.outside.done
        return Life(self.seed, self.did, self._digest())

    def _furnish(self) -> None:
        triggers = trigger_documents(self.draw)
        for deck, some in ((self.deck, triggers[::2]), (self.people.other, triggers[1::2])):
            deck.apply("\n---\n".join(map(json.dumps, some)))

    async def live_on(self) -> None:
        """Let some time pass, something happen, and the worker turn."""
        self.did["turns"] += 1
        self.let_time_pass()
        await self.loop.quiet()
        happens = self.draw.random()
        if happens < 0.55:
            self.people.act()
        elif happens < 0.70:
            await self._disturb()
        await self.turn()
        if self.draw.random() < EXAMINED:
            self.examine(settled=False)
        else:
            self.judge()

    async def _disturb(self) -> None:
        """Do to the machine what no command does."""
        what = self.draw.choice([self._restarted, self._away, self._renewed, self._renewed, self._redelivered])
        self.did[what.__name__.strip("_")] += 1
        await what()

    async def _restarted(self) -> None:
        killed = self.draw.random() < 0.6
        self.say("killed" if killed else "stopped")
        await self.restart(killed=killed)

    async def _away(self) -> None:
        """Leave the worker down while people and time go on."""
        self.say("the worker is away")
        await self.end_process()
        for _ in range(self.draw.randrange(1, 5)):
            self.let_time_pass()
            self.people.act()
            self.judge()
        await self.start()

    async def _renewed(self) -> None:
        """Bring new zone data, now and then just after a rule that follows a wall clock has fired."""
        soon = epoch_us(self.clock.now() + timedelta(days=2))
        query = (
            "SELECT next_due_at FROM trigger_state WHERE time_zone IS NOT NULL AND next_due_at BETWEEN ? AND ?"
            " ORDER BY next_due_at DESC LIMIT 3"
        )
        walls = self.ledger.look(query, epoch_us(self.clock.now()), soon)
        if walls and self.draw.random() < 0.6:
            self.clock.advance(from_epoch_us(self.draw.choice(walls)[0]) - self.clock.now())
            await self.loop.quiet()
            await self.turn()
        await self.end_process()
        self.say(f"new zone data: {zonedata.bring_new(self.draw)}")
        await self.start()

    async def _redelivered(self) -> None:
        self.runtime.redeliver(self.draw)
        await self.loop.quiet()

    def let_time_pass(self) -> None:
        """Move the clock: to some due time, over a quiet stretch, through a suspend, or in a step either way."""
        kind, clock = self.draw.random(), self.clock
        if kind < 0.45:
            due = self._some_due()
            if due is not None:
                clock.advance(due - clock.now() + timedelta(milliseconds=self.draw.randrange(400)))
            else:
                clock.advance(timedelta(seconds=self.draw.randrange(1, 300)))
        elif kind < 0.75:
            clock.advance(timedelta(minutes=self.draw.randrange(1, 90)))
        elif kind < 0.91:
            clock.advance(timedelta(hours=self.draw.randrange(2, 40)))
        elif kind < 0.95:
            self.did["suspends"] += 1
            self.say("suspend")
            clock.step(clock.now() + timedelta(hours=self.draw.randrange(1, 30)))
        else:
            self._set_clock()

    def _set_clock(self) -> None:
        far = self.draw.random() < 0.15
        by = timedelta(minutes=self.draw.randrange(-1_500, 1_500) if far else self.draw.randrange(-90, 90))
        self.did["clock steps back" if by < timedelta(0) else "clock steps ahead"] += 1
        self.clock.step(self.clock.now() + by)
        self.say(f"the wall clock was set by {by}")

    def _some_due(self) -> datetime | None:
        query = "SELECT next_due_at FROM trigger_state WHERE next_due_at > ? ORDER BY next_due_at LIMIT 4"
        rows = self.ledger.look(query, epoch_us(self.clock.now()))
        if not rows:
            return None
        return from_epoch_us(self.draw.choice(rows)[0])

    def come_between(self) -> None:
        """Let somebody act, or time pass, between two transactions of the worker."""
        if self._busy_between or not self.faults.strikes(self.faults.rates.between):
            return
        self._busy_between = True
        try:
            if self.draw.random() < 0.7:
                self.did["acts between transactions"] += 1
                self.people.act()
            elif self.draw.random() < 0.2:
                self._set_clock()
            else:
                self.clock.advance(timedelta(seconds=self.draw.randrange(1, 400)))
        finally:
            self._busy_between = False

    # -- judging ------------------------------------------------------------------------------------------------------

    def judge(self) -> None:
        """Let the simulation's own judges look; cheap enough for every turn."""
        self._blame(self.ledger.judge())
        for judges in (self.outside.harm, self.people.harm):
            self._blame(judges)

    def examine(self, *, settled: bool) -> None:
        """Ask every judge and the core's own checker."""
        self.judge()
        active, self.faults.active = self.faults.active, False
        self._busy_between = True
        with self.store.read() as tx:
            found = check(tx, now=self.clock.now(), settled=settled)
        self._busy_between = False
        self.faults.active = active
        self.did["checked"] += 1
        self._blame(f"{finding.code} {finding.subject}: {finding.message}" for finding in found)

    def _blame(self, found: Any) -> None:
        wrong = list(found)
        if wrong:
            raise Unsound("\n  ".join(wrong))

    async def come_to_rest(self) -> None:
        """End the faults, let everything that runs come to its end, and examine what is left."""
        self.faults.active = False
        await self.restart()
        await self.turn()
        self.examine(settled=True)
        for _ in range(REST_TURNS):
            await self._alive(self.execution.pass_once)
            left = self.ledger.look(f"SELECT id, status FROM work WHERE status IN {ACTIVE}")  # noqa: S608 - a constant
            if not left:
                break
            self.clock.advance(timedelta(hours=4))
            await self.loop.quiet()
        else:
            raise Unsound(f"Work never ends: {left}")
        self.examine(settled=False)
        for word, wrong in self.ledger.doubts():
            self.did[f"doubt {word}"] += 1
            self._blame([wrong] if wrong else [])
        self.did += self.ledger.seen()

    def say(self, what: str) -> None:
        """Note one line of the story."""
        self.told.append(f"{self.clock.now():%m-%d %H:%M:%S} {what}")

    def _digest(self) -> str:
        """Return a hash over the story and every row of the database."""
        hashed = hashlib.sha256("\n".join(self.told).encode())
        hashed.update(repr(sorted(self.did.items())).encode())
        for (table,) in self.ledger.look("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"):
            for row in self.ledger.look(f'SELECT * FROM "{table}"'):  # noqa: S608 - names from the schema
                hashed.update(repr(row).encode())
        return hashed.hexdigest()


class _Founding(ManualClock):
    """The clock of the template: its identities are none that a seed's own clock gives."""

    def new_id(self) -> str:
        """Return a numbered UUID beyond those of any seed."""
        return str(uuid.UUID(int=(1 << 64) + uuid.UUID(super().new_id()).int))


@lru_cache(maxsize=1)
def _template(_process: int) -> bytes:
    """Return a database with two people and every Flow, made once in each process."""
    with tempfile.TemporaryDirectory() as folder:
        path, clock = Path(folder, "template.sqlite3"), _Founding(START)
        store = open_store(path, clock=clock)
        deck, _ = found(store, clock)
        deck.apply("\n---\n".join(map(json.dumps, flow_documents())))
        store.close()
        return path.read_bytes()


def _engine(path: Path) -> Engine:
    path.write_bytes(_template(os.getpid()))
    engine = make_engine(path, read_only=False)
    engine.update_execution_options(compiled_cache=_COMPILED)
    engine.dialect = _DIALECT[0] if _DIALECT else engine.dialect
    _DIALECT[:] = [engine.dialect]
    return engine


@contextmanager
def simulated_steps(outside: Outside) -> Iterator[None]:
    """Have programs done by the simulated outside, and let logs be silent meanwhile."""
    real = interpreter._run

    async def run(context: StepContext) -> StepResult:
        action = context.step.action
        return await (outside.run(context, action) if isinstance(action, Command) else real(context))

    interpreter._run = run
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        interpreter._run = real


@contextmanager
def _watched(world: World) -> Iterator[None]:
    """Let the fail points crash while a world lives."""
    failpoints.watch(world.faults.crash_at)
    try:
        with simulated_steps(world.outside):
            yield
    finally:
        failpoints.watch(None)
        zonedata.restore()


def _leave_crashes(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say nothing of a task that crashed: the world noticed."""
    if not isinstance(context.get("exception"), Crash):
        loop.default_exception_handler(context)


def simulate(seed: int, folder: Path, days: int = 30) -> Life:
    """Live through one seed; return what was done and which faults struck. Raises `Unsound`."""
    world = World(seed, folder, days)
    try:
        with _watched(world):
            return world.loop.run_until_complete(world.run())
    finally:
        world.close()
        for leftover in folder.glob(f"{world.path.name}*"):
            leftover.unlink()
