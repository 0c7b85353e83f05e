"""Own how a list is searched for words: which rows are read in which order, and which of them matches; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from tui.present.lines import Line, plain

Row = TypeVar("Row")
STRETCH = 500
SEARCHED_MOST = 20_000
"""How many rows one search reads at most; what lies beyond is found by the filter."""


def shows(cells: Sequence[Line], words: Sequence[str]) -> bool:
    """Tell whether a row shows every word, in any case."""
    text = " ".join(map(plain, cells)).lower()
    return all(word in text for word in words)


def stretches(start: int, total: int, step: int) -> Iterator[tuple[int, int]]:
    """Yield (first, end) of what is read from the row beside `start` on, once around, in the order of the search."""
    ranges = ((start + 1, total), (0, start)) if step > 0 else ((0, start), (start + 1, total))
    for first, end in ranges:
        cuts = range(first, end, STRETCH) if step > 0 else range(end, first, -STRETCH)
        for cut in cuts:
            yield (cut, min(cut + STRETCH, end)) if step > 0 else (max(cut - STRETCH, first), cut)


def find(
    read: Callable[[int, int], Sequence[Row]],
    matches: Callable[[Row], bool],
    start: int,
    total: int,
    step: int,
) -> int | None:
    """Return the index of the next row (step 1) or the one before (-1) that matches, None where none does."""
    seen = 0
    for first, end in stretches(start, total, step):
        rows = list(enumerate(read(first, end - first), first))
        for index, row in rows if step > 0 else reversed(rows):
            if matches(row):
                return index
        seen += end - first
        if seen >= SEARCHED_MOST:
            return None
    return None
