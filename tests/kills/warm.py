"""What a fork need not do again: engines whose statements are compiled, and a process that has lived one life.

A world's folder is the same for all worlds of a process, so the engines of one can serve the next. They hold no
connection while a worker is forked, or it would share that with its parent.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path

from sqlalchemy import Engine

from core.runtime import engine as runtime_engine
from core.storage import enginefile, opening, store

_made: dict[tuple[str, Path], Engine] = {}
_role = ["worker"]


@cache
def home() -> Path:
    """Return this process's folder, in memory where there is some: a kill is no power cut."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a fresh folder in it
    made = Path(tempfile.mkdtemp(prefix="triggerdeck-kills-", dir=place))
    Finalize(None, shutil.rmtree, (made, True), exitpriority=1)
    return made


def world_folder() -> Path:
    """Return where this process's worlds are, one after the other."""
    return home() / "world"


@contextmanager
def acting_as(role: str) -> Iterator[None]:
    """Open databases with this role's engine, so that two that are open together never share one."""
    before, _role[0] = _role[0], role
    try:
        yield
    finally:
        _role[0] = before


def _kept(role: str | None, path: Path, make: Callable[[], Engine]) -> Engine:
    if path.parent != world_folder():
        return make()
    key = (role or _role[0], path)
    if key not in _made:
        _made[key] = make()
    return _made[key]


def _make_engine(path: Path, *, read_only: bool) -> Engine:
    if read_only:
        return store.make_engine(path, read_only=True)
    return _kept(None, path, lambda: store.make_engine(path, read_only=False))


def _open_engine_file(path: Path) -> Engine:
    return _kept("engine", path, lambda: enginefile.open_engine_file(path))


def keep_engines() -> None:
    """Have every database of a world opened with an engine that knows its statements."""
    opening.make_engine = _make_engine
    runtime_engine.open_engine_file = _open_engine_file


def freeze() -> None:
    """Leave alone what is loaded by now: a collection in a child would copy every page of it."""
    if (others := threading.active_count() - 1) > 0:
        names = [thread.name for thread in threading.enumerate()]
        raise RuntimeError(f"a process that forks workers has {others} more threads: {names}")
    for engine in _made.values():
        engine.dispose()
    gc.collect()
    gc.freeze()


def clean() -> None:
    """Remove the world that is over."""
    shutil.rmtree(world_folder(), ignore_errors=True)
