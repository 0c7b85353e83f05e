"""What `core.Deck` answers: frozen values without any database or schedule object in them.

Cheap to import (no pydantic, no SQLModel), so that the terminal app paints before anything heavy is loaded.
Instants are aware UTC datetimes; durations say their unit in the name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

Row = TypeVar("Row")

Kind = Literal["Trigger", "Flow"]
ChangeKind = Literal["trigger", "flow", "occurrence", "work", "action", "notification", "access", "worker"]
Phase = Literal["disabled", "scheduled", "paused", "completed", "degraded"]
Outcome = Literal["pending", "submitted", "skipped", "failed", "joined", "deferred", "dropped"]
Reason = Literal[
    "on_time", "coalesced", "caught_up", "manual", "event", "backfill", "joined", "buffered",
    "concurrency_skip", "buffer_full", "replaced", "missed", "paused", "excluded", "gap_skipped",
    "definition_changed", "restored", "deduplicated", "superseded",
    "denied", "target_unresolved", "input_invalid", "schedule_invalid",
]  # fmt: skip
WorkStatus = Literal[
    "pending", "queued", "running", "waitingForInput", "waitingForApproval", "completed", "failed", "cancelled"
]
WorkResult = Literal["success", "no_work", "failed", "cancelled", "outcome_unknown"]
StepStatus = Literal["pending", "running", "waiting", "completed", "failed", "skipped", "cancelled"]
ActionStatus = Literal["pending", "completed", "cancelled", "expired"]

LinkState = Literal["ok", "stop", "info"]

ACTIVE_WORK: tuple[str, ...] = ("pending", "queued", "running", "waitingForInput", "waitingForApproval")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A stretch of rows out of `total`; `cursor` asks for the next stretch, None at the end."""

    rows: tuple[Row, ...]
    total: int
    offset: int = 0
    cursor: str | None = None


# -- identity -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Who:
    """The acting principal and where it acts."""

    principal_id: str
    principal: str
    role: str
    tenant: str
    workspace_id: str
    workspace: str
    permissions: frozenset[str]
    read_only: bool


# -- resources ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that a save changes; `before` or `after` is None where it is new or gone."""

    path: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying one document did, or would do under `dry_run`."""

    kind: Kind
    namespace: str
    name: str
    action: Literal["created", "configured", "unchanged", "deleted"]
    generation: int
    etag: str
    changes: tuple[FieldChange, ...] = ()
    notes: tuple[str, ...] = ()
    published_version: int | None = None


@dataclass(frozen=True, slots=True)
class RevisionView:
    """One kept generation of a definition."""

    generation: int
    created_at: datetime
    principal: str
    definition: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FlowRow:
    """A Flow in a list."""

    uid: str
    namespace: str
    name: str
    display_name: str
    generation: int
    active_version: int | None
    newest_version: int | None
    draft_differs: bool
    step_count: int
    used_by: int


@dataclass(frozen=True, slots=True)
class FlowView:
    """A Flow with its versions."""

    row: FlowRow
    manifest: dict[str, Any]
    versions: tuple[tuple[int, datetime, bool], ...]
    input_schema: dict[str, Any]


# -- schedules ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FireView:
    """One previewed fire time, or (`skipped`) a wall time that yields none.

    `wall` is local text (`2026-03-29 03:30:00`), `offset_s` seconds east of UTC, `notes` sentences about a gap or
    an overlap. `nominal_at` is None only where `skipped`.
    """

    nominal_at: datetime | None
    due_at: datetime | None
    wall: str
    offset_s: int
    abbreviation: str
    zone: str
    notes: tuple[str, ...] = ()
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class SchedulePreview:
    """The next fires of a rule with its words; faults instead where the rule says nothing."""

    fires: tuple[FireView, ...]
    exhausted: bool
    words: str
    notes: tuple[str, ...] = ()
    next_transition: datetime | None = None
    faults: tuple[Any, ...] = ()  # core.errors.Fault


@dataclass(frozen=True, slots=True)
class FireChange:
    """How an edit moves the fires of the coming days."""

    added: tuple[datetime, ...]
    removed: tuple[datetime, ...]
    kept: int
    moved: tuple[tuple[datetime, datetime], ...] = ()


# -- triggers -----------------------------------------------------------------------------------------------------


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
    """A Trigger in a list; `recent` are the last 20 outcomes, oldest first, one letter each.

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


