"""Answers how the machinery is: frame status, Health, what happened while one was away."""

from __future__ import annotations

import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from core import zones
from core.queries.context import Reading
from core.storage import changes, read_history, read_machinery, read_triggers
from core.views import Away, Changes, Health, Status, WorkerView

STALE_AFTER = timedelta(seconds=10)
OVERDUE_AFTER = timedelta(seconds=30)
LAG_SAMPLES = 200


def status(reading: Reading, *, workspace: str, read_only: bool) -> Status:
    """Return what the frame shows; a handful of indexed look-ups."""
    tx, workspace_id, now = reading.tx, reading.workspace_id, reading.now
    beat = read_machinery.newest_beat(tx)
    return Status(
        workspace=workspace,
        worker=_worker_state(*beat, now) if beat else "none",
        beat_age_s=max(0.0, (now - beat[1]).total_seconds()) if beat else None,
        inbox=read_machinery.count_pending(tx, workspace_id, now),
        active_work=sum(read_history.work_counts(tx, workspace_id).values()),
        next_due_at=read_triggers.next_due(tx, workspace_id),
        seq=changes.latest(tx),
        read_only=read_only,
    )


def changes_after(reading: Reading, seq: int) -> Changes:
    """Return what changed in this workspace after a sequence number."""
    newest, keys = changes.since(reading.tx, seq, reading.workspace_id)
    return Changes(newest, {kind: frozenset(found) for kind, found in keys.items()})


def workers(reading: Reading) -> tuple[WorkerView, ...]:
    """Return every worker that ever beat on this database, newest first."""
    return tuple(_worker(beat, reading.now) for beat in read_machinery.beats(reading.tx))


def health(reading: Reading, database: Path, schema_version: str) -> Health:
    """Return the whole state of the machinery."""
    from core.admission.recovery import drift  # brings what only decisions need
    from core.upkeep import vitals

    tx, workspace_id, now = reading.tx, reading.workspace_id, reading.now
    lags = sorted(read_history.dispatch_lags_ms(tx, workspace_id, LAG_SAMPLES))
    known = workers(reading)
    return Health(
        at=now,
        workers=known,
        lag_p50_ms=_quantile(lags, 0.5),
        lag_p95_ms=_quantile(lags, 0.95),
        lag_max_ms=lags[-1] if lags else None,
        queue=read_history.work_counts(tx, workspace_id),
        triggers=read_triggers.phase_counts(tx, workspace_id),
        inbox=read_machinery.count_pending(tx, workspace_id, now),
        drifts=tuple(drift(tx, workspace_id, limit=20)),
        database=str(database),
        database_bytes=_size(database),
        wal_bytes=_size(Path(f"{database}-wal")),
        free_bytes=shutil.disk_usage(database.parent).free,
        schema_version=schema_version,
        zone_data=zones.data_version(),
        zone_data_stored=read_machinery.fact(tx, "zone_data"),
        overdue=tuple(read_triggers.overdue(tx, workspace_id, now - OVERDUE_AFTER, limit=20)),
        errors=tuple(error for worker in known for error in worker.errors),
        clock_behind_s=vitals.clock_behind(tx, now).total_seconds(),
        marks_ahead=tuple(name for name, _ in vitals.marks_ahead(tx, now, workspace_id)),
    )


def away(reading: Reading, since: datetime | None) -> Away:
    """Return what happened since `since`; all zero on a first visit."""
    tx, workspace_id = reading.tx, reading.workspace_id
    waiting = read_machinery.count_pending(tx, workspace_id, reading.now)
    if since is None:
        return Away(None, 0, 0, 0, 0, 0, waiting)
    counts = read_history.outcome_counts(tx, workspace_id, since)

    def total(**wanted: str) -> int:
        outcome, reason = wanted.get("outcome"), wanted.get("reason")
        return sum(n for (o, r), n in counts.items() if outcome in {None, o} and reason in {None, r})

    return Away(
        since=since,
        fired=total(outcome="submitted") + total(outcome="pending") - total(reason="coalesced"),
        coalesced=total(reason="coalesced"),
        skipped=total(outcome="skipped"),
        denied=total(reason="denied"),
        failed=read_history.ended_since(tx, workspace_id, "failed", since),
        waiting=waiting,
    )


def _worker(beat: dict[str, Any], now: datetime) -> WorkerView:
    fields = {name: beat[name] for name in WorkerView.__slots__}
    return WorkerView(
        **{
            **fields,
            "state": _worker_state(beat["state"], beat["beat_at"], now),
            "lags_ms": tuple(beat["lags_ms"] or ()),
            "errors": tuple(beat["errors"] or ()),
        }
    )


def _worker_state(state: str, beat_at: datetime, now: datetime) -> Any:
    return "stale" if state != "stopped" and abs(now - beat_at) > STALE_AFTER else state


def _quantile(ordered: list[float], share: float) -> float | None:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else None


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
