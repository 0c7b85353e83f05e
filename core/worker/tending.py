"""What the worker does for its database while nothing is due: it leaves its stamp and lets old history go, bit by bit.

The stamp is how a later start notices that an older copy was put in the database's place (`core.upkeep.incarnation`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from core.clock import Clock
from core.errors import StorageUnusable
from core.storage import changes
from core.storage.enginefile import engine_path
from core.storage.store import Store
from core.upkeep import incarnation
from core.upkeep.retention import RetentionTask

STAMP_EVERY_S = 60.0
LOOK_EVERY_S = 5.0
AFTER_FAULT_S = 300.0


class Tells(Protocol):
    """What tending needs of the worker's log."""

    def info(self, event: str, **fields: object) -> None:
        """Tell that something went as it should."""
        ...


class Tending:
    """One worker's upkeep, in pieces of one short transaction each."""

    def __init__(self, store: Store, clock: Clock, log: Tells) -> None:
        self._store = store
        self._clock = clock
        self._log = log
        self._engine: Path = engine_path(store.path)
        self._retention = RetentionTask(store, clock)
        self._batches = 0
        self._stamped_change = -1
        self._next_stamp_s = self._next_look_s = 0.0

    def begin(self) -> None:
        """Make sure that this is the database that the worker last ran on, and say that one runs on it.

        Raise `Precondition` where an older copy was put in its place.
        """
        incarnation.verify(self._store, self._engine)
        self._stamp()

    def due(self) -> bool:
        """Say whether there is anything to do now; costs nothing."""
        return self._clock.monotonic() >= min(self._next_stamp_s, self._next_look_s)

    def step(self) -> None:
        """Do one piece. Raise `Precondition` where the database was replaced by an older copy of itself."""
        now_s = self._clock.monotonic()
        if now_s >= self._next_stamp_s:
            self._next_stamp_s = now_s + STAMP_EVERY_S
            incarnation.verify(self._store, self._engine)
            if self._moved_on():
                self._stamp()
        elif now_s >= self._next_look_s:
            self._next_look_s = now_s + AFTER_FAULT_S
            more = self._retention.step()
            self._tell(more=more)
            self._next_look_s = now_s if more else now_s + LOOK_EVERY_S

    def end(self) -> None:
        """Leave the last stamp of this worker."""
        if self._moved_on():
            self._stamp()

    def _moved_on(self) -> bool:
        with self._store.read() as tx:
            return changes.latest(tx) != self._stamped_change

    def _stamp(self) -> None:
        with _told(self._engine):
            self._stamped_change = incarnation.stamp(self._store, self._engine).change
        self._next_stamp_s = self._clock.monotonic() + STAMP_EVERY_S

    def _tell(self, *, more: bool) -> None:
        """Say once what a round of retention deleted, if it did."""
        self._batches += more
        if more or not self._batches:
            return
        self._batches = 0
        deleted = {name: count for name, count in self._retention.deleted.items() if count}
        if deleted:
            longest = round(max(self._retention.batches_ms), 1)
            self._log.info("history_pruned", deleted=deleted, longest_ms=longest)


@contextmanager
def _told(engine: Path) -> Iterator[None]:
    """Raise StorageUnusable where the stamp's file cannot be written."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        message = f"the worker's stamp beside {engine} cannot be written: {reason}"
        raise StorageUnusable(message, "make room, and the folder writable") from error
