"""The timeline's grid: how long a slot is, its axis, lanes, total row, heat calendar and cursor sentence; pure.

Counts come from `core.views.Timeline`; nothing here computes a fire time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from core.views import Timeline, TimelineLane
from core.words import counted
from tui.present.bars import BARS, heat
from tui.present.lines import Line, Piece, Tone, clean, fit, line

SPANS: tuple[timedelta, ...] = (timedelta(hours=6), timedelta(hours=24), timedelta(days=7), timedelta(days=30))
_NICE_S = (60, 120, 180, 300, 360, 600, 900, 1200, 1800, 3600, 7200, 10800, 14400, 21600, 43200, 86400)
_HOUR_S = 3600
_DAY_S = 86400
SOLID, OPEN, SKIP, FAIL, PAUSE = "●", "○", "⊘", "✕", "‖"
GAP, TWICE = "⟂", "∥"
NARROW = 3
_MARKS: dict[str, Piece] = {
    "failed": Piece(FAIL, "bad"),
    "skipped": Piece(SKIP, "warn"),
    "paused": Piece(PAUSE, "dim"),
    "gap": Piece(GAP, "faint"),
    "overlap": Piece(TWICE, "faint"),
}
_CLOCK = frozenset({"gap", "overlap"})
_SHADES: tuple[Tone, ...] = ("dim", "", "busy", "accent", "strong")


@dataclass(frozen=True, slots=True)
class Window:
    """What the timeline asks the deck for: [from_at, to_at) in `slots` equal slots of `slot_s` seconds."""

    from_at: datetime
    to_at: datetime
    slots: int
    slot_s: int


def span_words(span: timedelta) -> str:
    """Return `6 h`, `24 h`, `7 d` or `30 d`."""
    hours = int(span.total_seconds()) // _HOUR_S
    return f"{hours} h" if hours <= 24 else f"{hours // 24} d"


def slot_words(slot_s: int) -> str:
    """Return how long a slot is: 5m, 15m, 1h."""
    return f"{slot_s // 60}m" if slot_s < _HOUR_S else f"{slot_s // _HOUR_S}h"


def is_calendar(span: timedelta) -> bool:
    """Return whether a span is shown as days × hours rather than as lanes."""
    return span > timedelta(days=1)


def window_around(at: datetime, span: timedelta, columns: int, zone: tzinfo) -> Window:
    """Return the window that shows `at` near its start, its slots no finer than the columns can show.

    A calendar begins on its first day's local midnight and has one slot an hour.
    """
    if is_calendar(span):
        return _calendar_window(at, span, zone)
    length_s = int(span.total_seconds())
    slot_s = next((nice for nice in _NICE_S if length_s // nice <= max(1, columns)), _NICE_S[-1])
    lead_s = length_s // 6
    start_s = (int(at.timestamp()) - lead_s) // _HOUR_S * _HOUR_S
    start = datetime.fromtimestamp(start_s, at.tzinfo)
    return Window(start, start + span, length_s // slot_s, slot_s)


def _calendar_window(at: datetime, span: timedelta, zone: tzinfo) -> Window:
    days = int(span.total_seconds()) // _DAY_S
    first = midnight(at, zone) - timedelta(days=1 if days <= 7 else 7)
    start = midnight(first + timedelta(hours=2), zone)
    end = midnight(start + timedelta(days=days, hours=2), zone)
    hours = int((end - start).total_seconds()) // _HOUR_S
    return Window(start, start + timedelta(hours=hours), hours, _HOUR_S)


def midnight(at: datetime, zone: tzinfo) -> datetime:
    """Return the instant at which the local day of `at` begins."""
    local = at.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    return local.astimezone(at.tzinfo)


def held_order(timeline: Timeline, uids: Sequence[str]) -> Timeline:
    """Return the timeline with the lanes that were known before in their order, new ones after them."""
    place = {uid: at for at, uid in enumerate(uids)}
    lanes = sorted(timeline.lanes, key=lambda lane: place.get(lane.uid, len(place)))
    return replace(timeline, lanes=tuple(lanes))


def lanes_words(first: int, shown: int, total: int) -> str:
    """Return how many lanes there are, and which of them are shown where not all are."""
    if shown >= total:
        return counted(total, "trigger")
    return f"triggers {first + 1:,}–{first + shown:,} of {total:,}"


def slot_start(timeline: Timeline, slot: int) -> datetime:
    """Return the instant at which a slot begins."""
    return timeline.from_at + timedelta(seconds=slot * timeline.slot_s)


def now_slot(timeline: Timeline) -> int | None:
    """Return the slot that holds the present, None outside the window."""
    slot = int((timeline.now - timeline.from_at).total_seconds()) // timeline.slot_s
    return slot if 0 <= slot < len(timeline.total) else None


def axis(timeline: Timeline, zone: tzinfo) -> str:
    """Return the hour labels above the slots, as many as stand apart."""
    cells = [" "] * len(timeline.total)
    room = 0
    for slot in range(len(cells)):
        local = slot_start(timeline, slot).astimezone(zone)
        if slot < room or local.minute * 60 + local.second >= timeline.slot_s or slot + 2 > len(cells):
            continue
        cells[slot : slot + 2] = f"{local.hour:02}"
        room = slot + 3
    return "".join(cells)


def axis_row(timeline: Timeline, zone: tzinfo) -> Line:
    """Return the axis with the present marked in it."""
    text, now = axis(timeline, zone), now_slot(timeline)
    if now is None:
        return (Piece(text, "head"),)
    start = now - 1 if text[now] != " " and now and text[now - 1].isdigit() else now
    if text[start] == " ":
        return line(Piece(text[:start], "head"), Piece("▾", "key"), Piece(text[start + 1 :], "head"))
    return line(Piece(text[:start], "head"), Piece(text[start : start + 2], "key"), Piece(text[start + 2 :], "head"))


def lane_sum(lane: TimelineLane, room: int) -> Line:
    """Return how often a lane fires in the window, nothing where `room` cells do not hold all of the figure."""
    count = sum(lane.past) + sum(lane.forecast)
    figure = f" {count:,}×" if count else ""
    return (Piece(figure if len(figure) <= room else "", "faint"),)


def transition_slots(timeline: Timeline) -> dict[int, str]:
    """Return the slots in which the display zone changes its offset, with core's words for it."""
    found: dict[int, str] = {}
    for at, words in timeline.transitions:
        slot = int((at - timeline.from_at).total_seconds()) // timeline.slot_s
        if 0 <= slot < len(timeline.total):
            found[slot] = words
    return found


