"""Every table, in the order of the story: who, what is defined, what was decided, what ran, what was asked.

Instants are `Instant` (UTC, integer microseconds), documents are `Json`. Nominal times are whole seconds. Rows are
written with Core statements; these classes describe them and never leave `core.storage`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Index, Integer, text
from sqlmodel import Field, SQLModel

from core.storage.columns import Instant, Json, JsonObject


def instant(*, index: bool = False) -> Any:
    """Return a nullable instant column."""
    return Field(default=None, sa_type=Instant, index=index)


def document() -> Any:
    """Return a nullable JSON column."""
    return Field(default=None, sa_type=Json, nullable=True)


def json_object() -> Any:
    """Return a nullable column of JSON objects."""
    return Field(default=None, sa_type=JsonObject, nullable=True)


# -- who ---------------------------------------------------------------------------------------------------------


class Tenant(SQLModel, table=True):
    """The outermost owner."""

    id: str = Field(primary_key=True)
    name: str = Field(unique=True)
    active: bool = True


class Workspace(SQLModel, table=True):
    """What a deck looks at; another workspace's contents answer "not found"."""

    id: str = Field(primary_key=True)
    tenant_id: str = Field(foreign_key="tenant.id")
    name: str = Field(index=True)
    active: bool = True


class Principal(SQLModel, table=True):
    """Somebody who may act: on SQLite an operating-system user."""

    id: str = Field(primary_key=True)
    tenant_id: str = Field(foreign_key="tenant.id")
    name: str = Field(index=True)
    active: bool = True


class Membership(SQLModel, table=True):
    """A principal's role in a workspace; state is active or suspended."""

    workspace_id: str = Field(primary_key=True, foreign_key="workspace.id")
    principal_id: str = Field(primary_key=True, foreign_key="principal.id")
    role: str
    state: str = "active"


class AuditEvent(SQLModel, table=True):
    """One change or denial: ids and codes, no payloads; append-only."""

    __tablename__ = "audit_event"
    id: int | None = Field(default=None, primary_key=True)
    at: datetime = Field(sa_type=Instant, index=True)
    workspace_id: str
    principal_id: str
    action: str
    kind: str
    uid: str
    name: str
    outcome: str
    code: str = ""
    detail: dict[str, Any] | None = document()


# -- what is defined -----------------------------------------------------------------------------------------------


class Resource(SQLModel, table=True):
    """A Trigger or Flow as it is now; deleted ones stay for their history."""

    __table_args__ = (
        Index(
            "resource_live_name",
            "workspace_id",
            "kind",
            "namespace",
            "name",
            unique=True,
            sqlite_where=text("deleted_at IS NULL"),
        ),
        Index("resource_kind", "workspace_id", "kind", "deleted_at"),
        Index("resource_name", "workspace_id", "kind", "name"),
    )
    uid: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspace.id")
    kind: str
    namespace: str
    name: str
    tags: list[str] | None = document()
    annotations: dict[str, str] | None = document()
    definition: dict[str, Any] | None = json_object()
    generation: int
    etag: str
    principal_id: str
    created_at: datetime = Field(sa_type=Instant)
    updated_at: datetime = Field(sa_type=Instant)
    deleted_at: datetime | None = instant()


class Revision(SQLModel, table=True):
    """The definition of one generation, kept for ever.

    `mark_at` is a Trigger's mark when this generation came into force, where it changed the schedule or `enabled`:
    later nominal times are decided by this generation, earlier ones by the one before.
    """

    uid: str = Field(primary_key=True)
    generation: int = Field(primary_key=True)
    definition: dict[str, Any] | None = json_object()
    mark_at: datetime | None = instant()
    created_at: datetime = Field(sa_type=Instant)
    principal_id: str


class FlowVersion(SQLModel, table=True):
    """An immutable published Flow; at most one version of a Flow is active."""

    __tablename__ = "flow_version"
    flow_uid: str = Field(primary_key=True)
    version: int = Field(primary_key=True)
    definition: dict[str, Any] | None = json_object()
    active: bool
    published_at: datetime = Field(sa_type=Instant)
    principal_id: str


# -- what was decided ------------------------------------------------------------------------------------------------


