"""A world whose past is kept in full, with short ways to examine and to harm it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from core.storage.store import Store
from core.upkeep.checker import check
from core.views import Finding
from core.work.ending import move
from tests.integration.admission.world import World, definition

__all__ = ["HALF_HOURLY", "Ward", "definition"]

HALF_HOURLY = {"type": "cron", "expression": "0 0/30 * * * ?", "timeZone": "Europe/Berlin"}


class Ward(World):
    """A world that can be examined and harmed."""

    def save(self, name: str, body: dict[str, Any]) -> None:
        """Apply a Trigger's definition as a whole."""
        self._apply("Trigger", name, body)

    def micros(self) -> int:
        """Return the present instant as it is stored."""
        return int(self.clock.now().timestamp() * 1_000_000)

    def end_work(self, status: str = "completed") -> None:
        """End all Work as the runtime does, and say of its occurrences that it was taken."""
        for work in self.rows("SELECT id FROM work WHERE status = 'pending'"):
            with self.store.write() as tx:
                move(tx, work["id"], "queued")
                move(tx, work["id"], "running", started_at=self.clock.now())
                move(tx, work["id"], status, ended_at=self.clock.now(), result="success", attempts=1)
            self.sql("UPDATE occurrence SET outcome = 'submitted' WHERE work_id = ?", work["id"])

    def run_of(self, work_id: str, status: str, **values: Any) -> str:
        """Store a run of a Work."""
        row = {
            "id": f"{work_id}.1", "work_id": work_id, "attempt": 1, "segment": 0, "status": status, "input_hash": "h",
            "created_at": self.micros(), "principal_id": self.scope.principal_id, **values,
        }  # fmt: skip
        self.insert("flow_run", row)
        return str(row["id"])

    def question_of(self, run_id: str, work_id: str, **values: Any) -> str:
        """Store a pending question."""
        row = {
            "id": f"ask-{work_id}", "workspace_id": self.scope.workspace_id, "work_id": work_id, "run_id": run_id,
            "position": 0, "step_id": "say", "trigger_uid": "", "kind": "approvalRequired", "title": "Release?",
            "message": "", "status": "pending", "created_at": self.micros(), "expires_at": self.micros() + 10**12,
            **values,
        }  # fmt: skip
        self.insert("pending_action", row)
        return str(row["id"])

    def furnish(self) -> None:
        """Give each Work an ended run with a step, a log line, an answered question and a notification."""
        for work in self.work():
            ended = work["ended_at"]
            run = self.run_of(work["id"], "completed", ended_at=ended)
            step = {"run_id": run, "position": 0, "step_id": "say", "kind": "command", "status": "completed"}
            self.insert("flow_step", {**step, "attempt": 1})
            line = {"work_id": work["id"], "run_id": run, "step_id": "say", "attempt": 1, "at": ended, "stream": "out"}
            self.insert("log_line", {**line, "text": "done"})
            asked = self.question_of(run, work["id"], status="completed", ended_at=ended)
            notice = {"workspace_id": self.scope.workspace_id, "at": ended, "kind": "asked", "severity": "information"}
            self.insert("notification", {**notice, "title": "Release?", "action_id": asked})

    def insert(self, table: str, row: dict[str, Any]) -> None:
        """Insert one row as it is."""
        marks = ", ".join("?" * len(row))
        self.sql(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", *row.values())  # noqa: S608 - a test's own names

    def examine(
        self, *, settled: bool = False, store: Store | None = None, now: datetime | None = None
    ) -> list[Finding]:
        """Return what the checker finds."""
        with (store or self.store).read() as tx:
            return list(check(tx, now=now or self.clock.now(), settled=settled))

    def codes(self, *, settled: bool = False) -> list[str]:
        """Return the codes of what the checker finds."""
        return [finding.code for finding in self.examine(settled=settled)]
