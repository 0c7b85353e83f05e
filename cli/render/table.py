"""Aligned text tables; colour is added only where the reader is a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

GREEN, YELLOW, RED, CYAN, DIM = "green", "yellow", "red", "cyan", "bright_black"
STATE_COLOURS = {
    "submitted": GREEN, "completed": GREEN, "scheduled": GREEN, "running": CYAN, "queued": CYAN, "pending": CYAN,
    "success": GREEN, "skipped": YELLOW, "paused": YELLOW, "waitingForInput": YELLOW, "waitingForApproval": YELLOW,
    "deferred": YELLOW, "no_work": DIM, "disabled": DIM, "cancelled": DIM, "failed": RED, "denied": RED,
    "degraded": RED, "stale": RED, "expired": RED, "draining": YELLOW, "created": GREEN, "configured": YELLOW,
    "deleted": RED, "unchanged": DIM,
}  # fmt: skip


def table(titles: Sequence[str], rows: Iterable[Sequence[object]], *, colour: bool = False) -> str:
    """Return titles and rows as aligned columns, two blanks apart; empty cells are an em dash."""
    grid = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(titles, *grid, strict=True)]
    lines = ["  ".join(pad(title, size) for title, size in zip(titles, widths, strict=True)).rstrip()]
    lines += [_line(row, widths, colour=colour) for row in grid]
    return "\n".join(lines)


def width(text: str) -> int:
    """Return how many terminal cells a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, size: int) -> str:
    """Return text filled with blanks up to `size` cells."""
    return text + " " * (size - width(text))


def paint(text: str) -> str:
    """Return a state's word in its colour."""
    import click

    return click.style(text, fg=STATE_COLOURS[text]) if text in STATE_COLOURS else text


def _line(row: Sequence[str], widths: Sequence[int], *, colour: bool) -> str:
    cells = [pad(cell, size) for cell, size in zip(row, widths, strict=True)]
    if colour:
        cells = [padded.replace(cell, paint(cell), 1) for cell, padded in zip(row, cells, strict=True)]
    return "  ".join(cells).rstrip()


def _cell(value: object) -> str:
    text = "—" if value is None or value == "" else str(value)
    return _printable(text)


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " for char in text)
