"""Notices that a database is older than what was done with it: that somebody put an old copy in its place.

The worker leaves a stamp both in the database and in a small file beside the engine's: a number that only grows, a
random token, the newest change and the incarnation. First the database, durably, then the file; so the database may
be ahead of the file after a crash, and never behind it unless it is an older copy.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from core.errors import Precondition
from core.storage import changes
from core.storage.backup import sync
from core.storage.read_machinery import fact, put_fact
from core.storage.schema import INCARNATION
from core.storage.store import Store, Transaction

STAMP = "engine_stamp"


@dataclass(frozen=True, slots=True)
class Stamp:
    """How far the worker had come with a database."""

    number: int
    token: str
    change: int
    incarnation: str


def stamp_path(engine_path: Path) -> Path:
    """Return the file beside the engine's that holds the stamp."""
    return engine_path.with_name(f"{engine_path.name}.stamp")


def stamp(store: Store, engine_path: Path) -> Stamp:
    """Leave a new stamp in the database and beside the engine's file; at the worker's start and end, and in between."""
    with store.write() as tx:
        before = _stored(tx)
        made = Stamp(
            number=before.number + 1 if before else 1,
            token=store.clock.new_id(),
            change=changes.latest(tx),
            incarnation=fact(tx, INCARNATION) or "",
        )
        put_fact(tx, STAMP, json.dumps(asdict(made)))
    _write(stamp_path(engine_path), made)
    return made


def verify(store: Store, engine_path: Path) -> None:
    """Raise `Precondition` where the database is older than the stamp beside the engine's file, or another line."""
    theirs = _read(stamp_path(engine_path))
    if theirs is None:
        return
    with store.read() as tx:
        ours, change, incarnation = _stored(tx), changes.latest(tx), fact(tx, INCARNATION) or ""
    if incarnation != theirs.incarnation:
        raise _refused(store.path, "is another one than the worker last ran on")
    if ours is None or ours.number < theirs.number or change < theirs.change:
        raise _refused(store.path, "is older than what the worker has done with it")
    if ours.number == theirs.number and ours.token != theirs.token:
        raise _refused(store.path, "went another way than the worker that last ran on it")


def forget(engine_path: Path) -> None:
    """Remove the stamp beside the engine's file: whatever the database says counts from now on."""
    stamp_path(engine_path).unlink(missing_ok=True)


def _refused(path: Path, what: str) -> Precondition:
    remedy = "restore the copy with `triggerdeck restore FILE`, or accept it with `triggerdeck restore --in-place`"
    return Precondition(f"the database {path} {what}: an older copy may fire again what it does not know of", remedy)


def _stored(tx: Transaction) -> Stamp | None:
    return _parsed(fact(tx, STAMP))


def _read(path: Path) -> Stamp | None:
    try:
        return _parsed(path.read_text())
    except FileNotFoundError:
        return None


def _parsed(text: str | None) -> Stamp | None:
    """Return the stamp in a text; None where there is none or a crash cut it short."""
    with contextlib.suppress(ValueError, TypeError):
        return Stamp(**json.loads(text or ""))
    return None


def _write(path: Path, made: Stamp) -> None:
    """Replace the file as a whole, so that no crash leaves half a stamp."""
    working = path.with_name(f"{path.name}.new")
    working.write_text(json.dumps(asdict(made)))
    os.replace(working, path)
    sync(path)
