"""The worker that is killed: the real process, forked from a parent that has imported everything."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import traceback
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema  # noqa: F401 - loaded before the fork, like all that a worker loads later
import tzdata  # noqa: F401 - as above

import core.runtime.engine
import core.runtime.steps.command  # noqa: F401 - as above
from core import failpoints
from core.admission import pipeline
from core.clock import SystemClock
from core.runtime.folders import steps_folder
from core.storage.files import connect
from core.worker import loop, process
from core.worker.tending import Tending
from tests.kills.person import MOST_UNSURE, Operator
from tests.kills.resources import DEED, HANGS, UNSURE

FIRST_DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)
FREE_SLOTS = 2
UNSOUND = 99
_ACTIVE = (
    "SELECT count(*) FROM work WHERE status NOT IN ('completed', 'failed', 'cancelled')"
    " AND NOT (trigger_name = ? AND ?) AND NOT (trigger_name = ? AND ?) AND status <> 'waitingForInput'"
    " AND NOT EXISTS (SELECT 1 FROM flow_run WHERE work_id = work.id AND flow_run.status = 'sleeping')"
)
_DEEDS = "SELECT count(*) FROM flow_step WHERE step_id = ? AND status = 'running'"
_DUE = "SELECT count(*) FROM trigger_state WHERE enabled AND next_due_at <= ? AND retry_at IS NULL"


class DayClock(SystemClock):
    """The machine's own clock, moved to noon of a made-up day."""

    def __init__(self, day: int) -> None:
        self._offset = FIRST_DAY + timedelta(days=day) - super().now()

    def now(self) -> datetime:
        """Return the moved time."""
        return super().now() + self._offset


@dataclass(frozen=True, slots=True)
class Life:
    """How one worker lives and dies: at the n-th hit of a named place, or by somebody else's hand.

    `rows` is how many Triggers one transaction decides. `deep` has Work run one after another. The step of `hangs` or
    `unsure` hangs where its flag is set. A life `in_doubt` ends in a step that may not be repeated; `word` is what is
    said of such steps, else a person draws. `stops` is the turn after which the worker is told to end. `last` says that
    nothing may be left for another day.
    """

    path: Path
    clock: DayClock
    seed: int
    place: str | None = None
    hit: int = 1
    rows: int = 4
    deep: bool = False
    hangs: bool = False
    unsure: bool = False
    runs_now: bool = False
    in_doubt: bool = False
    word: str | None = None
    stops: int | None = None
    last: bool = False

    @property
    def slots(self) -> int:
        """Return how much runs at once: always something beside what hangs."""
        return 1 if self.deep else FREE_SLOTS + self.hangs + MOST_UNSURE * self.unsure

    @property
    def findings(self) -> Path:
        """Return the file for what is found unsound while the worker lives."""
        return self.path.with_name("findings")

    @property
    def settled(self) -> Path:
        """Return the file whose presence says that the worker has made its first pass."""
        return self.path.with_name("settled")


def live(life: Life) -> int:
    """Fork a worker; return its pid."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        output = os.open(life.path.with_name("worker.out"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        status = work(life)
    except BaseException:  # noqa: BLE001 - whatever it is, it goes no further than this process
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def work(life: Life) -> int:
    """Run the worker as a service manager would, in small transactions, so that there are many places to die."""
    pipeline.MOST_ROWS = life.rows
    loop.PASS_BUDGET_S = 60.0
    if life.place is not None:
        Tending.due = _never  # type: ignore[method-assign]
        os.environ[failpoints.VARIABLE] = f"{life.place}:{life.hit}"
    grace_s = 0.0 if life.hangs or life.unsure else 20.0
    options = process.Options(stderr=False, slots=life.slots, grace_s=grace_s)
    with closing(_Watch(life)) as watch:
        failpoints.watch(watch)
        return process.run(life.path, options=options, clock=life.clock)


def _never(_tending: Tending) -> bool:
    """Say that there is no upkeep to do: it has no named place, and is killed at random moments."""
    return False


class _Watch:
    """Looks on inside the worker: whether the first pass settles, a person who acts, an end when all is quiet."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._turns = 0
        self._ending = False
        self._connection: sqlite3.Connection | None = None
        self._person = Operator(life.path, life.clock, random.Random(life.seed), patient=not life.last, word=life.word)

    def __call__(self, place: str) -> None:
        if place == "start.recovered":
            self._expect_no_folders()
        elif place == "step.recorded":
            self._recorded()
        elif place == "worker.turned":
            self._turned()

    def close(self) -> None:
        """Let go of the database."""
        failpoints.watch(None)
        self._person.close()
        if self._connection is not None:
            self._connection.close()

    def _seen(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect(self._life.path, read_only=True)
        return self._connection

    def _turned(self) -> None:
        self._turns += 1
        if self._turns == 1:
            self._expect_settled()
            if self._life.runs_now:
                self._person.deck.run("two-0")
            self._person.retry_one(self._seen())
        self._person.answer_all(self._seen())
        if not self._ending and (self._turns == self._life.stops or self._is_quiet(self._seen())):
            self._ending = True
            os.kill(os.getpid(), signal.SIGTERM)

    def _recorded(self) -> None:
        """A step is about to begin; a life that ends in doubt ends as soon as it is one that may not be repeated."""
        if not self._life.in_doubt:
            self._person.cancel_some(self._seen())
        elif self._seen().execute(_DEEDS, [DEED]).fetchone()[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    def _expect_settled(self) -> None:
        """One pass after a start, nothing that was due may be undecided; in full that is looked at after the death."""
        if due := self._due():
            self._unsound(f"{due} Triggers are due and undecided after the first pass")
        self._life.settled.touch()

    def _expect_no_folders(self) -> None:
        """Whatever steps left when their worker died is gone when the next one has recovered."""
        left = sorted(path.name for path in steps_folder(self._life.path).glob("*"))
        if left:
            self._unsound(f"folders of dead steps are left: {left}")

    def _unsound(self, what: str) -> None:
        self._life.findings.write_text(what)
        os._exit(UNSOUND)

    def _is_quiet(self, connection: sqlite3.Connection) -> bool:
        """Say whether nothing is left to do but what hangs or waits for a person on purpose."""
        hanging = [HANGS, self._life.hangs, UNSURE, self._life.unsure]
        (active,) = connection.execute(_ACTIVE, hanging).fetchone()
        return not active and not self._due()

    def _due(self) -> int:
        now = int(self._life.clock.now().timestamp() * 1_000_000)
        (due,) = self._seen().execute(_DUE, [now]).fetchone()
        return int(due)
