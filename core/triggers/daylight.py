"""How wall times become instants where clocks change: gap and overlap policies, for cron and calendar intervals alike.

A zone and two policies give *segments*: disjoint stretches of real time, ascending, in each of which the fires are the
rule's wall times less one offset. After a gap under `shift` a segment has a second offset, the one before the gap: the
wall times that do not exist land there, and two wall times on one instant are one member.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import Literal, NamedTuple

from core.triggers.days import YEAR_STARTS
from core.triggers.walls import WallSet
from core.zones import DAY_S, Transition, Zone

Gap = Literal["shift", "skip"]
Overlap = Literal["first", "second", "both"]

LOW = YEAR_STARTS[0] * DAY_S - 2 * DAY_S
HIGH = YEAR_STARTS[-1] * DAY_S + 2 * DAY_S  # exclusive


class Segments(NamedTuple):
    """Parallel columns: [starts, ends) in epoch seconds, the offset, and the offset before a gap or None."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    offsets: tuple[int, ...]
    shifted: tuple[int | None, ...]
    least_offset: int
    greatest_offset: int


@lru_cache(maxsize=256)
def segments(zone: Zone, gap: Gap, overlap: Overlap) -> Segments:
    """Return the segments of a zone between 1970 and the end of 2126."""
    rows: list[tuple[int, int, int, int | None]] = []
    periods = _periods(zone)
    for index, (begin, stop, offset) in enumerate(periods):
        start, end = begin, stop
        before = periods[index - 1][2] if index else offset
        after = periods[index + 1][2] if index + 1 < len(periods) else offset
        if before < offset and gap == "shift":
            start += offset - before
            rows.append((begin, start, offset, before))
        if before > offset and overlap == "first":
            start += before - offset
        if after < offset and overlap == "second":
            end -= offset - after
        rows.append((start, end, offset, None))
    starts, ends, offsets, shifted = zip(*rows, strict=True)
    return Segments(starts, ends, offsets, shifted, min(offsets), max(offsets))


def _periods(zone: Zone) -> list[tuple[int, int, int]]:
    """Return (start, end, offset) for each stretch of one offset within the horizon."""
    periods: list[tuple[int, int, int]] = []
    start = LOW
    for change in zone.transitions(LOW, HIGH - 1):
        periods.append((start, change.at, change.offset_before))
        start = change.at
    periods.append((start, HIGH, zone.offset_at(HIGH - 1)))
    return periods


