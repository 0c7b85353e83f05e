"""Two hundred seeds of thirty days each, and proof that the simulation can fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.admission import batch, facts
from core.storage import admission as statements
from tests.simulation.__main__ import _fast_folder
from tests.simulation.world import Unsound, simulate

SEEDS_AT_ONCE = 10


@pytest.fixture
def folder(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    fast = _fast_folder()
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


def test_a_seed_replays_exactly(folder: Path) -> None:
    assert simulate(7, folder, days=10) == simulate(7, folder, days=10)


def losing_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch.statements, "grow_ranges", lambda _tx, _rows: None)


def losing_occurrences(monkeypatch: pytest.MonkeyPatch) -> None:
    insert = statements.insert_occurrences

    def insert_all_but_one(tx: Any, rows: Sequence[Any]) -> None:
        insert(tx, [row for row in rows if row["reason"] != "on_time"])

    monkeypatch.setattr(batch.statements, "insert_occurrences", insert_all_but_one)
    monkeypatch.setattr(batch.statements, "insert_work", lambda _tx, _rows: None)


def forgetting_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "active_work", lambda _tx, _uids: {})


def running_for_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a denied occurrence leave Work behind."""
    insert = statements.insert_work

    def insert_more(tx: Any, rows: Sequence[Any]) -> None:
        insert(tx, rows)
        tx.connection.exec_driver_sql(
            "INSERT INTO work SELECT o.id, o.id, w.workspace_id, w.trigger_uid, w.trigger_name, w.namespace,"
            " w.title, w.flow_uid, w.flow_name, w.flow_namespace, w.flow_version, w.input, 'failed', NULL, NULL, NULL,"
            " 0, 0, w.created_at, NULL, w.created_at, NULL, NULL, w.principal_id"
            " FROM occurrence o, (SELECT * FROM work LIMIT 1) w WHERE o.outcome = 'skipped' AND NOT EXISTS"
            " (SELECT 1 FROM work x WHERE x.occurrence_id = o.id) LIMIT 1"
        )

    monkeypatch.setattr(batch.statements, "insert_work", insert_more)


@pytest.mark.parametrize("harm", [losing_ranges, losing_occurrences, forgetting_overlap, running_for_everybody])
def test_the_simulation_finds_harm(
    harm: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    harm(monkeypatch)
    with pytest.raises(Unsound):
        _live_through(range(20), folder)


def _live_through(seeds: range, folder: Path) -> None:
    for seed in seeds:
        simulate(seed, folder)
