"""What SQLite's file itself says and how it is reached: nothing here needs more than the standard library."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

APPLICATION_ID = 0x54726467  # "Trdg" in ASCII
SCHEMA = 1
"""The number of the newest revision under `core/storage/migrations/versions`."""
BUSY_TIMEOUT_MS = 15_000


def file_uri(path: Path, mode: str) -> str:
    """Return SQLite's URI of a file, whatever characters its name holds."""
    return f"file:{quote(str(path))}?mode={mode}"


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Return a bare connection.

    In a folder that we cannot write there is no place for SQLite's own files; unless a writer keeps its log beside
    it, the file is whole and can be read without them.
    """
    uri = file_uri(path, "ro" if read_only else "rwc")
    if read_only and not may(path.parent, os.W_OK) and not log_beside(path):
        uri += "&immutable=1"
    return sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None, cached_statements=256)


def may(path: Path, mode: int) -> bool:
    """Return whether this process may use a path so, by the user it acts for."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def log_beside(path: Path) -> bool:
    """Return whether a write-ahead log with something in it stands beside the file."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0
