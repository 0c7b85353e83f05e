"""What was decided, and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.views.kinds import LinkState, Outcome, Reason


@dataclass(frozen=True, slots=True)
class OccurrenceQuery:
    """Which occurrences, newest first; `trigger` is a whole name, `trigger_like` words that names hold, in any case."""

    trigger: str | None = None
    trigger_like: str | None = None
    namespace: str | None = None
    outcome: str | None = None
    reason: str | None = None
    kind: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Coalesced:
    """The nominal times that one fireOnce Work stands for."""

    count: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class OccurrenceRow:
    """One decision, or one counted range of them."""

    id: str
    trigger_uid: str
    trigger_name: str
    namespace: str
    generation: int
    kind: Literal["scheduled", "manual", "event", "backfill"]
    at: datetime
    nominal_at: datetime | None
    due_at: datetime | None
    observed_at: datetime | None
    admitted_at: datetime
    dispatched_at: datetime | None
    outcome: Outcome
    reason: Reason
    message: str
    work_id: str | None
    work_status: str | None
    coalesced: Coalesced | None
    is_range: bool
    count: int
    first_at: datetime | None
    last_at: datetime | None
    principal: str
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One step of a decision: when, what, and how it went."""

    title: str
    at: datetime | None
    detail: str
    state: LinkState


@dataclass(frozen=True, slots=True)
class OccurrenceView:
    """The chain of one decision and the definition that it fired from."""

    row: OccurrenceRow
    chain: tuple[ChainLink, ...]
    definition: dict[str, Any]
    sentence: str
    runbook: str | None = None


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why there is no row at an instant: one sentence, with neighbours."""

    trigger_name: str
    at: datetime
    sentence: str
    occurrence: OccurrenceRow | None
    previous_nominal: datetime | None
    next_nominal: datetime | None
