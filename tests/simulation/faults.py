"""Seeded faults for the real pipeline, storage and runtime hand-over.

A process is one incarnation of the worker, or one command of an operator. Once it has crashed it is dead: whatever of
it is still on the stack finds every port closed, so nothing is written after a crash.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.errors import StorageUnusable
from core.runtime.memory import MemoryRuntime
from core.runtime.port import Abandoned, Advance, Segment, Submission
from core.storage.store import Store, Transaction


class Crash(BaseException):
    """The process ends here: nothing below may catch it, everything open is rolled back."""


@dataclass
class Process:
    """One life of a program: of the worker, or of an operator's command."""

    dead: bool = False


POISONED = "admission.decided"
SELDOM = 3
SELDOM_FACTOR = 6


@dataclass(frozen=True, slots=True)
class Rates:
    """How likely each fault is, each time that it could happen."""

    crash: float = 0.008
    busy: float = 0.012
    unknown: float = 0.012
    lost: float = 0.008
    unread: float = 0.002
    lost_answer: float = 0.05
    refused: float = 0.02
    twice: float = 0.05
    given_up: float = 0.03
    forgotten_end: float = 0.1
    between: float = 0.02
    poison: float = 0.03


@dataclass
class Faults:
    """Draws faults from a seed; quiet while `active` is false."""

    seed: int
    active: bool = False
    rates: Rates = Rates()
    process: Process = field(default_factory=Process)
    seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed * 2 + 1)
        self._passed: Counter[str] = Counter()
        self._poison = 0

    def strikes(self, rate: float, what: str = "") -> bool:
        """Draw once; return whether a fault of this rate happens, and count it by its name."""
        struck = self.active and self.draw.random() < rate
        if struck and what:
            self.seen[what] += 1
        return struck

    def crash_at(self, place: str) -> None:
        """Crash here, if the seed says so, or because this process has crashed before.

        Places that are seldom reached strike more often, so that a month knows most of them.
        """
        if self.process.dead:
            raise Crash("a process that is dead")
        self._passed[place] += self.active
        seldom = self._passed[place] <= SELDOM
        if self.strikes(self.rates.crash * (SELDOM_FACTOR if seldom else 1), f"crash {place}"):
            self.kill(place)
        if place == POISONED:
            self._spoil()

    def _spoil(self) -> None:
        """Fail a batch for no reason of the storage's, and then one of its Triggers by itself."""
        if self.strikes(self.rates.poison, "poison"):
            self._poison = 2
        if self._poison:
            self._poison -= 1
            raise ZeroDivisionError("a simulated fault of our own")

    def kill(self, place: str) -> None:
        """End the present process here."""
        self.process.dead = True
        raise Crash(place)

    @contextmanager
    def acting_as(self, process: Process) -> Iterator[None]:
        """Let everything inside be done by another process."""
        before, self.process = self.process, process
        try:
            yield
        finally:
            self.process = before


class FaultyStore(Store):
    """The real store that may be busy, lose a transaction or the answer to its commit, or see its process end.

    `between` is called before each transaction, where other processes may come between.
    """

    seeded: Faults
    between: Callable[[], None] | None = None

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Read as always, or refuse."""
        self._enter()
        if self.seeded.strikes(self.seeded.rates.unread, "unreadable"):
            raise StorageUnusable("the simulated disk reports an error", "check the disk, then repeat")
        with super().read() as tx:
            yield tx

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Transaction]:
        """Write as always, or refuse before, or undo at the end, or fall silent after the commit."""
        self._enter()
        faults, rates = self.seeded, self.seeded.rates
        faults.crash_at("store.begin")
        if faults.strikes(rates.busy, "busy"):
            raise StorageUnusable("the simulated database is busy", "wait a moment, then repeat")
        with super().write(durable=durable) as tx:
            yield tx
            faults.crash_at("store.commit")
            if faults.strikes(rates.lost, "lost transaction"):
                raise StorageUnusable("the simulated disk is full", "free some space, then repeat")
        faults.crash_at("store.committed")
        if faults.strikes(rates.unknown, "unknown commit"):
            raise StorageUnusable("the simulated commit did not answer", "look whether it was done")

    def _enter(self) -> None:
        self.seeded.crash_at("store.open")
        if self.between is not None:
            self.between()


@dataclass
class EngineMemory:
    """What the engine's own file remembers from life to life: segments that it holds to be unfinished, and all."""

    unfinished: dict[str, Segment] = field(default_factory=dict)
    known: dict[str, Segment] = field(default_factory=dict)


class FaultyRuntime(MemoryRuntime):
    """The in-memory engine with a durable one's faults.

    Its answers may be lost, its deliveries may come twice or again much later, it may give a segment up, and after a
    restart it goes on by itself with what it remembers, also with what was finished.
    """

    def __init__(self, faults: Faults, memory: EngineMemory) -> None:
        super().__init__()
        self._faults = faults
        self._memory = memory
        self._abandoned: Abandoned | None = None

    @property
    def executing(self) -> int:
        """Return how many segments execute."""
        return len(self._executing)

    async def start(self, advance: Advance, abandoned: Abandoned | None = None) -> None:
        """Begin, and go on with what the engine remembers."""
        await super().start(advance, abandoned)
        self._abandoned = abandoned
        for segment in list(self._memory.unfinished.values()):
            self._begin(segment)
        self._faults.crash_at("port.start")

    async def submit(self, segment: Segment) -> Submission:
        """Take a segment; the caller may never hear of it, or it may arrive twice."""
        faults = self._faults
        faults.crash_at("port.submit.before")
        if faults.strikes(faults.rates.refused, "refused submission"):
            raise StorageUnusable("the simulated engine cannot write", "wait a moment, then repeat")
        answer = await super().submit(segment)
        if faults.strikes(faults.rates.twice, "duplicate delivery"):
            answer = await super().submit(segment)
        faults.crash_at("port.submit.after")
        if faults.strikes(faults.rates.lost_answer, "lost acknowledgement"):
            raise StorageUnusable("the simulated engine did not answer", "look whether it took it")
        return answer

    async def cancel(self, run_id: str) -> None:
        """Cancel, unless the process ends first."""
        self._faults.crash_at("port.cancel")
        await super().cancel(run_id)

    async def reconcile(self, unfinished: Iterable[Segment]) -> dict[str, Submission]:
        """Reconcile, unless the process ends first or last."""
        self._faults.crash_at("port.reconcile.before")
        answers = await super().reconcile(unfinished)
        self._faults.crash_at("port.reconcile.after")
        return answers

    def redeliver(self, draw: random.Random) -> None:
        """Deliver some segment again that is not being executed: the engine forgot that it was over."""
        idle = [segment for name, segment in self._memory.known.items() if name not in self._executing]
        if idle:
            self._faults.seen["late redelivery"] += 1
            self._begin(draw.choice(idle[-8:]))

    def _begin(self, segment: Segment) -> None:
        self._memory.unfinished[segment.id] = self._memory.known[segment.id] = segment
        super()._begin(segment)

    async def _execute(self, segment: Segment, cancel: asyncio.Event) -> None:
        if self._abandoned is not None and self._faults.strikes(self._faults.rates.given_up, "given up"):
            self._executing.leave(segment)
            self._abandoned(segment)
            return
        await super()._execute(segment, cancel)
        if not self._faults.strikes(self._faults.rates.forgotten_end):
            self._memory.unfinished.pop(segment.id, None)
