"""Which days of the calendar match: month, day-of-month, day-of-week and year fields as one sorted sequence.

Days are counted from 1970-01-01. A year's matching days depend only on its first weekday and on whether it is leap, so
fourteen patterns, made when first needed, serve every year.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache

from core.triggers.fields import DAY_OF_MONTH, DAY_OF_WEEK, FIRST_YEAR, LAST_YEAR, Field, Term, term_values
from core.zones import days_from_civil, days_in_month, is_leap

YEARS = range(FIRST_YEAR, LAST_YEAR + 1)
YEAR_STARTS = tuple(days_from_civil(year, 1, 1) for year in range(FIRST_YEAR, LAST_YEAR + 2))
END_DAY = YEAR_STARTS[-1]
# The pattern of a year, 0-13: twice the weekday of 1 January (Sunday is 0), plus one in a leap year.
_YEAR_PATTERN = tuple((start + 4) % 7 * 2 + is_leap(year) for year, start in zip(YEARS, YEAR_STARTS, strict=False))
_PATTERN_YEAR = {pattern: year for year, pattern in zip(YEARS, _YEAR_PATTERN, strict=True)}


class MatchingDays:
    """The sorted days of 1970..2126 that a cron line's date fields select; patterns are filled on demand."""

    __slots__ = ("_before", "_by_year", "_day_terms", "_months", "_patterns", "_weekday_terms", "_years")

    def __init__(
        self,
        months: tuple[int, ...],
        day_terms: tuple[Term, ...],
        weekday_terms: tuple[Term, ...],
        years: tuple[int, ...] | None,
    ) -> None:
        self._months = months
        self._day_terms = day_terms
        self._weekday_terms = weekday_terms
        self._years = None if years is None else frozenset(years)
        self._patterns: list[tuple[int, ...] | None] = [None] * 14
        self._by_year: list[tuple[int, ...] | None] = [None] * len(YEARS)
        self._before: tuple[int, ...] = ()

    @property
    def every_day(self) -> bool:
        """Say whether no day of any year is left out."""
        return self._years is None and len(self.in_year(0)) == 365 and len(self.in_year(2)) == 366

    def in_year(self, index: int) -> tuple[int, ...]:
        """Return the matching days of the year with that index (0 is 1970), counted from its 1 January."""
        pattern = self._by_year[index]
        return self._fill(index) if pattern is None else pattern

    def _fill(self, index: int) -> tuple[int, ...]:
        """Make or share the pattern of a year."""
        key = _YEAR_PATTERN[index]
        pattern = self._patterns[key]
        if self._years is not None and index + FIRST_YEAR not in self._years:
            pattern = ()
        elif pattern is None:
            pattern = self._patterns[key] = self._pattern(_PATTERN_YEAR[key])
        self._by_year[index] = pattern
        return pattern

    def _pattern(self, year: int) -> tuple[int, ...]:
        days: list[int] = []
        start = days_from_civil(year, 1, 1)
        for month in self._months:
            first = days_from_civil(year, month, 1)
            length = days_in_month(year, month)
            weekday = (first + 4) % 7
            chosen = days_of_month(self._day_terms, self._weekday_terms, weekday, length)
            days += [first - start + day - 1 for day in chosen]
        return tuple(days)

    def matches(self, day: int) -> bool:
        """Say whether `day` is one of these days."""
        index = bisect_right(YEAR_STARTS, day) - 1
        if not 0 <= index < len(YEARS):
            return False
        pattern = self.in_year(index)
        offset = day - YEAR_STARTS[index]
        place = bisect_left(pattern, offset)
        return place < len(pattern) and pattern[place] == offset

    def first_from(self, day: int) -> int | None:
        """Return the least matching day at or after `day`."""
        index = bisect_right(YEAR_STARTS, day) - 1
        if 0 <= index < len(YEARS):
            start = YEAR_STARTS[index]
            pattern = self._by_year[index]
            if pattern is None:
                pattern = self._fill(index)
            place = bisect_left(pattern, day - start)
            if place < len(pattern):
                return start + pattern[place]
        return self._first_of_years(index + 1)

    def _first_of_years(self, index: int) -> int | None:
        """Return the first matching day of the first year from `index` on that has one."""
        for later in range(index, len(YEARS)):
            pattern = self.in_year(later)
            if pattern:
                return YEAR_STARTS[later] + pattern[0]
        return None

    def span(self, first: int, stop: int, limit: int) -> list[int]:
        """Return the matching days in [first, stop), at most `limit` of them."""
        found: list[int] = []
        for index in range(max(0, bisect_right(YEAR_STARTS, first) - 1), len(YEARS)):
            start = YEAR_STARTS[index]
            if start >= stop or len(found) >= limit:
                break
            pattern = self._by_year[index]
            if pattern is None:
                pattern = self._fill(index)
            if pattern:
                low = bisect_left(pattern, first - start)
                high = min(bisect_left(pattern, stop - start), low + limit - len(found))
                found += [start + day for day in pattern[low:high]]
        return found

    def count_before(self, day: int) -> int:
        """Return how many matching days lie before `day`."""
        index = bisect_right(YEAR_STARTS, day) - 1
        if index < 0:
            return 0
        before = self._before or self._accumulate()
        if index >= len(YEARS):
            return before[-1]
        return before[index] + bisect_left(self.in_year(index), day - YEAR_STARTS[index])

    def at(self, rank: int) -> int:
        """Return the matching day with `rank` others before it."""
        before = self._before or self._accumulate()
        index = bisect_right(before, rank) - 1
        return YEAR_STARTS[index] + self.in_year(index)[rank - before[index]]

    @property
    def total(self) -> int:
        """Return the number of matching days."""
        return (self._before or self._accumulate())[-1]

    def _accumulate(self) -> tuple[int, ...]:
        """Return, for each year and one past the last, how many matching days lie before it."""
        sums = [0]
        for index in range(len(YEARS)):
            sums.append(sums[-1] + len(self.in_year(index)))
        self._before = tuple(sums)
        return self._before


