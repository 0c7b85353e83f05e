"""A real database under a manual clock, with Triggers and Flows put into it the short way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.access.scope import Scope
from core.access.service import open_scope
from core.admission import control
from core.admission.pipeline import PassReport, Pipeline
from core.clock import ManualClock
from core.resources import service
from core.resources.manifests import parse_documents
from core.storage.opening import open_store
from core.storage.store import Store
from core.upkeep.checker import check
from core.views import ACTIVE_WORK, Effect, Finding

START = datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC)
EVERY_MINUTE = {"type": "cron", "expression": "0 * * * * ?", "timeZone": "UTC"}
HOURLY = {"type": "cron", "expression": "0 0 * * * ?", "timeZone": "UTC"}
PRINT_FLOW = {"steps": [{"id": "say", "command": {"argv": ["true"]}}]}


def definition(schedule: Mapping[str, Any] = EVERY_MINUTE, **fields: Any) -> dict[str, Any]:
    """Return a Trigger's definition that is enabled and points at the Flow `print`."""
    flow = fields.pop("flow", "print")
    version = fields.pop("version", None)
    return {
        "enabled": True,
        "source": {"kind": "schedule", "schedule": dict(schedule)},
        "target": {"kind": "flow", "flow": {"name": flow, "namespace": "default", "version": version}},
        "input": {},
        "misfirePolicy": "skip",
        "concurrencyPolicy": "allow",
        **fields,
    }


@dataclass
class World:
    """One database, one clock, one pipeline, and short ways to ask."""

    path: Path
    start: datetime = START
    tampered: bool = False
    clock: ManualClock = field(init=False)
    store: Store = field(init=False)
    scope: Scope = field(init=False)
    pipeline: Pipeline = field(init=False)

    def __post_init__(self) -> None:
        self.clock = ManualClock(self.start)
        self.store = open_store(self.path, clock=self.clock)
        self.scope = open_scope(self.store, user="ann")
        self.pipeline = Pipeline(self.store, self.clock)

    # -- putting in ---------------------------------------------------------------------------------------------------

    def flow(self, name: str = "print", body: Mapping[str, Any] = PRINT_FLOW) -> None:
        """Apply a Flow; its first version becomes active."""
        self._apply("Flow", name, body)

    def trigger(self, name: str, body: Mapping[str, Any] | None = None) -> str:
        """Apply a Trigger; return its uid."""
        self._apply("Trigger", name, body or definition())
        return self.uid(name)

    def edit(self, name: str, **fields: Any) -> None:
        """Apply a Trigger with some fields of its definition changed."""
        with self.store.read() as tx:
            stored = service.get(tx, self.scope, "Trigger", "default", name)
        self._apply("Trigger", name, {**stored.definition, **fields})

    def delete(self, name: str) -> None:
        """Delete a Trigger."""
        with self.store.write() as tx:
            service.delete(tx, self.scope, "Trigger", "default", name, now=self.clock.now(), hooks=control)

    def _apply(self, kind: str, name: str, body: Mapping[str, Any]) -> None:
        envelope = {"apiVersion": "agentstration.io/v1", "kind": kind, "metadata": {"name": name}, "definition": body}
        documents = parse_documents(json.dumps(envelope))
        with self.store.write() as tx:
            service.apply(tx, self.scope, documents, now=self.clock.now(), hooks=control)

    def uid(self, name: str) -> str:
        """Return the uid of the newest resource with this name."""
        found = self.rows("SELECT uid FROM resource WHERE name = ? ORDER BY created_at DESC, rowid DESC", name)
        return str(found[0]["uid"])

    # -- doing --------------------------------------------------------------------------------------------------------

    def advance(self, **by: float) -> None:
        """Let time pass without anybody looking."""
        self.clock.advance(timedelta(**by))

    def pass_once(self) -> PassReport:
        """Make one pass now."""
        return self.pipeline.pass_once()

    def restart(self) -> None:
        """Begin again with nothing remembered, as a new process would."""
        self.store.close()
        self.store = open_store(self.path, clock=self.clock)
        self.pipeline = Pipeline(self.store, self.clock)
        self.pipeline.reconcile()

    def pause(self, name: str, *, until: datetime | None = None, note: str = "") -> Effect:
        """Pause a Trigger."""
        with self.store.write() as tx:
            return control.pause(tx, self.scope, "default", name, note=note, until=until, now=self.clock.now())

    def resume(self, name: str) -> Effect:
        """Resume a Trigger."""
        with self.store.write() as tx:
            return control.resume(tx, self.scope, "default", name, self.clock.now())

    def enable(self, name: str) -> Effect:
        """Enable a Trigger."""
        with self.store.write() as tx:
            return control.enable(tx, self.scope, "default", name, self.clock.now())

    def disable(self, name: str) -> Effect:
        """Disable a Trigger."""
        with self.store.write() as tx:
            return control.disable(tx, self.scope, "default", name, self.clock.now())

    def run(self, name: str, values: Mapping[str, Any] | None = None) -> Effect:
        """Run a Trigger by hand."""
        with self.store.write() as tx:
            return control.run_now(tx, self.scope, "default", name, values=values, now=self.clock.now())

    def end_work(self, status: str = "completed") -> None:
        """End all active Work, as the runtime would."""
        with self.store.write() as tx:
            tx.connection.exec_driver_sql(
                f"UPDATE work SET status = ? WHERE status IN ({', '.join('?' * len(ACTIVE_WORK))})",  # noqa: S608 - marks
                (status, *ACTIVE_WORK),
            )

    def proven(self) -> tuple[Finding, ...]:
        """Return what the checker finds wrong, after a last pass."""
        self.pass_once()
        with self.store.read() as tx:
            return check(tx, now=self.clock.now(), settled=True)

    # -- asking -------------------------------------------------------------------------------------------------------

    def rows(self, query: str, *values: Any) -> list[Mapping[str, Any]]:
        """Return rows of a plain query."""
        with self.store.read() as tx:
            return [dict(row) for row in tx.connection.exec_driver_sql(query, values).mappings()]

    def sql(self, statement: str, *values: Any) -> None:
        """Run a plain statement in a transaction, as no part of ours would; `proven` is not asked for after that."""
        self.tampered = True
        with self.store.write() as tx:
            tx.connection.exec_driver_sql(statement, values)

    def occurrences(self, name: str | None = None) -> list[Mapping[str, Any]]:
        """Return decisions in the order of their time, ranges too."""
        where = "" if name is None else f" WHERE trigger_name = '{name}'"
        return self.rows(f"SELECT * FROM occurrence{where} ORDER BY at, is_range DESC, rowid")  # noqa: S608 - a test's own name

    def decisions(self, name: str | None = None) -> list[tuple[str, str, int]]:
        """Return (outcome, reason, count) of each decision."""
        return [(row["outcome"], row["reason"], row["count"]) for row in self.occurrences(name)]

    def work(self, name: str | None = None) -> list[Mapping[str, Any]]:
        """Return Work, oldest first."""
        where = "" if name is None else f" WHERE trigger_name = '{name}'"
        return self.rows(f"SELECT * FROM work{where} ORDER BY created_at, rowid")  # noqa: S608 - as above

    def state(self, name: str) -> Mapping[str, Any]:
        """Return a Trigger's state row."""
        return self.rows("SELECT * FROM trigger_state WHERE name = ?", name)[0]

    def at(self, micros: int | None) -> datetime | None:
        """Return a stored instant."""
        return None if micros is None else datetime.fromtimestamp(micros / 1_000_000, UTC)
