"""Begins a new life from a copy: what it does not know of never fires, what it left unfinished is not run again.

1. Refuse while a worker or a deck is on the database, or where the backup is damaged.
2. Copy the backup beside the database and make it safe there: a new incarnation; every mark goes to now, with a
   `restored` range for what lies between; unfinished Work fails with `outcome_unknown`.
3. Drop the engine's file, which is a cache of the other life; keep the replaced database aside; put the copy in place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core.access.standing import system_user
from core.admission import recovery, rows
from core.admission.decide import Window, withdraw
from core.admission.plan import Plans
from core.admission.windows import windows_of
from core.clock import Clock, SystemClock, epoch_seconds, format_instant
from core.errors import Precondition, StorageUnusable
from core.settings import database_path
from core.storage import access, admission, beats, enginefile, runs
from core.storage import backup as files
from core.storage.admission import StateRow, Subject
from core.storage.opening import open_store
from core.storage.store import Store, Transaction
from core.upkeep import incarnation
from core.views import BackupReport
from core.work.ending import finish

WORKS_AT_ONCE = 100
UNKNOWN = "outcome_unknown"
LOST = "the database was restored from a backup; whether this ran to its end is not known"


@dataclass(frozen=True, slots=True)
class Begun:
    """What a new life began with."""

    incarnation: str
    ranges: int
    ended_work: int


def restore(
    backup: str | os.PathLike[str], database: str | os.PathLike[str], *, clock: Clock | None = None
) -> BackupReport:
    """Put a backup in the place of a database, as the beginning of a new life; keep the replaced file aside.

    Raise `Precondition` while a worker or a deck has the database open, `StorageUnusable` where the backup cannot be
    used; nothing was touched then.
    """
    clock = clock or SystemClock()
    source, target = database_path(backup), database_path(database)
    _check_places(source, target)
    with _locked(target), _copy_of(source, target, clock) as (working, store):
        begun = begin_new_life(store, clock, story=str(source))
        store.close()
        files.let_go(working)
        if target.exists():
            files.let_go(target)
        size = working.stat().st_size
        replaced = _put_in_place(working, target, clock.now())
    return BackupReport(str(target), size, begun.incarnation, clock.now(), replaced, begun.ranges, begun.ended_work)


def adopt(database: str | os.PathLike[str], *, clock: Clock | None = None) -> BackupReport:
    """Take a database that is an older copy of itself as the beginning of a new life, where it lies."""
    clock, target = clock or SystemClock(), database_path(database)
    with _locked(target):
        files.let_go(target)
        store = open_store(target, clock=clock, create=False)
        try:
            begun = begin_new_life(store, clock, story=str(target))
        finally:
            store.close()
        _drop_engine(target)
    size = target.stat().st_size
    return BackupReport(str(target), size, begun.incarnation, clock.now(), None, begun.ranges, begun.ended_work)


def begin_new_life(store: Store, clock: Clock, *, story: str) -> Begun:
    """Make an older copy safe to run on; repeating it after a crash does no harm."""
    now, name = clock.now(), clock.new_id()
    ended = _end_work(store, now)
    ranges = sum(_pass_over(store, batch, now) for batch in _batches(store))
    with store.write() as tx:
        files.new_incarnation(tx, name, json.dumps({"from": story, "at": format_instant(now)}))
        _record(tx, now, {"incarnation": name, "ranges": ranges, "ended_work": ended})
    return Begun(name, ranges, ended)


# -- making safe -------------------------------------------------------------------------------------------------------


def _end_work(store: Store, now: datetime) -> int:
    """End all unfinished Work as not known; return how many there were."""
    ended = 0
    while True:
        with store.write() as tx:
            batch = files.unfinished_work(tx, WORKS_AT_ONCE)
            for work in batch:
                run = runs.newest(tx, work.id)
                finish(tx, work, run, "failed", now, result=UNKNOWN, code=UNKNOWN, message=LOST)
        if not batch:
            return ended
        ended += len(batch)


def _batches(store: Store) -> Iterator[list[StateRow]]:
    after = ""
    while True:
        with store.read() as tx:
            batch = admission.states_after(tx, after, recovery.BATCH)
        if not batch:
            return
        yield batch
        after = batch[-1].trigger_uid


def _pass_over(store: Store, batch: Sequence[StateRow], now: datetime) -> int:
    """Move the marks of enabled Triggers to now; return how many ranges say what was passed over."""
    plans, moment = Plans(), rows.Moment(now, now)
    with store.write() as tx:
        enabled = {state.trigger_uid: state for state in batch if state.enabled}
        definitions = admission.definitions(tx, enabled)
        windows = windows_of(tx, list(enabled.values()), now)
        ranges, states = [], []
        for uid, row in definitions.items():
            plan = recovery.plan_for(plans, enabled[uid].workspace_id, row)
            if plan is None:
                continue
            state, passed = recovery.rebased(enabled[uid], plan)
            covering: Sequence[Window] = windows.get(uid, ())
            mark = epoch_seconds(state.mark_at or now)
            made = withdraw(plan.schedule, "restored", mark=mark, until=epoch_seconds(now), windows=covering)
            subject = Subject(state, plan.generation, row.principal_id)
            ranges += [rows.range_row(subject, part, moment) for part in (*passed, *made.ranges)]
            states.append(rows.projected(state, plan, made.mark, covering, now))
        admission.grow_ranges(tx, ranges)
        admission.save_states(tx, states)
    return len(ranges)


def _record(tx: Transaction, now: datetime, detail: dict[str, object]) -> None:
    """Tell every workspace's audit trail, and wake whoever looks."""
    for workspace_id, principal_id in beats.places_of(tx, system_user()):
        where = {"workspace_id": workspace_id, "principal_id": principal_id}
        what = {"action": "restore", "kind": "Database", "uid": "", "name": "", "outcome": "allowed", "code": ""}
        access.add_event(tx, now, **where, **what, detail=detail)
        tx.changed(workspace_id, "worker", "restored")