@lru_cache(maxsize=4096)
def days_of_month(
    day_terms: tuple[Term, ...], weekday_terms: tuple[Term, ...], first_weekday: int, length: int
) -> tuple[int, ...]:
    """Return the matching days of a month that begins on `first_weekday` (0 is Sunday) and has `length` days."""
    if day_terms[0].shape == "none":
        chosen = _by_weekday(weekday_terms, first_weekday, length)
    else:
        chosen = {day for term in day_terms for day in _by_day(term, first_weekday, length)}
    return tuple(sorted(chosen))


def _by_day(term: Term, first_weekday: int, length: int) -> set[int]:
    if term.shape in {"last", "lastWeekday"}:
        day = length - term.first
        if day < 1:
            return set()
        return {day if term.shape == "last" else nearest_weekday(day, first_weekday, length)}
    if term.shape == "weekday":
        return {nearest_weekday(min(term.first, length), first_weekday, length)}
    return {day for day in term_values(DAY_OF_MONTH, term) if day <= length}


def nearest_weekday(day: int, first_weekday: int, length: int) -> int:
    """Return the Monday-to-Friday nearest to `day` inside the month."""
    weekday = (first_weekday + day - 1) % 7
    if weekday == 6:
        return day - 1 if day > 1 else day + 2
    if weekday == 0:
        return day + 1 if day < length else day - 2
    return day


def _by_weekday(terms: tuple[Term, ...], first_weekday: int, length: int) -> set[int]:
    chosen: set[int] = set()
    for term in terms:
        if term.shape == "lastOf":
            chosen.add(max(_days_on(term.first, first_weekday, length)))
        elif term.shape == "nth":
            chosen.update(_days_on(term.first, first_weekday, length)[term.final - 1 : term.final])
        else:
            for value in term_values(DAY_OF_WEEK, term):
                chosen.update(_days_on(value, first_weekday, length))
    return chosen


def _days_on(value: int, first_weekday: int, length: int) -> range:
    """Return the days of the month that fall on a Quartz weekday (1 is Sunday)."""
    return range((value - 1 - first_weekday) % 7 + 1, length + 1, 7)


@lru_cache(maxsize=1024)
def matching_days(month: Field, day: Field, weekday: Field, year: Field) -> MatchingDays:
    """Return the days that four date fields select; equal fields share one object."""
    years = None if year.is_any else year.values
    return MatchingDays(month.values, day.terms, weekday.terms, years)
