"""Each named place ten times, some random moments, and proof that the harness finds harm."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor

import pytest

from core.runtime.uncertain import AGAIN, FAILED, FINISHED
from tests.kills.accounts import Unsound
from tests.kills.harm import forgetting_tries, forgetting_work, letting_steps_live, repeating_unasked
from tests.kills.person import CANCEL
from tests.kills.points import NAMED_HERE, named_places
from tests.kills.pool import at_cuts, at_one_cut, at_places, at_places_harmed, at_random, in_doubt, warm_pool
from tests.kills.runs import KILLS_AT_EACH

PLACES = named_places()
TOGETHER = 5
GROUPS = [PLACES[start : start + TOGETHER] for start in range(0, len(PLACES), TOGETHER)]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


Kill = Callable[[tuple[str, ...]], Counter[str]]


@pytest.fixture(scope="module")
def pool(request: pytest.FixtureRequest) -> Iterator[ProcessPoolExecutor]:
    alone = not hasattr(request.config, "workerinput")
    with warm_pool((os.cpu_count() or 1) + 1 if alone else 1) as made:
        yield made


@pytest.fixture(scope="module")
def killed(pool: ProcessPoolExecutor, request: pytest.FixtureRequest) -> Kill:
    """Begin at once with all places that this run asks for; where it shares the tests, with each in its turn."""
    begun: dict[tuple[str, ...], Future[Counter[str]]] = {}
    if not hasattr(request.config, "workerinput"):
        calls = [getattr(item, "callspec", None) for item in request.session.items]
        wanted = [call.params["places"] for call in calls if call is not None and "places" in call.params]
        begun = {places: pool.submit(at_places, places, KILLS_AT_EACH) for places in wanted}
    return lambda places: (begun.get(places) or pool.submit(at_places, places, KILLS_AT_EACH)).result()


def test_every_arranged_place_is_in_the_source() -> None:
    assert len(PLACES) >= 12
    assert set(PLACES) >= NAMED_HERE


@pytest.mark.parametrize("places", GROUPS, ids=[group[0] for group in GROUPS])
def test_a_worker_killed_ten_times_at_each_place_loses_nothing_and_doubles_nothing(
    killed: Kill, places: tuple[str, ...]
) -> None:
    did = killed(places)
    assert {place: did[place] for place in places} == dict.fromkeys(places, KILLS_AT_EACH)
    assert did["occurrences"] > 0


@pytest.mark.parametrize("seed", range(3))
def test_a_worker_killed_at_random_moments_loses_nothing_and_doubles_nothing(
    pool: ProcessPoolExecutor, seed: int
) -> None:
    assert pool.submit(at_random, seed, PLACES, 10).result()["kills"] >= 10


def test_a_step_in_doubt_is_asked_about_and_what_is_said_is_carried_out_once(pool: ProcessPoolExecutor) -> None:
    did = pool.submit(in_doubt, 1, [FINISHED, AGAIN, FAILED, CANCEL] * 2).result()
    assert did["doubts"] == 8
    assert all(did[f"said {word}"] >= 2 for word in (FINISHED, AGAIN, FAILED, "cancelled"))


def test_a_log_that_is_cut_or_damaged_anywhere_opens_as_a_sound_prefix_of_the_past(pool: ProcessPoolExecutor) -> None:
    did = pool.submit(at_cuts, 1, 60).result()
    assert (did["cuts"], did["damages"]) == (60, 30)


@pytest.mark.parametrize("seed", range(3))
def test_a_worker_goes_on_after_its_log_was_cut(pool: ProcessPoolExecutor, seed: int) -> None:
    assert pool.submit(at_one_cut, seed).result()["occurrences"] > 0


@pytest.mark.parametrize(
    ("harm", "place", "found"),
    [
        (letting_steps_live, "step.settled", "outlived their worker"),
        (forgetting_tries, "step.executed", "ran as attempts"),
        (forgetting_work, "admission.after_commit", "admitted_without_work"),
        (repeating_unasked, "step.recorded", "repeated without an answer"),
    ],
)
def test_the_harness_finds_harm(harm: Callable[[], None], place: str, found: str) -> None:
    with warm_pool(1, fresh=True) as pool, pytest.raises(Unsound, match=found):
        pool.submit(at_places_harmed, harm, [place], 4).result()
