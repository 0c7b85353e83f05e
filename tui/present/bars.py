"""Numbers as bars of one character each; pure."""

from __future__ import annotations

from collections.abc import Iterable

BARS = "▁▂▃▄▅▆▇█"


def spark(values: Iterable[float], cells: int) -> str:
    """Return the newest `cells` values as a bar each, scaled to their own greatest."""
    newest = tuple(values)[-cells:]
    top = max(newest, default=0.0)
    if top <= 0:
        return BARS[0] * len(newest)
    return "".join(BARS[min(7, int(value / top * 7.999))] for value in newest)


def heat(counts: Iterable[int]) -> str:
    """Return one bar for each count, blank for none, scaled to the greatest."""
    numbers = tuple(counts)
    top = max(numbers, default=0)
    return "".join(BARS[min(7, (count * 8 - 1) // top)] if count else " " for count in numbers)


def share(part: float, whole: float, cells: int) -> str:
    """Return a bar of `cells` filled to part of whole."""
    filled = 0 if whole <= 0 else min(cells, max(0, round(part / whole * cells)))
    return "▇" * filled + "░" * (cells - filled)
