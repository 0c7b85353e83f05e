"""Open a database, or say in one sentence why not, before anything is written.

1. Look at the path and at the file's first hundred bytes: neither leaves a trace. SQLite's header carries our
   application id and, as user version, the number of the schema's revision.
2. Make a fresh file from the tables, or bring an older one up to date by Alembic, in one transaction.
3. Open the engine. An up-to-date file costs a few milliseconds; Alembic is imported only where a migration is due.

A damaged page deep in a large file is not looked for here: a full check reads it all. It surfaces in the
transaction that meets it, as the same `StorageUnusable`; `Store.faults` looks on request.
"""

from __future__ import annotations

import os
import struct
import threading
from dataclasses import dataclass
from pathlib import Path

from core.clock import Clock, SystemClock
from core.errors import StorageUnusable
from core.settings import database_path
from core.storage.failures import translated
from core.storage.files import APPLICATION_ID, SCHEMA, log_beside, may
from core.storage.schema import bring_up_to_date, schema_text
from core.storage.store import Store, Transaction, is_open_here, make_engine

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_WITH_LOG = bytes((2, 2))
_FRACTIONS = bytes((64, 32, 32))  # fixed by the file format
# Closing any handle of a file drops the locks that SQLite holds on it in this process. So the header is read only
# while no store of this process has the file open, and nobody opens one meanwhile.
_one_at_a_time = threading.Lock()
_LEFT_ALONE = "nothing in it was touched"


@dataclass(frozen=True, slots=True)
class Header:
    """What the first hundred bytes of an SQLite file say."""

    page_bytes: int
    sane: bool
    logged: bool
    pages: int
    schema: int
    application_id: int


def open_store(
    location: str | os.PathLike[str], *, clock: Clock | None = None, read_only: bool = False, create: bool = True
) -> Store:
    """Open the database at a path or `sqlite:///path`; raise StorageUnusable, with the remedy, where it cannot be."""
    path, clock = database_path(location), clock or SystemClock()
    with _one_at_a_time:
        try:
            _check_path(path, read_only=read_only, create=create)
        except PermissionError as error:
            raise _locked_folder(path) from error
        if not is_open_here(path):
            _prepare(path, clock, read_only=read_only)
        return _connected(path, clock, read_only=read_only)


def _prepare(path: Path, clock: Clock, *, read_only: bool) -> None:
    """Check the header, and make or migrate where that is due."""
    header = _read_header(path)
    if header is not None:
        _check_header(path, header, read_only=read_only)
    unsure = header is None or header.schema < SCHEMA or not header.logged or _journal_beside(path)
    if unsure and not read_only:
        with translated(path):
            bring_up_to_date(path, clock)


def schema_version(tx: Transaction) -> str:
    """Return the revision of the database's schema."""
    return str(tx.connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar())


def _connected(path: Path, clock: Clock, *, read_only: bool) -> Store:
    store = Store(make_engine(path, read_only=read_only), path, clock, read_only=read_only)
    try:
        with store.read() as tx:
            found = schema_version(tx)
    except StorageUnusable:
        store.close()
        raise
    except Exception as error:
        store.close()
        raise _damaged(path) from error
    if found != schema_text():
        store.close()
        raise _newer(path) if found > schema_text() else _damaged(path)
    return store


# -- looking without touching -------------------------------------------------------------------------------------


def _check_path(path: Path, *, read_only: bool, create: bool) -> None:
    if path.is_dir():
        raise StorageUnusable(f"{path} is a folder, not a database", "name a file in it")
    if path.parent.is_dir() and not may(path.parent, os.X_OK):
        raise _locked_folder(path)
    if not path.parent.is_dir():
        raise StorageUnusable(f"the folder {path.parent} does not exist", "make it, or name another place")
    if not path.exists():
        _check_makeable(path, may_create=create and not read_only)
    elif not path.is_file():
        raise StorageUnusable(f"{path} is not a regular file", "name another file")
    elif not may(path, os.R_OK):
        raise StorageUnusable(f"the database {path} may not be read by this user", "change its permissions")


def _check_makeable(path: Path, *, may_create: bool) -> None:
    if not may_create:
        raise StorageUnusable(f"there is no database at {path}", "check the name, or open it once for writing")
    if not may(path.parent, os.W_OK):
        raise StorageUnusable(
            f"the folder {path.parent} cannot be written by this user", "change its permissions, or name another place"
        )


def _read_header(path: Path) -> Header | None:
    """Return the header, None where the file is missing or empty."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageUnusable(
            f"the database {path} cannot be read: {(error.strerror or str(error)).lower()}", "check the disk"
        ) from error
    if not head or (_journal_beside(path) and not any(head)):
        return None
    if not head.startswith(_MAGIC):
        raise StorageUnusable(f"{path} is not an SQLite database", f"name another file; {_LEFT_ALONE}")
    if len(head) < _HEADER_BYTES:
        raise _damaged(path)
    (page,), (pages,) = struct.unpack(">H", head[16:18]), struct.unpack(">I", head[28:32])
    (schema,), (application,) = struct.unpack(">I", head[60:64]), struct.unpack(">I", head[68:72])
    sane = head[20] == 0 and head[21:24] == _FRACTIONS
    logged = head[18:20] == _WITH_LOG
    return Header(65_536 if page == 1 else page, sane, logged, pages, schema, application)


def _check_header(path: Path, header: Header, *, read_only: bool) -> None:
    if header.application_id != APPLICATION_ID:
        raise StorageUnusable(
            f"{path} is an SQLite database, but not one of Triggerdeck", f"name another file; {_LEFT_ALONE}"
        )
    if header.schema > SCHEMA:
        raise _newer(path)
    short = path.stat().st_size < header.page_bytes * header.pages and not log_beside(path)
    if not header.sane or header.page_bytes < 512 or header.page_bytes & (header.page_bytes - 1) or short:
        raise _damaged(path)
    if read_only:
        if header.schema < SCHEMA:
            raise StorageUnusable(f"the database {path} has an older schema", "open it once for writing")
        return
    if not may(path, os.W_OK):
        raise StorageUnusable(f"the database {path} is read-only", "make it writable, or open it with --read-only")
    if not may(path.parent, os.W_OK):
        raise StorageUnusable(
            f"the folder {path.parent} is read-only, and the database needs it", "make it writable, or use --read-only"
        )


def _locked_folder(path: Path) -> StorageUnusable:
    return StorageUnusable(f"the folder {path.parent} may not be entered by this user", "change its permissions")


def _newer(path: Path) -> StorageUnusable:
    return StorageUnusable(
        f"the database {path} was written by a newer Triggerdeck", f"upgrade this one; {_LEFT_ALONE}"
    )


def _damaged(path: Path) -> StorageUnusable:
    return StorageUnusable(f"the database {path} is damaged", f"restore it from a backup; {_LEFT_ALONE}")


def _journal_beside(path: Path) -> bool:
    """Return whether the making of a fresh file was cut short: SQLite then undoes it when it is opened."""
    return path.with_name(f"{path.name}-journal").exists()
