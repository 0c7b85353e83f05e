"""Work as people read it: status, length, progress, and one run's facts; pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from core.views import ACTIVE_WORK, ChainLink, LogRow, WorkRow, WorkView
from core.words import duration
from tui.present import gantt
from tui.present.bars import share
from tui.present.history import WORK_MARKS, indented, short_id, stamp
from tui.present.lines import Line, Piece, Tone, clean, line, wrap
from tui.present.times import DASH, offset, zone

STATUS_TONES: dict[str, Tone] = {
    "completed": "ok", "failed": "bad", "cancelled": "warn", "running": "busy", "queued": "busy", "pending": "dim",
    "waitingForInput": "warn", "waitingForApproval": "warn",
}  # fmt: skip
STATUS_WORDS = {"waitingForInput": "waits for input", "waitingForApproval": "waits for approval"}
SHORT_WORDS = {"waitingForInput": "input", "waitingForApproval": "approval"}
_LINKS: dict[str, Piece] = {"ok": Piece("✓ ", "ok"), "stop": Piece("✕ ", "bad"), "info": Piece("· ", "dim")}


def status(row: WorkRow, *, short: bool = False) -> Line:
    """Return mark and status; a run without anything to do says so."""
    words = SHORT_WORDS if short else STATUS_WORDS
    word = "no work" if row.result == "no_work" else words.get(row.status, row.status)
    return line(WORK_MARKS[row.status], " ", Piece(word, STATUS_TONES[row.status]))


def took(row: WorkRow, now: datetime) -> Line:
    """Return how long the Work took, or has been taking, from its first start."""
    if row.started_at is None:
        return (Piece(DASH, "faint"),)
    seconds = ((row.ended_at or now) - row.started_at).total_seconds()
    active = row.status in ACTIVE_WORK
    return (Piece(f"{seconds:.1f}s" if seconds < 10 and not active else duration(seconds), "busy" if active else ""),)


def progress(row: WorkRow, cells: int = 8) -> Line:
    """Return the steps done as a bar with figures."""
    bar = share(row.steps_done, row.steps_total, cells)
    return line(Piece(bar, STATUS_TONES[row.status]), Piece(f" {row.steps_done}/{row.steps_total}", "dim"))


def steps_figure(row: WorkRow) -> Line:
    """Return the steps done as a figure."""
    return (Piece(f"{row.steps_done}/{row.steps_total}", "dim"),)


def what(row: WorkRow) -> Line:
    """Return the error where there is one, else the Flow and its version."""
    if row.error:
        return (Piece(clean(row.error), "bad"),)
    test = Piece("test · ", "warn") if row.is_test else Piece("")
    return line(test, f"{clean(row.flow)} ", Piece(f"v{row.flow_version}", "faint"))


def name(row: WorkRow) -> str:
    """Return what a Work is called: its trigger, or its title where it has none."""
    return clean(row.trigger_name or row.title)


def glance(view: WorkView, now: datetime, zone_name: str, cells: int) -> tuple[Line, ...]:
    """Return a Work at a glance, for the pane beside the list."""
    row = view.row
    rows: list[Line] = [
        line(" ", Piece(name(row), "strong"), "  ", Piece(short_id(row.id), "dim")),
        line(" ", status(row), "  ", took(row, now), "  ", progress(row)),
        (),
        *gantt.step_lines(view.steps, now, cells),
        (),
    ]
    rows += remarks(view, cells)
    rows += [line(Piece(f" {title:9}", "dim"), part) for title, text in _facts(view, now, zone_name)
             for part in wrap(text, max(10, cells - 11))]  # fmt: skip
    return tuple(rows)


def remarks(view: WorkView, cells: int) -> list[Line]:
    """Return what one must know at once: the error, a cancel under way, a question that waits."""
    rows: list[Line] = []
    if view.row.error:
        rows += [*indented(view.row.error, cells, "bad"), ()]
    if view.cancel_requested and view.row.ended_at is None:
        rows += [*indented("cancel was asked for; it ends when the running step has ended", cells, "warn"), ()]
    if any(action.status == "pending" for action in view.actions):
        rows += [*indented("waits for an answer in the inbox: press i", cells, "warn"), ()]
    return rows


def _facts(view: WorkView, now: datetime, zone_name: str) -> list[tuple[str, str]]:
    row = view.row
    facts = [
        ("flow", f"{row.flow} v{row.flow_version}" + (" · test" if row.is_test else "")),
        ("nominal", f"{stamp(row.nominal_at, now, zone_name)} {offset(row.nominal_at, zone_name)}"
         if row.nominal_at else ""),
        ("fired", view.reason.replace("_", " ")),
        ("by", view.principal),
        ("attempts", str(row.attempts) if row.attempts > 1 else ""),
        ("runbook", view.runbook or ""),
    ]  # fmt: skip
    return [(title, text) for title, text in facts if text]


def head(row: WorkRow, now: datetime) -> Line:
    """Return what stands at the right of a run's breadcrumb."""
    return line(status(row), " ", took(row, now), "  ", progress(row), " ")


