"""Own how previewed fires read: each in the trigger's zone, in mine and in UTC, gaps and overlaps annotated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from core.views import FireView, SchedulePreview
from tui.present.lines import Line, Piece, clean, fit, join, line, width, wrap
from tui.present.times import offset, offset_text, short_zone, until, zone

GAP = 2


def preview_lines(
    preview: SchedulePreview,
    now: datetime,
    mine: str,
    cells: int,
    remarks: Sequence[Line] = (),
    *,
    notes_last: bool = False,
) -> list[Line]:
    """Return a whole preview: words, remarks, notes, fires; `notes_last` where there is room for few lines."""
    rows = list(wrap(preview.words or "the rule says nothing yet", cells, "strong"))
    notes = [row for note in preview.notes for row in wrap(f"· {note}", cells, "dim", "  ")]
    rows += remarks
    rows += [] if notes_last else [*notes, line()]
    rows += fire_lines(preview.fires, now, mine, cells)
    if preview.exhausted:
        rows.append(line(Piece("  and never again", "dim")))
    return rows + notes if notes_last else rows


def fire_lines(fires: Sequence[FireView], now: datetime, mine: str, cells: int) -> list[Line]:
    """Return a header and one row per fire; my zone and UTC give way where the width is small."""
    if not fires:
        return [line(Piece("  no fire", "dim"))]
    own = fires[0].zone or "UTC"
    others = [name for name in dict.fromkeys((mine, "UTC")) if name != own]
    short = all(fire.wall.endswith(":00") for fire in fires)
    head: list[Line] = [line(Piece(f"  {short_zone(own)}", "head"))]
    head += [line(Piece(_title(name, mine), "head")) for name in others]
    head += [line(Piece("IN", "head"))]
    table = [_cells(fire, now, others, short=short) for fire in fires]
    widths = _widths([head, *table], cells)
    rows = [_columns(head, widths)]
    for fire, row in zip(fires, table, strict=True):
        rows.append(_columns(row, widths))
        rows += _notes(fire, cells)
    return rows


def _title(name: str, mine: str) -> str:
    return f"you ({short_zone(name)})" if name == mine and name != "UTC" else short_zone(name)


def _widths(rows: Sequence[Sequence[Line]], cells: int) -> list[int]:
    """Return the columns' widths: own zone, others, how far; 0 hides one, the last of the others first."""
    own, *others, far = (max(map(width, column)) for column in zip(*rows, strict=True))
    shown = len(others)
    while shown and own + sum(GAP + size for size in (*others[:shown], far)) > cells:
        shown -= 1
    kept = (size if at < shown else 0 for at, size in enumerate(others))
    return [own, *kept, far if own + GAP + far <= cells else 0]


def _columns(row: Sequence[Line], widths: Sequence[int]) -> Line:
    return join((fit(cell, cells) for cell, cells in zip(row, widths, strict=True) if cells), " " * GAP)


def _cells(fire: FireView, now: datetime, others: Sequence[str], *, short: bool) -> list[Line]:
    wall = datetime.fromisoformat(fire.wall)
    clock = f"{wall:%H:%M}" if short else f"{wall:%H:%M:%S}"
    special = bool(fire.notes)
    own_offset = "Z" if fire.zone == "UTC" else offset_text(fire.offset_s)
    own = line(
        Piece("✕ " if fire.skipped else "! " if special else "  ", "warn"),
        Piece(f"{wall:%a} {wall.day:2} {wall:%b}{year(wall, now)} {clock}", "warn" if fire.skipped else ""),
        Piece(f" {own_offset}" if not fire.skipped else " —", "dim"),
    )
    if fire.nominal_at is None:
        return [own, *(line() for _ in others), line()]
    there = [_other(fire.nominal_at, name) for name in others]
    return [own, *there, line(Piece(until(fire.nominal_at, now), "dim"))]


def year(wall: datetime, now: datetime) -> str:
    """Return the year where it is not the present one."""
    return "" if wall.year == now.year else f" {wall.year}"


def _other(at: datetime, name: str) -> Line:
    there = at.astimezone(zone(name))
    seconds = f":{there:%S}" if there.second else ""
    return line(f"{there:%a %H:%M}{seconds}", Piece(("" if name == "UTC" else " ") + offset(at, name), "dim"))


def _notes(fire: FireView, cells: int) -> list[Line]:
    rows: list[Line] = []
    for note in fire.notes:
        rows += [line("    ", row) for row in wrap(clean(note), max(cells - 4, 10), "warn")]
    return rows