class TriggerState(SQLModel, table=True):
    """A Trigger's mark (a fact), its projection (computable) and what the list shows of it.

    `retry_at` postpones a Trigger whose evaluation failed; `next_due_at` NULL with a NULL fingerprint asks for a
    fresh projection. `decided_from` is from where the kept history is complete under the present rules: NULL since the
    Trigger was made, else later than the newest decision that was pruned or made under other zone data. `mark_moves`
    counts how often the mark was moved back by hand.
    """

    __tablename__ = "trigger_state"
    __table_args__ = (
        Index("trigger_state_due", "next_due_at"),
        Index("trigger_state_retry", "retry_at"),
        Index("trigger_state_list", "workspace_id", "name"),
    )
    trigger_uid: str = Field(primary_key=True)
    workspace_id: str
    namespace: str
    name: str
    enabled: bool
    phase: str
    observed_generation: int
    mark_at: datetime | None = instant()
    mark_wall: str | None = None
    mark_moves: int = 0
    decided_from: datetime | None = instant()
    next_nominal_at: datetime | None = instant()
    next_due_at: datetime | None = instant()
    fingerprint: str | None = None
    retry_at: datetime | None = instant()
    failures: int = 0
    words: str = ""
    time_zone: str | None = None
    flow_namespace: str = "default"
    flow_name: str = ""
    last_scheduled_at: datetime | None = instant()
    last_fired_at: datetime | None = instant()
    last_outcome: str | None = None
    last_error_code: str | None = None
    last_error_message: str | None = None
    conditions: list[dict[str, Any]] | None = document()


class PauseWindow(SQLModel, table=True):
    """A window in which nominal times are recorded as paused; `until_at` NULL is open."""

    __tablename__ = "pause_window"
    id: str = Field(primary_key=True)
    trigger_uid: str = Field(index=True)
    from_at: datetime = Field(sa_type=Instant)
    until_at: datetime | None = instant()
    note: str = ""
    principal_id: str


class Occurrence(SQLModel, table=True):
    """One decision: a nominal time, a manual request, or a counted range of nominal times decided together.

    `at` orders the history: the nominal time, for a range its last one, for a manual request when it was asked.
    What can be asked for beside an index's own order stands at its end, so that no row is read only to be passed over.
    """

    __table_args__ = (
        Index("occurrence_history", "workspace_id", "at", "id", "kind", "namespace"),
        Index("occurrence_trigger", "trigger_uid", "at", "id", "outcome", "reason", "kind"),
        Index("occurrence_outcome", "workspace_id", "outcome", "at", "id", "kind", "namespace"),
        Index("occurrence_reason", "workspace_id", "reason", "outcome", "at", "id", "kind", "namespace"),
        Index(  # few are not scheduled, and then this is where to look, whatever else is asked
            "occurrence_seldom",
            "kind",
            "at",
            "id",
            "workspace_id",
            "namespace",
            sqlite_where=text("kind <> 'scheduled'"),
        ),
        Index("occurrence_admitted", "workspace_id", "admitted_at"),
    )
    id: str = Field(primary_key=True)
    workspace_id: str
    trigger_uid: str
    trigger_name: str
    namespace: str
    generation: int
    kind: str
    at: datetime = Field(sa_type=Instant)
    nominal_at: datetime | None = instant()
    due_at: datetime | None = instant()
    observed_at: datetime | None = instant()
    admitted_at: datetime = Field(sa_type=Instant)
    dispatched_at: datetime | None = instant()
    outcome: str
    reason: str
    message: str = ""
    work_id: str | None = None
    is_range: bool = False
    count: int = Field(default=1, sa_type=BigInteger)
    first_at: datetime | None = instant()
    last_at: datetime | None = instant()
    principal_id: str


# -- what runs -------------------------------------------------------------------------------------------------------


class Work(SQLModel, table=True):
    """What has to be done for one occurrence (same id, so at most one); the pending ones are the outbox."""

    __table_args__ = (
        Index("work_history", "workspace_id", "created_at", "id", "namespace"),
        Index("work_status", "status", "created_at", "id", "workspace_id", "namespace"),
        Index(  # what overlap asks for at each firing: as small as there is active Work, however long the history
            "work_active",
            "trigger_uid",
            "status",
            sqlite_where=text("ended_at IS NULL"),
        ),
        Index("work_trigger", "trigger_uid", "created_at", "id", "status"),
        CheckConstraint("occurrence_id = id", name="work_of_occurrence"),
    )
    id: str = Field(primary_key=True)
    occurrence_id: str
    workspace_id: str
    trigger_uid: str
    trigger_name: str
    namespace: str
    title: str = ""
    flow_uid: str
    flow_name: str
    flow_namespace: str
    flow_version: int
    input: dict[str, Any] | None = document()
    status: str
    result: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    is_test: bool = False
    attempts: int = 0
    created_at: datetime = Field(sa_type=Instant)
    started_at: datetime | None = instant()
    ended_at: datetime | None = instant()
    cancel_requested_at: datetime | None = instant()
    cancel_requested_by: str | None = None
    principal_id: str


