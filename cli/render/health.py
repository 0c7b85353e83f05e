"""What is wrong with the machinery, and what to do about each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cli.render.times import duration, relative, utc
from core.views import Health, WorkerView

LOW_DISK_BYTES = 200 << 20
LARGE_WAL_BYTES = 256 << 20
FUTURE_BEAT_S = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's result; a fault has a remedy."""

    check: str
    state: Literal["ok", "fault", "note"]
    message: str
    remedy: str = ""


def findings(health: Health) -> list[Finding]:
    """Return every check in a fixed order."""
    return [
        *_worker(health),
        *_projection(health),
        *_triggers(health),
        *_storage(health),
        *_errors(health),
    ]


def _alive(health: Health) -> list[WorkerView]:
    return [worker for worker in health.workers if worker.state in {"running", "draining"}]


def _worker(health: Health) -> list[Finding]:
    alive = _alive(health)
    waiting = health.triggers.get("scheduled", 0) + sum(health.queue.values())
    if not alive:
        stale = next((worker for worker in health.workers if worker.state == "stale"), None)
        if stale is not None:
            message = f"worker {stale.pid} on {stale.host} gave its last sign {relative(stale.beat_at, health.at)}"
            return [Finding("worker", "fault", message, "start one: triggerdeck worker run")]
        state: Literal["fault", "note"] = "fault" if waiting else "note"
        return [Finding("worker", state, "no worker runs", "start one: triggerdeck worker run")]
    return [found for worker in alive for found in _one_worker(worker, health)]


def _one_worker(worker: WorkerView, health: Health) -> list[Finding]:
    age_s = (health.at - worker.beat_at).total_seconds()
    if age_s < -FUTURE_BEAT_S:
        message = f"worker {worker.pid}'s clock is {duration(-age_s)} ahead of this one"
        return [Finding("clock", "fault", message, "set both clocks by the same time server")]
    found = [Finding("worker", "ok", f"pid {worker.pid} is {worker.state}, last sign {duration(max(0.0, age_s))} ago")]
    if worker.zone_data != health.zone_data:
        message = f"worker {worker.pid} uses zone data {worker.zone_data}, this program {health.zone_data}"
        found.append(Finding("zone data", "fault", message, "restart the worker"))
    return found


def _projection(health: Health) -> list[Finding]:
    found = [
        Finding(
            "projection",
            "fault",
            f"{drift.trigger_name} says next {utc(drift.stored)}, its definition gives {utc(drift.computed)}",
            "restart the worker; it computes every projection afresh",
        )
        for drift in health.drifts
    ]
    found += [
        Finding("overdue", "fault", f"{name} is due and not decided", "see whether the worker is busy or stuck")
        for name in health.overdue
    ]
    return found or [Finding("projection", "ok", "every next time is what definition and mark give")]


def _triggers(health: Health) -> list[Finding]:
    degraded = health.triggers.get("degraded", 0)
    if degraded:
        remedy = "triggerdeck get trigger shows which; describe one to see its error"
        return [Finding("triggers", "fault", f"{degraded} degraded", remedy)]
    told = ", ".join(f"{count} {phase}" for phase, count in sorted(health.triggers.items()) if count)
    return [Finding("triggers", "ok", told or "none")]


def _storage(health: Health) -> list[Finding]:
    found = []
    if health.free_bytes < LOW_DISK_BYTES:
        message = f"only {health.free_bytes >> 20} MiB are free beside {health.database}"
        found.append(Finding("disk", "fault", message, "free some space; admission stops on a full disk"))
    if health.wal_bytes > LARGE_WAL_BYTES:
        message = f"the write-ahead log has grown to {health.wal_bytes >> 20} MiB"
        found.append(Finding("wal", "fault", message, "end programs that keep a read of the database open"))
    size = f"{health.database}, {health.database_bytes / 1048576:.1f} MiB, schema {health.schema_version}"
    return [*found, Finding("database", "ok", size), _zone_data(health)]


def _zone_data(health: Health) -> Finding:
    if health.zone_data_stored not in {None, health.zone_data}:
        message = f"the projection was made with zone data {health.zone_data_stored}, here is {health.zone_data}"
        return Finding("zone data", "note", message, "the worker's next start computes it afresh")
    return Finding("zone data", "ok", health.zone_data)


def _errors(health: Health) -> list[Finding]:
    return [
        Finding("error", "note", " ".join(str(value) for value in error.values()), "see the worker's log")
        for error in health.errors[-5:]
    ]
