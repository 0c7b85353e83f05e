"""A world that one worker after another lives and dies in, and the proof at each death that nothing came of it.

A day passes before each life, so that everything is due again. After each kill: no process of a step is left, the
file is whole, and the checker finds nothing; after the next worker's first turn nothing due is undecided. In the end
a worker comes to rest, and every occurrence, Work and effect is accounted for.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import select
import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import Engine

from core.clock import SystemClock
from core.deck import Deck
from core.errors import Precondition
from core.storage.enginefile import engine_path
from core.storage.opening import open_store
from core.storage.store import Store
from core.upkeep.checker import check
from tests.kills.points import ARRANGED, is_reached_once
from tests.kills.victim import OPERATED, UNSOUND, DayClock, Life, live

LIMIT_S = 60.0
GONE_WITHIN_S = 5.0
LONGEST_LIFE_S = 0.6
CRASH_LIMIT = 10
PR_SET_CHILD_SUBREAPER = 36
_REAL = SystemClock()
_COMPILED: dict[Any, Any] = {}

NOTE = 'echo "$TRIGGERDECK_WORK_ID {step} $TRIGGERDECK_ATTEMPT" >> effects; echo noted'
HANG = f"{NOTE.format(step='only')}; [ ! -e hang ] || {{ sleep 1000 & wait; }}"


class Unsound(AssertionError):
    """Something was lost, doubled, left behind or damaged."""


def _command(step: str, script: str, folder: Path) -> dict[str, Any]:
    return {"id": step, "command": {"argv": ["/bin/sh", "-c", script], "cwd": str(folder)}}


def manifests(folder: Path) -> str:
    """Return some Flows and some Triggers that are due once a day."""
    first, second = (_command(step, NOTE.format(step=step), folder) for step in ("first", "second"))
    question = {"id": "ok", "ask": {"kind": "approvalRequired", "title": "Go on?"}}
    hang, pause = _command("only", HANG, folder), {"id": "pause", "wait": {"for": "PT1H"}}
    flows = {"two": [first, second], "asks": [question, first], "hangs": [hang], "waits": [pause, first]}
    documents = [_document("Flow", name, {"steps": steps}) for name, steps in flows.items()]
    documents += [_trigger(f"two-{number}", "two", "0 0 6 * * ?") for number in range(10)]
    documents.append(_trigger("hangs", "hangs", "0 0 5 * * ?"))  # in flight before anything else
    others = {"asks": "asks", "waits": "waits", "bad": "two", "paused": "two"}
    documents += [_trigger(name, flow, "0 30 6 * * ?") for name, flow in others.items()]
    documents.append(_trigger("hourly", "two", "0 0 * * * ?"))
    documents.append(_trigger("missing", "two", "0 0 7 * * ?", misfirePolicy="skip"))
    return "\n---\n".join(map(json.dumps, documents))


def _trigger(name: str, flow: str, expression: str, **fields: Any) -> dict[str, Any]:
    schedule = {"type": "cron", "expression": expression, "timeZone": "UTC"}
    source = {"kind": "schedule", "schedule": schedule}
    target = {"kind": "flow", "flow": {"name": flow}}
    policies = {"misfirePolicy": "fireOnce", "concurrencyPolicy": "skip", **fields}
    return _document("Trigger", name, {"enabled": True, "source": source, "target": target, **policies})


def _document(kind: str, name: str, definition: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "agentstration.io/v1", "kind": kind, "metadata": {"name": name}, "definition": definition}


class World:
    """One database; `day` counts the lives that were lived on it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.path = folder / "deck.sqlite3"
        self.draw = random.Random(seed)
        self.seed = seed
        self.day = 0
        self.clock = DayClock(0)
        self.did: Counter[str] = Counter()
        self.told: list[str] = []
        self._engine: Engine | None = None
        adopt_orphans()

    def begin(self) -> None:
        """Make the database with everything in it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        deck = Deck.open(self.path, clock=self.clock)
        deck.apply(manifests(self.folder))
        deck.close()

    # -- lives --------------------------------------------------------------------------------------------------------

    def die_at(self, place: str, hit: int) -> bool:
        """Have a worker killed at the n-th hit of a place; return whether it came there."""
        self._arrange(ARRANGED.get(place, ""))
        hangs = ARRANGED.get(place) != "rest"
        acts = frozenset({ARRANGED.get(place, "")}) & OPERATED
        rows = 1 if place.startswith("admission.") else 4
        status = self._live(place=place, hit=hit, acts=acts, hangs=hangs, rows=rows)
        return self._after(status, f"killed at {place}:{hit}")

    def die_some_time(self, after_s: float) -> bool:
        """Have a worker killed at some moment; return whether it lived that long."""
        self._arrange(self.draw.choice(["", "", "pause", "poison", "stale"]))
        hangs = self.draw.random() < 0.5
        status = self._live(kill_after_s=after_s, hangs=hangs, rows=self.draw.choice([1, 4]))
        return self._after(status, f"killed after {after_s * 1000:.0f} ms")

    def die_unexamined(self, place: str, hit: int) -> None:
        """Have a worker killed, and leave the files exactly as they are."""
        status = self._live(place=place, hit=hit)
        if status != -signal.SIGKILL:
            raise Unsound(f"a worker ended with {status} before {place}:{hit}: {self._last_words()}")
        self._expect_nobody()

    def come_to_rest(self, *, repeated: bool = False) -> None:
        """Let a worker do all that is left, then account for everything.

        `repeated` says that the end of the file was lost, so that tries may have run under the same number again.
        """
        with suppress(FileNotFoundError):
            self.folder.joinpath("hang").unlink()
        self._sql("DROP TRIGGER IF EXISTS poison")
        status = self._live()
        if status != 0:
            raise Unsound(f"the last worker ended with {status}: {self._last_words()}")
        self.examine(settled=True)
        self._account_for_work()
        self._account_for_effects(repeated=repeated)

    def _live(self, *, kill_after_s: float | None = None, **how: Any) -> int:
        """Live one life, a day after the last one; return the wait status as a number like `subprocess` does."""
        self.day += 1
        self.clock = DayClock(self.day)
        hang = self.folder / "hang"
        hang.touch() if how.get("hangs") else hang.unlink(missing_ok=True)
        pid = live(Life(self.path, self.clock, engine=self._engine, **how))
        descriptor = os.pidfd_open(pid)
        try:
            ended = ends_within(descriptor, LIMIT_S if kill_after_s is None else kill_after_s)
            if not ended:
                os.kill(pid, signal.SIGKILL)
        finally:
            os.close(descriptor)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if not ended and kill_after_s is None:
            raise Unsound(f"a worker came neither to its end nor to {how}: {self._last_words()}")
        return status

    def _after(self, status: int, what: str) -> bool:
        """Look at what a death left behind; return whether it was one."""
        self.told.append(f"day {self.day}: {what}: ended with {status}")
        if status == UNSOUND:
            raise Unsound(f"after the first turn: {self.folder.joinpath('findings.json').read_text()}")
        if status not in {0, -signal.SIGKILL}:
            raise Unsound(f"a worker ended with {status}: {self._last_words()}")
        self._expect_nobody()
        self.examine(settled=False)
        killed = status != 0
        self.did["kills" if killed else "ends"] += 1
        return killed

    # -- what is arranged ---------------------------------------------------------------------------------------------

    def _arrange(self, what: str) -> None:
        """Bring about, before the next day, what a place needs to be reached."""
        if what == "wait":
            if not self.did["waited"]:
                self._live()  # leaves Work that waits for an hour, and there will be such Work ever after
            self.did["waited"] += 1
        elif what == "pause":
            deck = Deck.open(self.path, clock=self.clock)
            with suppress(Precondition):
                deck.pause("paused", note="a while", until=self.clock.now() + timedelta(hours=1))
            deck.close()
        elif what == "poison":
            self._sql(
                "CREATE TRIGGER IF NOT EXISTS poison BEFORE INSERT ON work WHEN new.trigger_name = 'bad'"
                " BEGIN SELECT RAISE(ABORT, 'poisonous row'); END"
            )
        elif what == "stale":
            self._sql("UPDATE trigger_state SET fingerprint = 'stale' WHERE name LIKE 'two-%'")

    def _sql(self, statement: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(statement)

    # -- judging ------------------------------------------------------------------------------------------------------

    def examine(self, *, settled: bool) -> None:
        """Look that both files are whole and that the checker finds nothing."""
        for path in (self.path, engine_path(self.path)):
            _expect_whole(path)
        store = self._open()
        try:
            with store.read() as tx:
                found = check(tx, now=self.clock.now(), settled=settled)
        finally:
            store.close()
        if found:
            raise Unsound("; ".join(f"{one.code} {one.subject}: {one.message}" for one in found))
        self.did["examined"] += 1

    def _open(self) -> Store:
        if self._engine is None:
            self._engine = open_store(self.path, clock=self.clock).engine
            self._engine.update_execution_options(compiled_cache=_COMPILED)
            self._engine.dispose()
        return Store(self._engine, self.path, self.clock, read_only=False)

    def _expect_nobody(self) -> None:
        """Wait for what the dead worker leaves; nothing of a step may outlive it, nor the guard."""
        left = psutil.Process().children(recursive=True)
        _, alive = psutil.wait_procs(left, timeout=GONE_WITHIN_S)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if alive:
            told = [" ".join(one.cmdline()) for one in alive]
            for one in alive:
                one.kill()
            raise Unsound(f"processes outlived their worker: {told}")

    def _account_for_work(self) -> None:
        """Every occurrence that was admitted has its one Work, and that ended as it should."""
        with closing(sqlite3.connect(self.path)) as connection:
            admitted = connection.execute("SELECT count(*) FROM occurrence WHERE outcome = 'submitted'").fetchone()[0]
            works = connection.execute("SELECT id, trigger_name, status, error_code FROM work").fetchall()
            worn = {row[0] for row in connection.execute(_WORN_OUT, [CRASH_LIMIT])}
        if admitted != len(works):
            raise Unsound(f"{admitted} occurrences were submitted, and there are {len(works)} Works")
        for work, trigger, status, code in works:
            fine = status == "completed" or (code == "crashed" and work in worn)
            if not fine and (trigger, status) not in {("hangs", "cancelled"), ("waits", "running")}:
                raise Unsound(f"Work {work} of {trigger} ended as {status} ({code})")
        self.did["occurrences"] += admitted

    def _account_for_effects(self, *, repeated: bool) -> None:
        """Every step of completed Work ran at least once, each try under a higher number than the one before."""
        tries: dict[tuple[str, str], list[int]] = {}
        for line in self.folder.joinpath("effects").read_text().splitlines():
            work, step, attempt = line.split()
            tries.setdefault((work, step), []).append(int(attempt))
        for (work, step), numbers in tries.items():
            if not repeated and numbers != sorted(set(numbers)):
                raise Unsound(f"step {step} of Work {work} ran as attempts {numbers}")
        with closing(sqlite3.connect(self.path)) as connection:
            done = connection.execute(_DONE_COMMANDS).fetchall()
        missing = [key for key in done if tuple(key) not in tries]
        if missing:
            raise Unsound(f"steps are recorded as completed that never ran: {missing[:5]}")
        self.did["steps"] += len(done)
        self.did["repeated"] += sum(len(numbers) - 1 for numbers in tries.values())

    def _last_words(self) -> str:
        told = self.folder.joinpath("worker.out")
        return told.read_text()[-2000:] if told.exists() else ""


_WORN_OUT = "SELECT r.work_id FROM flow_step s JOIN flow_run r ON r.id = s.run_id WHERE s.attempt >= ?"
_DONE_COMMANDS = (
    "SELECT r.work_id, s.step_id FROM flow_step s JOIN flow_run r ON r.id = s.run_id"
    " WHERE s.status = 'completed' AND s.kind = 'command'"
)


def ends_within(descriptor: int, seconds: float) -> bool:
    """Wait for a process by its descriptor; return whether it ended in time."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _expect_whole(path: Path) -> None:
    if not path.exists():
        return
    with closing(sqlite3.connect(path)) as connection:
        (answer,) = connection.execute("PRAGMA integrity_check").fetchone()
    if answer != "ok":
        raise Unsound(f"{path.name} is damaged: {answer}")