# -- history ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OccurrenceQuery:
    """Which occurrences, newest first."""

    trigger: str | None = None
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


# -- work ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WorkQuery:
    """Which Work, newest first; `active` picks what has not ended."""

    trigger: str | None = None
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
class LogRow:
    """One line of a log; `id` orders and resumes."""

    id: int
    at: datetime
    step_id: str
    stream: Literal["out", "err", "note"]
    text: str


# -- inbox --------------------------------------------------------------------------------------------------------


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


# -- timeline and health ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TimelineLane:
    """One Trigger's past and forecast, counted into the timeline's slots."""

    uid: str
    name: str
    namespace: str
    time_zone: str | None
    past: tuple[int, ...]
    forecast: tuple[int, ...]
    marks: tuple[tuple[int, str], ...] = ()  # (slot, kind): gap, overlap, skipped, failed, paused


@dataclass(frozen=True, slots=True)
class Timeline:
    """Fires per slot over [from_at, to_at); slots are equally long."""

    from_at: datetime
    to_at: datetime
    slot_s: int
    now: datetime
    lanes: tuple[TimelineLane, ...]
    total: tuple[int, ...]
    transitions: tuple[tuple[datetime, str], ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker process."""

    worker_id: str
    pid: int
    host: str
    state: Literal["running", "draining", "stopped", "stale"]
    version: str
    zone_data: str
    started_at: datetime
    beat_at: datetime
    last_pass_at: datetime | None
    pass_ms: float
    lags_ms: tuple[float, ...]
    slots: int
    running: int
    errors: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """A projection that differs from what definition and mark give."""

    trigger_name: str
    stored: datetime | None
    computed: datetime | None


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the whole machinery at one instant."""

    at: datetime
    workers: tuple[WorkerView, ...]
    lag_p50_ms: float | None
    lag_p95_ms: float | None
    lag_max_ms: float | None
    queue: dict[str, int]
    triggers: dict[str, int]
    inbox: int
    drifts: tuple[Drift, ...]
    database: str
    database_bytes: int
    wal_bytes: int
    free_bytes: int
    schema_version: str
    zone_data: str
    zone_data_stored: str | None
    overdue: tuple[str, ...]
    errors: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or will be: a stable code, whom it is about, one sentence, and what to do.

    `error` contradicts a promise, `warning` will hurt if nothing is done, `information` is worth knowing.
    """

    code: str
    severity: Literal["error", "warning", "information"]
    subject: str
    message: str
    remedy: str
    repairable: bool = False


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """What an examination found, what it repaired (in sentences), and how much it looked at."""

    at: datetime
    database: str
    findings: tuple[Finding, ...]
    repaired: tuple[str, ...] = ()
    figures: dict[str, int | str] = field(default_factory=dict)

    @property
    def healthy(self) -> bool:
        """Say whether nothing is wrong that somebody has to do something about."""
        return not any(finding.severity in {"error", "warning"} for finding in self.findings)


@dataclass(frozen=True, slots=True)
class PruneReport:
    """How many rows went, by table; `more` says that a bounded call left some for the next."""

    deleted: dict[str, int] = field(default_factory=dict)
    batches: int = 0
    longest_ms: float = 0.0
    more: bool = False

    @property
    def total(self) -> int:
        """Return how many rows went in all."""
        return sum(self.deleted.values())


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A copy that was made, or one that was restored: where it is, how large, from which life of the database."""

    path: str
    size_bytes: int
    incarnation: str
    made_at: datetime
    replaced: str | None = None
    ranges: int = 0
    ended_work: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """What the frame's first line shows; cheap enough for once a second."""

    workspace: str
    worker: Literal["running", "draining", "stale", "none"]
    beat_age_s: float | None
    inbox: int
    active_work: int
    next_due_at: datetime | None
    seq: int
    read_only: bool


@dataclass(frozen=True, slots=True)
class Away:
    """What happened since the last visit."""

    since: datetime | None
    fired: int
    coalesced: int
    skipped: int
    denied: int
    failed: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Changes:
    """The change feed after a sequence number: which keys changed, by kind."""

    seq: int
    keys: dict[str, frozenset[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.keys)
