"""Answers which Triggers there are, when each fires next, and all about one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from core.clock import epoch_seconds
from core.errors import Invalid, NotFound
from core.queries.context import Reading
from core.queries.schedules import schedule_of, trigger_fires
from core.queries.trigger_rows import row_of
from core.storage import read_history, read_triggers
from core.storage.records import TriggerRecord
from core.triggers import explain
from core.views import FireView, OccurrenceQuery, Page, TriggerQuery, TriggerRow, TriggerView

DETAIL_FIRES = 10
DETAIL_OCCURRENCES = 20


def page(reading: Reading, query: TriggerQuery, *, offset: int, limit: int | None) -> Page[TriggerRow]:
    """Return one stretch of Triggers with their last outcomes and a note on the next fire."""
    records, total = read_triggers.list_triggers(reading.tx, reading.workspace_id, query, offset=offset, limit=limit)
    recent = read_triggers.recent_letters(reading.tx, [record.uid for record in records])
    rows = tuple(replace(row_of(record), recent=recent.get(record.uid, "")) for record in records)
    return Page(rows, total, offset)


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
