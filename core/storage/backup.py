"""Copies of the whole database file, and the statements that begin a new life from one.

A copy is made by SQLite's own backup in one step: it reads one snapshot of the write-ahead log's database, while
writers go on. The copy keeps SQLite's plain journal, so that the one file is all there is.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import delete, insert, select

from core.errors import Precondition
from core.storage.columns import table_of
from core.storage.failures import translated, unusable
from core.storage.files import BUSY_TIMEOUT_MS, file_uri
from core.storage.schema import INCARNATION
from core.storage.store import Transaction
from core.storage.tables import Fact, Work, WorkerBeat
from core.storage.work import WorkFacts
from core.views import ACTIVE_WORK

BACKUP_OF = "backup_of"
_TAKEN = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_fact = table_of(Fact)
_work = table_of(Work).c
_WORK_COLUMNS = tuple(_work[name] for name in WorkFacts.__dataclass_fields__)


def copy_database(source: Path, target: Path) -> None:
    """Write one consistent snapshot of a database, live or not, to a file that is made for it, and sync it."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with translated(source), closing(_connect(source, "ro")) as reader, closing(_connect(target, "rw")) as writer:
        reader.backup(writer, pages=-1)
        writer.execute("PRAGMA journal_mode=DELETE").fetchall()
    sync(target)


def write_fact(path: Path, name: str, value: str) -> None:
    """Set one fact of a database file that nobody else has open."""
    with translated(path), closing(_connect(path, "rw")) as connection:
        connection.execute("INSERT OR REPLACE INTO fact (name, value) VALUES (?, ?)", (name, value))
    sync(path)


def read_fact(path: Path, name: str) -> str | None:
    """Return one fact of a database file."""
    with translated(path), closing(_connect(path, "ro")) as connection:
        row = connection.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def file_faults(path: Path, limit: int = 5) -> list[str]:
    """Return what SQLite's full check finds wrong with a file; reads all of it."""
    with translated(path), closing(_connect(path, "ro")) as connection:
        rows = connection.execute(f"PRAGMA integrity_check({int(limit)})").fetchall()
    return [str(row[0]) for row in rows if row[0] != "ok"]


def let_go(path: Path) -> None:
    """Write a database's log into it and remove the log; refuse where another program has the file open.

    A damaged file, or one that is no database, has nobody to ask and is left as it is.
    """
    if not _is_sqlite(path):
        return
    try:
        with closing(_connect(path, "rw", timeout_s=1.0)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE").fetchall()
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _TAKEN:
            message = f"the database {path} is open in another program"
            raise Precondition(message, "close every deck on it, then repeat") from error
        if code not in _BROKEN:
            raise unusable(path, error) or error from error


@contextmanager
def beside(path: Path, suffix: str) -> Iterator[Path]:
    """Name a file beside `path` to work in; whatever is left of it in the end is removed."""
    working = path.with_name(f"{path.name}.{suffix}")
    try:
        yield working
    finally:
        for tail in ("", "-wal", "-shm", "-journal"):
            working.with_name(working.name + tail).unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Make a file, and its name in its folder, outlive a power cut."""
    for place in (path, path.parent):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# -- a new life --------------------------------------------------------------------------------------------------------


def new_incarnation(tx: Transaction, incarnation: str, story: str) -> None:
    """Give the database a new identity and say where it came from; no worker of its former life counts any more."""
    tx.run(delete(_fact).where(_fact.c.name.in_((INCARNATION, BACKUP_OF, "restored_from"))))
    rows = [{"name": INCARNATION, "value": incarnation}, {"name": "restored_from", "value": story}]
    tx.run(insert(_fact), rows)
    tx.run(delete(table_of(WorkerBeat)))


def unfinished_work(tx: Transaction, limit: int) -> list[WorkFacts]:
    """Return up to `limit` Works that have not ended."""
    query = select(*_WORK_COLUMNS).where(_work.status.in_(ACTIVE_WORK)).order_by(_work.created_at, _work.id)
    return [WorkFacts(**row._mapping) for row in tx.all(query.limit(limit))]


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def _connect(path: Path, mode: str, timeout_s: float = BUSY_TIMEOUT_MS / 1000) -> sqlite3.Connection:
    return sqlite3.connect(file_uri(path, mode), uri=True, isolation_level=None, timeout=timeout_s)
