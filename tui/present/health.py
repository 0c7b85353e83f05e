"""The state of the machinery as lines: worker, lags, projection, queue, database, zone data, errors; pure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from core.views import Drift, Health, WorkerView
from core.words import counted, duration, size
from tui.present.bars import spark
from tui.present.history import indented
from tui.present.lines import Line, Piece, Tone, clean, line, wrap
from tui.present.times import DASH, ago, full, near

LABEL = 13
LOW_DISK = 500 * 1024 * 1024
BIG_WAL = 64 * 1024 * 1024
_STATES: dict[str, tuple[str, Tone]] = {
    "running": ("● running", "ok"), "draining": ("◐ draining", "warn"), "stopped": ("○ stopped", "dim"),
    "stale": ("! silent", "bad"),
}  # fmt: skip
_QUEUE = ("pending", "queued", "running", "waitingForInput", "waitingForApproval")
_QUEUE_WORDS = {
    "waitingForInput": ("waits for input", "wait for input"),
    "waitingForApproval": ("waits for approval", "wait for approval"),
}


def verdict(health: Health) -> tuple[str, Tone]:
    """Return the whole in one sentence: what is wrong first, with what to do."""
    alive = [worker for worker in health.workers if worker.state in {"running", "draining"}]
    bad = (
        f"the clock is {duration(health.clock_behind_s)} behind what was written last: set it"
        if health.clock_behind_s else "",
        "" if alive else "no worker runs: nothing fires; S starts one",
        f"{len(health.overdue)} overdue: {', '.join(map(clean, health.overdue[:3]))}" if health.overdue else "",
    )  # fmt: skip
    if worst := next(filter(None, bad), ""):
        return worst, "bad"
    if health.drifts:
        differ = "projection differs" if len(health.drifts) == 1 else "projections differ"
        return f"{len(health.drifts)} {differ} from the schedule; a restart of the worker repairs that", "warn"
    if health.free_bytes < LOW_DISK:
        return f"little disk left: {size(health.free_bytes)}", "warn"
    if health.errors:
        return f"{counted(len(health.errors), 'recent error')}, below", "warn"
    return "all is well", "ok"


def milliseconds(value: float | None) -> str:
    """Return a lag: 312 ms, 4.2 s."""
    if value is None:
        return DASH
    return f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.1f} s"


def health_lines(health: Health, now: datetime, zone_name: str, cells: int, *, tall: bool) -> tuple[Line, ...]:
    """Return everything, in sections, parted by blank lines where the screen is tall."""
    sections = (
        _worker_lines(health, now, cells),
        _lag_lines(health, cells),
        _projection_lines(health, zone_name, cells),
        _queue_lines(health, cells),
        _database_lines(health, cells),
        _error_lines(health, now, cells),
    )
    text, tone = verdict(health)
    rows: list[Line] = [*indented(text[:1].upper() + text[1:], cells, tone)]
    for section in sections:
        rows += [*([()] if tall else []), *section]
    return tuple(rows)


def _row(label: str, *parts: str | Piece | Line) -> Line:
    return line(Piece(f" {label:{LABEL}}", "head"), *parts)


def _told(label: str, text: str, cells: int, tone: Tone = "") -> list[Line]:
    first, *more = wrap(text, max(20, cells - LABEL - 2), tone)
    return [_row(label, first), *(_row("", part) for part in more)]


def _worker_lines(health: Health, now: datetime, cells: int) -> list[Line]:
    if not health.workers:
        return _told("worker", "none has ever run on this database; S starts one", cells, "bad")
    alive = [worker for worker in health.workers if worker.state != "stopped"]
    shown = alive[:3] or list(health.workers[:1])
    rows = [row for worker in shown for row in _one_worker(worker, now, cells)]
    if (others := len(health.workers) - len(shown)) > 0:
        rows += _told("", f"and {counted(others, 'other')}, before or beside", cells, "faint")
    return rows


def _one_worker(worker: WorkerView, now: datetime, cells: int) -> list[Line]:
    word, tone = _STATES[worker.state]
    rows = [_row("worker", Piece(word, tone), f"  pid {worker.pid} on {clean(worker.host)}  ",
                 Piece(f"version {worker.version}", "dim"))]  # fmt: skip
    if worker.state == "stopped":
        return [_row("worker", Piece(word, tone), Piece(f"  pid {worker.pid}, {ago(worker.beat_at, now)} ago", "dim"))]
    beat_tone: Tone = "bad" if worker.state == "stale" else ""
    rows.append(
        _row("heartbeat", Piece(f"{ago(worker.beat_at, now)} ago", beat_tone),
             Piece(f" · up {ago(worker.started_at, now)} · {worker.running} of {worker.slots} slots busy", "dim"))
    )  # fmt: skip
    last = (
        "none yet" if worker.last_pass_at is None else f"{ago(worker.last_pass_at, now)} ago, {worker.pass_ms:.1f} ms"
    )
    return [*rows, *_told("last pass", last, cells)]


def _lag_lines(health: Health, cells: int) -> list[Line]:
    figures = (("p50", health.lag_p50_ms), ("p95", health.lag_p95_ms), ("max", health.lag_max_ms))
    parts = [
        line(Piece(f"{name} ", "dim"), Piece(milliseconds(value), _lag_tone(value)), "   ") for name, value in figures
    ]
    rows = [_row("lag", *parts)]
    lags = next((worker.lags_ms for worker in health.workers if worker.lags_ms), ())
    if lags:
        room = max(10, min(80, cells - LABEL - 10))
        bars = spark([math.log10(1 + max(0.0, lag)) for lag in lags], room)
        rows.append(_row("", Piece(bars, "busy"), Piece(" newest", "faint")))
    if health.lag_p50_ms is None:
        rows += _told("", "nothing was dispatched yet", cells, "dim")
    return rows


def _lag_tone(value: float | None) -> Tone:
    if value is None:
        return "faint"
    return "ok" if value < 1000 else "warn" if value < 60_000 else "bad"


def _projection_lines(health: Health, zone_name: str, cells: int) -> list[Line]:
    if not health.drifts:
        rows = _told("projection", "agrees with every schedule", cells, "ok")
    else:
        rows = _told("projection", counted(len(health.drifts), "differs", "differ"), cells, "warn")
        for drift in health.drifts[:5]:
            rows += _told("", _drift(drift, zone_name), cells)
    if health.overdue:
        rows += _told("overdue", ", ".join(map(clean, health.overdue[:8])), cells, "bad")
    counts = "  ".join(f"{count} {phase}" for phase, count in sorted(health.triggers.items()) if count)
    return [*rows, *_told("triggers", counts or "none yet; press 1, then a to write one", cells)]


def _drift(drift: Drift, zone_name: str) -> str:
    return (
        f"{clean(drift.trigger_name)}: the schedule says {full(drift.computed, zone_name)}, "
        f"the stored row {full(drift.stored, zone_name)}"
    )


def _queue_lines(health: Health, cells: int) -> list[Line]:
    counts = [counted(count, *_QUEUE_WORDS.get(state, (state, state)))
              for state in _QUEUE if (count := health.queue.get(state, 0))]  # fmt: skip
    inbox: Tone = "warn" if health.inbox else ""
    waits = counted(health.inbox, "waits for an answer", "wait for an answer")
    return [
        *_told("work", " · ".join(counts) or "nothing is active", cells),
        *_told("inbox", waits if health.inbox else "nobody waits for an answer", cells, inbox),
    ]


def _database_lines(health: Health, cells: int) -> list[Line]:
    wal: Tone = "warn" if health.wal_bytes > BIG_WAL else ""
    free: Tone = "warn" if health.free_bytes < LOW_DISK else ""
    differs = health.zone_data_stored is not None and health.zone_data_stored != health.zone_data
    zones = f"tzdata {health.zone_data}" + (f", projected with {health.zone_data_stored}" if differs else "")
    return [
        *_told("database", clean(health.database), cells),
        _row("", f"{size(health.database_bytes)}  ", Piece("WAL ", "dim"),
             Piece(size(health.wal_bytes), wal),
             Piece("  free ", "dim"), Piece(size(health.free_bytes), free),
             Piece("  schema ", "dim"), health.schema_version),
        *_clock_lines(health, cells),
        *_told("zone data", zones, cells, "warn" if differs else ""),
    ]  # fmt: skip


def _clock_lines(health: Health, cells: int) -> list[Line]:
    rows: list[Line] = []
    if health.clock_behind_s:
        behind = f"{duration(health.clock_behind_s)} behind what was written last"
        rows += _told("clock", f"{behind}; set it, nothing fires twice meanwhile", cells, "bad")
    if health.marks_ahead:
        names = ", ".join(map(clean, health.marks_ahead[:3]))
        more = f" and {len(health.marks_ahead) - 3} more" if len(health.marks_ahead) > 3 else ""
        told = f"{names}{more}: the mark lies ahead of the clock; `triggerdeck doctor` says what to do"
        rows += _told("" if rows else "clock", told, cells, "warn")
    return rows or _told("clock", "agrees with what was written last", cells)


def _error_lines(health: Health, now: datetime, cells: int) -> list[Line]:
    rows: list[Line] = []
    for error in health.errors[-8:]:
        rows += _told("errors" if not rows else "", _error(error, now), cells, "bad")
    return rows or _told("errors", "none since the worker started", cells, "dim")


def _error(error: dict[str, Any], now: datetime) -> str:
    at = error.get("at")
    when = f"{_when(str(at), now)}  " if at else ""
    who = f"{error.get('trigger') or error.get('event') or ''} ".lstrip()
    return clean(f"{when}{who}{error.get('message') or error.get('code') or error}")


def _when(text: str, now: datetime) -> str:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return text
    return near(at if at.tzinfo else at.replace(tzinfo=UTC), now, "UTC", seconds=True) + "Z"


def facts(health: Health) -> Iterator[tuple[str, str]]:
    """Yield every fact as name and value, for a file."""
    for name, value in asdict(health).items():
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def beat_age(health: Health, now: datetime) -> timedelta | None:
    """Return how old the newest heartbeat is."""
    beats = [worker.beat_at for worker in health.workers if worker.state != "stopped"]
    return now - max(beats) if beats else None


def away_sentence(away: Any, now: datetime) -> str:
    """Return what happened since the last visit, empty on a first one with nothing waiting."""
    waiting = counted(away.waiting, "waits for you", "wait for you") if away.waiting else ""
    if away.since is None:
        return waiting
    parts = [(away.fired, "fired"), (away.coalesced, "coalesced"), (away.skipped, "skipped"), (away.denied, "denied"),
             (away.failed, "failed")]  # fmt: skip
    told = [f"{count:,} {word}" for count, word in parts if count] or ["nothing fired"]
    gone = duration((now - away.since).total_seconds())
    return f"while you were away ({gone}): " + " · ".join([*told, *([waiting] if waiting else [])])
