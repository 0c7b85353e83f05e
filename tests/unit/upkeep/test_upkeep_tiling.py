"""Which stretches of a past are decided wrongly: against enumeration."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from core.upkeep.tiling import Decision, Flaw, Past, Tenure, flaws


@dataclass(frozen=True)
class Listed:
    """A rule that is its sorted list of instants."""

    members: tuple[int, ...]

    def count(self, a: int, b: int) -> int:
        return max(0, bisect_right(self.members, b) - bisect_right(self.members, a))

    def between(self, a: int, b: int, limit: int | None = None) -> list[int]:
        return [t for t in self.members if a < t <= b][:limit]


TENS = Past((Tenure(0, 1_000, Listed(tuple(range(10, 1_000, 10)))),))


def single(at: int) -> Decision:
    return Decision(f"single-{at}", at, at, 1, "on_time")


def ranged(first: int, last: int, count: int, reason: str = "missed") -> Decision:
    return Decision(f"{reason}-{first}", first, last, count, reason)


def found(past: Past, decisions: list[Decision], floor: int = 0, mark: int = 100) -> list[tuple[str, int, int]]:
    newest_first = sorted(decisions, key=lambda one: (one.last, one.id), reverse=True)
    return [(flaw.kind, flaw.first, flaw.last) for flaw in flaws(past, newest_first, floor=floor, mark=mark)]


def test_single_times_and_ranges_that_tile_the_past_are_sound() -> None:
    assert found(TENS, [single(10), ranged(20, 60, 5), single(70), single(80), ranged(90, 100, 2, "paused")]) == []


def test_a_past_without_any_nominal_time_needs_no_decision() -> None:
    assert found(TENS, [], floor=91, mark=99) == []


def test_a_missing_single_time_is_named() -> None:
    assert found(TENS, [single(t) for t in range(10, 101, 10) if t != 50]) == [("undecided", 50, 100)]


def test_a_hole_between_ranges_is_named_with_its_ends() -> None:
    assert found(TENS, [ranged(10, 30, 3), ranged(70, 100, 4)]) == [("undecided", 40, 60)]


def test_what_is_undecided_below_the_mark_and_at_the_beginning_is_named() -> None:
    assert found(TENS, [ranged(20, 80, 7)]) == [("undecided", 90, 100), ("undecided", 10, 10)]


def test_a_range_that_counts_too_many_or_too_few_is_named() -> None:
    assert found(TENS, [ranged(10, 100, 11)]) == [("decided_twice", 10, 100)]
    assert found(TENS, [ranged(10, 100, 9)]) == [("undecided", 10, 100)]


def test_a_time_inside_a_range_of_missed_ones_is_decided_twice() -> None:
    assert found(TENS, [ranged(10, 100, 9), single(50)]) == [("decided_twice", 10, 100)]


def test_two_rows_for_one_time_are_decided_twice() -> None:
    rows = [*(single(t) for t in range(10, 101, 10)), replace(single(50), id="another")]
    assert found(TENS, rows) == [("decided_twice", 50, 50)]


def test_a_time_that_the_rule_does_not_name_is_found() -> None:
    assert found(TENS, [ranged(10, 90, 9), single(95), single(100)]) == [("not_in_schedule", 95, 95)]


def test_a_wrong_time_does_not_stand_for_a_missing_one() -> None:
    rows = [single(t) for t in (*range(10, 90, 10), 95, 100)]
    assert found(TENS, rows) == [("not_in_schedule", 95, 95), ("undecided", 90, 100)]


def test_a_decision_above_the_mark_says_that_the_mark_moved_back() -> None:
    assert found(TENS, [ranged(10, 100, 10)], mark=60) == [("mark_behind", 60, 100)]


def test_paused_times_may_lie_inside_a_coalesced_one() -> None:
    assert found(TENS, [ranged(10, 100, 7, "coalesced"), ranged(40, 60, 3, "paused")]) == []
    assert found(TENS, [ranged(10, 100, 9, "coalesced"), ranged(40, 40, 1, "paused")]) == []


def test_nothing_else_may_lie_inside_a_coalesced_one() -> None:
    assert found(TENS, [ranged(10, 100, 9, "coalesced"), single(40)]) == [("decided_twice", 10, 100)]
    assert found(TENS, [ranged(10, 100, 7, "coalesced"), ranged(40, 60, 3, "missed")]) == [("decided_twice", 10, 100)]


def test_below_the_floor_nothing_is_asked() -> None:
    assert found(TENS, [single(t) for t in range(60, 101, 10)], floor=50) == []


def test_a_range_that_straddles_the_floor_is_not_counted() -> None:
    assert found(TENS, [ranged(30, 70, 4), ranged(80, 100, 3)], floor=40) == []


def test_a_time_while_disabled_needs_no_decision_and_may_have_none() -> None:
    rule = Listed(tuple(range(10, 1_000, 10)))
    past = Past((Tenure(0, 40, rule), Tenure(40, 70, None), Tenure(70, 1_000, rule)))
    assert found(past, [ranged(10, 40, 4), ranged(80, 100, 3)]) == []
    assert found(past, [ranged(10, 40, 4), single(50), ranged(80, 100, 3)]) == [("not_in_schedule", 50, 50)]


def test_one_pause_may_reach_across_a_change_of_the_rule() -> None:
    past = Past((Tenure(0, 45, Listed((10, 20, 30, 40))), Tenure(45, 1_000, Listed((15, 65, 85)))))
    assert found(past, [ranged(10, 85, 6, "paused")]) == []
    assert found(past, [ranged(10, 85, 7, "paused")]) == [("decided_twice", 10, 85)]


def test_more_single_times_than_are_read_at_once_are_compared_one_by_one() -> None:
    past = Past((Tenure(0, 1 << 40, Listed(tuple(range(1, 5_001)))),))
    rows = [single(t) for t in range(1, 5_001)]
    assert found(past, rows, mark=5_000) == []
    del rows[2_345]
    assert found(past, rows, mark=5_000) == [("undecided", 2_346, 3_000)]


times = st.sets(st.integers(1, 120), min_size=1, max_size=40)


@st.composite
def tilings(draw: st.DrawFn) -> tuple[Listed, list[Decision], int]:
    """Return a rule, a sound way to have decided all of it up to a mark, and that mark."""
    members = sorted(draw(times))
    decisions, at = [], 0
    while at < len(members):
        size = draw(st.integers(1, 6))
        part = members[at : at + size]
        alone = len(part) == 1
        reason = draw(st.sampled_from(["on_time", "concurrency_skip"] if alone else ["missed", "coalesced", "paused"]))
        decisions.append(Decision(f"{reason}-{part[0]}", part[0], part[-1], len(part), reason))
        at += size
    return Listed(tuple(members)), decisions, draw(st.integers(members[-1], 130))


@given(tilings())
def test_every_sound_tiling_is_found_sound(given_: tuple[Listed, list[Decision], int]) -> None:
    rule, decisions, mark = given_
    past = Past((Tenure(0, 1_000, rule),))
    last = max(rule.members)
    assert [flaw for flaw in found(past, decisions, mark=mark) if flaw[1] <= last] == []


@given(tilings(), st.data())
def test_every_lost_decision_is_found(given_: tuple[Listed, list[Decision], int], data: st.DataObject) -> None:
    rule, decisions, _ = given_
    lost = data.draw(st.sampled_from(decisions))
    made = flaws_of(rule, [one for one in decisions if one != lost])
    assert sum(flaw.expected - flaw.found for flaw in made) == lost.count
    assert {flaw.kind for flaw in made} == {"undecided"}


@given(tilings(), st.data())
def test_every_doubled_decision_is_found(given_: tuple[Listed, list[Decision], int], data: st.DataObject) -> None:
    rule, decisions, _ = given_
    doubled = data.draw(st.sampled_from(decisions))
    made = flaws_of(rule, [*decisions, replace(doubled, id="again", reason="missed")])
    assert "decided_twice" in {flaw.kind for flaw in made}


@given(tilings(), st.data(), st.sampled_from([-1, 1]))
def test_every_miscount_is_found(given_: tuple[Listed, list[Decision], int], data: st.DataObject, by: int) -> None:
    rule, decisions, _ = given_
    wrong = data.draw(st.sampled_from(decisions))
    rest = [one for one in decisions if one != wrong]
    made = flaws_of(rule, [*rest, replace(wrong, count=wrong.count + by)])
    assert made


def flaws_of(rule: Listed, decisions: list[Decision]) -> list[Flaw]:
    past = Past((Tenure(0, 1_000, rule),))
    newest_first = sorted(decisions, key=lambda one: (one.last, one.id), reverse=True)
    return list(flaws(past, newest_first, floor=0, mark=max(rule.members)))
