"""Examines a whole database: history, machinery and file; repairs where that is safe; says what to do otherwise."""

from __future__ import annotations

from dataclasses import replace

from core.clock import Clock
from core.storage import checks, vitals
from core.storage.opening import schema_version
from core.storage.store import Store
from core.upkeep.checker import MOST_FINDINGS, check
from core.upkeep.repair import repair_all
from core.upkeep.vitals import Looking, figures, machine_findings
from core.views import DoctorReport, Finding

ORDER = {"error": 0, "warning": 1, "information": 2}


def examine(store: Store, clock: Clock, workspace_id: str | None = None, *, limit: int = MOST_FINDINGS) -> DoctorReport:
    """Return everything that is wrong or soon will be, the gravest first; reads the whole file and writes nothing."""
    now = clock.now()
    found = _file_findings(store)
    with store.read() as tx:
        counted = vitals.counts(tx, workspace_id)
        looking = Looking(store, tx, now, workspace_id, counted["enabled"], counted["active_work"])
        found += machine_findings(looking)
        found += check(tx, now=now, workspace_id=workspace_id, limit=limit)
        told = figures(looking) | {"schema": schema_version(tx)}
    found.sort(key=lambda finding: ORDER[finding.severity])
    return DoctorReport(now, str(store.path), tuple(found), figures=told)


def repair(store: Store, clock: Clock, workspace_id: str | None = None, *, limit: int = MOST_FINDINGS) -> DoctorReport:
    """Repair what is safe to repair, and examine what is left; `repaired` says what was done."""
    done = repair_all(store, clock, workspace_id)
    return replace(examine(store, clock, workspace_id, limit=limit), repaired=done)


def _file_findings(store: Store) -> list[Finding]:
    """Return what SQLite itself finds wrong with the file."""
    remedy = "restore a backup; keep this file aside"
    found = [Finding("file_damaged", "error", "database", fault, remedy) for fault in store.faults(5)]
    if not found:
        with store.read() as tx:
            for table in checks.broken_references(tx, 5):
                message = f"rows of {table} name rows that are not there"
                found.append(Finding("references_broken", "error", "database", message, remedy))
    return found
