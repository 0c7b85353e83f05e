"""What a principal may ask of upkeep, with the permission that each needs and its event on the audit trail.

Examining and repairing keep to the principal's workspace. Pruning and copying touch the whole file, whoever's it is,
so they are for those who manage the tenant.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from core.access import audit
from core.access.scope import Scope
from core.admission import recovery
from core.admission.plan import Plans
from core.clock import Clock
from core.errors import Fault, Invalid
from core.storage import backup as files
from core.storage.opening import open_store
from core.storage.store import Store
from core.upkeep import backup as copies
from core.upkeep import doctor, retention
from core.upkeep.retention import RetentionPolicy
from core.views import BackupReport, DoctorReport, PruneReport

LEAST_AGE = timedelta(hours=1)


def examine(store: Store, scope: Scope, clock: Clock) -> DoctorReport:
    """Examine the machinery, the file and the workspace's history; write nothing."""
    scope.require("workspaces/read")
    return doctor.examine(store, clock, scope.workspace_id)


def repair(store: Store, scope: Scope, clock: Clock) -> DoctorReport:
    """Repair what is safe to repair in the workspace, and examine what is left."""
    scope.require("workspaces/write")
    recovery.reconcile(store, Plans())
    report = doctor.repair(store, clock, scope.workspace_id)
    detail = {"repaired": len(report.repaired), "left": len(report.findings)}
    _record(store, scope, clock, "doctor_repair", detail)
    return report


def prune(
    store: Store, scope: Scope, clock: Clock, older_than: timedelta | None, *, dry_run: bool = False
) -> PruneReport:
    """Delete old history at once: what the usual policy lets go, or all that is older than an age, if it is shorter.

    A dry run does it to a copy, which is thrown away.
    """
    scope.require("tenants/manage")
    policy = _policy(older_than)
    if dry_run:
        return _rehearsed(store, clock, policy)
    report = retention.prune(store, clock, policy)
    age_s = None if older_than is None else int(older_than.total_seconds())
    _record(store, scope, clock, "prune", {"older_than_s": age_s, "deleted": report.deleted})
    return report


def _policy(older_than: timedelta | None) -> RetentionPolicy:
    if older_than is None:
        return RetentionPolicy()
    if older_than < LEAST_AGE:
        raise Invalid([Fault("olderThan", "is too short", "name at least one hour, such as P90D or PT12H")])
    return RetentionPolicy().older_than(older_than)


def _rehearsed(store: Store, clock: Clock, policy: RetentionPolicy) -> PruneReport:
    """Prune a copy beside the database, so that nobody waits and the figures are exact."""
    with files.beside(store.path, f"{clock.new_id()}.rehearsal") as working:
        files.copy_database(store.path, working)
        copy = open_store(working, clock=clock)
        try:
            return retention.prune(copy, clock, policy, rest=lambda _seconds: None)
        finally:
            copy.close()


def backup(store: Store, scope: Scope, clock: Clock, path: str | os.PathLike[str]) -> BackupReport:
    """Copy the database to a new file while everything goes on."""
    scope.require("tenants/manage")
    report = copies.backup(store, path, clock)
    _record(store, scope, clock, "backup", {"file": Path(report.path).name, "size_bytes": report.size_bytes})
    return report


def _record(store: Store, scope: Scope, clock: Clock, action: str, detail: Mapping[str, object]) -> None:
    with store.write() as tx:
        audit.record(tx, scope, action, "Database", "", "", detail=dict(detail), at=clock.now())
