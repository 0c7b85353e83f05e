"""Previews of rules: the evaluator's own answers as views; no fire time is computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from core.admission.identity import due_time
from core.clock import epoch_seconds, from_epoch
from core.errors import Fault, Invalid, ScheduleInvalid
from core.triggers import Fire, Schedule, explain, fire_notes, known_schedule, parse_schedule, preview
from core.views import FireChange, FireView, SchedulePreview

PREVIEW_LIMIT = 10_000
_MOVED_WITHIN_S = 86_400


def schedule_of(definition: Mapping[str, Any]) -> Schedule:
    """Return the schedule of a Trigger's definition; raise `ScheduleInvalid` where it says nothing."""
    rule = rule_of(definition)
    if not rule:
        raise ScheduleInvalid([Fault("schedule", "cannot be read", "apply the Trigger again")])
    return known_schedule(rule)


def rule_of(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schedule as a Trigger's definition spells it, nothing where it holds none."""
    source = definition.get("source")
    rule = source.get("schedule") if isinstance(source, Mapping) else None
    return rule if isinstance(rule, Mapping) else {}


def preview_rule(
    rule: Mapping[str, Any], after: datetime, *, count: int | None, until: datetime | None
) -> SchedulePreview:
    """Return the next fires of a rule, its words and notes; faults instead of an exception where it says nothing."""
    try:
        schedule = parse_schedule(rule)
    except Invalid as broken:
        return SchedulePreview((), True, "", faults=broken.faults)
    limit = PREVIEW_LIMIT if count is None else min(count, PREVIEW_LIMIT)
    end = None if until is None else epoch_seconds(until)
    fires = tuple(map(_fire_view, preview(schedule, epoch_seconds(after), limit, end, skipped=True)))
    told = explain(schedule)
    return SchedulePreview(
        fires=fires,
        exhausted=sum(not fire.skipped for fire in fires) < limit and end is None,
        words=told.words,
        notes=tuple(told.notes),
        next_transition=_next_transition(schedule, after),
    )


def trigger_fires(schedule: Schedule, after: int, count: int, *, workspace_id: str, uid: str) -> tuple[FireView, ...]:
    """Return the next fires of a saved Trigger with their due times."""
    due = partial(due_time, schedule, workspace_id, uid)
    return tuple(map(_fire_view, preview(schedule, after, count, skipped=True, due=due)))


def next_note(schedule: Schedule, nominal: int) -> str:
    """Return what is special about one fire: a gap, an overlap, or nothing."""
    return next(fire_notes(schedule, nominal), "")


def fire_change(before: Mapping[str, Any] | None, after: Mapping[str, Any], now: datetime, days: int) -> FireChange:
    """Return how an edit moves the fires of the coming days; a missing or invalid rule has none.

    Rules that fire too often are compared only as far as the fires of both are known.
    """
    end = epoch_seconds(now + timedelta(days=days))
    lists = [_fires(rule, epoch_seconds(now), end) for rule in (before, after)]
    known = min((fires[-1] for fires in lists if len(fires) == PREVIEW_LIMIT), default=None)
    old, new = ({fire for fire in fires if known is None or fire <= known} for fires in lists)
    removed, added = sorted(old - new), sorted(new - old)
    moved = _pairs(removed, added) if len(removed) == len(added) else ()
    if moved:
        removed, added = [], []
    until = None if known is None else from_epoch(known)
    return FireChange(_instants(added), _instants(removed), len(old & new), moved, until)


def _fires(rule: Mapping[str, Any] | None, start: int, end: int) -> Sequence[int]:
    if rule is None:
        return ()
    try:
        return parse_schedule(rule).between(start, end, PREVIEW_LIMIT)
    except Invalid:
        return ()


def _pairs(removed: list[int], added: list[int]) -> tuple[tuple[datetime, datetime], ...]:
    """Return old and new time in pairs where each moved by less than a day, else nothing."""
    pairs = list(zip(removed, added, strict=True))
    if any(abs(a - b) > _MOVED_WITHIN_S for a, b in pairs):
        return ()
    return tuple((from_epoch(a), from_epoch(b)) for a, b in pairs)


def _instants(seconds: list[int]) -> tuple[datetime, ...]:
    return tuple(map(from_epoch, seconds))


def _next_transition(schedule: Schedule, after: datetime) -> datetime | None:
    if schedule.zone is None:
        return None
    transition = schedule.zone.next_transition(epoch_seconds(after))
    return from_epoch(transition.at) if transition else None


def _fire_view(fire: Fire) -> FireView:
    return FireView(
        nominal_at=None if fire.nominal is None else from_epoch(fire.nominal),
        due_at=None if fire.due is None else from_epoch(fire.due),
        wall=fire.wall,
        offset_s=fire.offset_s,
        abbreviation=fire.abbreviation,
        zone=fire.zone,
        notes=tuple(fire.notes),
        skipped=fire.nominal is None,
    )
