"""The door to the database: one engine, short transactions, writers that take the lock at once.

Readers see one snapshot (`BEGIN`); writers start with `BEGIN IMMEDIATE`, so that a lock is waited for at the start
and never in the middle. Every writer that changes what people see records it in the change table in the same
transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert
from sqlalchemy.sql.expression import Executable
from sqlmodel import SQLModel

from core.clock import Clock, SystemClock
from core.storage.tables import Change

BUSY_TIMEOUT_MS = 15_000


class Transaction:
    """One open transaction: runs statements, records changes."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self.connection = connection
        self.clock = clock

    def run(self, statement: Executable, rows: Sequence[Mapping[str, Any]] | None = None) -> Any:
        """Execute a statement, for many rows at once where `rows` is given; return its result."""
        return self.connection.execute(statement, rows) if rows is not None else self.connection.execute(statement)

    def all(self, statement: Executable) -> Sequence[Any]:
        """Return every row of a query."""
        return self.connection.execute(statement).all()

    def first(self, statement: Executable) -> Any:
        """Return the first row of a query, if any."""
        return self.connection.execute(statement).first()

    def scalar(self, statement: Executable) -> Any:
        """Return the first column of the first row, or None."""
        return self.connection.execute(statement).scalar()

    def changed(self, workspace_id: str, kind: str, *keys: str) -> None:
        """Record that things changed, to wake worker and screens; kinds as in `core.views.ChangeKind`."""
        if keys:
            at = self.clock.now()
            rows = [{"workspace_id": workspace_id, "kind": kind, "key": key, "at": at} for key in keys]
            self.connection.execute(insert(Change), rows)


class Store:
    """An opened database."""

    def __init__(self, engine: Engine, path: Path, clock: Clock, *, read_only: bool) -> None:
        self.engine = engine
        self.path = path
        self.clock = clock
        self.read_only = read_only

    @classmethod
    def open(cls, path: Path, *, clock: Clock | None = None, read_only: bool = False) -> Store:
        """Open the SQLite file at `path`, making it where there is none."""
        engine = make_engine(path, read_only=read_only)
        if not read_only:
            SQLModel.metadata.create_all(engine)
        return cls(engine, path, clock or SystemClock(), read_only=read_only)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open a snapshot; nothing written in it is kept."""
        with self.engine.connect() as connection:
            yield Transaction(connection, self.clock)

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Transaction]:
        """Open a writing transaction; commits at the end, rolls back on any error.

        `durable=False` leaves the flush to the operating system (logs, heartbeats): a power cut may lose the
        last of them, never more.
        """
        with self.engine.connect() as connection:
            connection = connection.execution_options(triggerdeck_write=True, triggerdeck_durable=durable)
            with connection.begin():
                yield Transaction(connection, self.clock)

    def close(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()


def make_engine(path: Path, *, read_only: bool) -> Engine:
    """Return an engine with our pragmas; it opens nothing yet."""
    mode = "ro" if read_only else "rwc"
    engine = create_engine(f"sqlite:///file:{path}?mode={mode}&uri=true", connect_args={"check_same_thread": False})
    event.listen(engine, "connect", _configure_read_only if read_only else _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _configure(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    for pragma in (f"busy_timeout={BUSY_TIMEOUT_MS}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _configure_read_only(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}").close()


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("triggerdeck_write"):
        level = "FULL" if options.get("triggerdeck_durable", True) else "NORMAL"
        connection.exec_driver_sql(f"PRAGMA synchronous={level}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("triggerdeck_write") else "BEGIN")
