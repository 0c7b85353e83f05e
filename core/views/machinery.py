"""How the machinery is."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker process."""

    worker_id: str
    pid: int
    host: str
    state: Literal["running", "draining", "stopped", "stale"]
    version: str
    zone_data: str
    started_at: datetime
    beat_at: datetime
    last_pass_at: datetime | None
    pass_ms: float
    lags_ms: tuple[float, ...]
    slots: int
    running: int
    errors: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """A projection that differs from what definition and mark give."""

    trigger_name: str
    stored: datetime | None
    computed: datetime | None


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the whole machinery at one instant."""

    at: datetime
    workers: tuple[WorkerView, ...]
    lag_p50_ms: float | None
    lag_p95_ms: float | None
    lag_max_ms: float | None
    queue: dict[str, int]
    triggers: dict[str, int]
    inbox: int
    drifts: tuple[Drift, ...]
    database: str
    database_bytes: int
    wal_bytes: int
    free_bytes: int
    schema_version: str
    zone_data: str
    zone_data_stored: str | None
    overdue: tuple[str, ...]
    errors: tuple[dict[str, Any], ...] = ()
    clock_behind_s: float = 0.0
    """How far the clock lies behind the newest entry; 0 where it does not."""
    marks_ahead: tuple[str, ...] = ()
    """Triggers whose mark lies ahead of the clock: they decide nothing before it."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the frame's first line shows; cheap enough for once a second."""

    workspace: str
    worker: Literal["running", "draining", "stale", "none"]
    beat_age_s: float | None
    inbox: int
    active_work: int
    next_due_at: datetime | None
    seq: int
    read_only: bool


@dataclass(frozen=True, slots=True)
class Away:
    """What happened since the last visit."""

    since: datetime | None
    fired: int
    coalesced: int
    skipped: int
    denied: int
    failed: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Changes:
    """The change feed after a sequence number: which keys changed, by kind."""

    seq: int
    keys: dict[str, frozenset[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.keys)
