"""Own how numbers and texts read in sentences and columns at every door: counted things, spans, sizes, quotes."""

from __future__ import annotations

from itertools import pairwise

UNITS = ((86400 * 365, "y"), (86400, "d"), (3600, "h"), (60, "m"), (1, "s"))
"""The units of a span, the largest first, in seconds."""


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 fault`, `2,130 faults`; `many` where an `s` does not make it."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def duration(seconds: float, *, gap: str = "", fine: bool = False) -> str:
    """Return a length in its two largest units, `gap` between them: `1m49s`, `12h 26m`, `1d14h`; from 100 on, in one.

    `fine` tells what lies below ten seconds in tenths (`4.2s`), below one second to the millisecond (`0.014s`).
    """
    seconds = max(seconds, 0.0)
    if fine and seconds < 10:
        return f"{seconds:.{3 if seconds < 1 else 1}f}".rstrip("0").rstrip(".") + "s"
    whole = int(seconds)
    for (size, unit), (small, small_unit) in pairwise(UNITS):
        if whole >= size:
            rest = whole % size // small
            return f"{whole // size}{unit}" + (f"{gap}{rest}{small_unit}" if rest and whole < 100 * size else "")
    return f"{whole}s"


def size(octets: float) -> str:
    """Return octets in the unit that suits: `912 B`, `4.1 MB`."""
    number, units = float(octets), ["B", "kB", "MB", "GB", "TB"]
    while number >= 1000 and len(units) > 1:
        number /= 1000
        units.pop(0)
    return f"{number:.0f} {units[0]}" if units[0] == "B" or number >= 100 else f"{number:.1f} {units[0]}"


def shown(text: str, longest: int = 60) -> str:
    """Return text in quotes, cut where it is long."""
    return repr(text if len(text) <= longest else f"{text[:longest]}…")
