"""The worker that is killed: the real process, forked from a parent that has imported everything."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema  # noqa: F401 - loaded before the fork, like all that a worker loads later
import tzdata  # noqa: F401 - as above
from sqlalchemy import Engine

import core.runtime.engine
import core.runtime.steps.command  # noqa: F401 - as above
from core import failpoints
from core.admission import pipeline
from core.clock import SystemClock
from core.deck import Deck
from core.errors import TriggerdeckError
from core.storage.files import connect
from core.storage.opening import open_store
from core.storage.store import Store
from core.upkeep.checker import check
from core.worker import loop, process

FIRST_DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)
SLOTS = 3
OPERATED = frozenset({"cancel", "run"})
UNSOUND = 99
_ACTIVE = (
    "SELECT count(*) FROM work WHERE status NOT IN ('completed', 'failed', 'cancelled') AND trigger_name <> ?"
    " AND NOT EXISTS (SELECT 1 FROM flow_run WHERE work_id = work.id AND flow_run.status = 'sleeping')"
)
_DUE = "SELECT count(*) FROM trigger_state WHERE enabled AND next_due_at <= ? AND retry_at IS NULL"
_QUESTIONS = "SELECT id FROM pending_action WHERE status = 'pending'"
_HANGING = (
    "SELECT w.id FROM work w JOIN flow_run r ON r.work_id = w.id JOIN flow_step s ON s.run_id = r.id"
    " WHERE w.trigger_name = 'hangs' AND s.status = 'running' AND s.pid IS NOT NULL AND w.cancel_requested_at IS NULL"
)


class DayClock(SystemClock):
    """The machine's own clock, moved to noon of a made-up day."""

    def __init__(self, day: int) -> None:
        self._offset = FIRST_DAY + timedelta(days=day) - super().now()

    def now(self) -> datetime:
        """Return the moved time."""
        return super().now() + self._offset


@dataclass(frozen=True)
class Life:
    """How one worker lives and dies: at the n-th hit of a named place, or by somebody else's hand.

    `rows` is how many Triggers one transaction decides; `engine` holds no connection, or the fork would share it.
    """

    path: Path
    clock: DayClock
    place: str | None = None
    hit: int = 1
    acts: frozenset[str] = frozenset()
    rows: int = 1
    engine: Engine | None = None
    hangs: bool = False

    @property
    def findings(self) -> Path:
        """Return the file for what the checker finds after the first turn."""
        return self.path.with_name("findings.json")


def live(life: Life) -> int:
    """Fork a worker; return its pid."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        status = _work(life)
    except BaseException:  # noqa: BLE001 - whatever it is, it goes no further than this process
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _work(life: Life) -> int:
    """Run the worker as a service manager would, in small transactions, so that there are many places to die."""
    output = os.open(life.path.with_name("worker.out"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    pipeline.MOST_ROWS = life.rows
    loop.PASS_BUDGET_S = 60.0
    failpoints.watch(_Watch(life))
    if life.place is not None:
        os.environ[failpoints.VARIABLE] = f"{life.place}:{life.hit}"
    options = process.Options(stderr=False, slots=SLOTS, grace_s=0.0 if life.hangs else 20.0)
    return process.run(life.path, options=options, clock=life.clock)


def open_examiner(life: Life) -> Store:
    """Return a store over the engine that came with the fork, which has the checker's statements compiled."""
    if life.engine is None:
        return open_store(life.path, clock=life.clock)
    return Store(life.engine, life.path, life.clock, read_only=False)


class _Watch:
    """Looks on inside the worker: the checker after the first turn, answers to questions, an end when all is quiet."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._turns = 0
        self._ending = False

    def __call__(self, place: str) -> None:
        if place != "worker.turned":
            return
        self._turns += 1
        if self._turns == 1:
            self._examine()
        with closing(connect(self._life.path, read_only=True)) as connection:
            self._answer(connection)
            if "cancel" in self._life.acts:
                self._cancel(connection)
            if "run" in self._life.acts and self._turns == 1:
                self._as_operator(lambda deck: deck.run("two-0"))
            if not self._ending and self._is_quiet(connection):
                self._ending = True
                os.kill(os.getpid(), signal.SIGTERM)

    def _examine(self) -> None:
        """One pass after a start, nothing that was due may be undecided."""
        store = open_examiner(self._life)
        try:
            with store.read() as tx:
                found = check(tx, now=self._life.clock.now(), settled=True)
        finally:
            store.close()
        if found:
            self._life.findings.write_text(json.dumps([f"{one.code} {one.subject}: {one.message}" for one in found]))
            os._exit(UNSOUND)

    def _answer(self, connection: sqlite3.Connection) -> None:
        for (question,) in connection.execute(_QUESTIONS).fetchall():
            self._as_operator(lambda deck, question=question: deck.answer(question, "approved"))

    def _cancel(self, connection: sqlite3.Connection) -> None:
        for (work,) in connection.execute(_HANGING).fetchall():
            self._as_operator(lambda deck, work=work: deck.cancel(work))

    def _as_operator(self, act: Callable[[Deck], object]) -> None:
        deck = Deck.open(self._life.path, clock=self._life.clock)
        try:
            with suppress(TriggerdeckError):  # it may have ended meanwhile
                act(deck)
        finally:
            deck.close()

    def _is_quiet(self, connection: sqlite3.Connection) -> bool:
        """Say whether nothing is left to do but what hangs on purpose."""
        now = int(self._life.clock.now().timestamp() * 1_000_000)
        (active,) = connection.execute(_ACTIVE, ["hangs" if self._life.hangs else ""]).fetchone()
        (due,) = connection.execute(_DUE, [now]).fetchone()
        return not active and not due