def adopt_orphans() -> None:
    """Become the parent of every process whose own parent dies, so that none can hide."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot adopt orphans")


# -- what is run ------------------------------------------------------------------------------------------------------


def kill_at(places: Sequence[str], folder: Path, times: int = 10, seed: int = 0) -> Counter[str]:
    """Kill workers at each place, at its first to its n-th hit; raise `Unsound` where it is not reached."""
    world = World(folder, seed)
    with _told(world):
        world.begin()
        for place in places:
            _kill_at(world, place, times)
        world.come_to_rest()
    return world.did


def _kill_at(world: World, place: str, times: int) -> None:
    if place.startswith("start."):
        world.die_at("step.recorded", 1)  # so that there is something to recover
    for number in range(1, times + 1):
        hit = 1 if is_reached_once(place) else number
        if not any(world.die_at(place, max(1, hit - fewer)) for fewer in (0, hit // 2, hit - 1)):
            world.did["unreached"] += 1  # some places want a coincidence; the test bounds how many may be missed


def kill_at_random(seed: int, places: tuple[str, ...], folder: Path, kills: int) -> Counter[str]:
    """Kill workers at places, hits and moments drawn from a seed; return what was done. Raises `Unsound`."""
    world = World(folder, seed)
    with _told(world):
        world.begin()
        while world.did["kills"] < kills:
            if world.draw.random() < 0.5:
                world.die_some_time(world.draw.uniform(0.0, LONGEST_LIFE_S))
            else:
                world.die_at(world.draw.choice(places), world.draw.randint(1, 10))
        world.come_to_rest()
    return world.did


def _cpu_s() -> float:
    """Return the processor seconds of this process and of all its children that have ended."""
    return sum(os.times()[:4])


class _told:  # noqa: N801 - reads as a statement
    """Puts seed and story in front of what was found, and removes the files in the end."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __enter__(self) -> None:
        self._began_s = _cpu_s()

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._world.did["cpu_ms"] = int((_cpu_s() - self._began_s) * 1000)
        if isinstance(error, Unsound):
            story = "\n  ".join(self._world.told[-30:])
            kept = self._world.folder
            raise Unsound(f"seed {self._world.seed}: {error}\n  {story}\n  kept in {kept}") from error
        shutil.rmtree(self._world.folder, ignore_errors=True)
