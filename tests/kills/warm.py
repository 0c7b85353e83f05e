"""What a fork need not do again: engines whose statements are compiled, and a process that has lived one life.

The engines are made for a database of no place, and connect to that of the world which the process is at. They hold no
connection while a worker is forked, or it would share that with its parent.
"""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from core.runtime import engine as runtime_engine
from core.storage import enginefile, opening, store
from core.storage.enginefile import engine_path

NOWHERE = Path("/nowhere/deck.sqlite3")
_connect = store.connect


class _Here:
    """Where this process is, and the engines that it keeps, by who acts with them."""

    def __init__(self) -> None:
        self.home = Path()
        self.role = "worker"
        self.engines: dict[str, Engine] = {}


_here = _Here()


def move_in() -> None:
    """Take a folder for this process's worlds, in memory where there is some: a kill is no power cut."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a fresh folder in it
    _here.home = Path(tempfile.mkdtemp(prefix="triggerdeck-kills-", dir=place))
    Finalize(None, shutil.rmtree, (_here.home, True), exitpriority=1)


def world_database() -> Path:
    """Return where this process's worlds have their database, one world after the other."""
    return _here.home / "world" / NOWHERE.name


@contextmanager
def acting_as(role: str) -> Iterator[None]:
    """Open databases with this role's engine, so that two that are open together never share one."""
    before, _here.role = _here.role, role
    try:
        yield
    finally:
        _here.role = before


def keep_engines() -> None:
    """Have every database of a world opened with an engine that knows its statements."""
    store.connect = _connect_here
    opening.make_engine = _make_engine
    runtime_engine.open_engine_file = _open_engine_file


def _connect_here(path: Path, *, read_only: bool) -> sqlite3.Connection:
    return _connect(world_database() if path == NOWHERE else path, read_only=read_only)


def _make_engine(path: Path, *, read_only: bool) -> Engine:
    if read_only or path != world_database():
        return store.make_engine(path, read_only=read_only)
    return _kept(_here.role, lambda: store.make_engine(NOWHERE, read_only=False))


def _open_engine_file(path: Path) -> Engine:
    return _kept("engine", _make_engine_file) if path == engine_path(world_database()) else _real_engine_file(path)


def _make_engine_file() -> Engine:
    made = _real_engine_file(engine_path(NOWHERE))
    event.listen(made, "do_connect", _lead_here)
    return made


_real_engine_file = enginefile.open_engine_file


def _lead_here(_dialect: Any, _record: Any, arguments: list[Any], _more: Any) -> None:
    arguments[0] = str(engine_path(world_database()))


def _kept(role: str, make: Callable[[], Engine]) -> Engine:
    if role not in _here.engines:
        _here.engines[role] = make()
    return _here.engines[role]


def freeze() -> None:
    """Leave alone what is loaded by now: a collection in a child would copy every page of it."""
    if (others := threading.active_count() - 1) > 0:
        names = [thread.name for thread in threading.enumerate()]
        raise RuntimeError(f"a process that forks workers has {others} more threads: {names}")
    for engine in _here.engines.values():
        engine.dispose()
    gc.collect()
    gc.freeze()


def clean() -> None:
    """Remove the world that is over."""
    shutil.rmtree(world_database().parent, ignore_errors=True)
