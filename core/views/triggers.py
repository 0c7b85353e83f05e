"""What a Trigger is, was and will be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.views.history import OccurrenceRow
from core.views.kinds import Phase
from core.views.schedules import FireView
from core.views.work import WorkRow


@dataclass(frozen=True, slots=True)
class TriggerQuery:
    """Which Triggers, in which order; `text` matches name, namespace, tags, words and flow."""

    text: str = ""
    phase: str | None = None
    enabled: bool | None = None
    flow: str | None = None
    namespace: str | None = None
    tag: str | None = None
    sort: Literal["next", "name", "last", "phase"] = "next"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class TriggerRow:
    """A Trigger in a list; `summary` are its words in at most 24 characters.

    `recent` are the last 20 outcomes, oldest first, one letter each.

    Letters: `s` submitted and completed, `r` submitted and active, `f` work failed, `x` denied or invalid,
    `k` skipped, `m` missed, `n` no work.
    """

    uid: str
    namespace: str
    name: str
    display_name: str
    enabled: bool
    phase: Phase
    words: str
    time_zone: str | None
    next_nominal_at: datetime | None
    next_due_at: datetime | None
    last_fired_at: datetime | None
    last_outcome: str | None
    last_error: str | None
    flow: str
    tags: tuple[str, ...]
    recent: str = ""
    next_note: str = ""
    active_work: int = 0
    summary: str = ""


@dataclass(frozen=True, slots=True)
class PauseView:
    """A pause window; `until_at` None is open."""

    id: str
    from_at: datetime
    until_at: datetime | None
    note: str
    principal: str


@dataclass(frozen=True, slots=True)
class TriggerView:
    """All about one Trigger."""

    row: TriggerRow
    manifest: dict[str, Any]
    etag: str
    generation: int
    phase: Phase
    words: str
    notes: tuple[str, ...]
    fires: tuple[FireView, ...]
    pause: PauseView | None
    mark_at: datetime | None
    conditions: tuple[dict[str, Any], ...]
    scope: str
    last_occurrences: tuple[OccurrenceRow, ...]
    active_work: tuple[WorkRow, ...]
    failures_30d: int = 0


@dataclass(frozen=True, slots=True)
class Effect:
    """What a command on a Trigger did, in sentences for people."""

    name: str
    message: str
    notices: tuple[str, ...] = ()
    occurrence_id: str | None = None
    work_id: str | None = None
