"""The engine's own file beside ours: opened with WAL, and dropped where it knows more than ours does."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event

from core import failpoints
from core.storage import runs
from core.storage.store import Store

SUFFIX = ".engine"
EPOCH = "engine_epoch"
BUSY_TIMEOUT_MS = 30_000


def engine_path(database: Path) -> Path:
    """Return the file that the engine keeps beside a database."""
    return database.with_name(database.name + SUFFIX)


def open_engine_file(path: Path) -> Engine:
    """Return an engine on the file with WAL and a patient busy timeout, which DBOS itself does not set."""
    engine = create_engine(f"sqlite:///{path}", connect_args={"check_same_thread": False}, pool_size=5, max_overflow=15)
    event.listen(engine, "connect", _configure)
    return engine


def begin_epoch(store: Store) -> int:
    """Count this start in our file and in the engine's, dropping the engine's where the two do not belong together.

    The engine's file is a cache. It goes where it counts more starts than ours (ours was restored from a backup), where
    it cannot be read, and where nothing of ours is unfinished (so it never grows for ever).
    """
    path = engine_path(store.path)
    theirs = _stored_epoch(path)
    with store.write() as tx:
        ours = int(runs.fact(tx, EPOCH) or "0")
        idle = not runs.unfinished(tx)
        epoch = max(ours, theirs or 0) + 1
        runs.set_fact(tx, EPOCH, str(epoch))
    failpoints.reach("start.epoch_counted")
    if theirs is None or theirs != ours or idle:
        drop(path)
    failpoints.reach("start.engine_file_dropped")
    _store_epoch(path, epoch)
    return epoch


def drop(path: Path) -> None:
    """Delete the engine's file with its journal files."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _stored_epoch(path: Path) -> int | None:
    """Return the start that the engine's file counted last; None where there is no such file or figure."""
    if not path.exists():
        return None
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000)) as connection:
            row = connection.execute("SELECT epoch FROM triggerdeck_epoch").fetchone()
    except sqlite3.Error:
        return None
    return int(row[0]) if row else None


def _store_epoch(path: Path, epoch: int) -> None:
    with contextlib.closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000)) as connection, connection:
        connection.execute("CREATE TABLE IF NOT EXISTS triggerdeck_epoch (epoch INTEGER NOT NULL)")
        connection.execute("DELETE FROM triggerdeck_epoch")
        connection.execute("INSERT INTO triggerdeck_epoch VALUES (?)", (epoch,))


def _configure(connection: Any, _record: Any) -> None:
    """Set what each connection needs; the isolation level is DBOS's own for SQLite, writers take the lock at once."""
    connection.isolation_level = "IMMEDIATE"
    pragmas = (f"busy_timeout={BUSY_TIMEOUT_MS}", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON")
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}").close()
