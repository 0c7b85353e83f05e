"""Answers which Triggers there are, when each fires next, and all about one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from core.clock import epoch_seconds
from core.errors import Invalid, NotFound
from core.queries.context import Reading
from core.queries.schedules import next_note, schedule_of, trigger_fires
from core.storage import read_history, read_triggers
from core.storage.read_triggers import TriggerRecord
from core.triggers import Schedule, explain, short_words
from core.views import FireView, OccurrenceQuery, Page, TriggerQuery, TriggerRow, TriggerView

DETAIL_FIRES = 10
DETAIL_OCCURRENCES = 20


def page(reading: Reading, query: TriggerQuery, *, offset: int, limit: int | None) -> Page[TriggerRow]:
    """Return one stretch of Triggers with their last outcomes and a note on the next fire."""
    records, total = read_triggers.list_triggers(reading.tx, reading.workspace_id, query, offset=offset, limit=limit)
    recent = read_triggers.recent_letters(reading.tx, [record.uid for record in records])
    rows = tuple(replace(row_of(record), recent=recent.get(record.uid, "")) for record in records)
    return Page(rows, total, offset)


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


def view(reading: Reading, uid: str, manifest: dict[str, Any], etag: str) -> TriggerView:
    """Return all about one Trigger; `manifest` and `etag` come from its resource."""
    record = read_triggers.trigger_record(reading.tx, uid)
    if record is None:
        raise NotFound("the Trigger has no state", "start a worker once; it reconciles at its start")
    row = replace(row_of(record), recent=read_triggers.recent_letters(reading.tx, [uid]).get(uid, ""))
    words, notes, fires = _forecast(reading, record)
    query = OccurrenceQuery(trigger=record.name, namespace=record.namespace)
    return TriggerView(
        row=row,
        manifest=manifest,
        etag=etag,
        generation=record.generation,
        phase=row.phase,
        words=words,
        notes=notes,
        fires=fires,
        pause=read_triggers.covering_pause(reading.tx, uid, reading.now),
        mark_at=record.mark_at,
        conditions=tuple(record.conditions or ()),
        scope=record.scope,
        last_occurrences=tuple(
            read_history.list_occurrences(reading.tx, reading.workspace_id, query, limit=DETAIL_OCCURRENCES)
        ),
        active_work=tuple(read_history.active_works_of(reading.tx, uid)),
        failures_30d=read_history.failed_since(reading.tx, uid, reading.now - timedelta(days=30)),
    )


def _forecast(reading: Reading, record: TriggerRecord) -> tuple[str, tuple[str, ...], tuple[FireView, ...]]:
    try:
        schedule = schedule_of(record.definition)
    except Invalid as broken:
        return record.words, (str(broken),), ()
    after = epoch_seconds(record.mark_at) if record.mark_at and record.enabled else epoch_seconds(reading.now)
    told = explain(schedule)
    fires = trigger_fires(schedule, after, DETAIL_FIRES, workspace_id=reading.workspace_id, uid=record.uid)
    return told.words, tuple(told.notes), fires


def _flow(record: TriggerRecord) -> str:
    target = (record.definition.get("target") or {}).get("flow") or {}
    elsewhere = record.flow_namespace != record.namespace
    name = f"{record.flow_namespace}/{record.flow_name}" if elsewhere else record.flow_name
    version = target.get("version")
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
