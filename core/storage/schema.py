"""Make a fresh database, or migrate an older one, in one transaction.

A fresh file is made from the tables directly: a test proves that the migrations lead to the very same schema. Only
an older file needs Alembic, which is imported then and not before.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, text
from sqlmodel import SQLModel

from core.clock import Clock
from core.storage import tables
from core.storage.files import APPLICATION_ID, BUSY_TIMEOUT_MS, SCHEMA, file_uri

INCARNATION = "incarnation"
MIGRATIONS = Path(__file__).with_name("migrations")


def schema_text(number: int = SCHEMA) -> str:
    """Return the name of a revision as Alembic writes it."""
    return f"{number:04d}"


def bring_up_to_date(path: Path, clock: Clock) -> None:
    """Make or migrate the schema; a second process that tries the same waits and finds it done.

    A fresh file keeps SQLite's rollback journal until all is committed, and a migration ends with a checkpoint: so
    the main file alone, and not a log beside it, carries application id and schema number.
    """
    with _alone_in(path.parent):
        engine = _plain_engine(path)
        try:
            with engine.connect() as open_connection, open_connection.begin():
                _make_or_migrate(open_connection, clock)
        finally:
            engine.dispose()
        with closing(_connect(path)) as connection:
            for pragma in ("journal_mode=WAL", "wal_checkpoint(TRUNCATE)"):
                connection.execute(f"PRAGMA {pragma}").fetchall()


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other processes from making or migrating in the same folder; SQLite cannot wait for a change of mode."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without such locks: two first starts at once may then be refused
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def migrate(connection: Connection, to: str = "head") -> None:
    """Run the migrations up to a revision on an open transaction."""
    from alembic import command

    command.upgrade(alembic_config(connection), to)


def alembic_config(connection: Connection) -> Any:
    """Return Alembic's configuration for an open connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _make_or_migrate(connection: Connection, clock: Clock) -> None:
    number = int(connection.exec_driver_sql("PRAGMA user_version").scalar() or 0)
    if number >= SCHEMA:
        return
    if number == 0:
        _make(connection, clock)
    else:
        migrate(connection)
    connection.exec_driver_sql(f"PRAGMA user_version={SCHEMA}")


def _make(connection: Connection, clock: Clock) -> None:
    SQLModel.metadata.create_all(connection, tables=our_tables())
    connection.exec_driver_sql(
        "CREATE TABLE alembic_version ("
        "version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
    )
    connection.execute(text("INSERT INTO alembic_version VALUES (:number)"), {"number": schema_text()})
    connection.execute(
        text("INSERT INTO fact (name, value) VALUES (:name, :value)"), {"name": INCARNATION, "value": clock.new_id()}
    )
    connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")


def our_tables() -> list[Any]:
    """Return the tables of this database, and none that some other user of SQLModel declared."""
    known = {value.__table__.name for value in vars(tables).values() if hasattr(value, "__table__")}
    return [table for table in SQLModel.metadata.sorted_tables if table.name in known]


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file_uri(path, "rwc"), uri=True, isolation_level=None)
    connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}").close()
    return connection


def _plain_engine(path: Path) -> Engine:
    engine = create_engine("sqlite://", creator=lambda: _connect(path), poolclass=NullPool)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine
