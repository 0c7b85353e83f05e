"""The folders of running steps: in one folder beside the database, which one worker has to itself.

Each holds a step's output until it is read. Whoever starts as the worker of a database removes what a worker that was
killed left there; other databases have folders of their own, and nothing in the system's temporary folder is touched.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import StorageUnusable

SUFFIX = ".steps"
PREFIX = "step-"


def steps_folder(database: Path) -> Path:
    """Return the folder beside a database in which its steps' folders are."""
    return database.with_name(database.name + SUFFIX)


class StepFolders:
    """The steps' folders of one database; made when a step begins, removed when it ends."""

    def __init__(self, database: Path) -> None:
        self.place = steps_folder(database)

    @contextmanager
    def one(self) -> Iterator[Path]:
        """Make a folder that only this user may enter; raises StorageUnusable where that cannot be done."""
        try:
            self.place.mkdir(mode=0o700, exist_ok=True)
            folder = tempfile.TemporaryDirectory(prefix=PREFIX, dir=self.place, ignore_cleanup_errors=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            message = f"the folder of steps {self.place} cannot be used: {reason}"
            raise StorageUnusable(message, "make room, and the folder writable") from error
        with folder as path:
            yield Path(path)

    def clear(self) -> None:
        """Remove what is left of steps, and the folder itself where nothing else is in it."""
        for left in self.place.glob(f"{PREFIX}*"):
            shutil.rmtree(left, ignore_errors=True)
        with contextlib.suppress(OSError):
            self.place.rmdir()
