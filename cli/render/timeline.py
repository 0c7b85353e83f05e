"""The timeline as text: one line a Trigger, one character a slot."""

from __future__ import annotations

from datetime import UTC, timedelta

from cli.render.table import pad, width
from cli.render.times import span, utc
from core.views import Timeline

BARS = "▁▂▃▄▅▆▇█"
PAST, FORECAST, NOTHING = "●", "○", "·"
WIDEST_NAME = 28


def timeline_text(timeline: Timeline) -> str:
    """Return the lanes, the sum as bars, hours above; past is solid, the forecast is open."""
    names = [lane.name[:WIDEST_NAME] for lane in timeline.lanes]
    size = max([len("all"), *map(width, names)])
    head = f"{utc(timeline.from_at)} … {utc(timeline.to_at)}, {span(timeline.slot_s)} a slot"
    lines = [head, f"{'':{size}}  {_hours(timeline)}", f"{pad('all', size)}  {_bars(timeline.total)}"]
    for name, lane in zip(names, timeline.lanes, strict=True):
        slots = "".join(map(_slot, lane.past, lane.forecast))
        lines.append(f"{pad(name, size)}  {slots}".rstrip())
    lines += [f"{utc(at)}  {text}" for at, text in timeline.transitions]
    return "\n".join(lines)


def _slot(past: int, forecast: int) -> str:
    return PAST if past else FORECAST if forecast else NOTHING


def _bars(totals: tuple[int, ...]) -> str:
    peak = max(totals, default=0)
    return "".join(BARS[min(7, 8 * total // (peak + 1))] if total else " " for total in totals).rstrip()


def _hours(timeline: Timeline) -> str:
    """Return clock times in UTC above their slots, as close as they fit."""
    text, slot = "", timedelta(seconds=timeline.slot_s)
    for index in range(0, len(timeline.total), 8):
        text = f"{text:{index}}" + (timeline.from_at + slot * index).astimezone(UTC).strftime("%H:%M")
    return text
