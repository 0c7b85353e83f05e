"""Own how columns share a width: which stay, which go first, how wide each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tui.present.lines import Line, Piece, clip_left, fit, line

GAP = 2
LEAST = 8


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `width` cells at least; `grow` shares what is left, up to `most` cells.

    Where the width does not suffice, the column with the highest `drop` goes first; 0 never goes. A cell whose
    `newest_right` is set is cut at its left end.
    """

    key: str
    title: str
    width: int
    drop: int = 0
    grow: int = 0
    most: int = 200
    align: Literal["left", "right"] = "left"
    sort: str = ""
    newest_right: bool = False


def layout(columns: Sequence[Column], cells: int) -> tuple[int, ...]:
    """Return each column's width in `cells`, 0 for the ones that do not fit."""
    shown = list(columns)
    while len(shown) > 1 and _needed(shown) > cells:
        gone = max(shown, key=lambda column: (column.drop, columns.index(column)))
        if not gone.drop:
            break
        shown.remove(gone)
    widths = {column.key: column.width for column in shown}
    _grow(shown, widths, cells - _needed(shown))
    _shrink(shown, widths, _needed(shown) - cells)
    return tuple(widths.get(column.key, 0) for column in columns)


def _needed(shown: Sequence[Column]) -> int:
    return sum(column.width for column in shown) + GAP * (len(shown) - 1)


def _grow(shown: Sequence[Column], widths: dict[str, int], spare: int) -> None:
    growers = [column for column in shown if column.grow]
    while spare > 0 and growers:
        share = max(spare // sum(column.grow for column in growers), 1)
        for column in list(growers):
            extra = min(share * column.grow, column.most - widths[column.key], spare)
            widths[column.key] += extra
            spare -= extra
            if widths[column.key] >= column.most:
                growers.remove(column)


def _shrink(shown: Sequence[Column], widths: dict[str, int], over: int) -> None:
    """Take what is too much from the columns that would grow, the widest first, so that their cells are cut visibly."""
    for column in sorted((column for column in shown if column.grow), key=lambda column: -column.width):
        less = max(0, min(over, column.width - LEAST))
        widths[column.key] -= less
        over -= less


def header_line(columns: Sequence[Column], widths: Sequence[int], sort: str = "", *, descending: bool = False) -> Line:
    """Return the titles; an arrow stands at the one that orders the rows."""
    titles = []
    for column in columns:
        arrow = (" ↓" if descending else " ↑") if sort and column.sort == sort else ""
        titles.append((Piece(column.title.upper() + arrow, "strong" if arrow else "head"),))
    return row_line(titles, columns, widths)


def row_line(cells: Sequence[Line], columns: Sequence[Column], widths: Sequence[int]) -> Line:
    """Return one row: each cell cut or filled to its column."""
    parts: list[Line] = []
    for cell, column, cells_wide in zip(cells, columns, widths, strict=True):
        if cells_wide:
            kept = clip_left(cell, cells_wide) if column.newest_right else cell
            parts.append(fit(kept, cells_wide, column.align))
    return line(*_between(parts))


def _between(parts: Sequence[Line]) -> list[Line]:
    spaced: list[Line] = []
    for part in parts:
        if spaced:
            spaced.append((Piece(" " * GAP),))
        spaced.append(part)
    return spaced
