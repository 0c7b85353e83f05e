"""Proves, purely, that the decisions of one Trigger tile its past: each nominal time decided once, and only once.

A Trigger's past is cut into tenures: stretches in which one rule decided. Decisions are single nominal times, counted
ranges and coalesced times that stand for several. Read from the newest down, decisions whose spans overlap form one
cluster, which must count what the rules have in its span; between clusters the rules must have nothing. All by
arithmetic: a range of millions costs as much as one time. All instants are whole epoch seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol

FlawKind = Literal["undecided", "decided_twice", "not_in_schedule", "mark_behind"]
SINGLES_AT_ONCE = 1_000
STANDS_FOR_MANY = frozenset({"coalesced", "concurrency_skip", "denied", "target_unresolved", "input_invalid"})
"""What may become of one candidate under fireOnce, which stands for every time that no pause covers."""


class Rule(Protocol):
    """What the proof asks of a schedule."""

    def count(self, a: int, b: int) -> int:
        """Return the number of nominal times in (a, b]."""
        ...

    def between(self, a: int, b: int, limit: int | None = None) -> list[int]:
        """Return the nominal times in (a, b], ascending, at most `limit`."""
        ...


@dataclass(frozen=True, slots=True)
class Tenure:
    """Nominal times in (after, until] were for `rule` to name; None while the Trigger was disabled."""

    after: int
    until: int
    rule: Rule | None


@dataclass(frozen=True, slots=True)
class Decision:
    """`count` nominal times from `first` to `last`, decided together; `shared` where others may lie in between."""

    id: str
    first: int
    last: int
    count: int
    reason: str

    @property
    def shared(self) -> bool:
        """Say whether paused times may lie inside the span without being counted."""
        return self.reason in STANDS_FOR_MANY

    @property
    def single(self) -> bool:
        """Say whether this is one nominal time."""
        return self.count == 1 and self.first == self.last


@dataclass(frozen=True, slots=True)
class Flaw:
    """A stretch of the past, `first` to `last`, that is not decided as it should be."""

    kind: FlawKind
    first: int
    last: int
    expected: int
    found: int


@dataclass(frozen=True, slots=True)
class Past:
    """The tenures of one Trigger, oldest first, without gaps between them."""

    tenures: tuple[Tenure, ...]

    def count(self, a: int, b: int) -> int:
        """Return how many nominal times lie in (a, b]."""
        return sum(rule.count(after, until) for rule, after, until in self._parts(a, b))

    def between(self, a: int, b: int, limit: int) -> list[int]:
        """Return the first `limit` nominal times in (a, b]."""
        found: list[int] = []
        for rule, after, until in self._parts(a, b):
            found += rule.between(after, until, limit - len(found))
        return found

    def newest(self, a: int, b: int) -> int:
        """Return the newest nominal time in (a, b], which is known to hold one."""
        low, high = a, b
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.count(middle, high) else (low, middle)
        return high

    def _parts(self, a: int, b: int) -> Iterator[tuple[Rule, int, int]]:
        for tenure in self.tenures:
            after, until = max(a, tenure.after), min(b, tenure.until)
            if tenure.rule is not None and after < until:
                yield tenure.rule, after, until


def flaws(past: Past, decisions: Iterable[Decision], *, floor: int, mark: int) -> Iterator[Flaw]:
    """Yield what is wrong with the decisions above `floor`, given newest first (by last, then id)."""
    upper: int | None = None
    for cluster in _clusters(decision for decision in decisions if decision.last > floor):
        top = max(decision.last for decision in cluster)
        if upper is None:
            if top > mark:
                yield Flaw("mark_behind", mark, top, 0, 1)
            upper = max(mark, top)
        yield from _gap(past, top, upper)
        low = min(decision.first for decision in cluster)
        if low <= floor:
            return  # what lies below the floor is not known to be complete, so this cannot be counted
        yield from _cluster_flaws(past, cluster, low, top)
        upper = low - 1
    yield from _gap(past, floor, mark if upper is None else upper)


def _gap(past: Past, after: int, until: int) -> Iterator[Flaw]:
    """Yield the nominal times in (after, until], where there should be none."""
    if after < until and (missing := past.count(after, until)):
        first = past.between(after, until, 1)[0]
        yield Flaw("undecided", first, past.newest(first - 1, until), missing, 0)


def _clusters(decisions: Iterable[Decision]) -> Iterator[Sequence[Decision]]:
    """Yield decisions whose spans overlap; single times that stand apart come many at a time."""
    cluster: list[Decision] = []
    low, singles = 0, False
    for decision in decisions:
        overlaps = bool(cluster) and decision.last >= low
        follows = singles and decision.single and len(cluster) < SINGLES_AT_ONCE
        if cluster and not overlaps and not follows:
            yield cluster
            cluster = []
        singles = decision.single and (singles or not cluster)
        low = min(low, decision.first) if cluster else decision.first
        cluster.append(decision)
    if cluster:
        yield cluster


def _cluster_flaws(past: Past, cluster: Sequence[Decision], low: int, top: int) -> Iterator[Flaw]:
    if all(decision.single for decision in cluster):
        yield from _single_flaws(past, [decision.first for decision in cluster], low, top)
        return
    found, expected = sum(decision.count for decision in cluster), past.count(low - 1, top)
    if found > expected or _collide(cluster):
        yield Flaw("decided_twice", low, top, expected, found)
    elif found < expected:
        yield Flaw("undecided", low, top, expected, found)


def _single_flaws(past: Past, times: list[int], low: int, top: int) -> Iterator[Flaw]:
    """Compare single times, newest first, with the rules' own, one by one."""
    named = past.between(low - 1, top, len(times) + 1)
    if named == times[::-1]:
        return
    known, decided = set(named), set(times)
    for newer, older in pairwise(times):
        if newer == older:
            yield Flaw("decided_twice", newer, newer, 1, 2)
    for time in sorted(decided):
        if past.count(time - 1, time) == 0:
            yield Flaw("not_in_schedule", time, time, 0, 1)
    missing = past.count(low - 1, top) - sum(past.count(time - 1, time) for time in decided)
    if missing > 0:
        first = min(known - decided, default=low)
        yield Flaw("undecided", first, top, missing, 0)


def _collide(cluster: Sequence[Decision]) -> bool:
    """Say whether two spans overlap that may not: only a coalesced time may hold paused ones within its span."""
    spans = sorted((decision.first, decision.last) for decision in cluster if not decision.shared)
    apart = all(one[1] < other[0] for one, other in pairwise(spans))
    shared = sum(decision.shared for decision in cluster)
    mixed = any(not decision.shared and decision.reason != "paused" for decision in cluster) and shared > 0
    return not apart or shared > 1 or mixed
