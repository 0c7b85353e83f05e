"""Intervals: the k-th time is anchor + k · every, k ≥ 0, on elapsed time or on the calendar."""

from __future__ import annotations

from core.triggers.daylight import LocalRule
from core.zones import DAY_S, civil_from_days, days_from_civil, days_in_month

_MONTH_S = 2_629_746  # mean Gregorian month; only a first guess


class ElapsedRule:
    """Every `step_s` seconds from `anchor`, both whole seconds."""

    __slots__ = ("_anchor", "_step_s")

    def __init__(self, anchor: int, step_s: int) -> None:
        self._anchor = anchor
        self._step_s = step_s

    def _index_after(self, instant: int) -> int:
        """Return the index of the first member above `instant`."""
        return max(0, (instant - self._anchor) // self._step_s + 1)

    def next(self, after: int) -> int | None:
        """Return the least member above `after`."""
        return self._anchor + self._index_after(after) * self._step_s

    def first(self, after: int, until: int, limit: int) -> list[int]:
        """Return the members in (after, until], ascending, at most `limit`."""
        start = self._anchor + self._index_after(after) * self._step_s
        return list(range(start, min(until + 1, start + limit * self._step_s), self._step_s))

    def last(self, until: int, start: int) -> int | None:
        """Return the greatest member in [start, until]."""
        found = self._anchor + (self._index_after(until) - 1) * self._step_s
        return found if found >= max(start, self._anchor) else None

    def count(self, after: int, until: int) -> int:
        """Return the number of members in (after, until]."""
        return max(0, self._index_after(until) - self._index_after(after))

    def nth(self, after: int, number: int) -> int | None:
        """Return the member with which `number` members above `after` are complete."""
        return self._anchor + (self._index_after(after) + number - 1) * self._step_s


class CalendarWalls:
    """Wall times anchor + k · (months, days) for k ≥ `first`; month ends clip from the anchor, never from the last."""

    __slots__ = ("_anchor", "_days", "_first", "_guess_s", "_months")

    def __init__(self, anchor: int, months: int, days: int, first: int) -> None:
        self._anchor = anchor
        self._months = months
        self._days = days
        self._first = first
        self._guess_s = months * _MONTH_S + days * DAY_S

    def _wall(self, index: int) -> int:
        """Return the index-th wall time."""
        if not self._months:
            return self._anchor + index * self._days * DAY_S
        date, time = divmod(self._anchor, DAY_S)
        year, month, day = civil_from_days(date)
        years, rest = divmod(month - 1 + index * self._months, 12)
        year, month = year + years, rest + 1
        date = days_from_civil(year, month, min(day, days_in_month(year, month)))
        return (date + index * self._days) * DAY_S + time

    def _index_after(self, wall: int) -> int:
        """Return the index of the first member above `wall`."""
        index = (wall - self._anchor) // self._guess_s
        while self._wall(index) <= wall:
            index += 1
        while self._wall(index - 1) > wall:
            index -= 1
        return max(self._first, index)

    def first_after(self, wall: int) -> int | None:
        """Return the least member above `wall`."""
        return self._wall(self._index_after(wall))

    def rank(self, wall: int) -> int:
        """Return how many members are at most `wall`."""
        return self._index_after(wall) - self._first

    def at(self, rank: int) -> int:
        """Return the member that has `rank` members below it."""
        return self._wall(self._first + rank)

    def span(self, after: int, until: int, limit: int, offset: int) -> list[int]:
        """Return the members in (after, until], at most `limit`, each less `offset`."""
        start = self._index_after(after)
        if not self._months:
            step_s = self._days * DAY_S
            first = self._wall(start)
            return list(range(first - offset, min(until + 1, first + limit * step_s) - offset, step_s))
        stop = min(self._index_after(until), start + limit)
        return [self._wall(index) - offset for index in range(start, stop)]


class AnchoredRule:
    """A calendar interval whose anchor is a member, whatever the policies say of its wall time.

    The anchor is an instant with an offset and needs no policy; all other members are later.
    """

    __slots__ = ("_anchor", "_rest")

    def __init__(self, anchor: int, rest: LocalRule) -> None:
        self._anchor = anchor
        self._rest = rest

    def next(self, after: int) -> int | None:
        """Return the least member above `after`."""
        return self._anchor if after < self._anchor else self._rest.next(after)

    def first(self, after: int, until: int, limit: int) -> list[int]:
        """Return the members in (after, until], ascending, at most `limit`."""
        if not after < self._anchor <= until:
            return self._rest.first(after, until, limit)
        return [self._anchor, *(self._rest.first(after, until, limit - 1) if limit > 1 else ())]

    def last(self, until: int, start: int) -> int | None:
        """Return the greatest member in [start, until]."""
        found = self._rest.last(until, start)
        return self._anchor if found is None and start <= self._anchor <= until else found

    def count(self, after: int, until: int) -> int:
        """Return the number of members in (after, until]."""
        return self._rest.count(after, until) + (after < self._anchor <= until)

    def nth(self, after: int, number: int) -> int | None:
        """Return the member with which `number` members above `after` are complete."""
        if after >= self._anchor:
            return self._rest.nth(after, number)
        return self._anchor if number == 1 else self._rest.nth(after, number - 1)