def input_output(view: WorkView, cells: int) -> tuple[Line, ...]:
    """Return the input, then each step's output, as JSON."""
    rows: list[Line] = [(Piece(" input", "head"),), *json_lines(view.input, cells)]
    for step in view.steps:
        if step.output is not None:
            code = f" · exit {step.exit_code}" if step.exit_code is not None else ""
            rows += [(), (Piece(f" output of {clean(step.step_id)}{code}", "head"),), *json_lines(step.output, cells)]
    if not any(step.output is not None for step in view.steps):
        rows += [(), (Piece(" no step has written an output", "dim"),)]
    return tuple(rows)


def json_lines(value: Any, cells: int) -> tuple[Line, ...]:
    """Return a value as indented JSON, long lines wrapped."""
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=False)
    rows: list[Line] = []
    for raw in text.splitlines():
        indent = " " * (len(raw) - len(raw.lstrip()))
        rows.extend(line(" ", *_json_pieces(part)) for part in _chop(clean(raw), max(20, cells - 2), indent))
    return tuple(rows)


def _chop(text: str, cells: int, indent: str) -> list[str]:
    parts = [text[:cells]]
    rest = text[cells:]
    room = max(10, cells - len(indent) - 2)
    while rest:
        parts.append(f"{indent}  {rest[:room]}")
        rest = rest[room:]
    return parts


def _json_pieces(text: str) -> tuple[Piece, ...]:
    key, colon, rest = text.partition('": ')
    if colon and key.lstrip().startswith('"'):
        return Piece(key + '"', "accent"), Piece(": ", "faint"), Piece(rest)
    return (Piece(text),)


def event_lines(events: tuple[ChainLink, ...], now: datetime, zone_name: str, cells: int) -> tuple[Line, ...]:
    """Return what happened to a Work, one line an event, long details wrapped."""
    rows: list[Line] = []
    for event in events:
        at = " " * 15 if event.at is None else f"{stamp(event.at, now, zone_name):15}"
        start = line(" ", Piece(at, "faint"), " ", _LINKS[event.state], Piece(f"{clean(event.title):16} ", "strong"))
        first, *more = wrap(event.detail, max(12, cells - 36), "bad" if event.state == "stop" else "")
        rows.append(line(start, first))
        rows.extend(line(" " * 36, part) for part in more)
    return tuple(rows) or ((Piece(" nothing has happened yet", "dim"),),)


def log_table(rows: Sequence[LogRow]) -> list[tuple[str, ...]]:
    """Return log lines as text, with instants in UTC, for a file."""
    return [(f"{row.at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z", row.step_id, row.stream, row.text) for row in rows]


def local(at: datetime, zone_name: str) -> str:
    """Return an instant as date and time in a zone."""
    return f"{at.astimezone(zone(zone_name)):%Y-%m-%d %H:%M:%S} {offset(at, zone_name)}"
