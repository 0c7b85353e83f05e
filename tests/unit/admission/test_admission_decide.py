"""Which nominal times are decided, and how: against enumeration."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.admission.decide import (
    Active,
    Candidate,
    Facts,
    Judgement,
    Misfire,
    Policy,
    Range,
    Refusal,
    Window,
    admit,
    judge,
    project,
    withdraw,
)
from tests.unit.admission.rules import EverySecond, Listed, delayed, prompt

HOURLY = Listed(tuple(range(0, 36_000, 3_600)))

times = st.integers(0, 400)
windows = st.lists(
    st.builds(
        lambda start, length, number: Window(str(number), start, None if length is None else start + length),
        times,
        st.none() | st.integers(0, 120),
        st.integers(0, 99),
    ),
    max_size=3,
)
rules = st.sets(times, max_size=40).map(lambda members: Listed(tuple(sorted(members))))
delays = st.dictionaries(times, st.integers(0, 60), max_size=40)
policies = st.builds(Policy, misfire=st.sampled_from(["skip", "fireOnce"]), misfire_threshold_s=st.integers(0, 50))


@dataclass(frozen=True)
class Case:
    """One question to `judge`."""

    rule: Listed
    late: dict[int, int]
    policy: Policy
    mark: int
    now: int
    paused: list[Window]

    def due_of(self, nominal: int) -> int:
        return delayed(self.rule, self.late)(nominal)

    def due(self) -> list[int]:
        return [t for t in self.rule.members if t > self.mark and self.due_of(t) <= self.now]

    def judged(self) -> Judgement:
        return judge(self.rule, self.due_of, self.policy, mark=self.mark, now=self.now, windows=self.paused)


cases = st.builds(Case, rules, delays, policies, times, times, windows)


def members_of(rule: Listed, decided: Judgement) -> list[int]:
    """Return each nominal time that the ranges and a plain candidate stand for."""
    return [t for part in decided.ranges for t in rule.members if part.first <= t <= part.last]


@given(cases)
def test_each_due_time_is_decided_exactly_once(case: Case) -> None:
    due, made = case.due(), case.judged()
    assert made.decided == len(due)
    assert made.mark == max([case.mark, *due])
    inside = members_of(case.rule, made)
    assert len(inside) == len(set(inside)) == sum(part.count for part in made.ranges)
    assert set(inside) <= set(due)
    if made.candidate is not None:
        assert made.candidate.nominal not in inside
        assert made.candidate.nominal in due


@given(cases)
def test_each_nominal_time_is_judged_by_the_window_that_covers_it(case: Case) -> None:
    due, made = case.due(), case.judged()
    covered = [t for t in due if any(w.from_s <= t and (w.until_s is None or t < w.until_s) for w in case.paused)]
    ranges = [part for part in made.ranges if part.reason == "paused"]
    assert [t for part in ranges for t in case.rule.members if part.first <= t <= part.last] == covered
    assert made.candidate is None or made.candidate.nominal not in covered


@given(cases)
def test_the_newest_free_time_is_on_time_within_the_threshold(case: Case) -> None:
    made = case.judged()
    covered = {t for part in made.ranges if part.reason == "paused" for t in range(part.first, part.last + 1)}
    free = [t for t in case.due() if t not in covered]
    punctual = bool(free) and case.now - case.due_of(free[-1]) <= case.policy.misfire_threshold_s
    if case.policy.misfire == "skip":
        assert (made.candidate is not None) == punctual
        assert made.candidate is None or made.candidate.count == 1
    else:
        assert (made.candidate is not None) == bool(free)
        assert made.candidate is None or (made.candidate.count, made.candidate.first) == (len(free), free[0])
        assert not [part for part in made.ranges if part.reason == "missed"]
    if made.candidate is not None:
        assert made.candidate.nominal == free[-1]
        assert (made.candidate.reason == "on_time") == (punctual and made.candidate.count == 1)


@given(cases, st.lists(times, min_size=1, max_size=8))
def test_any_number_of_passes_decides_what_one_pass_does_and_the_mark_never_moves_back(
    case: Case, moments: list[int]
) -> None:
    at, decided = case.mark, 0
    for now in moments:  # in any order: the clock may step back
        made = replace(case, mark=at, now=now).judged()
        assert made.mark >= at
        at, decided = made.mark, decided + made.decided
    assert decided == replace(case, now=max(moments)).judged().decided


@given(rules, policies, times, times, windows)
def test_the_same_question_has_the_same_answer(
    rule: Listed, policy: Policy, mark: int, now: int, paused: list[Window]
) -> None:
    first = judge(rule, prompt, policy, mark=mark, now=now, windows=paused)
    assert judge(rule, prompt, policy, mark=mark, now=now, windows=list(reversed(paused))).decided == first.decided
    assert judge(rule, prompt, policy, mark=mark, now=now, windows=paused) == first


@given(rules, times, times, windows)
def test_what_an_edit_withdraws_is_counted_exactly_once(
    rule: Listed, mark: int, until: int, paused: list[Window]
) -> None:
    made = withdraw(rule, "definition_changed", mark=mark, until=until, windows=paused)
    passed = [t for t in rule.members if mark < t <= until]
    assert made.candidate is None
    assert made.decided == len(passed)
    assert sorted(members_of(rule, made)) == passed
    assert made.mark == max(mark, until)


def test_a_fire_within_the_threshold_is_on_time_and_one_second_later_is_missed() -> None:
    at = judge(HOURLY, prompt, Policy("skip", 60), mark=0, now=3_660.0)
    after = judge(HOURLY, prompt, Policy("skip", 60), mark=0, now=3_660.001)
    assert at == Judgement(3_600, (), Candidate(3_600, 3_600, "on_time", 1, 3_600, 3_600))
    assert after == Judgement(3_600, (Range("missed", 1, 3_600, 3_600),), None)


def test_skip_fires_the_newest_and_counts_the_older_ones_as_one_range() -> None:
    """A threshold of a minute, several old fires and one that is on time."""
    made = judge(HOURLY, prompt, Policy("skip", 60), mark=0, now=4 * 3_600 + 5)
    assert made.candidate == Candidate(14_400, 14_400, "on_time", 1, 14_400, 14_400)
    assert made.ranges == (Range("missed", 3, 3_600, 10_800),)


def test_fire_once_makes_one_work_that_names_all_it_stands_for() -> None:
    made = judge(HOURLY, prompt, Policy("fireOnce", 60), mark=0, now=5 * 3_600 - 1)
    assert made == Judgement(14_400, (), Candidate(14_400, 14_400, "coalesced", 4, 3_600, 14_400))


@pytest.mark.parametrize("misfire", ["skip", "fireOnce"])
def test_a_year_of_missed_seconds_is_counted_and_not_walked(misfire: Misfire) -> None:
    """A long outage costs a count, not a loop."""
    rule = EverySecond([])
    made = judge(rule, prompt, Policy(misfire, 60), mark=0, now=31_536_000.0)
    assert made.decided == 31_536_000
    assert len(rule.calls) < 10


def test_a_time_that_jitter_holds_back_stays_undecided() -> None:
    due_of = delayed(HOURLY, {7_200: 600})
    early = judge(HOURLY, due_of, Policy("skip"), mark=0, now=7_300.0)
    assert early.mark == 3_600
    assert project(HOURLY, due_of, early.mark) == (7_200, 7_800)
    later = judge(HOURLY, due_of, Policy("skip"), mark=early.mark, now=7_800.0)
    assert later.candidate == Candidate(7_200, 7_800, "on_time", 1, 7_200, 7_200)


def test_an_edit_withdraws_a_time_that_jitter_holds_back_as_well() -> None:
    made = withdraw(HOURLY, "definition_changed", mark=3_600, until=7_300)
    assert made.ranges == (Range("definition_changed", 1, 7_200, 7_200),)


def test_a_pause_that_ended_while_nobody_looked_covers_its_own_times_only() -> None:
    window = Window("p", 3_601, 10_800, "release freeze")
    made = judge(HOURLY, prompt, Policy("skip", 60), mark=0, now=10_810.0, windows=[window])
    assert made.ranges == (
        Range("missed", 1, 3_600, 3_600),
        Range("paused", 1, 7_200, 7_200, "p", "release freeze"),
    )
    assert made.candidate is not None
    assert made.candidate.nominal == 10_800


def test_a_pause_coalesces_only_what_it_does_not_cover() -> None:
    window = Window("p", 3_700, 7_300)
    made = judge(HOURLY, prompt, Policy("fireOnce", 60), mark=0, now=12_000.0, windows=[window])
    assert made.candidate == Candidate(10_800, 10_800, "coalesced", 2, 3_600, 10_800)
    assert made.ranges == (Range("paused", 1, 7_200, 7_200, "p"),)


def test_a_mark_in_the_future_decides_nothing_until_time_reaches_it() -> None:
    """After a clock was set back nothing fires again."""
    assert judge(HOURLY, prompt, Policy(), mark=20_000, now=10_000.0) == Judgement(20_000)


ON_TIME = Candidate(3_600, 3_600, "on_time", 1, 3_600, 3_600)
ASKING = Active("0190f2a4-aaaa", "waitingForApproval", 'waits for an answer to "Release 3 rows?"')
RUNNING = Active("1190f2a4-bbbb", "running")


def test_a_refusal_is_a_failure_without_work() -> None:
    made = admit(ON_TIME, Policy(), Facts(Refusal("denied", "ann may not run here"), (RUNNING,)))
    assert (made.outcome, made.reason, made.fires) == ("failed", "denied", False)


def test_skip_names_the_work_in_the_way_and_what_it_waits_for() -> None:
    made = admit(ON_TIME, Policy(overlap="skip"), Facts(active=(ASKING,)))
    assert (made.outcome, made.reason) == ("skipped", "concurrency_skip")
    assert made.message == 'Work 0190f2a4 waits for an answer to "Release 3 rows?"'


@pytest.mark.parametrize(("limit", "fires"), [(None, True), (3, True), (2, False), (1, False)])
def test_allow_fires_up_to_max_active(limit: int | None, fires: bool) -> None:
    made = admit(ON_TIME, Policy(overlap="allow", max_active=limit), Facts(active=(RUNNING, ASKING)))
    assert made.fires is fires
    assert fires or "1190f2a4 is still running" in made.message


def test_nothing_active_lets_a_fire_start_with_its_own_reason() -> None:
    coalesced = Candidate(3_600, 3_600, "coalesced", 4, 0, 3_600)
    assert admit(coalesced, Policy(), Facts()).reason == "coalesced"
