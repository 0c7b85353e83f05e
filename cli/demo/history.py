"""Lets two days happen before the example is opened: the worker's own pipeline, under a clock that is moved.

Nothing is written by hand: each occurrence was decided, each step was run. Only the time between was left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from cli.demo.workspace import Workspace
from core.admission.pipeline import Pipeline
from core.clock import Clock, ManualClock
from core.deck import Deck
from core.runtime.execution import Execution
from core.runtime.memory import MemoryRuntime
from core.storage.opening import open_store
from core.storage.store import Store
from core.views import WorkQuery

PAST = timedelta(days=2)
BUSY_SINCE = timedelta(minutes=10)
SLOTS = 4
STEP_TIMEOUT_S = 60.0
MOST_ROUNDS = 50
EXECUTING = ("pending", "queued", "running")


class PastClock(ManualClock):
    """A clock that moves when told, with identities that no other clock gives."""

    def __init__(self, start: datetime, identities: Clock) -> None:
        super().__init__(start)
        self._identities = identities

    def new_id(self) -> str:
        """Return a random identity."""
        return self._identities.new_id()


@dataclass(frozen=True, slots=True)
class Past:
    """The machinery of a worker, and the door that people use, on one moved clock."""

    deck: Deck
    clock: PastClock
    pipeline: Pipeline
    execution: Execution
    runtime: MemoryRuntime

    async def until(self, end: datetime) -> None:
        """Let time pass up to `end`, stopping wherever there is something to do."""
        while True:
            due = self.pipeline.pass_once().next_due_at
            wake = await self._execute()
            coming = min((at for at in (due, wake) if at is not None), default=end)
            if coming > end:
                break
            self._go(coming)
        self._go(end)

    def sleep(self, end: datetime) -> None:
        """Let time pass up to `end` with no worker looking."""
        self._go(end)

    def _go(self, to: datetime) -> None:
        self.clock.advance(max(timedelta(0), to - self.clock.now()))

    async def _execute(self) -> datetime | None:
        """Run what is pending until it has ended or waits; return when something resumes by itself."""
        for _ in range(MOST_ROUNDS):
            wake = await self.execution.pass_once()
            await self.runtime.drain(STEP_TIMEOUT_S)
            if not self._is_executing():
                return wake
        return None

    def _is_executing(self) -> bool:
        return any(row.status in EXECUTING for row in self.deck.works(WorkQuery(active=True)).rows)


def happen(workspace: Workspace, now: datetime, identities: Clock) -> None:
    """Let the example's two days up to `now` happen; the last minutes pass without a worker."""
    clock = PastClock(now - PAST, identities)
    with _machinery(workspace, clock) as (store, deck):
        asyncio.run(_two_days(workspace, store, deck, clock, now))


@contextmanager
def _machinery(workspace: Workspace, clock: PastClock) -> Iterator[tuple[Store, Deck]]:
    deck = Deck.open(workspace.database, clock=clock)
    store = open_store(workspace.database, clock=clock, read_only=False)
    try:
        yield store, deck
    finally:
        store.close()
        deck.close()


async def _two_days(workspace: Workspace, store: Store, deck: Deck, clock: PastClock, now: datetime) -> None:
    runtime = MemoryRuntime()
    execution = Execution(store, clock, runtime, SLOTS)
    past = Past(deck, clock, Pipeline(store, clock), execution, runtime)
    deck.apply({"flows.yaml": workspace.manifest("flows.yaml")})
    deck.apply({"calm.yaml": workspace.manifest("calm.yaml")})
    past.pipeline.reconcile()
    await execution.start()
    for distance, event in STORY:
        await past.until(now - distance)
        event(past)
    await past.until(now - BUSY_SINCE)
    deck.apply({"busy.yaml": workspace.manifest("busy.yaml")})
    await execution.stop()


def _ask(past: Past) -> None:
    past.deck.run("report-weekdays")


def _reject(past: Past) -> None:
    for action in past.deck.actions():
        past.deck.answer(action.id, "rejected", {"reason": "the numbers look wrong"})


def _approve(past: Past) -> None:
    for action in past.deck.actions():
        past.deck.answer(action.id, "approved", {"note": "checked by hand"})


def _pause(past: Past) -> None:
    until = past.clock.now() + timedelta(hours=9)
    past.deck.pause("lord-howe-usage", note="power works on the island", until=until)


def _hold_year(past: Past) -> None:
    past.deck.pause("year-close", note="the auditors ask for a new ledger first")


def _outage(past: Past) -> None:
    past.sleep(past.clock.now() + timedelta(hours=7))


def _by_hand(past: Past) -> None:
    past.deck.run("month-end-checksums")


#: (how long before the example is opened, what happened then)
STORY: tuple[tuple[timedelta, Callable[[Past], None]], ...] = (
    (timedelta(hours=46), _by_hand),
    (timedelta(hours=45), _ask),
    (timedelta(hours=44, minutes=40), _reject),
    (timedelta(hours=43), _ask),
    (timedelta(hours=42, minutes=48), _approve),
    (timedelta(hours=36), _hold_year),
    (timedelta(hours=30), _pause),
    (timedelta(hours=20), _outage),
    (timedelta(hours=2), _ask),
)
