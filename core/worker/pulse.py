"""The heartbeat: one row that says what this worker is, does and suffers from."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Any

from core import zones
from core.admission.pipeline import PassReport
from core.clock import Clock, format_instant
from core.storage import beats
from core.storage.beats import Beat
from core.storage.store import Store

EVERY_S = 1.5
KEPT_LAGS = 200
KEPT_ERRORS = 20
FORGOTTEN_AFTER = timedelta(days=7)


@dataclass(slots=True)
class Pulse:
    """What the next heartbeat says; the main loop notes, a task of its own writes."""

    store: Store
    clock: Clock
    worker_id: str
    slots: int
    running: Callable[[], int]
    state: str = "running"
    started_at: datetime = field(init=False)
    last_pass_at: datetime | None = None
    pass_ms: float = 0.0
    lags_ms: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT_LAGS))
    errors: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=KEPT_ERRORS))

    def __post_init__(self) -> None:
        self.started_at = self.clock.now()

    def note_pass(self, report: PassReport) -> None:
        """Take in what one pass reports."""
        self.last_pass_at, self.pass_ms = self.clock.now(), round(report.duration_ms, 3)
        self.lags_ms.extend(round(lag, 3) for lag in report.lags_ms)
        for trouble in report.errors:
            self.note_error(trouble.code, trouble.message, trigger=trouble.trigger_name)

    def note_error(self, code: str, message: str, **more: str) -> None:
        """Keep an error for the Health screen; the newest twenty stay."""
        self.errors.append({"at": format_instant(self.clock.now()), "code": code, "message": message, **more})

    def begin(self) -> None:
        """Write the first heartbeat; rows of workers that are gone say so from now on."""
        with self.store.write() as tx:
            beats.forget_beats(tx, self.clock.now() - FORGOTTEN_AFTER)
            beats.end_others(tx, self.worker_id)
            beats.save_beat(tx, self._beat())

    def beat(self) -> None:
        """Write the row as it is now."""
        with self.store.write(durable=False) as tx:
            beats.save_beat(tx, self._beat())

    def _beat(self) -> Beat:
        return Beat(
            worker_id=self.worker_id,
            pid=os.getpid(),
            host=socket.gethostname(),
            version=version("triggerdeck"),
            zone_data=zones.data_version(),
            state=self.state,
            started_at=self.started_at,
            beat_at=self.clock.now(),
            last_pass_at=self.last_pass_at,
            pass_ms=self.pass_ms,
            lags_ms=_copied(self.lags_ms),
            slots=self.slots,
            running=self.running(),
            errors=_copied(self.errors),
        )


def _copied(values: Iterable[Any]) -> list[Any]:
    return list(values)
