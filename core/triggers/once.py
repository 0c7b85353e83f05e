"""A rule with one single time."""

from __future__ import annotations


class OnceRule:
    """Exactly the instant `at`."""

    __slots__ = ("_at",)

    def __init__(self, at: int) -> None:
        self._at = at

    def next(self, after: int) -> int | None:
        """Return the least member above `after`."""
        return self._at if after < self._at else None

    def first(self, after: int, until: int, limit: int) -> list[int]:
        """Return the members in (after, until], ascending, at most `limit`."""
        return [self._at] if after < self._at <= until and limit > 0 else []

    def last(self, until: int, start: int) -> int | None:
        """Return the greatest member in [start, until]."""
        return self._at if start <= self._at <= until else None

    def count(self, after: int, until: int) -> int:
        """Return the number of members in (after, until]."""
        return int(after < self._at <= until)

    def nth(self, after: int, number: int) -> int | None:
        """Return the member with which `number` members above `after` are complete."""
        return self._at if number == 1 and after < self._at else None