def total_row(timeline: Timeline) -> Line:
    """Return the total row: a bar per slot, offset changes marked."""
    marks = transition_slots(timeline)
    bars = heat(timeline.total)
    return tuple(Piece(GAP, "warn") if slot in marks else Piece(bar, "accent") for slot, bar in enumerate(bars))


def lane_row(lane: TimelineLane) -> Line:
    """Return a lane's cells: past solid, forecast light, the worst mark of a slot over both."""
    cells = [_count_cell(past, coming) for past, coming in zip(lane.past, lane.forecast, strict=True)]
    for slot, kind in sorted(lane.marks, key=lambda mark: list(_MARKS).index(mark[1]), reverse=True):
        if 0 <= slot < len(cells) and (kind not in _CLOCK or cells[slot].text == " "):
            cells[slot] = _MARKS[kind]
    return tuple(cells)


def _count_cell(past: int, coming: int) -> Piece:
    if past:
        return Piece(SOLID, "ok")
    return Piece(OPEN, "dim") if coming else Piece(" ")


def names_at(timeline: Timeline, slot: int) -> tuple[tuple[TimelineLane, int], ...]:
    """Return the lanes that fire in a slot with their counts, the busiest first."""
    found = [(lane, lane.past[slot] + lane.forecast[slot]) for lane in timeline.lanes]
    return tuple(sorted(((lane, count) for lane, count in found if count), key=lambda pair: -pair[1]))


def decided_at(timeline: Timeline, slot: int) -> bool:
    """Tell whether the history holds anything of a slot: fires, or what was skipped, failed or paused."""
    kinds = {"skipped", "failed", "paused"}
    return any(lane.past[slot] or (slot, kind) in lane.marks for lane in timeline.lanes for kind in kinds)