class FlowRun(SQLModel, table=True):
    """One execution of one exact Flow version; `segment` counts its stretches between waits."""

    __tablename__ = "flow_run"
    __table_args__ = (Index("flow_run_status", "status"),)
    id: str = Field(primary_key=True)
    work_id: str = Field(index=True)
    attempt: int
    segment: int = 0
    status: str
    input_hash: str
    resume_at: datetime | None = instant()
    deadline_at: datetime | None = instant()
    worker_id: str | None = None
    created_at: datetime = Field(sa_type=Instant)
    started_at: datetime | None = instant()
    ended_at: datetime | None = instant()
    error_code: str | None = None
    error_message: str | None = None
    principal_id: str


class FlowStep(SQLModel, table=True):
    """One step of a run; committed before the engine's own checkpoint, and the truth against it."""

    __tablename__ = "flow_step"
    run_id: str = Field(primary_key=True)
    position: int = Field(primary_key=True)
    step_id: str
    kind: str
    status: str
    attempt: int = 0
    started_at: datetime | None = instant()
    ended_at: datetime | None = instant()
    resume_at: datetime | None = instant()
    output: Any = document()
    exit_code: int | None = None
    error_code: str | None = None
    error_message: str | None = None
    pid: int | None = None
    pid_started_at: float | None = None


class LogLine(SQLModel, table=True):
    """One line of a step's stdout, stderr or of the runtime's own remarks (stream out, err, note)."""

    __tablename__ = "log_line"
    __table_args__ = (Index("log_line_work", "work_id", "id"),)
    id: int | None = Field(default=None, primary_key=True)
    work_id: str
    run_id: str
    step_id: str
    attempt: int = 1
    at: datetime = Field(sa_type=Instant)
    stream: str
    text: str


# -- what is asked ---------------------------------------------------------------------------------------------------


class PendingAction(SQLModel, table=True):
    """A question that a run asks a person; answering is one conditional update on pending."""

    __tablename__ = "pending_action"
    __table_args__ = (Index("pending_action_status", "workspace_id", "status", "created_at"),)
    id: str = Field(primary_key=True)
    workspace_id: str
    work_id: str = Field(index=True)
    run_id: str
    position: int
    step_id: str
    trigger_uid: str
    kind: str
    title: str
    message: str = ""
    form: dict[str, Any] | None = document()
    status: str
    created_at: datetime = Field(sa_type=Instant)
    expires_at: datetime = Field(sa_type=Instant, index=True)
    snoozed_until: datetime | None = instant()
    ended_at: datetime | None = instant()
    decision: str | None = None
    values: Any = document()
    answered_by: str | None = None


class Notification(SQLModel, table=True):
    """One line for people: a question was asked, a Trigger degraded, a run failed."""

    id: int | None = Field(default=None, primary_key=True)
    workspace_id: str
    at: datetime = Field(sa_type=Instant, index=True)
    kind: str
    severity: str
    title: str
    work_id: str | None = None
    action_id: str | None = Field(default=None, unique=True)
    trigger_uid: str | None = None


# -- what the machinery needs ------------------------------------------------------------------------------------------


class Change(SQLModel, table=True):
    """Wakes worker and screens: which thing changed, in order; heartbeats and logs never enter it."""

    seq: int | None = Field(default=None, sa_type=Integer, primary_key=True)
    workspace_id: str
    kind: str
    key: str
    at: datetime = Field(sa_type=Instant)


class WorkerBeat(SQLModel, table=True):
    """One row per worker process, overwritten at each heartbeat."""

    __tablename__ = "worker_beat"
    worker_id: str = Field(primary_key=True)
    pid: int
    host: str
    version: str
    zone_data: str
    state: str
    started_at: datetime = Field(sa_type=Instant)
    beat_at: datetime = Field(sa_type=Instant)
    last_pass_at: datetime | None = instant()
    pass_ms: float = 0.0
    lags_ms: list[float] | None = document()
    slots: int = 0
    running: int = 0
    errors: list[dict[str, Any]] | None = document()


class Fact(SQLModel, table=True):
    """Small named facts of this database: incarnation, zone data last projected with, last visits."""

    name: str = Field(primary_key=True)
    value: str
