"""The decision, pure: (rule, policy, mark, now, windows, facts) in, frozen values out.

Two steps, since what may fire decides which facts are needed:

1. `judge` finds D, the nominal times above the mark whose due time has come, and divides it exactly once into counted
   ranges (paused, missed) and at most one candidate. It counts by arithmetic and never walks.
2. `admit` says what becomes of the candidate, given who may do what, what the target is and what is still active.

`catchUp`, `join`, `buffer` and `replace` have their place in the types; a definition that names them is refused where
it is read. Nominal and due times are integer epoch seconds, `now` is epoch seconds with a fraction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from core.views import Outcome, Reason

Misfire = Literal["skip", "fireOnce", "catchUp"]
Overlap = Literal["skip", "allow", "join", "buffer", "replace"]
DueOf = Callable[[int], int]


class Rule(Protocol):
    """What a decision needs to know of a schedule: one fixed set of instants."""

    def next(self, after: int, /) -> int | None:
        """Return the least member above `after`."""
        ...

    def previous(self, until: int, /) -> int | None:
        """Return the greatest member up to `until`."""
        ...

    def count(self, after: int, until: int, /) -> int:
        """Return how many members lie in (after, until]."""
        ...


@dataclass(frozen=True, slots=True)
class Policy:
    """What a Trigger says about late and overlapping fires; `max_active` None is unlimited."""

    misfire: Misfire = "skip"
    misfire_threshold_s: float = 60.0
    overlap: Overlap = "skip"
    max_active: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """A pause: nominal times in [from_s, until_s) are covered; `until_s` None is open."""

    id: str
    from_s: int
    until_s: int | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Range:
    """Nominal times that were decided together without Work; they are all of the rule's in [first, last]."""

    reason: Reason
    count: int
    first: int
    last: int
    window_id: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The one nominal time that may fire now, standing for `count` of them from `first` to `last`."""

    nominal: int
    due: int
    reason: Reason
    count: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of D; `mark` is the newest nominal time decided (the old mark where D is empty)."""

    mark: int
    ranges: tuple[Range, ...] = ()
    candidate: Candidate | None = None

    @property
    def decided(self) -> int:
        """Return how many nominal times this decides."""
        return sum(part.count for part in self.ranges) + (self.candidate.count if self.candidate else 0)


