"""What a step is given, and what it gives back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from core.clock import Clock, format_instant
from core.flows.steps import Step
from core.runtime.folders import StepFolders
from core.runtime.guard import Guard
from core.runtime.logs import LogWriter, StepLog
from core.runtime.secrets import Secrets

OUTPUT_LIMIT_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class StepError:
    """Why a step failed: a stable code, one sentence, and whether another try could help."""

    code: str
    message: str
    retryable: bool = True


@dataclass(frozen=True, slots=True)
class StepResult:
    """How one try of a step went; `no_work` says that there was nothing to do, which ends the run well."""

    output: Any = None
    exit_code: int | None = None
    error: StepError | None = None
    no_work: bool = False


class StepFailed(Exception):
    """Ends a try with an error, from anywhere inside an executor."""

    def __init__(self, code: str, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.error = StepError(code, message, retryable)


@dataclass(frozen=True, slots=True)
class Tools:
    """What all steps of a worker share."""

    clock: Clock
    secrets: Secrets
    guard: Guard
    logs: LogWriter
    folders: StepFolders
    kill_after_s: float = 5.0


RecordPid = Callable[[int, float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class StepContext:
    """One try of one step: what it runs with, how long it may take, and how it is told to stop."""

    step: Step
    position: int
    work_id: str
    run_id: str
    attempt: int
    trigger_name: str
    input: Mapping[str, Any]
    occurrence: Mapping[str, Any]
    values: Mapping[str, Any]
    timeout_s: float | None
    cancel: asyncio.Event
    log: StepLog
    tools: Tools
    record_pid: RecordPid
    mask: list[str] = field(default_factory=list)

    @property
    def idempotency_key(self) -> str:
        """Return a key that stays the same however often this step of this Work is tried."""
        return f"{self.work_id}.{self.step.id}"

    def secret(self, name: str) -> str:
        """Return a secret's value and have it masked from now on; raises StepFailed where there is none."""
        value = self.tools.secrets.read(name)
        if value is None:
            where = f"set the worker's variable {name} or put a file of that name into its secrets folder"
            message = f"there is no secret {name!r}; {where}"
            raise StepFailed("secret_missing", message, retryable=False)
        self.mask.append(value)
        self.log.hide(value)
        return value

    def environment(self, output: Path) -> dict[str, str]:
        """Return the variables that tell a step's program where it stands."""
        return {
            "TRIGGERDECK_OCCURRENCE_ID": str(self.occurrence.get("id") or self.work_id),
            "TRIGGERDECK_NOMINAL_AT": str(self.occurrence.get("nominalAt") or self.occurrence.get("dueAt") or ""),
            "TRIGGERDECK_TRIGGER": self.trigger_name,
            "TRIGGERDECK_WORK_ID": self.work_id,
            "TRIGGERDECK_RUN": self.run_id,
            "TRIGGERDECK_STEP": self.step.id,
            "TRIGGERDECK_ATTEMPT": str(self.attempt),
            "TRIGGERDECK_IDEMPOTENCY_KEY": self.idempotency_key,
            "TRIGGERDECK_OUTPUT": str(output),
        }


def occurrence_values(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return an occurrence as expressions see it: camelCase names, instants as RFC 3339 text."""
    names = {"id": "id", "kind": "kind", "nominal_at": "nominalAt", "due_at": "dueAt", "reason": "reason"}
    names |= {"count": "count", "first_at": "firstAt", "last_at": "lastAt"}
    names |= {"namespace": "namespace", "trigger_name": "trigger"}
    return {name: _plain(facts.get(column)) for column, name in names.items()}


def _plain(value: Any) -> Any:
    return format_instant(value) if isinstance(value, datetime) else value
