"""The door to the database: one engine, short transactions, writers that take the lock at once.

Readers see one snapshot (`BEGIN`); writers start with `BEGIN IMMEDIATE`, so that a lock is waited for at the start
and never in the middle. Writers of one process queue on a lock of ours first: SQLite's own waiting is a poll that
starves the unlucky. Every writer that changes what people see records it in the change table in the same
transaction.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, Engine, NullPool, QueuePool, Row, create_engine, event
from sqlalchemy.sql.expression import Executable
from sqlmodel import SQLModel

from core.clock import Clock, SystemClock, epoch_us
from core.errors import StorageUnusable
from core.storage.failures import translated
from core.storage.files import BUSY_TIMEOUT_MS, connect, may
from core.storage.tables import Change

WAL_AUTOCHECKPOINT_PAGES = 8_000
WAL_WORTH_CHECKPOINT_BYTES = 4_000_000
CACHE_KIB = 8_000
KEPT_CONNECTIONS = 8
_RECORD_CHANGE = f"INSERT INTO {Change.__tablename__} (workspace_id, kind, key, at) VALUES (?, ?, ?, ?)"  # noqa: S608 - names of ours


class Transaction:
    """One open transaction: runs statements, records changes."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self.connection = connection
        self.clock = clock
        self._driver: sqlite3.Connection | None = None

    @property
    def driver(self) -> sqlite3.Connection:
        """Return the driver's own connection inside this transaction, for statements that are compiled already."""
        if self._driver is None:
            if not self.connection.in_transaction():
                self.connection.begin()
            self._driver = _driver_of(self.connection)
        return self._driver

    def run(self, statement: Executable, rows: Sequence[Mapping[str, Any]] | None = None) -> Any:
        """Execute a statement, for many rows at once where `rows` is given; return its result."""
        return self.connection.execute(statement, rows) if rows is not None else self.connection.execute(statement)

    def all(self, statement: Executable) -> Sequence[Row[*tuple[Any, ...]]]:
        """Return every row of a query."""
        return self.connection.execute(statement).all()

    def first(self, statement: Executable) -> Row[*tuple[Any, ...]] | None:
        """Return the first row of a query, if any."""
        return self.connection.execute(statement).first()

    def scalar(self, statement: Executable) -> Any:
        """Return the first column of the first row, or None."""
        return self.connection.execute(statement).scalar()

    def changed(self, workspace_id: str, kind: str, *keys: str) -> None:
        """Record that things changed, to wake worker and screens; kinds as in `core.views.ChangeKind`."""
        if keys:
            at = epoch_us(self.clock.now())
            self.driver.executemany(_RECORD_CHANGE, [(workspace_id, kind, key, at) for key in keys])

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Undo, at the end, whatever was written inside."""
        nested = self.connection.begin_nested()
        try:
            yield
        finally:
            nested.rollback()


class Store:
    """An opened database."""

    def __init__(self, engine: Engine, path: Path, clock: Clock, *, read_only: bool) -> None:
        self.engine = engine
        self.path = path
        self.clock = clock
        self.read_only = read_only
        self._writers = threading.Lock()
        self._writer: int | None = None
        self._watch: sqlite3.Connection | None = None
        self._watch_lock = threading.Lock()
        self._file = _file_of(path)
        _OPEN[self._file] += 1

    @classmethod
    def open(cls, path: Path, *, clock: Clock | None = None, read_only: bool = False) -> Store:
        """Open the SQLite file at `path` unchecked, making it where there is none; see `core.storage.opening`."""
        engine = make_engine(path, read_only=read_only)
        if not read_only:
            SQLModel.metadata.create_all(engine)
        return cls(engine, path, clock or SystemClock(), read_only=read_only)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open a snapshot; nothing written in it is kept."""
        with translated(self.path), self.engine.connect() as connection:
            yield Transaction(connection, self.clock)

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Transaction]:
        """Open a writing transaction; commits at the end, rolls back on any error.

        `durable=False` leaves the flush to the operating system (logs, heartbeats): a power cut may lose the
        last of them, never more. A write inside a write of the same thread is a programming error.
        """
        if self.read_only:
            raise StorageUnusable(f"the database {self.path} was opened read-only", "open it without --read-only")
        self._verify_place()
        with translated(self.path), self._turn(), self.engine.connect() as connection:
            connection.execution_options(triggerdeck_write=True, triggerdeck_durable=durable)
            with connection.begin():
                yield Transaction(connection, self.clock)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for this process's other writers."""
        me = threading.get_ident()
        if self._writer == me:
            raise RuntimeError("a write was opened inside a write; pass the open transaction on")
        if not self._writers.acquire(timeout=4 * BUSY_TIMEOUT_MS / 1000):
            raise StorageUnusable(f"the database {self.path} is too busy", "wait a moment, then repeat")
        self._writer = me
        try:
            yield
        finally:
            self._writer = None
            self._writers.release()

    def data_version(self) -> int:
        """Return a number that differs after any commit by anybody; about 7 µs, on a connection of its own."""
        self._verify_place()
        with translated(self.path), self._watch_lock:
            if self._watch is None:
                self._watch = connect(self.path, read_only=True)
                self._watch.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}").close()
            (version,) = self._watch.execute("PRAGMA data_version").fetchone()
        return int(version)

    def _verify_place(self) -> None:
        """Refuse where another file, or none, stands under our name: what we write would be lost with ours."""
        if self._file is not None and _file_of(self.path) != self._file:
            message = f"the database {self.path} was removed, or another file was put in its place"
            raise StorageUnusable(message, "put it back, or leave and open what is there now")

    def faults(self, limit: int = 20) -> tuple[str, ...]:
        """Return what SQLite's quick check finds wrong with the file; reads all of it, so only on request."""
        with self.read() as tx:
            rows = tx.connection.exec_driver_sql(f"PRAGMA quick_check({int(limit)})").all()
        return tuple(str(row[0]) for row in rows if row[0] != "ok")

    def tidy(self) -> bool:
        """Write a log of some size into the file, as far as no reader needs it; for idle times. Return whether it did.

        Writers do so by themselves only where the log has grown large: a firing should not wait for it.
        """
        log = self.path.with_name(f"{self.path.name}-wal")
        if self.read_only or not log.exists() or log.stat().st_size < WAL_WORTH_CHECKPOINT_BYTES:
            return False
        with translated(self.path), self.engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            if raw is not None:
                raw.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        return True

    def close(self) -> None:
        """Close every connection."""
        with self._watch_lock:
            if self._watch is not None:
                self._watch.close()
                self._watch = None
        self.engine.dispose()
        if self._file is not None:
            _OPEN[self._file] -= 1
            self._file = None


