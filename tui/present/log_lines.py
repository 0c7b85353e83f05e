"""Log lines as text: terminal codes removed, stderr told apart, wrapped or cut; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import tzinfo

from rich.cells import cell_len, chop_cells

from core.views import LogRow
from tui.present.lines import Line, Piece, Tone
from tui.present.lines import clean as harmless

_CODES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_LETTERS = {"out": " ", "err": "E", "note": "i"}
_TONES: dict[str, Tone] = {"out": "", "err": "bad", "note": "dim"}


def clean(text: str) -> str:
    """Return a log line without colour and cursor codes; only what stands after the last carriage return."""
    last = _CODES.sub("", text).rstrip("\r\n").rpartition("\r")[2]
    return harmless(last.expandtabs(4))


def render(row: LogRow, zone: tzinfo, *, cells: int, times: bool, wrap: bool, step_cells: int) -> tuple[Line, ...]:
    """Return one log line as the screen lines that it takes at this width."""
    at = row.at.astimezone(zone)
    stamp = f" {at:%H:%M:%S} " if times else " "
    head = f"{stamp}{_LETTERS[row.stream]} " + (f"{row.step_id[:step_cells]:{step_cells}} " if step_cells else "")
    tone = _TONES[row.stream]
    parts = _parts(clean(row.text), max(8, cells - cell_len(head)), wrap)
    first = (Piece(head, "bad" if row.stream == "err" else "faint"), Piece(parts[0], tone))
    return (first, *((Piece(" " * cell_len(head)), Piece(part, tone)) for part in parts[1:]))


def _parts(text: str, cells: int, wrap: bool) -> list[str]:
    return _wrapped(text, cells) if wrap else [text]


def _wrapped(text: str, cells: int) -> list[str]:
    """Return text broken after blanks; only what is longer than a line is broken inside a word."""
    rows = [""]
    for word in re.findall(r"\S+\s*|\s+", text):
        if rows[-1] and cell_len(rows[-1]) + cell_len(word.rstrip()) > cells:
            rows.append("")
        *whole, rest = chop_cells(rows[-1] + word, cells) or [""]
        rows[-1:] = [*whole, rest]
    return [row.rstrip() for row in rows if row.strip()] or [""]


def find(rows: Sequence[LogRow], text: str, start: int, step: int) -> int | None:
    """Return the next row (going round, in steps of +1 or -1) that shows the text, ignoring case."""
    wanted = text.casefold()
    if not wanted or not rows:
        return None
    order = ((start + step * (offset + 1)) % len(rows) for offset in range(len(rows)))
    return next((index for index in order if wanted in clean(rows[index].text).casefold()), None)


def step_column(rows: Sequence[LogRow]) -> int:
    """Return the width of the step column: none with a single step, never more than 12."""
    names = {row.step_id for row in rows}
    return 0 if len(names) <= 1 else min(12, max(len(name) for name in names))
