"""Health as figures in the Prometheus text format."""

from __future__ import annotations

from collections.abc import Iterator

from core.views import Health


def exposition(health: Health) -> str:
    """Return every figure with its help and type."""
    return "".join(f"{line}\n" for line in _lines(health))


def _lines(health: Health) -> Iterator[str]:
    alive = [worker for worker in health.workers if worker.state in {"running", "draining"}]
    yield from _gauge("workers", "Workers that give signs of life", {"": len(alive)})
    yield from _gauge("triggers", "Triggers by phase", _labelled("phase", health.triggers))
    yield from _gauge("work_active", "Work that has not ended, by status", _labelled("status", health.queue))
    yield from _gauge("inbox", "Questions that wait for an answer", {"": health.inbox})
    yield from _gauge("overdue_triggers", "Triggers that are due and not decided", {"": len(health.overdue)})
    yield from _gauge("projection_drifts", "Projections that differ from their definition", {"": len(health.drifts)})
    yield from _gauge("database_bytes", "Size of the database", {"": health.database_bytes})
    yield from _gauge("wal_bytes", "Size of its write-ahead log", {"": health.wal_bytes})
    yield from _gauge("disk_free_bytes", "Free space beside the database", {"": health.free_bytes})
    yield from _gauge(
        "clock_behind_seconds", "How far the clock lies behind the newest entry", {"": health.clock_behind_s}
    )
    lags = {"0.5": health.lag_p50_ms, "0.95": health.lag_p95_ms, "1": health.lag_max_ms}
    seconds = {f'{{quantile="{name}"}}': lag / 1000 for name, lag in lags.items() if lag is not None}
    yield from _gauge("lag_seconds", "From due to handed over, newest occurrences", seconds)


def _labelled(label: str, counts: dict[str, int]) -> dict[str, float]:
    return {f'{{{label}="{name}"}}': count for name, count in sorted(counts.items())}


def _gauge(name: str, text: str, values: dict[str, float] | dict[str, int]) -> Iterator[str]:
    yield f"# HELP triggerdeck_{name} {text}"
    yield f"# TYPE triggerdeck_{name} gauge"
    for labels, value in values.items():
        yield f"triggerdeck_{name}{labels} {value:.15g}"
