"""Make a list row of a Trigger's record; nothing here needs a database library."""

from __future__ import annotations

from collections.abc import Mapping

from core.clock import epoch_seconds
from core.errors import Invalid
from core.queries.schedules import next_note, schedule_of
from core.storage.records import TriggerRecord
from core.triggers import Schedule, short_words
from core.views.triggers import TriggerRow


def row_of(record: TriggerRecord) -> TriggerRow:
    """Return a record as a list row, without its last outcomes."""
    schedule = _schedule(record)
    return TriggerRow(
        uid=record.uid,
        namespace=record.namespace,
        name=record.name,
        display_name=record.definition.get("displayName") or record.name,
        enabled=record.enabled,
        phase=record.phase,  # type: ignore[arg-type]  # the column holds a Phase
        words=record.words,
        time_zone=record.time_zone,
        next_nominal_at=record.next_nominal_at,
        next_due_at=record.next_due_at,
        last_fired_at=record.last_fired_at,
        last_outcome=record.last_outcome,
        last_error=record.last_error_message or record.last_error_code,
        flow=_flow(record),
        tags=tuple(record.tags or ()),
        next_note=_next_note(record, schedule),
        active_work=record.active_work,
        summary=short_words(schedule) if schedule else record.words,
    )


def _flow(record: TriggerRecord) -> str:
    target = record.definition.get("target")
    flow = target.get("flow") if isinstance(target, Mapping) else None
    elsewhere = record.flow_namespace != record.namespace
    name = f"{record.flow_namespace}/{record.flow_name}" if elsewhere else record.flow_name
    version = flow.get("version") if isinstance(flow, Mapping) else None
    return f"{name}@{version}" if version is not None else name


def _schedule(record: TriggerRecord) -> Schedule | None:
    """Return the schedule of a record, None where it cannot be evaluated."""
    try:
        return schedule_of(record.definition)
    except Invalid:
        return None


def _next_note(record: TriggerRecord, schedule: Schedule | None) -> str:
    if schedule is None or record.next_nominal_at is None or record.phase == "degraded":
        return ""
    return next_note(schedule, epoch_seconds(record.next_nominal_at))
