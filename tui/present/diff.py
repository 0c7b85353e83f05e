"""Own how two or three documents differ, field by field."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.views import FieldChange, FireChange
from tui.present.lines import Line, Piece, Tone, clean, fit, line, width, wrap
from tui.present.times import full

SERVER = ("uid", "tenantId", "workspaceId", "generation", "eTag", "createdAt", "updatedAt", "executionScope")
NOTHING = "—"


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """Return leaf values by dotted path; lists and empty mappings are leaves; what the server owns is left out."""
    if not isinstance(value, Mapping) or not value:
        return {path: value} if path else {}
    leaves: dict[str, Any] = {}
    for key, below in value.items():
        if key not in SERVER and not (path == "" and key == "status"):
            leaves |= flat(below, f"{path}.{key}" if path else str(key))
    return leaves


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """One field in three documents; in conflict where both sides changed it differently."""

    path: str
    base: Any
    theirs: Any
    mine: Any

    @property
    def conflict(self) -> bool:
        """Tell whether both sides changed it, and not to the same."""
        return self.theirs not in (self.base, self.mine) and self.mine != self.base


def three_way(base: Mapping[str, Any], theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> tuple[ThreeWay, ...]:
    """Return each field that either side changed."""
    sides = flat(base), flat(theirs), flat(mine)
    paths = dict.fromkeys(path for side in sides for path in side)
    rows = (ThreeWay(path, *(side.get(path) for side in sides)) for path in paths)
    return tuple(row for row in rows if not row.base == row.theirs == row.mine)


def value_text(value: Any) -> str:
    """Return a value in one line."""
    if value is None:
        return NOTHING
    return clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def change_lines(
    changes: Sequence[FieldChange], fires: FireChange, zone: str, cells: int, notes: Sequence[str] = ()
) -> list[Line]:
    """Return what a save changes: how many fires of the coming days, the fields, then the fires themselves."""
    span = "in 14 days" if fires.until_at is None else f"until {full(fires.until_at, zone)}"
    rows: list[Line] = [line(Piece(f"FIRES {span.upper()}  ", "head"), *fire_counts(fires))]
    for note in notes:
        rows += wrap(f"· {note}", cells, "warn", "  ")
    rows += [line(), line(Piece("FIELDS", "head"))]
    if not changes:
        rows.append(line(Piece("  nothing", "dim")))
    for change in changes:
        rows += _field(change, cells)
    if fires.added or fires.removed or fires.moved:
        rows += [line(), line(Piece("FIRST OF THEM", "head"))]
    rows += [line(Piece(f"  + {full(at, zone)}", "ok")) for at in fires.added[:5]]
    rows += [line(Piece(f"  − {full(at, zone)}", "bad")) for at in fires.removed[:5]]
    rows += [
        line(Piece(f"  {full(old, zone)} ", "dim"), "→ ", Piece(_moved(old, new, zone), "warn"))
        for old, new in fires.moved[:5]
    ]
    return rows


def _field(change: FieldChange, cells: int) -> list[Line]:
    """Return one field: on one line where it is new or gone and short, else each side on its own."""
    path = clean(change.path.removeprefix("definition."))
    sides = [side for side in (("−", change.before, "bad"), ("+", change.after, "ok")) if side[1] is not None]
    if len(sides) == 1:
        mark, value, tone = sides[0]
        row = line(Piece(f"  {path:<24} ", "strong"), Piece(f"{mark} {value_text(value)}", _tone(tone)))
        if width(row) <= cells:
            return [row]
    rows = [line(Piece(f"  {path}", "strong"))]
    for mark, value, tone in sides:
        rows += _side(mark, value, _tone(tone), cells)
    return rows


def _tone(name: str) -> Tone:
    return "ok" if name == "ok" else "bad"


def _moved(old: datetime, new: datetime, zone: str) -> str:
    text = full(new, zone)
    return text[16:].strip() if text[:15] == full(old, zone)[:15] else text


def _side(mark: str, value: Any, tone: Tone, cells: int) -> list[Line]:
    return [line("    ", row) for row in wrap(f"{mark} {value_text(value)}", max(cells - 4, 10), tone, "  ")[:4]]


def fire_counts(fires: FireChange) -> Line:
    """Return `+1 −0 moved 3`, quiet where nothing changes."""

    def tone(count: int, loud: Any) -> Any:
        return loud if count else "dim"

    return line(
        Piece(f"+{len(fires.added):,} ", tone(len(fires.added), "ok")),
        Piece(f"−{len(fires.removed):,} ", tone(len(fires.removed), "bad")),
        Piece(f"moved {len(fires.moved):,} ", tone(len(fires.moved), "warn")),
        Piece(f"kept {fires.kept:,}", "dim"),
    )


def conflict_lines(rows: Sequence[ThreeWay], cells: int) -> list[Line]:
    """Return a table of field, base, theirs and mine."""
    share = max((cells - 28 - 6) // 3, 8)
    widths = (28, share, share, share)
    lines = [
        _table([line(Piece(title, "head")) for title in ("FIELD", "YOU BEGAN WITH", "STORED NOW", "YOURS")], widths)
    ]
    for row in rows:
        mark = Piece("! " if row.conflict else "  ", "bad")
        theirs, mine = row.theirs != row.base, row.mine != row.base
        lines.append(_table([
            line(mark, clean(row.path.removeprefix("definition."))),
            line(Piece(value_text(row.base), "dim")),
            line(Piece(value_text(row.theirs), "warn" if theirs else "dim")),
            line(Piece(value_text(row.mine), "accent" if mine else "dim")),
        ], widths))  # fmt: skip
    return lines


def _table(row: Sequence[Line], widths: Sequence[int]) -> Line:
    parts: list[Line | str] = []
    for cell, cells in zip(row, widths, strict=True):
        parts += [fit(cell, cells), "  "]
    return line(*parts)
