"""A world that one worker after another lives and dies in, and the proof at each death that nothing came of it.

A day passes before each life, so that everything is due again. After each kill: no process of a step is left, the
file is whole, and the checker finds nothing; after the next worker's first turn nothing due is undecided. In the end
a worker comes to rest, and every occurrence, Work, question and effect is accounted for.
"""

from __future__ import annotations

import random
import signal
import sqlite3
from collections import Counter, deque
from contextlib import AbstractContextManager, closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from core.deck import Deck
from core.errors import Precondition
from core.runtime.folders import steps_folder
from core.storage.enginefile import engine_path
from core.storage.opening import open_store
from core.upkeep.checker import check
from tests.kills import accounts, processes
from tests.kills.accounts import Unsound, expect
from tests.kills.person import Operator, acting
from tests.kills.points import Arranged, need_of
from tests.kills.resources import HANGS, UNSURE, manifests
from tests.kills.victim import UNSOUND, DayClock, Life, live, work
from tests.kills.warm import acting_as

LIMIT_S = 60.0
FIRST_LIFE_S = 0.4
STOPS_WITHIN = 3
_SOMETIMES: tuple[Arranged, ...] = ("", "", "", "cancel", "pause", "stale", "wait")
_POISON = (
    "CREATE TRIGGER poison BEFORE INSERT ON work WHEN new.trigger_name = 'bad'"
    " BEGIN SELECT RAISE(ABORT, 'poisonous row'); END"
)
_STALE = "UPDATE trigger_state SET fingerprint = 'stale' WHERE name LIKE 'two-%'"
_WAKING = "SELECT count(*) FROM flow_run WHERE status = 'sleeping' AND resume_at <= ?"
_RUNNING = "SELECT count(*) FROM flow_step WHERE status = 'running'"