_OPEN: Counter[tuple[int, int] | None] = Counter()


def _file_of(path: Path) -> tuple[int, int] | None:
    """Return device and inode: the file itself, whatever it is called."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def is_open_here(path: Path) -> bool:
    """Return whether a store of this process has the file open."""
    file = _file_of(path)
    return file is not None and _OPEN[file] > 0


def make_engine(path: Path, *, read_only: bool) -> Engine:
    """Return an engine with our pragmas; it opens nothing yet."""
    settings: dict[str, Any] = {"poolclass": QueuePool, "pool_size": KEPT_CONNECTIONS, "max_overflow": -1}
    if read_only and not may(path.parent, os.W_OK):
        settings = {"poolclass": NullPool}  # whether the file is whole is asked anew for each connection
    engine = create_engine("sqlite://", creator=lambda: connect(path, read_only=read_only), **settings)
    event.listen(engine, "connect", _configure_read_only if read_only else _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _configure(connection: Any, _record: Any) -> None:
    pragmas = (
        f"busy_timeout={BUSY_TIMEOUT_MS}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        f"wal_autocheckpoint={WAL_AUTOCHECKPOINT_PAGES}",
        f"cache_size=-{CACHE_KIB}",
    )
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}").close()


def _configure_read_only(connection: Any, _record: Any) -> None:
    connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}").close()


def _begin(connection: Connection) -> None:
    options, driver = connection.get_execution_options(), _driver_of(connection)
    if not options.get("triggerdeck_write"):
        driver.execute("BEGIN")
        return
    level = "FULL" if options.get("triggerdeck_durable", True) else "NORMAL"
    if connection.info.get("synchronous") != level:
        driver.execute(f"PRAGMA synchronous={level}").close()
        connection.info["synchronous"] = level
    driver.execute("BEGIN IMMEDIATE")


def _driver_of(connection: Connection) -> sqlite3.Connection:
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)
