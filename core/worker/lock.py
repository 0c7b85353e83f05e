"""One worker for each SQLite file: a lock on a file beside the database, held as long as the process lives.

The kernel lets go of the lock however the process ends, so a stale file never blocks a start. The file names the
holder by pid and start time, because pids are used again.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path

import psutil

from core.errors import Precondition, StorageUnusable

SAME_START_S = 2.0


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds the lock; `started` is its start in epoch seconds, as the system tells it."""

    pid: int
    started: float

    def process(self) -> psutil.Process | None:
        """Return the live process, None where it ended or its pid belongs to another one now."""
        try:
            process = psutil.Process(self.pid)
            alive = abs(process.create_time() - self.started) < SAME_START_S
            return process if alive and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.Error:
            return None


class WorkerLock:
    """The held lock; a context manager."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, database: Path) -> WorkerLock:
        """Take the lock; raise `Precondition` that names the holder where another worker has it."""
        descriptor = _open(lock_path(database))
        if not _try(descriptor):
            os.close(descriptor)
            raise _held(holder(database))
        me = {"pid": os.getpid(), "started": psutil.Process().create_time()}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(me).encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        """Let go; the file stays, empty, because removing it would race with the next holder."""
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)

    def __enter__(self) -> WorkerLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def lock_path(database: Path) -> Path:
    """Return the lock file's place: beside the database."""
    return database.with_name(f"{database.name}.worker.lock")


def holder(database: Path) -> Holder | None:
    """Return who holds the lock, None where nobody does."""
    try:
        descriptor = os.open(lock_path(database), os.O_RDWR)
    except OSError:
        return None
    try:
        if _try(descriptor):
            return None
        told = json.loads(os.pread(descriptor, 1024, 0) or b"{}")
        return Holder(told["pid"], told["started"]) if told else None
    except (ValueError, KeyError):
        return None
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageUnusable(
            f"the worker's lock {path} cannot be made: {(error.strerror or str(error)).lower()}",
            "make the database's folder writable",
        ) from error


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _held(other: Holder | None) -> Precondition:
    who = f"pid {other.pid}" if other else "another process"
    return Precondition(f"a worker runs on this database already ({who})", "stop it first: triggerdeck worker stop")
