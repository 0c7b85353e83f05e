"""Counts the past and the forecast of many Triggers into equal slots."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from core import zones
from core.clock import epoch_seconds, from_epoch
from core.errors import Invalid, Usage
from core.queries.context import Reading
from core.queries.schedules import schedule_of
from core.storage import read_history, read_triggers
from core.storage.records import TriggerRecord
from core.views import PauseView, Timeline, TimelineLane, TriggerQuery

MAX_SLOTS = 2_000


@dataclass(frozen=True, slots=True)
class Grid:
    """Equal slots from `start`, in epoch seconds."""

    start: int
    slot_s: int
    slots: int

    @property
    def end(self) -> int:
        """Return the first second after the last slot."""
        return self.start + self.slot_s * self.slots

    def slot(self, second: float) -> int:
        """Return the slot that holds a second."""
        return int(second - self.start) // self.slot_s

    def count(self, seconds: Sequence[int]) -> tuple[int, ...]:
        """Return how many of these seconds fall into each slot."""
        counts = [0] * self.slots
        for second in seconds:
            counts[(second - self.start) // self.slot_s] += 1
        return tuple(counts)


def timeline(
    reading: Reading,
    from_at: datetime,
    to_at: datetime,
    *,
    slots: int,
    query: TriggerQuery,
    offset: int,
    limit: int | None,
) -> Timeline:
    """Return the lanes of these Triggers over [from_at, to_at); what lies ahead is the schedule's own answer."""
    grid = _grid(from_at, to_at, slots)
    records, _ = read_triggers.list_triggers(reading.tx, reading.workspace_id, query, offset=offset, limit=limit)
    uids = [record.uid for record in records]
    start, end = from_epoch(grid.start), from_epoch(grid.end)
    decided = _decided(reading, uids, start, end, grid)
    pauses = _pauses(reading, uids, start, end)
    lanes = tuple(_lane(record, grid, reading.now, decided[record.uid], pauses[record.uid]) for record in records)
    total = tuple(sum(lane.past[i] + lane.forecast[i] for lane in lanes) for i in range(grid.slots))
    return Timeline(start, end, grid.slot_s, reading.now, lanes, total, _transitions(records, grid))


class Decided(NamedTuple):
    """What the history holds of one Trigger: fires per slot and marks."""

    counts: list[int]
    marks: set[tuple[int, str]]


def _grid(from_at: datetime, to_at: datetime, slots: int) -> Grid:
    start, end = epoch_seconds(from_at), epoch_seconds(to_at)
    if end <= start:
        raise Usage("the timeline ends before it begins", "give a `to` later than `from`")
    if not 1 <= slots <= MAX_SLOTS:
        raise Usage(f"a timeline has 1 to {MAX_SLOTS} slots, not {slots}", "choose fewer")
    slot_s = max(1, -(-(end - start) // slots))
    return Grid(start, slot_s, -(-(end - start) // slot_s))


def _decided(reading: Reading, uids: list[str], start: datetime, end: datetime, grid: Grid) -> dict[str, Decided]:
    found: dict[str, Decided] = defaultdict(lambda: Decided([0] * grid.slots, set()))
    for uid, at, outcome, reason, _count, first_at, work_status in read_history.slots_of(reading.tx, uids, start, end):
        slot = grid.slot(at.timestamp())
        if outcome in {"submitted", "pending"}:
            found[uid].counts[slot] += 1
            if work_status == "failed":
                found[uid].marks.add((slot, "failed"))
        else:
            first = max(0, grid.slot(first_at.timestamp())) if first_at else slot
            kind = "failed" if outcome == "failed" else "paused" if reason == "paused" else "skipped"
            found[uid].marks.update((s, kind) for s in range(first, slot + 1))
    return found


def _pauses(reading: Reading, uids: list[str], start: datetime, end: datetime) -> dict[str, list[PauseView]]:
    found: dict[str, list[PauseView]] = defaultdict(list)
    for uid, window in read_triggers.pause_windows(reading.tx, uids, start, end):
        found[uid].append(window)
    return found


def _lane(record: TriggerRecord, grid: Grid, now: datetime, past: Decided, pauses: list[PauseView]) -> TimelineLane:
    fires = _ahead(record, grid, now)
    held = [fire for fire in fires if _covered(pauses, from_epoch(fire))]
    marks = past.marks | {(grid.slot(fire), "paused") for fire in held}
    marks |= _clock_marks(record, grid)
    free = [fire for fire in fires if fire not in set(held)] if held else fires
    return TimelineLane(
        uid=record.uid,
        name=record.name,
        namespace=record.namespace,
        time_zone=record.time_zone,
        past=tuple(past.counts),
        forecast=grid.count(free),
        marks=tuple(sorted(marks)),
    )


def _ahead(record: TriggerRecord, grid: Grid, now: datetime) -> Sequence[int]:
    """Return the nominal times in the grid that are not decided yet."""
    if not record.enabled:
        return ()
    mark = epoch_seconds(record.mark_at) if record.mark_at else epoch_seconds(now)
    try:
        schedule = schedule_of(record.definition)
    except Invalid:
        return ()
    return schedule.between(max(mark, grid.start - 1), grid.end - 1)


def _covered(pauses: list[PauseView], at: datetime) -> bool:
    return any(window.from_at <= at and (window.until_at is None or at < window.until_at) for window in pauses)


def _clock_marks(record: TriggerRecord, grid: Grid) -> set[tuple[int, str]]:
    if record.time_zone is None:
        return set()
    crossed = _crossed(record.time_zone, grid)
    return {(grid.slot(t.at), "gap" if t.offset_after > t.offset_before else "overlap") for t in crossed}


def _transitions(records: list[TriggerRecord], grid: Grid) -> tuple[tuple[datetime, str], ...]:
    names = sorted({record.time_zone for record in records if record.time_zone})
    return tuple(sorted((from_epoch(change.at), name) for name in names for change in _crossed(name, grid)))


def _crossed(zone: str, grid: Grid) -> Iterator[zones.Transition]:
    return zones.zone(zone).transitions(grid.start - 1, grid.end - 1)


def window_around(now: datetime, span: timedelta) -> tuple[datetime, datetime]:
    """Return a window of `span` whose first quarter lies in the past."""
    return now - span / 4, now + span * 3 / 4
