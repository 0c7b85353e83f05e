"""Turn the database's own errors into one sentence that says what to do.

Only what the machine or the file is to blame for is translated. A broken constraint or a wrong statement is a fault
of ours and stays as it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from core.errors import StorageUnusable

_BY_CODE: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_BUSY: ("is held by another program", "wait for it to end its transaction, then repeat"),
    sqlite3.SQLITE_LOCKED: ("is held by another program", "wait for it to end its transaction, then repeat"),
    sqlite3.SQLITE_READONLY: ("cannot be written", "make the file and its folder writable, or open it read-only"),
    sqlite3.SQLITE_PERM: ("may not be opened by this user", "change the permissions of the file and its folder"),
    sqlite3.SQLITE_AUTH: ("may not be opened by this user", "change the permissions of the file and its folder"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "check the permissions of the file and its folder"),
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "free some space, then repeat"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written: the disk reports an error", "check the disk, then repeat"),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "restore it from a backup; the damaged file was left as it is"),
    sqlite3.SQLITE_NOTADB: ("is not an SQLite database", "name another file"),
    sqlite3.SQLITE_NOLFS: ("is too large for this file system", "move it to another disk"),
    sqlite3.SQLITE_PROTOCOL: ("cannot be locked on this file system", "move it to a local disk"),
}
_SIGNS_OF_DAMAGE = ("malformed", "Could not decode to UTF-8")  # reported without the code for it


def unusable(path: Path, error: BaseException) -> StorageUnusable | None:
    """Return the refusal that an error of SQLite stands for, or None where the fault is ours."""
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(error, sqlite3.DatabaseError) and any(sign in str(error) for sign in _SIGNS_OF_DAMAGE):
        code = sqlite3.SQLITE_CORRUPT
    known = _BY_CODE.get(code & 0xFF) if isinstance(code, int) else None
    return StorageUnusable(f"the database {path} {known[0]}", known[1]) if known else None


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise StorageUnusable instead of SQLite's error wherever machine or file are to blame."""
    try:
        yield
    except DBAPIError as error:
        refusal = unusable(path, error.orig) if error.orig is not None else None
        if refusal is None:
            raise
        raise refusal from error
    except sqlite3.Error as error:
        refusal = unusable(path, error)
        if refusal is None:
            raise
        raise refusal from error
