"""One workspace with a day behind it, made by the real core under a clock that is moved; shared by every scene."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import Template

from core.access import service as access
from core.admission.pipeline import Pipeline
from core.clock import ManualClock
from core.deck import Deck
from core.runtime.execution import Execution
from core.runtime.memory import MemoryRuntime
from core.storage.opening import open_store
from core.storage.store import Store
from core.views import Health, WorkQuery
from core.worker.pulse import Pulse

HERE = Path(__file__).parent
BEGAN = datetime(2026, 3, 27, 8, 0, tzinfo=UTC)
NOW = datetime(2026, 3, 28, 13, 3, 11, tzinfo=UTC)
STORY_MAKER = "ana"
ROUNDS = 60


class StoryClock(ManualClock):
    """A moved clock whose identities look like real ones and are the same each time."""

    def new_id(self) -> str:
        """Return the next identity."""
        return str(uuid.uuid5(uuid.NAMESPACE_OID, super().new_id()))


class Worker:
    """A worker's machinery on one moved clock."""

    def __init__(self, deck: Deck, store: Store, clock: ManualClock) -> None:
        self.deck, self.clock, self._store = deck, clock, store
        self.pipeline = Pipeline(store, clock)
        self._runtime = MemoryRuntime()
        self._execution = Execution(store, clock, self._runtime, 8)
        self._turns = 0
        self.pulse = Pulse(store, clock, "worker-1", 8, lambda: 0)

    async def begin(self) -> None:
        """Start."""
        self.pipeline.reconcile()
        await self._execution.start()
        self.pulse.begin()

    async def until(self, end: datetime) -> None:
        """Let time pass up to `end`, doing whatever is due."""
        while True:
            report = self.pipeline.pass_once()
            self.pulse.note_pass(replace(report, duration_ms=4.2))
            coming = min((at for at in (report.next_due_at, await self._execute()) if at is not None), default=end)
            if coming > end:
                break
            self.sleep(min(end, coming + self._lateness()))
        self.sleep(end)

    def _lateness(self) -> timedelta:
        """Return how late the worker is this time; real ones are never on the dot either."""
        self._turns += 1
        return timedelta(milliseconds=40 + self._turns * 37 % 300)

    def sleep(self, end: datetime) -> None:
        """Let time pass with nobody looking."""
        self.clock.advance(max(timedelta(0), end - self.clock.now()))

    async def _execute(self) -> datetime | None:
        """Run until nothing starts any more; return when something resumes by itself."""
        seen: object = self
        for _ in range(ROUNDS):
            wake = await self._execution.pass_once()
            await self._runtime.drain(30)
            if wake == seen and not self._starting():
                return wake
            seen = wake
        raise AssertionError("the story does not come to rest")

    def _starting(self) -> bool:
        return any(row.status in {"pending", "queued"} for row in self.deck.works(WorkQuery(active=True)).rows)

    async def end(self) -> None:
        """Stop."""
        await self._execution.stop()


def at(text: str) -> datetime:
    """Return a Berlin wall time of the story in UTC: `28 01:00` is 01:00 on 28 March."""
    day, clock = text.split()
    hour, minute = clock.split(":")
    return datetime(2026, 3, int(day), int(hour), int(minute), tzinfo=UTC) - timedelta(hours=1)


async def _story(deck: Deck, store: Store, clock: ManualClock) -> None:
    worker = Worker(deck, store, clock)
    for name in ("flows.yaml", "triggers.yaml"):
        text = Template((HERE / name).read_text(encoding="utf-8")).safe_substitute(world=HERE)
        deck.apply({name: text})
    await worker.begin()
    await worker.until(at("27 18:00"))
    deck.pause("geo-refresh", note="the map server moves house", until=at("28 20:00"))
    deck.run("ledger-close")
    await worker.until(at("28 01:00"))
    worker.sleep(at("28 03:36"))
    await worker.until(at("28 04:30"))
    _answer(deck, "Release", "approved", {"batch": 500, "notify": True})
    await worker.until(at("28 07:00"))
    deck.run("nightly-import", input={"source": "s3-us"})
    await worker.until(at("28 07:30"))
    _answer(deck, "Release", "rejected", {"reason": "the checksum of the second file is missing"})
    await worker.until(at("28 13:50"))
    deck.run("nightly-import")
    await worker.until(NOW)
    worker.pulse.beat()
    await worker.end()


def _answer(deck: Deck, title: str, decision: str, values: dict[str, object]) -> None:
    action = next(action for action in deck.actions() if action.title.startswith(title))
    deck.answer(action.id, decision, values)


@contextmanager
def story_maker() -> Iterator[None]:
    """Let the operating system's user be called `ana`, whoever runs the tests."""
    before = access.system_user
    access.system_user = lambda: STORY_MAKER
    try:
        yield
    finally:
        access.system_user = before


def make(folder: Path) -> Path:
    """Make the database of the story; return its file."""
    database = folder / "deck.sqlite3"
    clock = StoryClock(BEGAN)
    with story_maker():
        deck = Deck.open(database, clock=clock)
        store = open_store(database, clock=clock, read_only=False)
        asyncio.run(_story(deck, store, clock))
        store.close()
        deck.close()
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return database


async def work_on(database: Path, clock: ManualClock, span: timedelta) -> None:
    """Let a worker do what is due on a database while `span` passes."""
    deck = Deck.open(database, clock=clock)
    store = open_store(database, clock=clock, read_only=False)
    worker = Worker(deck, store, clock)
    await worker.begin()
    await worker.until(clock.now() + span)
    worker.pulse.beat()
    await worker.end()
    store.close()
    deck.close()


def copied(database: Path, folder: Path) -> Path:
    """Return a copy of a made database that a scene may change."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(database, folder / database.name))


class SceneDeck(Deck):
    """The real deck; only what the machine itself adds (sizes, pid, path) is held still."""

    def health(self) -> Health:
        """Return the health with this machine's own figures replaced."""
        real = super().health()
        workers = tuple(replace(worker, pid=4711, host="ops-1", version="0.1.0") for worker in real.workers)
        return replace(
            real,
            workers=workers,
            database="~/.local/share/triggerdeck/deck.sqlite3",
            database_bytes=4_120_000,
            wal_bytes=312_000,
            free_bytes=81_400_000_000,
            zone_data="2026a",
            zone_data_stored="2026a" if real.zone_data_stored else None,
        )
