"""The schedule: one fixed set of instants, asked in four ways, all in whole epoch seconds."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from core import zones
from core.triggers.cron import Cron
from core.triggers.daylight import HIGH, LOW, Gap, LocalRule, Overlap
from core.triggers.durations import Step
from core.zones import Zone

EVALUATOR_VERSION = 1
_NO_LIMIT = 1 << 60
_LARGEST_BLOCK = 512

Kind = Literal["once", "cron", "interval"]
_Block = tuple[int, int, list[int]]
_NO_BLOCK: _Block = (0, 0, [])


class Rule(Protocol):
    """An unbounded set of instants."""

    def next(self, after: int) -> int | None:
        """Return the least member above `after`."""
        ...

    def first(self, after: int, until: int, limit: int) -> list[int]:
        """Return the members in (after, until], ascending, at most `limit`."""
        ...

    def last(self, until: int, start: int) -> int | None:
        """Return the greatest member in [start, until]."""
        ...

    def count(self, after: int, until: int) -> int:
        """Return the number of members in (after, until]."""
        ...

    def nth(self, after: int, number: int) -> int | None:
        """Return the member with which `number` members above `after` are complete; None where there are fewer."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """A rule with its bounds; nominal times are members of the rule in [`low`, `high`].

    `low` and `high` already hold startAt (inclusive), endAt (exclusive) and maxOccurrences. Equality is that of
    `canonical()`. The last answers are kept, so that asking again and again for the next time costs one look-up.
    """

    kind: Kind
    rule: Rule = field(repr=False)
    zone: Zone | None
    definition: Mapping[str, Any]
    low: int = LOW
    high: int = HIGH - 1
    start_at: int | None = None
    end_at: int | None = None
    max_occurrences: int | None = None
    jitter_s: int = 0
    gap: Gap | None = None
    overlap: Overlap | None = None
    cron: Cron | None = field(default=None, repr=False)
    every: Step | None = None
    at: int | None = None
    local: LocalRule | None = field(default=None, repr=False)  # the part of the rule that follows a zone's clock
    _blocks: list[_Block] = field(default_factory=lambda: [_NO_BLOCK], repr=False)

    def next(self, t: int) -> int | None:
        """Return the least nominal time later than `t`, None where there is no more."""
        low, high, fires = self._blocks[0]
        if low <= t < high:
            return fires[bisect_right(fires, t)]
        if t == high and fires:
            return self._next_block(t, min(_LARGEST_BLOCK, len(fires) * 8))
        return self._next_alone(t)

    def _next_alone(self, t: int) -> int | None:
        """Compute one next time, for a caller who asks here and there."""
        fire = self.rule.next(t if t >= self.low else self.low - 1)
        if fire is None or fire > self.high:
            return None
        self._blocks[0] = (t, fire, [fire])
        return fire

    def _next_block(self, t: int, size: int) -> int | None:
        """Compute the next `size` times at once, for a caller who walks on."""
        fires = self.rule.first(max(t, self.low - 1), self.high, size)
        if not fires:
            return None
        self._blocks[0] = (t, fires[-1], fires)
        return fires[0]

    def previous(self, t: int) -> int | None:
        """Return the greatest nominal time at or before `t`, None where there is none."""
        return self.rule.last(min(t, self.high), self.low)

    def count(self, a: int, b: int) -> int:
        """Return the number of nominal times in (a, b], by arithmetic."""
        after, until = max(a, self.low - 1), min(b, self.high)
        return self.rule.count(after, until) if after < until else 0

    def between(self, a: int, b: int, limit: int | None = None) -> list[int]:
        """Return the nominal times in (a, b], ascending; the first `limit` of them where it is given."""
        after, until = max(a, self.low - 1), min(b, self.high)
        if after >= until or (limit is not None and limit <= 0):
            return []
        return self.rule.first(after, until, _NO_LIMIT if limit is None else limit)

    def ordinal(self, t: int) -> int:
        """Return how many nominal times there are up to and including `t`: 1 for the first of all."""
        return self.count(self.low - 1, t)

    def never_again(self, after: int) -> bool:
        """Say whether no nominal time is later than `after`."""
        return self.next(after) is None

    def canonical(self) -> dict[str, Any]:
        """Return the definition with fixed key order, texts as they were written, empty values left out."""
        return json.loads(json.dumps(self.definition))  # type: ignore[no-any-return]

    def fingerprint(self) -> str:
        """Return a text that changes whenever the set of nominal times may have changed."""
        rule = json.dumps(self.definition, separators=(",", ":"), ensure_ascii=True)
        return f"{rule}|evaluator={EVALUATOR_VERSION}|tzdata={zones.data_version()}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schedule):
            return NotImplemented
        return self.fingerprint() == other.fingerprint()

    def __hash__(self) -> int:
        return hash(self.fingerprint())
