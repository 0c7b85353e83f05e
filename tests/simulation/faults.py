"""Seeded faults for the real pipeline and storage: crashes, busy databases, commits whose outcome is unknown."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.errors import StorageUnusable
from core.runtime.memory import MemoryRuntime
from core.runtime.port import Segment, Submission
from core.storage.store import Store, Transaction


class Crash(BaseException):
    """The process ends here: nothing below may catch it, everything open is rolled back."""


@dataclass
class Faults:
    """Draws faults from a seed; quiet while `active` is false."""

    seed: int
    active: bool = False
    crash_rate: float = 0.02
    busy_rate: float = 0.02
    unknown_rate: float = 0.02
    crashed: bool = False
    seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed * 2 + 1)

    def strikes(self, rate: float) -> bool:
        """Draw once; return whether a fault of this rate happens."""
        return self.active and self.draw.random() < rate

    def crash_at(self, place: str) -> None:
        """Crash here, if the seed says so."""
        if self.strikes(self.crash_rate):
            self.seen[f"crash {place}"] += 1
            self.crashed = True
            raise Crash(place)


class FaultyStore(Store):
    """The real store whose durable writes may find it busy, or lose the answer of their commit."""

    faults: Faults

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Transaction]:
        """Write as always, or refuse before, or fall silent after the commit."""
        if durable and self.faults.strikes(self.faults.busy_rate):
            self.faults.seen["busy"] += 1
            raise StorageUnusable("the simulated database is busy", "wait a moment, then repeat")
        with super().write(durable=durable) as tx:
            yield tx
        if durable and self.faults.strikes(self.faults.unknown_rate):
            self.faults.seen["unknown commit"] += 1
            raise StorageUnusable("the simulated commit did not answer", "look whether it was done")


class FaultyRuntime(MemoryRuntime):
    """The in-memory engine whose acknowledgements may be lost and whose deliveries may come twice."""

    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self._faults = faults

    async def submit(self, segment: Segment) -> Submission:
        """Take a segment; the caller may never hear of it, or it may arrive twice."""
        self._faults.crash_at("port.submit.before")
        answer = await super().submit(segment)
        if self._faults.strikes(0.05):
            self._faults.seen["duplicate delivery"] += 1
            answer = await super().submit(segment)
        self._faults.crash_at("port.submit.after")
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