# -- files -------------------------------------------------------------------------------------------------------------


def _check_places(source: Path, target: Path) -> None:
    if source == target or (target.exists() and source.exists() and source.samefile(target)):
        raise Precondition(f"{source} is the database itself", "name a backup of it")
    if not source.is_file():
        raise StorageUnusable(f"there is no backup at {source}", "check the name")
    if not target.parent.is_dir():
        raise StorageUnusable(f"the folder {target.parent} does not exist", "make it, or name another place")


def _check_sound(working: Path, source: Path) -> None:
    if faults := files.file_faults(working):
        raise StorageUnusable(f"the backup {source} is damaged: {faults[0]}", "use another backup")


@contextmanager
def _copy_of(source: Path, target: Path, clock: Clock) -> Iterator[tuple[Path, Store]]:
    """Copy a backup beside the database, check it, and open it, migrated to the present schema."""
    with files.beside(target, f"{clock.new_id()}.restoring") as working:
        try:
            files.copy_database(source, working)
            _check_sound(working, source)
            store = open_store(working, clock=clock)
        except StorageUnusable as refused:
            message = refused.message.replace(str(working), str(source)).replace("database", "backup")
            raise StorageUnusable(message, refused.remedy) from refused
        try:
            yield working, store
        finally:
            store.close()


def _locked(target: Path) -> AbstractContextManager[object]:
    """Hold the worker's lock: no worker starts meanwhile."""
    from core.worker.lock import WorkerLock

    return WorkerLock.take(target)


def _put_in_place(working: Path, target: Path, now: datetime) -> str | None:
    """Keep the database aside and put the copy in its place; at every moment one of both has the name."""
    _drop_engine(target)
    replaced = _keep_aside(target, now) if target.exists() else None
    os.replace(working, target)
    files.sync(target)
    return replaced


def _keep_aside(target: Path, now: datetime) -> str:
    stem, number = f"{target.name}.replaced-{now:%Y%m%dT%H%M%SZ}", 1
    while (aside := target.with_name(stem if number == 1 else f"{stem}-{number}")).exists():
        number += 1
    for tail in ("-wal", "-shm", "-journal"):  # of a damaged file; a sound one has none any more
        log = target.with_name(target.name + tail)
        if log.exists():
            os.replace(log, aside.with_name(aside.name + tail))
    os.link(target, aside)
    files.sync(aside)
    return str(aside)


def _drop_engine(target: Path) -> None:
    engine = enginefile.engine_path(target)
    enginefile.drop(engine)
    incarnation.forget(engine)