def cursor_words(timeline: Timeline, slot: int, zone: tzinfo, cells: int) -> str:
    """Return what fires in the slot under the cursor, in one sentence of at most `cells` characters."""
    start = slot_start(timeline, slot).astimezone(zone)
    when = f"{start:%a %H:%M}" if timeline.slot_s < _DAY_S else f"{start:%a %d %b}"
    firing = names_at(timeline, slot)
    if not firing:
        return f"cursor {when}  nothing fires" + _mark_words(timeline, slot)
    past = slot_start(timeline, slot) + timedelta(seconds=timeline.slot_s) <= timeline.now
    past = past or not any(lane.forecast[slot] for lane, _ in firing)
    verb = "fired" if past else ("fires" if len(firing) == 1 else "fire")
    head = f"cursor {when}  {counted(len(firing), 'trigger')} {verb}: "
    return head + _names(firing, max(8, cells - len(head)))


def cursor_lines(timeline: Timeline, slot: int, area: tzinfo, cells: int) -> tuple[Line, ...]:
    """Return what fires in the slot under the cursor, as the line below the strip."""
    words = cursor_words(timeline, slot, area, cells - 2)
    marks = transition_slots(timeline)
    note = f" · the clock changes here ({marks[slot]})" if slot in marks else ""
    head, _, rest = words.partition("  ")
    return (line(" ", Piece(head, "strong"), "  ", rest, Piece(note, "warn")),)


def _mark_words(timeline: Timeline, slot: int) -> str:
    marked = [(clean(lane.name), kind) for lane in timeline.lanes for at, kind in lane.marks if at == slot]
    return "".join(f" · {name} {kind}" for name, kind in marked[:3])


def _names(firing: tuple[tuple[TimelineLane, int], ...], cells: int) -> str:
    words = [clean(lane.name) + (f" ×{count}" if count > 1 else "") for lane, count in firing]
    for shown in range(len(words), 0, -1):
        rest = f" +{len(words) - shown}" if shown < len(words) else ""
        if len(text := " ".join(words[:shown]) + rest) <= cells:
            return text
    return words[0][: cells - 1] + "…"


def busiest(timeline: Timeline) -> int | None:
    """Return the slot with the most fires, the first of equals; None where nothing fires."""
    top = max(timeline.total, default=0)
    return timeline.total.index(top) if top else None


# -- the heat calendar --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CalendarDay:
    """One local day: its label, and for each of 24 hours the slot and count, None where the hour does not exist."""

    label: str
    begins: datetime
    hours: tuple[tuple[int, int] | None, ...]
    total: int
    note: str = ""


def calendar(timeline: Timeline, zone: tzinfo) -> tuple[CalendarDay, ...]:
    """Return the timeline as local days × 24 hours; an hour that happens twice carries both its counts."""
    days: dict[str, list[tuple[int, int] | None]] = {}
    starts: dict[str, datetime] = {}
    for slot, count in enumerate(timeline.total):
        local = slot_start(timeline, slot).astimezone(zone)
        label = f"{local:%a %d %b}"
        starts.setdefault(label, slot_start(timeline, slot))
        row = days.setdefault(label, [None] * 24)
        before = row[local.hour]
        row[local.hour] = (before[0], before[1] + count) if before else (slot, count)
    notes = {f"{at.astimezone(zone):%a %d %b}": words for at, words in timeline.transitions}
    return tuple(
        CalendarDay(label, starts[label], tuple(row), sum(hour[1] for hour in row if hour), notes.get(label, ""))
        for label, row in days.items()
    )


def heat_cell(count: int, top: int, cells: int) -> Piece:
    """Return one calendar cell: a count (shortened) in the colour of its share of the greatest."""
    if not count:
        return Piece("·".center(cells), "faint")
    shade = _SHADES[min(len(_SHADES) - 1, count * len(_SHADES) // (top + 1))]
    if cells < NARROW and top > 9:  # figures would run into each other: a bar says as much
        return Piece(BARS[min(7, (count * 8 - 1) // top)].ljust(cells), shade)
    return Piece(short_count(count, max(cells - 1, 2)).center(cells), shade)


def short_count(count: int, cells: int) -> str:
    """Return a count in at most `cells` characters: 7, 312, 3k, 12k."""
    text = str(count)
    if len(text) <= cells:
        return text
    return f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"


def lane_label(lane: TimelineLane, cells: int) -> Line:
    """Return a lane's name, faint where the lane has nothing in the window."""
    busy = any(lane.past) or any(lane.forecast)
    return fit(line(Piece(clean(lane.name), "" if busy else "faint")), cells)
