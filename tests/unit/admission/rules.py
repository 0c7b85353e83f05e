"""Rules by enumeration: the slow, obvious reference that decisions are checked against."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Listed:
    """A rule that is its sorted list of instants."""

    members: tuple[int, ...]

    def next(self, after: int) -> int | None:
        index = bisect_right(self.members, after)
        return self.members[index] if index < len(self.members) else None

    def previous(self, until: int) -> int | None:
        index = bisect_right(self.members, until)
        return self.members[index - 1] if index else None

    def count(self, after: int, until: int) -> int:
        return max(0, bisect_right(self.members, until) - bisect_right(self.members, after))


@dataclass(frozen=True)
class EverySecond:
    """A rule that counts by arithmetic only: asking it 31 million times would never end."""

    calls: list[str]

    def next(self, after: int) -> int:
        self.calls.append("next")
        return after + 1

    def previous(self, until: int) -> int:
        self.calls.append("previous")
        return until

    def count(self, after: int, until: int) -> int:
        self.calls.append("count")
        return until - after


def prompt(nominal: int) -> int:
    """Due exactly when named."""
    return nominal


def delayed(rule: Listed, delays: dict[int, int]) -> Callable[[int], int]:
    """Due later by a given delay, never past the next member."""

    def due_of(nominal: int) -> int:
        following = rule.next(nominal)
        late = delays.get(nominal, 0)
        return nominal + (late if following is None else min(late, following - nominal))

    return due_of
