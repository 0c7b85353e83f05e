"""Makes a consistent copy of a database while everything runs on it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from core.clock import Clock, format_instant
from core.errors import Precondition, StorageUnusable
from core.storage import backup as files
from core.storage.failures import translated
from core.storage.read_machinery import fact
from core.storage.schema import INCARNATION
from core.storage.store import Store
from core.views import BackupReport


def backup(store: Store, path: str | os.PathLike[str], clock: Clock) -> BackupReport:
    """Copy the database to a new file, checked and synced; never overwrite anything.

    Raise `Precondition` where the file exists, `StorageUnusable` where it cannot be written or the copy is damaged.
    """
    target = Path(path).expanduser().absolute()
    _check_target(target)
    now = clock.now()
    with store.read() as tx:
        incarnation = fact(tx, INCARNATION) or ""
    with files.beside(target, f"{clock.new_id()}.partial") as working, translated(target):
        try:
            files.copy_database(store.path, working)
            story = {"incarnation": incarnation, "at": format_instant(now), "database": store.path.name}
            files.write_fact(working, files.BACKUP_OF, json.dumps(story))
            _check_copy(working, store.path)
            size = working.stat().st_size
            os.link(working, target)  # fails where somebody made the file meanwhile
        except FileExistsError as error:
            raise _exists(target) from error
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise StorageUnusable(f"the backup {target} cannot be written: {reason}", "name another place") from error
        files.sync(target)
    return BackupReport(str(target), size, incarnation, now)


def _check_target(target: Path) -> None:
    if target.exists():
        raise _exists(target)
    if not target.parent.is_dir():
        raise StorageUnusable(f"the folder {target.parent} does not exist", "make it, or name another place")


def _check_copy(copy: Path, source: Path) -> None:
    faults = files.file_faults(copy)
    if faults:
        raise StorageUnusable(
            f"the copy of {source} is damaged: {faults[0]}", "the database itself is: look at `triggerdeck doctor`"
        )


def _exists(target: Path) -> Precondition:
    return Precondition(f"{target} exists already", "name another file; a backup overwrites nothing")