class LocalRule:
    """The instants of a wall-time rule in a zone under its policies."""

    __slots__ = ("_ends", "_offsets", "_segments", "_shifted", "_starts", "_walls")

    def __init__(self, walls: WallSet, zone: Zone, gap: Gap, overlap: Overlap) -> None:
        self._walls = walls
        self._segments = segments(zone, gap, overlap)
        self._starts, self._ends, self._offsets, self._shifted, _, _ = self._segments

    def has_wall(self, wall: int) -> bool:
        """Say whether the rule names that wall time, whether or not it exists."""
        return self._walls.first_after(wall - 1) == wall

    def walls_in_gap(self, change: Transition) -> list[int]:
        """Return the rule's wall times that a gap swallows."""
        start = change.at + change.offset_before
        return self._walls.span(start - 1, start + change.gap_s - 1, change.gap_s, 0) if change.gap_s else []

    def walls_in_overlap(self, change: Transition) -> list[int]:
        """Return the rule's wall times that happen twice."""
        start = change.at + change.offset_after
        return (
            self._walls.span(start - 1, start + change.overlap_s - 1, change.overlap_s, 0) if change.overlap_s else []
        )

    def next(self, after: int) -> int | None:
        """Return the least member above `after`; nearly always within the segment that holds `after`."""
        index = bisect_right(self._starts, after) - 1
        if index >= 0 and self._shifted[index] is None:
            wall = self._walls.first_after(after + self._offsets[index])
            if wall is not None and wall - self._offsets[index] < self._ends[index]:
                return wall - self._offsets[index]
        return self._next_across(after)

    def _next_across(self, after: int) -> int | None:
        """Return the least member above `after`, in whichever segment."""
        found = self.first(after, HIGH, 1)
        return found[0] if found else None

    def first(self, after: int, until: int, limit: int) -> list[int]:
        """Return the members in (after, until], ascending, at most `limit`."""
        starts, ends = self._starts, self._ends
        index = max(0, bisect_right(starts, after + 1) - 1)
        found: list[int] = []
        while index < len(starts) and starts[index] <= until:
            low, high = max(after, starts[index] - 1), min(until, ends[index] - 1)
            here = self._members(index, low, high, limit - len(found)) if low < high else ()
            found += here
            if len(found) >= limit:
                break
            index = index + 1 if here else self._next_index(index)
        return found

    def _members(self, index: int, after: int, until: int, limit: int) -> list[int]:
        """Return the members in (after, until], which lies inside one segment."""
        offset, shifted = self._offsets[index], self._shifted[index]
        found = self._walls.span(after + offset, until + offset, limit, offset)
        if shifted is None:
            return found
        moved = self._walls.span(after + shifted, until + shifted, limit, shifted)
        return sorted({*found, *moved})[:limit]

    def _next_index(self, index: int) -> int:
        """Return the first later segment that can hold a member, past runs of empty ones."""
        least, greatest = self._segments.least_offset, self._segments.greatest_offset
        wall = self._walls.first_after(self._ends[index] - 1 + least)
        if wall is None:
            return len(self._starts)
        return max(index + 1, bisect_right(self._starts, wall - greatest) - 1)

    def last(self, until: int, start: int) -> int | None:
        """Return the greatest member in [start, until]."""
        index = bisect_right(self._starts, until) - 1
        while index >= 0 and self._ends[index] > start:
            found = self._last_member(index, min(until, self._ends[index] - 1))
            if found is not None:
                return found if found >= start else None
            index = self._previous_index(index)
        return None

    def _last_member(self, index: int, until: int) -> int | None:
        """Return the greatest member at or before `until` inside one segment."""
        start = self._starts[index]
        found = [
            self._walls.at(rank - 1) - offset
            for offset in (self._offsets[index], self._shifted[index])
            if offset is not None and (rank := self._walls.rank(until + offset))
        ]
        return max((instant for instant in found if instant >= start), default=None)

    def _previous_index(self, index: int) -> int:
        """Return the last earlier segment that can hold a member."""
        rank = self._walls.rank(self._starts[index] - 1 + self._segments.greatest_offset)
        if rank == 0:
            return -1
        instant = self._walls.at(rank - 1) - self._segments.least_offset
        return min(index - 1, bisect_right(self._starts, instant) - 1)

    def count(self, after: int, until: int) -> int:
        """Return the number of members in (after, until], by ranks."""
        total = 0
        for index, low, high in self._pieces(after, until):
            total += self._count_members(index, low, high)
        return total

    def _pieces(self, after: int, until: int) -> list[tuple[int, int, int]]:
        """Return (segment, after, until) for each segment that (after, until] touches."""
        starts, ends = self._starts, self._ends
        first = max(0, bisect_right(starts, after + 1) - 1)
        rows = [
            (index, max(after, starts[index] - 1), min(until, ends[index] - 1))
            for index in range(first, bisect_right(starts, until))
        ]
        return [row for row in rows if row[1] < row[2]]

    def _count_members(self, index: int, after: int, until: int) -> int:
        """Return the number of members in (after, until], which lies inside one segment."""
        offset, shifted = self._offsets[index], self._shifted[index]
        if shifted is not None and self._walls.rank(until + shifted) > self._walls.rank(after + shifted):
            return len(self._members(index, after, until, until - after))
        return self._walls.rank(until + offset) - self._walls.rank(after + offset)

    def nth(self, after: int, number: int) -> int | None:
        """Return the member with which `number` members above `after` are complete; None where there are fewer."""
        left = number
        for index, low, high in self._pieces(after, HIGH):
            here = self._count_members(index, low, high)
            if here >= left:
                return self._pick(index, low, high, left - 1)
            left -= here
        return None

    def _pick(self, index: int, after: int, until: int, place: int) -> int:
        """Return the member at `place` (from 0) of (after, until] inside one segment."""
        offset = self._offsets[index]
        if self._shifted[index] is not None:
            return self._members(index, after, until, place + 1)[place]
        return self._walls.at(self._walls.rank(after + offset) + place) - offset
