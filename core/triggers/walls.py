"""What every rule in wall time can answer, and the rule made of cron fields.

A wall-time rule is a sorted set of wall seconds (see `core.zones`). How wall times become instants is the business of
`daylight`.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import Protocol

from core.triggers.days import END_DAY, MatchingDays
from core.zones import DAY_S


class WallSet(Protocol):
    """A sorted set of wall seconds."""

    def first_after(self, wall: int) -> int | None:
        """Return the least member above `wall`."""
        ...

    def rank(self, wall: int) -> int:
        """Return how many members are at most `wall`."""
        ...

    def at(self, rank: int) -> int:
        """Return the member that has `rank` members below it."""
        ...

    def span(self, after: int, until: int, limit: int, offset: int) -> list[int]:
        """Return the members in (after, until], at most `limit`, each less `offset`."""
        ...


class CronWalls:
    """Matching days times matching times of day: minutes (as seconds of the day) times seconds."""

    __slots__ = ("_daily", "_days", "_first", "_flat", "_last", "_per_day", "minutes", "seconds")

    def __init__(self, days: MatchingDays, minutes: tuple[int, ...], seconds: tuple[int, ...]) -> None:
        self._days = days
        self.minutes = minutes
        self.seconds = seconds
        self._first = minutes[0] + seconds[0]
        self._last = minutes[-1] + seconds[-1]
        self._daily = days.every_day
        self._flat = minutes if seconds == (0,) else ()  # the whole day flat, where that costs nothing
        self._per_day = len(minutes) * len(seconds)

    def first_after(self, wall: int) -> int | None:
        """Return the least member above `wall`."""
        day, second = divmod(wall, DAY_S)
        if second >= self._last:
            day, second = day + 1, -1
        found = day if self._daily and 0 <= day < END_DAY else self._days.first_from(day)
        if found is None:
            return None
        if found > day:
            return found * DAY_S + self._first
        if self._flat:
            return day * DAY_S + self._flat[bisect_right(self._flat, second)]
        return day * DAY_S + self._time_after(second)

    def _time_after(self, second: int) -> int:
        """Return the first matching second of the day above `second`; there must be one."""
        minutes, seconds = self.minutes, self.seconds
        place = bisect_right(minutes, second) - 1
        if place >= 0:
            rest = second - minutes[place]
            if rest < seconds[-1]:
                return minutes[place] + seconds[bisect_right(seconds, rest)]
        return minutes[place + 1] + seconds[0]

    def rank(self, wall: int) -> int:
        """Return how many members are at most `wall`."""
        day, second = divmod(wall, DAY_S)
        full = self._days.count_before(day) * self._per_day
        return full + self._time_rank(second) if self._days.matches(day) else full

    def _time_rank(self, second: int) -> int:
        """Return how many matching seconds of the day are at most `second`."""
        place = bisect_right(self.minutes, second) - 1
        if place < 0:
            return 0
        return place * len(self.seconds) + bisect_right(self.seconds, second - self.minutes[place])

    def at(self, rank: int) -> int:
        """Return the member that has `rank` members below it."""
        day, rest = divmod(rank, self._per_day)
        minute, second = divmod(rest, len(self.seconds))
        return self._days.at(day) * DAY_S + self.minutes[minute] + self.seconds[second]

    def span(self, after: int, until: int, limit: int, offset: int) -> list[int]:
        """Return the members in (after, until], at most `limit`, each less `offset`.

        1. The rest of the first day. 2. Whole days in bulk. 3. The beginning of the last day.
        """
        first, begin = divmod(after, DAY_S)
        last, end = divmod(until, DAY_S)
        found: list[int] = []
        if self._days.matches(first):
            found = self._times(first * DAY_S - offset, begin, end if last == first else DAY_S, limit)
        if last == first or len(found) >= limit:
            return found
        days = self._days.span(first + 1, last, -(-(limit - len(found)) // self._per_day))
        found += self._whole_days(days, offset, limit - len(found))
        if len(found) < limit and self._days.matches(last):
            found += self._times(last * DAY_S - offset, -1, end, limit - len(found))
        return found

    def _whole_days(self, days: list[int], offset: int, limit: int) -> list[int]:
        """Return at most `limit` members on `days`, the last day cut where the limit falls."""
        whole, rest = divmod(limit, self._per_day)
        starts = [day * DAY_S - offset for day in days[:whole]]
        if len(self.seconds) == 1:
            second = self.seconds[0]
            times = [minute + second for minute in self.minutes]
            found = [start + time for start in starts for time in times]
        else:
            minutes = [start + minute for start in starts for minute in self.minutes]
            found = [minute + second for minute in minutes for second in self.seconds]
        if rest and whole < len(days):
            found += self._times(days[whole] * DAY_S - offset, -1, DAY_S, rest)
        return found

    def _times(self, base: int, after: int, until: int, limit: int) -> list[int]:
        """Return base + each matching second of the day in (after, until], at most `limit`."""
        low = max(0, bisect_right(self.minutes, after) - 1)
        high = min(bisect_right(self.minutes, until), low + limit // len(self.seconds) + 2)
        found = [base + minute + second for minute in self.minutes[low:high] for second in self.seconds]
        start = bisect_right(found, base + after)
        return found[start : min(bisect_right(found, base + until), start + limit)]


@lru_cache(maxsize=64)
def minutes_of_day(hours: tuple[int, ...], minutes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the starts of all matching minutes, as seconds of the day."""
    return tuple(hour * 3600 + minute * 60 for hour in hours for minute in minutes)
