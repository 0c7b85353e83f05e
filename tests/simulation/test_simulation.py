"""Two hundred seeds of thirty days each, exact replays, and proof that the simulation can fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.__main__ import fast_folder, live
from tests.simulation.harm import HARMS, Break
from tests.simulation.world import Unsound, simulate

SEEDS_AT_ONCE = 10
SEEDS_TO_FIND_HARM = 60
REPLAYED = 7


@pytest.fixture
def folder(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    fast = fast_folder()
    if fast is None:
        return tmp_path
    place = Path(fast) / f"triggerdeck-{tmp_path_factory.getbasetemp().name}-{tmp_path.name}"
    place.mkdir(exist_ok=True)
    return place


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("first", range(0, 200, SEEDS_AT_ONCE))
def test_a_month_of_faults_loses_nothing_and_doubles_nothing(first: int, folder: Path) -> None:
    _live_through(range(first, first + SEEDS_AT_ONCE), folder)


def test_a_seed_replays_exactly_down_to_every_row(folder: Path) -> None:
    assert simulate(REPLAYED, folder) == simulate(REPLAYED, folder)


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_a_seed_replays_exactly_in_another_process_under_another_hash_seed(hash_seed: str) -> None:
    command = [sys.executable, "-m", "tests.simulation", "--first", str(REPLAYED), "--seeds", "1"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    root = Path(__file__).parents[2]
    told = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[0] == f"digest {live(REPLAYED, 30).digest}"


def test_a_seed_that_fails_tells_its_story_and_its_replay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.simulation.__main__ import Tally

    HARMS[0](monkeypatch)
    tally = Tally(days=10)
    tally.add(live(0, 10))
    assert tally.failed == [0]
    told = capsys.readouterr().err
    assert "have no decision" in told
    assert told.rstrip().endswith("replay: python -m tests.simulation --first 0 --seeds 1 --days 10")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_the_simulation_finds_harm(harm: Break, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    harm(monkeypatch)
    with pytest.raises(Unsound):
        _live_through(range(SEEDS_TO_FIND_HARM), folder)


def _live_through(seeds: range, folder: Path) -> None:
    for seed in seeds:
        simulate(seed, folder)