@dataclass(frozen=True, slots=True)
class Active:
    """Work of the same Trigger that has not ended; `waits_for` is a phrase such as `an answer to "Release?"`."""

    work_id: str
    status: str
    waits_for: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a candidate cannot become Work."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What the world says about a candidate: the first refusal that holds, and active Work, oldest first."""

    refusal: Refusal | None = None
    active: tuple[Active, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one candidate; Work starts exactly where `outcome` is pending."""

    outcome: Outcome
    reason: Reason
    message: str = ""

    @property
    def fires(self) -> bool:
        """Say whether Work comes of it."""
        return self.outcome == "pending"


@dataclass(frozen=True, slots=True)
class _Segment:
    """The nominal times in (after, until], all under one window or all under none."""

    after: int
    until: int
    window: Window | None


def judge(
    rule: Rule, due_of: DueOf, policy: Policy, *, mark: int, now: float, windows: Sequence[Window] = ()
) -> Judgement:
    """Divide the nominal times above `mark` that are due at `now` into ranges and at most one candidate."""
    newest = newest_due(rule, due_of, mark, now)
    if newest is None:
        return Judgement(mark)
    covered, free = _split(_segments(mark, newest, windows))
    paused = _ranges(rule, covered, "paused")
    candidate, missed = _misfire(rule, due_of, policy, free, now)
    ranges = sorted([*paused, *missed], key=lambda part: part.first)
    return Judgement(newest, tuple(ranges), candidate)


def withdraw(
    rule: Rule, reason: Reason, *, mark: int, until: int, windows: Sequence[Window] = (), note: str = ""
) -> Judgement:
    """Divide all nominal times in (mark, until] into ranges; paused ones stay paused, the others get `reason`."""
    covered, free = _split(_segments(mark, until, windows)) if until > mark else ([], [])
    ranges = [*_ranges(rule, covered, "paused"), *_ranges(rule, free, reason, note)]
    return Judgement(max(mark, until), tuple(sorted(ranges, key=lambda part: part.first)))


def newest_due(rule: Rule, due_of: DueOf, mark: int, now: float) -> int | None:
    """Return the newest nominal time above `mark` whose due time has come.

    Jitter never passes the next nominal time, so at most the newest one up to `now` may still be ahead of its due time.
    """
    newest = rule.previous(int(now // 1))
    if newest is not None and newest > mark and due_of(newest) > now:
        newest = rule.previous(newest - 1)
    return newest if newest is not None and newest > mark else None


def project(rule: Rule, due_of: DueOf, mark: int) -> tuple[int, int] | None:
    """Return the next (nominal, due) above `mark`, None where the rule has ended: the projection, from nothing else."""
    nominal = rule.next(mark)
    return None if nominal is None else (nominal, due_of(nominal))


def admit(candidate: Candidate, policy: Policy, facts: Facts) -> Verdict:
    """Say what becomes of a candidate: refused, held back by active Work, or admitted."""
    if facts.refusal is not None:
        return Verdict("failed", facts.refusal.reason, facts.refusal.message)
    return overlap(policy, facts.active) or Verdict("pending", candidate.reason)


def overlap(policy: Policy, active: Sequence[Active]) -> Verdict | None:
    """Return the skip that active Work causes under the policy, None where a fire may start."""
    limit = 1 if policy.overlap == "skip" else policy.max_active
    if limit is None or len(active) < limit:
        return None
    sentence = (
        f"{_still(active[0])}" if limit == 1 else f"{len(active)} of at most {limit} are active; {_still(active[0])}"
    )
    return Verdict("skipped", "concurrency_skip", sentence)


def _still(work: Active) -> str:
    """Return which Work is in the way and what it waits for."""
    return f"Work {work.work_id[:8]} {work.waits_for or 'is still ' + work.status}"


def _segments(mark: int, until: int, windows: Sequence[Window]) -> Iterable[_Segment]:
    """Yield (mark, until] in ascending pieces; where windows overlap, the one that began first covers."""
    at = mark
    for window in sorted(windows, key=lambda window: (window.from_s, window.id)):
        start = min(max(at, window.from_s - 1), until)
        end = until if window.until_s is None else min(max(start, window.until_s - 1), until)
        if start > at:
            yield _Segment(at, start, None)
        if end > start:
            yield _Segment(start, end, window)
        at = max(start, end)
    if at < until:
        yield _Segment(at, until, None)


def _split(segments: Iterable[_Segment]) -> tuple[list[_Segment], list[_Segment]]:
    """Return (covered by a window, free)."""
    covered: list[_Segment] = []
    free: list[_Segment] = []
    for segment in segments:
        (free if segment.window is None else covered).append(segment)
    return covered, free


def _ranges(rule: Rule, segments: Iterable[_Segment], reason: Reason, note: str = "") -> list[Range]:
    """Return one counted range for each segment that holds a nominal time."""
    found = (_range(rule, segment, reason, note) for segment in segments)
    return [part for part in found if part is not None]


def _range(rule: Rule, segment: _Segment, reason: Reason, note: str) -> Range | None:
    """Return the counted range of one segment, None where the rule has nothing in it."""
    last = rule.previous(segment.until)
    if last is None or last <= segment.after:
        return None
    first = rule.next(segment.after)
    if first is None:
        return None
    count = 1 if first == last else rule.count(segment.after, segment.until)
    window = segment.window
    return Range(reason, count, first, last, window.id if window else None, window.note if window else note)


def _misfire(
    rule: Rule, due_of: DueOf, policy: Policy, free: Sequence[_Segment], now: float
) -> tuple[Candidate | None, list[Range]]:
    """Return (candidate, missed ranges) of the nominal times that no window covers."""
    missed = _ranges(rule, free, "missed")
    if not missed:
        return None, []
    newest = missed[-1].last
    due = due_of(newest)
    on_time = now - due <= policy.misfire_threshold_s
    if policy.misfire == "fireOnce":
        count = sum(part.count for part in missed)
        reason: Reason = "on_time" if on_time and count == 1 else "coalesced"
        return Candidate(newest, due, reason, count, missed[0].first, newest), []
    if not on_time:
        return None, missed
    return Candidate(newest, due, "on_time", 1, newest, newest), _without_newest(rule, missed)


def _without_newest(rule: Rule, missed: list[Range]) -> list[Range]:
    """Return the ranges less their newest nominal time."""
    *rest, last = missed
    before = rule.previous(last.last - 1)
    if last.count == 1 or before is None:
        return rest
    return [*rest, Range("missed", last.count - 1, last.first, before)]
