"""What `core.Deck` answers: frozen values without any database or schedule object in them.

Cheap to import (no pydantic, no SQLModel), so that the terminal app paints before anything heavy is loaded.
Instants are aware UTC datetimes; durations say their unit in the name.
"""

from core.views.history import ChainLink, Coalesced, OccurrenceQuery, OccurrenceRow, OccurrenceView, WhyNot
from core.views.kinds import (
    ACTIVE_WORK,
    ActionStatus,
    ChangeKind,
    Kind,
    LinkState,
    Outcome,
    Phase,
    Reason,
    StepStatus,
    WorkResult,
    WorkStatus,
)
from core.views.machinery import Away, Changes, Drift, Health, Status, WorkerView
from core.views.paging import Page
from core.views.resources import Applied, FieldChange, FlowRow, FlowView, RevisionView, Who
from core.views.schedules import FireChange, FireView, SchedulePreview, Timeline, TimelineLane
from core.views.triggers import Effect, PauseView, TriggerQuery, TriggerRow, TriggerView
from core.views.upkeep import BackupReport, DoctorReport, Finding, PruneReport
from core.views.work import (
    ActionRow,
    ActionView,
    LogRow,
    NotificationRow,
    Runtimes,
    RunView,
    StepView,
    WorkQuery,
    WorkRow,
    WorkView,
)

__all__ = [
    "ACTIVE_WORK",
    "ActionRow",
    "ActionStatus",
    "ActionView",
    "Applied",
    "Away",
    "BackupReport",
    "ChainLink",
    "ChangeKind",
    "Changes",
    "Coalesced",
    "DoctorReport",
    "Drift",
    "Effect",
    "FieldChange",
    "Finding",
    "FireChange",
    "FireView",
    "FlowRow",
    "FlowView",
    "Health",
    "Kind",
    "LinkState",
    "LogRow",
    "NotificationRow",
    "OccurrenceQuery",
    "OccurrenceRow",
    "OccurrenceView",
    "Outcome",
    "Page",
    "PauseView",
    "Phase",
    "PruneReport",
    "Reason",
    "RevisionView",
    "RunView",
    "Runtimes",
    "SchedulePreview",
    "Status",
    "StepStatus",
    "StepView",
    "Timeline",
    "TimelineLane",
    "TriggerQuery",
    "TriggerRow",
    "TriggerView",
    "Who",
    "WhyNot",
    "WorkQuery",
    "WorkResult",
    "WorkRow",
    "WorkStatus",
    "WorkView",
    "WorkerView",
]
