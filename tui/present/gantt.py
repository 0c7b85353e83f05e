"""A run's steps as bars on one scale of time; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.views import StepView
from core.words import duration
from tui.present.lines import Line, Piece, Tone, clean, fit, line
from tui.present.times import DASH

_MARKS: dict[str, Piece] = {
    "completed": Piece("✓", "ok"),
    "failed": Piece("✕", "bad"),
    "running": Piece("…", "busy"),
    "waiting": Piece("◇", "warn"),
    "skipped": Piece("⊘", "dim"),
    "cancelled": Piece("⊘", "warn"),
    "pending": Piece("·", "faint"),
}
_TONES: dict[str, Tone] = {"completed": "ok", "failed": "bad", "running": "busy", "waiting": "warn"}
_WORD_TONES: dict[str, Tone] = {"failed": "bad", "running": "busy", "waiting": "warn"}
NAME_CELLS, TIME_CELLS = 14, 7


@dataclass(frozen=True, slots=True)
class _Chart:
    """What all bars of one drawing share."""

    now: datetime
    first: datetime
    seconds: float
    name_cells: int
    bar_cells: int
    summary_cells: int


def scale(steps: Sequence[StepView], now: datetime) -> tuple[datetime, float]:
    """Return the first start and the seconds from there to the last end (or now), at least a tenth of a second."""
    starts = [step.started_at for step in steps if step.started_at]
    if not starts:
        return now, 0.1
    first = min(starts)
    ends = [step.ended_at or now for step in steps if step.started_at]
    return first, max(0.1, (max(ends) - first).total_seconds())


def step_lines(steps: Sequence[StepView], now: datetime, cells: int, cursor: int = -1) -> tuple[Line, ...]:
    """Return one line a step: name, bar, length, mark and what it says; the bar takes what is left of `cells`."""
    name_cells = min(NAME_CELLS, max((len(step.step_id) for step in steps), default=4))
    summary_cells = max(12, min(34, (cells - name_cells - TIME_CELLS) // 3))
    bar_cells = max(8, cells - name_cells - TIME_CELLS - summary_cells - 9)
    first, seconds = scale(steps, now)
    chart = _Chart(now, first, seconds, name_cells, bar_cells, summary_cells)
    return tuple(_step_line(step, chart, step.position == cursor) for step in steps)


def _step_line(step: StepView, chart: _Chart, here: bool) -> Line:
    return line(
        Piece("▸ " if here else "  ", "accent"),
        fit((Piece(clean(step.step_id), "strong" if here else ""),), chart.name_cells),
        Piece(" ▕", "faint"),
        _bar(step, chart),
        Piece("▏ ", "faint"),
        fit((Piece(length(step, chart.now), "dim"),), TIME_CELLS),
        _MARKS[step.status],
        fit((Piece(" " + says(step, chart.now), _WORD_TONES.get(step.status, "dim")),), chart.summary_cells),
    )


def _bar(step: StepView, chart: _Chart) -> Line:
    first, seconds, cells = chart.first, chart.seconds, chart.bar_cells
    if step.started_at is None:
        return (Piece(" " * cells),)
    start = _cell(step.started_at, first, seconds, cells)
    end = max(start + 1, _cell(step.ended_at or chart.now, first, seconds, cells, up=True))
    before, after, taken = " " * start, " " * (cells - end), end - start
    if step.status == "waiting":
        return (Piece(before), Piece("─" * (taken - 1), "faint"), Piece("◇", "warn"), Piece(after))
    if step.status == "running":
        return (Piece(before), Piece("▓" * (taken - 1) + "▒", "busy"), Piece(after))
    return (Piece(before), Piece("█" * taken, _TONES.get(step.status, "dim")), Piece(after))


def _cell(at: datetime, first: datetime, seconds: float, cells: int, *, up: bool = False) -> int:
    share = (at - first).total_seconds() / seconds * cells
    return min(cells if up else cells - 1, max(0, int(share + 0.999) if up else int(share)))


def length(step: StepView, now: datetime) -> str:
    """Return how long a step took or has been taking."""
    if step.started_at is None:
        return DASH
    seconds = ((step.ended_at or now) - step.started_at).total_seconds()
    return f"{seconds:.1f}s" if seconds < 10 else duration(seconds)


def says(step: StepView, now: datetime) -> str:
    """Return the newest word about a step: its error, what it waits for, or its summary."""
    if step.error:
        return clean(step.error)
    if step.status == "waiting":
        return "in the inbox" if step.kind == "ask" else _left(step.resume_at, now)
    retry = f"attempt {step.attempt}" if step.attempt > 1 else ""
    told = _span_words(step.summary) if step.kind == "wait" else clean(step.summary)
    return " · ".join(part for part in (told, retry) if part)


def _left(resume_at: datetime | None, now: datetime) -> str:
    return "waits" if resume_at is None else f"{duration((resume_at - now).total_seconds())} left"


_SPAN = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


def _span_words(text: str) -> str:
    """Return an ISO-8601 length of days and times as `2m10s`; other texts stay."""
    match = _SPAN.fullmatch(text)
    if not match or text in {"P", "PT"}:
        return clean(text)
    parts = (float(part or 0) for part in match.groups())
    return "waits " + duration(sum(part * size for part, size in zip(parts, (86400, 3600, 60, 1), strict=True)))
