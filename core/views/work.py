"""What runs, and what it asks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.views.history import ChainLink
from core.views.kinds import ActionStatus, StepStatus, WorkResult, WorkStatus


@dataclass(frozen=True, slots=True)
class WorkQuery:
    """Which Work, newest first; `active` picks what has not ended, `trigger_like` words that trigger names hold."""

    trigger: str | None = None
    namespace: str | None = None
    trigger_like: str | None = None
    status: str | None = None
    active: bool | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class WorkRow:
    """Work in a list, shown to people as a Task."""

    id: str
    occurrence_id: str
    trigger_name: str
    namespace: str
    title: str
    flow: str
    flow_version: int
    status: WorkStatus
    result: WorkResult | None
    error: str | None
    attempts: int
    nominal_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    steps_done: int
    steps_total: int
    is_test: bool = False


@dataclass(frozen=True, slots=True)
class StepView:
    """One step of the newest run."""

    position: int
    step_id: str
    kind: str
    status: StepStatus
    attempt: int
    started_at: datetime | None
    ended_at: datetime | None
    resume_at: datetime | None
    output: Any
    exit_code: int | None
    error: str | None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class RunView:
    """One run (attempt) of a Work."""

    id: str
    attempt: int
    status: str
    segment: int
    started_at: datetime | None
    ended_at: datetime | None
    error: str | None


@dataclass(frozen=True, slots=True)
class WorkView:
    """Work with its runs, steps, questions and input."""

    row: WorkRow
    input: dict[str, Any]
    runs: tuple[RunView, ...]
    steps: tuple[StepView, ...]
    actions: tuple[ActionRow, ...]
    cancel_requested: bool
    principal: str
    reason: str
    events: tuple[ChainLink, ...] = ()
    runbook: str | None = None


@dataclass(frozen=True, slots=True)
class Runtimes:
    """How long the newest completed Works of a Flow took from start to end, waits for people included."""

    count: int
    median_s: float
    longest_s: float


@dataclass(frozen=True, slots=True)
class LogRow:
    """One line of a log; `id` orders and resumes."""

    id: int
    at: datetime
    step_id: str
    stream: Literal["out", "err", "note"]
    text: str


@dataclass(frozen=True, slots=True)
class ActionRow:
    """A question in the inbox."""

    id: str
    work_id: str
    trigger_name: str
    step_id: str
    kind: Literal["inputRequired", "confirmationRequired", "choiceRequired", "approvalRequired"]
    title: str
    status: ActionStatus
    created_at: datetime
    expires_at: datetime
    snoozed_until: datetime | None
    decision: str | None
    answered_by: str | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class ActionView:
    """A question with its form (JSON Schema of the values) and what it holds up."""

    row: ActionRow
    message: str
    schema: dict[str, Any]
    decisions: tuple[str, ...]
    values: dict[str, Any]
    holds_up: tuple[str, ...]
    asked_by: str


@dataclass(frozen=True, slots=True)
class NotificationRow:
    """One line of the notifications log."""

    id: int
    at: datetime
    kind: str
    severity: Literal["information", "warning", "error"]
    title: str
    work_id: str | None
    action_id: str | None
