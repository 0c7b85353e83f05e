"""Answers what was decided, why, and why there is no row at an instant."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from core.clock import epoch_seconds, format_instant, from_epoch
from core.errors import Invalid
from core.queries.context import Reading, only
from core.queries.cursors import decode_cursor, encode_cursor
from core.queries.schedules import schedule_of
from core.queries.sentences import REASONS
from core.storage import read_history, read_triggers
from core.storage.records import TriggerRecord
from core.views import ChainLink, Coalesced, LinkState, OccurrenceQuery, OccurrenceRow, OccurrenceView, Page, WhyNot
from core.words import counted, duration


def page(
    reading: Reading, query: OccurrenceQuery, *, offset: int = 0, cursor: str | None = None, limit: int | None = 100
) -> Page[OccurrenceRow]:
    """Return one stretch of the history, newest first; `cursor` continues an earlier page by key."""
    after = decode_cursor(cursor) if cursor else None
    rows = read_history.list_occurrences(
        reading.tx, reading.workspace_id, query, offset=offset, after=after, limit=limit
    )
    full = limit is not None and len(rows) == limit
    if full or after is not None or (offset and not rows):
        total = read_history.count_occurrences(reading.tx, reading.workspace_id, query, again=after is not None)
    else:
        total = offset + len(rows)  # these are the last ones
    return Page(tuple(rows), total, offset, encode_cursor(rows[-1].at, rows[-1].id) if full and rows else None)


def view(reading: Reading, given: str) -> OccurrenceView:
    """Return the chain of one decision; `given` is an id or its beginning."""
    row = only(read_history.find_occurrences(reading.tx, reading.workspace_id, given), "occurrence", given)
    definition = read_history.definition_at(reading.tx, row.trigger_uid, row.generation)
    runbook = read_history.trigger_annotations(reading.tx, row.trigger_uid).get("runbook")
    return OccurrenceView(row, chain(row, definition), definition, sentence(row), runbook)


def sentence(row: OccurrenceRow) -> str:
    """Return why this row is what it is, in one sentence."""
    base = REASONS[row.reason]
    if row.is_range and row.first_at and row.last_at:
        span = f"{format_instant(row.first_at)} to {format_instant(row.last_at)}"
        return f"{row.count} nominal times from {span}: {base}" + (f" ({row.message})" if row.message else "")
    if row.coalesced:
        return _coalesced(row.coalesced)
    return f"{base}: {row.message}" if row.message else base


def _coalesced(stood_for: Coalesced) -> str:
    if stood_for.count == 1:
        return "it was missed while nobody was there to fire it, and fired once, late"
    span = f"{format_instant(stood_for.first_at)} to {format_instant(stood_for.last_at)}"
    return f"{REASONS['coalesced']}: it stands for {stood_for.count:,} nominal times from {span}"


def chain(row: OccurrenceRow, definition: dict[str, Any]) -> tuple[ChainLink, ...]:
    """Return the steps of the decision in the order in which they were taken."""
    links = [_origin(row)]
    if row.observed_at is not None and not row.is_range:
        lag = f"{_span(row.observed_at - row.due_at)} after it was due" if row.due_at else "as asked"
        links.append(ChainLink("seen", row.observed_at, lag, "info"))
    links.append(_authority(row))
    if row.reason != "denied":
        links += _policies(row, definition)
    links.append(_decision(row))
    if row.dispatched_at is not None:
        late = _span(row.dispatched_at - (row.due_at or row.admitted_at))
        links.append(ChainLink("taken by the runtime", row.dispatched_at, f"{late} after it was due", "ok"))
    if row.work_status is not None:
        state: LinkState = "stop" if row.work_status in {"failed", "cancelled"} else "ok"
        links.append(ChainLink("work", None, f"{(row.work_id or '')[:8]} is {row.work_status}", state))
    return tuple(links)


def why_not(reading: Reading, uid: str, at: datetime) -> WhyNot:
    """Explain an instant of a Trigger: its row where there is one, else why there is none."""
    record = read_triggers.trigger_record(reading.tx, uid)
    if record is None:
        raise LookupError(uid)
    try:
        schedule = schedule_of(record.definition)
    except Invalid as broken:
        return WhyNot(record.name, at, f"the schedule cannot be evaluated: {broken}", None, None, None)
    second = epoch_seconds(at)
    before, after = schedule.previous(second), schedule.next(second)
    row = read_history.occurrence_covering(reading.tx, uid, from_epoch(second))
    text = sentence(row) if row else _absence(reading, record, second, before)
    return WhyNot(record.name, at, text, row, _instant(before), _instant(after))


def _absence(reading: Reading, record: TriggerRecord, second: int, before: int | None) -> str:
    now = epoch_seconds(reading.now)
    if before != second:
        return f"the schedule ({record.words}) names no time at {format_instant(from_epoch(second))}"
    if not record.enabled:
        return "the Trigger is disabled; a disabled Trigger decides nothing"
    if second > now:
        return f"that time is still to come, in {_span(timedelta(seconds=second - now))}"
    if record.mark_at is not None and from_epoch(second) <= record.mark_at:
        return "that time lies before the Trigger was enabled or its schedule was changed; edits are never retroactive"
    return "that time is due and not decided yet: is a worker running?"


def _origin(row: OccurrenceRow) -> ChainLink:
    if row.is_range and row.first_at and row.last_at:
        span = f"{counted(row.count, 'time')}, {format_instant(row.first_at)} to {format_instant(row.last_at)}"
        return ChainLink("nominal", row.last_at, span, "info")
    if row.nominal_at is None:
        return ChainLink("asked for", row.at, f"by {row.principal}" if row.principal else row.kind, "info")
    jitter = (row.due_at - row.nominal_at) if row.due_at else timedelta()
    detail = f"due {_span(jitter)} later by jitter" if jitter else "due at the same instant"
    return ChainLink("nominal", row.nominal_at, detail, "info")


def _authority(row: OccurrenceRow) -> ChainLink:
    if row.reason == "denied":
        return ChainLink("authorised", row.admitted_at, row.message or f"{row.principal} may not run this", "stop")
    return ChainLink("authorised", row.admitted_at, f"as {row.principal}", "ok")


def _policies(row: OccurrenceRow, definition: dict[str, Any]) -> list[ChainLink]:
    misfire = definition.get("misfirePolicy", "fireOnce")
    overlap = definition.get("concurrencyPolicy", "skip")
    links: list[ChainLink] = []
    state: LinkState
    if row.reason in {"missed", "coalesced"}:
        state = "stop" if row.reason == "missed" else "info"
        threshold = definition.get("misfireThreshold", "PT1M")
        links.append(ChainLink("misfire policy", None, f"{misfire}, later than {threshold}", state))
    if row.reason in {"concurrency_skip", "on_time", "coalesced", "manual"}:
        state = "stop" if row.reason == "concurrency_skip" else "ok"
        detail = row.message if row.reason == "concurrency_skip" and row.message else overlap
        links.append(ChainLink("overlap policy", None, detail, state))
    return links


def _decision(row: OccurrenceRow) -> ChainLink:
    refused = row.outcome in {"skipped", "failed", "dropped"}
    title = "not submitted" if refused else "admitted"
    return ChainLink(title, row.admitted_at, REASONS[row.reason], "stop" if refused else "ok")


def _span(length: timedelta) -> str:
    return duration(abs(length.total_seconds()), gap=" ", fine=True)


def _instant(seconds: int | None) -> datetime | None:
    return None if seconds is None else from_epoch(seconds)