class World:
    """One database; `day` counts the lives that were lived on it. Where it is `poisoned`, one Trigger never fires."""

    def __init__(self, path: Path, seed: int, *, poisoned: bool = False) -> None:
        self.folder = path.parent
        self.path = path
        self.draw = random.Random(seed)
        self.seed = seed
        self.day = 0
        self.poisoned = poisoned
        self.clock = DayClock(0)
        self.did: Counter[str] = Counter()
        self.told: list[str] = []
        self._interrupted: set[accounts.Try] = set()
        self._lasted_s: deque[float] = deque(maxlen=8)
        processes.adopt_orphans()

    def begin(self) -> None:
        """Make the database with everything in it."""
        self.folder.mkdir(parents=True)
        with acting_as("operator"), closing(Deck.open(self.path, clock=self.clock)) as deck:
            deck.apply(manifests(self.folder))
        if self.poisoned:
            self._sql(_POISON)

    # -- lives --------------------------------------------------------------------------------------------------------

    def die_at(self, place: str, number: int) -> None:
        """Have a worker killed at a place, at the hit that belongs to the n-th time (from 1)."""
        need = need_of(place)
        hit = need.hit(number)
        self._arrange(need.arranged)
        deep = hit > need.hits
        hangs = need.arranged == "cancel" or (not deep and number % 2 == 1)
        status = self._live(
            place=place,
            hit=hit,
            deep=deep,
            hangs=hangs,
            unsure=not deep and self._draws(0.5),
            rows=1 if place.startswith("admission.") else 4,
            runs_now=need.arranged == "run",
            stops=1 + number % STOPS_WITHIN if need.arranged == "stop" else None,
        )
        self._after(status, f"killed at {place}:{hit}")
        expect(status != 0, f"a worker came to its end without reaching {place} {hit} times")
        self.did[place] += 1

    def die_some_time(self) -> None:
        """Have a worker killed at some moment, if it lives that long; lives last longer where the machine is busy."""
        self._arrange(self.draw.choice(_SOMETIMES))
        rows, runs_now = self.draw.choice([1, 4]), self._draws(0.2)
        stops = self.draw.choice([None, None, 1, 2])
        flags = {"hangs": self._draws(0.5), "unsure": self._draws(0.5)}
        after_s = self._some_time_s()
        status = self._live(after_s, rows=rows, runs_now=runs_now, stops=stops, **flags)
        self._after(status, f"killed after {after_s * 1000:.0f} ms")
        self.did["ends" if status == 0 else "moments"] += 1

    def die_in_doubt(self, word: str) -> None:
        """Have a worker killed in a step that may not be repeated, the next one at some moment; say `word` of it."""
        status = self._live(in_doubt=True, unsure=True)
        self._after(status, "killed in doubt")
        expect(status != 0, "a worker came to its end without a step that may not be repeated")
        self._after(self._live(self._some_time_s(), word=word), "killed some time")
        self.rest(word)
        self.did["doubts"] += 1

    def rest(self, word: str | None = None) -> None:
        """Let a worker do what there is to do."""
        status = self._live(last=True, word=word)
        self._after(status, "let rest")
        expect(status == 0, f"a worker ended with {status}: {self._last_words()}")

    def die_unexamined(self, place: str, hit: int) -> None:
        """Have a worker killed, and leave the files exactly as they are."""
        status = self._live(place=place, hit=hit)
        expect(status == -signal.SIGKILL, f"a worker ended with {status} before {place}:{hit}: {self._last_words()}")
        processes.expect_nobody()

    def live_here(self) -> None:
        """Live a life in this process."""
        self.day += 1
        self.clock = DayClock(self.day)
        work(Life(self.path, self.clock, 0, last=True))
        self.examine(settled=True)

    def come_to_rest(self, *, repeated: bool = False) -> None:
        """Let a worker do all that is left, then account for everything.

        `repeated` says that the end of the file was lost, so that tries may have run under the same number again.
        """
        self._sql("DROP TRIGGER IF EXISTS poison")
        self.rest()
        self.examine(settled=True)
        with closing(sqlite3.connect(self.path)) as connection:
            self.did["occurrences"] += accounts.account_for_work(connection)
            self.did += accounts.account_for_effects(connection, self.folder, repeated=repeated)
            if not repeated:
                self.did += accounts.account_for_answers(connection, self._interrupted)

    def _live(self, after_s: float | None = None, **how: Any) -> int:
        """Live one life, a day after the last one; return the wait status as a number like `subprocess` does."""
        self.day += 1
        self.clock = DayClock(self.day)
        life = Life(self.path, self.clock, self.draw.getrandbits(32), **how)
        life.settled.unlink(missing_ok=True)
        for name, hangs in ((HANGS, life.hangs), (UNSURE, life.unsure)):
            flag = self.folder / name
            flag.touch() if hangs else flag.unlink(missing_ok=True)
        began_s = self.clock.monotonic()
        status = processes.end_of(live(life), LIMIT_S if after_s is None else after_s)
        if after_s is None and not life.last:
            self._lasted_s.append(self.clock.monotonic() - began_s)
        if status is None and after_s is None:
            raise Unsound(f"a worker came neither to its end nor to {life}: {self._last_words()}")
        return -signal.SIGKILL if status is None else status

    def _after(self, status: int, what: str) -> None:
        """Look at what a death left behind."""
        self.told.append(f"day {self.day}: {what}: ended with {status}")
        if status == UNSOUND:
            raise Unsound(f"while a worker lived: {self.folder.joinpath('findings').read_text()}")
        expect(status in {0, -signal.SIGKILL}, f"a worker ended with {status}: {self._last_words()}")
        processes.expect_nobody()
        expect(status != 0 or not steps_folder(self.path).exists(), "folders of steps are left")
        self.examine(settled=self.path.with_name("settled").exists())
        self.did["kills"] += status != 0

    def _some_time_s(self) -> float:
        return self.draw.uniform(0.0, 1.2 * max(self._lasted_s, default=FIRST_LIFE_S))

    def _draws(self, chance: float) -> bool:
        return self.draw.random() < chance

    # -- what is arranged ---------------------------------------------------------------------------------------------

    def _arrange(self, what: Arranged) -> None:
        """Bring about, before the next day, what a place needs to be reached; sometimes somebody looks in."""
        if what == "wait":
            self._have_something_wake()
        elif what == "crash":
            self._leave_something_in_flight()
        elif what == "stale":
            self._sql(_STALE)
        elif what == "pause":
            with self._acting() as (person, _), suppress(Precondition):  # it may be paused from before
                until = self.clock.now() + timedelta(hours=1)
                person.deck.pause("paused", note="a while", until=until)
        elif what == "cancel":
            with self._acting() as (person, _):
                person.deck.test_fire("hangs")
        elif self._draws(0.1):
            with self._acting() as (person, connection):
                person.answer_all(connection)
                person.retry_one(connection)

    def _have_something_wake(self) -> None:
        """See to it that a run sleeps whose time will have come on the next day."""
        if self._count(_WAKING, int(DayClock(self.day + 1).now().timestamp() * 1_000_000)):
            return
        with self._acting() as (person, _):
            person.fire_naps()
        self.rest()

    def _leave_something_in_flight(self) -> None:
        """See to it that there is a step to recover."""
        if not self._count(_RUNNING):
            status = self._live(place="step.recorded", hit=self.draw.randint(1, 3))
            self._after(status, "killed at step.recorded")
            expect(status != 0, "a worker came to its end without a step")

    def _acting(self) -> AbstractContextManager[tuple[Operator, sqlite3.Connection]]:
        return acting(self.path, self.clock, self.draw)

    def _sql(self, statement: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(statement)

    def _count(self, query: str, *values: int) -> int:
        with closing(sqlite3.connect(self.path)) as connection:
            return int(connection.execute(query, values).fetchone()[0])

    # -- judging ------------------------------------------------------------------------------------------------------

    def examine(self, *, settled: bool) -> None:
        """Look that both files are whole, that the checker finds nothing and that nothing is asked or done twice."""
        for path in (self.path, engine_path(self.path)):
            _expect_whole(path)
        with acting_as("examiner"):
            store = open_store(self.path, clock=self.clock)
        try:
            with store.read() as tx:
                found = check(tx, now=self.clock.now(), settled=settled)
        finally:
            store.close()
        expect(not found, "; ".join(f"{one.code} {one.subject}: {one.message}" for one in found))
        with closing(sqlite3.connect(self.path)) as connection:
            accounts.account_for_questions(connection)
            self._interrupted |= accounts.deeds_in_flight(connection)
        self.did["examined"] += 1

    def _last_words(self) -> str:
        told = self.folder.joinpath("worker.out")
        return told.read_text()[-2000:] if told.exists() else ""


def _expect_whole(path: Path) -> None:
    if not path.exists():
        return
    with closing(sqlite3.connect(path)) as connection:
        (answer,) = connection.execute("PRAGMA integrity_check").fetchone()
    expect(answer == "ok", f"{path.name} is damaged: {answer}")
