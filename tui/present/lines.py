"""Own the smallest drawing: pieces of text with a tone, in lines of a fixed width. No widget, no colour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from rich.cells import cell_len, set_cell_size

Tone = Literal["", "dim", "faint", "strong", "ok", "calm", "warn", "bad", "busy", "accent", "head", "hit", "key", "bar"]


class Piece(NamedTuple):
    """Text with one tone; what the tone looks like is the theme's affair."""

    text: str
    tone: Tone = ""


Line = tuple[Piece, ...]
"""One row of a screen."""


def line(*parts: str | Piece | Line) -> Line:
    """Return one line of texts, pieces and lines put side by side."""
    pieces: list[Piece] = []
    for part in parts:
        if isinstance(part, Piece):
            pieces.append(part)
        elif isinstance(part, str):
            pieces.append(Piece(part))
        else:
            pieces.extend(part)
    return tuple(piece for piece in pieces if piece.text)


def width(row: Line) -> int:
    """Return the terminal cells that a line takes."""
    return sum(cell_len(piece.text) for piece in row)


def plain(row: Line) -> str:
    """Return a line's text alone."""
    return "".join(piece.text for piece in row)


def clip(row: Line, cells: int, ellipsis: str = "…") -> Line:
    """Cut a line to `cells`, with an ellipsis where something was lost."""
    if width(row) <= cells:
        return row
    left, kept = max(cells - cell_len(ellipsis), 0), []
    for piece in row:
        size = cell_len(piece.text)
        if size > left:
            kept.append(Piece(set_cell_size(piece.text, left) + ellipsis[:cells], piece.tone))
            break
        kept.append(piece)
        left -= size
    return tuple(kept)


def clip_left(row: Line, cells: int) -> Line:
    """Keep the last `cells` of a line of single-cell characters."""
    over = width(row) - cells
    kept: list[Piece] = []
    for piece in row:
        cut = min(max(over, 0), len(piece.text))
        over -= cut
        if piece.text[cut:]:
            kept.append(Piece(piece.text[cut:], piece.tone))
    return tuple(kept)


def fit(row: Line, cells: int, align: Literal["left", "right", "centre"] = "left") -> Line:
    """Cut or fill a line to exactly `cells`."""
    row = clip(row, cells)
    space = cells - width(row)
    if not space:
        return row
    before = {"left": 0, "right": space, "centre": space // 2}[align]
    return line(" " * before, row, " " * (space - before))


def spread(left: Line, right: Line, cells: int) -> Line:
    """Set one line at the left edge and one at the right; the left one is cut when both do not fit."""
    room = max(cells - width(right) - 1, 0)
    return line(fit(left, room), " " if right else "", clip(right, cells))


def join(rows: Iterable[Line], gap: str | Piece = "  ") -> Line:
    """Put lines side by side with a gap between them."""
    joined: list[Piece] = []
    between = gap if isinstance(gap, Piece) else Piece(gap)
    for row in rows:
        if row:
            joined.extend(((between,) if joined else ()) + row)
    return tuple(joined)


def clean(text: str) -> str:
    """Make foreign text harmless in one row: control characters become blanks."""
    return "".join(mark if mark.isprintable() else " " for mark in text)


def mark_hits(row: Line, needle: str) -> Line:
    """Give each appearance of `needle` (any case) the tone `hit`."""
    if not needle:
        return row
    found: list[Piece] = []
    for piece in row:
        found.extend(_split_hits(piece, needle.lower()))
    return tuple(found)


def _split_hits(piece: Piece, needle: str) -> Iterable[Piece]:
    text, low, at = piece.text, piece.text.lower(), 0
    if len(low) != len(text):
        yield piece
        return
    while (hit := low.find(needle, at)) >= 0:
        if hit > at:
            yield Piece(text[at:hit], piece.tone)
        yield Piece(text[hit : hit + len(needle)], "hit")
        at = hit + len(needle)
    if at < len(text):
        yield Piece(text[at:], piece.tone)


def wrap(text: str, cells: int, tone: Tone = "", indent: str = "") -> tuple[Line, ...]:
    """Break text at blanks into lines of at most `cells`; `indent` opens every line after the first.

    A word that is longer than a line is broken too: nothing that a person must read is lost.
    """
    cells = max(cells, cell_len(indent) + 2)
    rows: list[str] = []
    current, fresh = "", True
    for word in clean(text).split(" "):
        trial = f"{current}{'' if fresh else ' '}{word}"
        if not fresh and cell_len(trial) > cells:
            rows.append(current)
            trial = indent + word
        while cell_len(trial) > cells:
            head = _head(trial, cells)
            rows.append(head)
            trial = indent + trial[len(head) :]
        current, fresh = trial, False
    return tuple((Piece(row, tone),) for row in (*rows, current))


def _head(text: str, cells: int) -> str:
    """Return the longest beginning of a text that fits into `cells`, wide characters whole."""
    at = 0
    for at, _ in enumerate(text, 1):
        if cell_len(text[: at + 1]) > cells:
            break
    return text[:at]
