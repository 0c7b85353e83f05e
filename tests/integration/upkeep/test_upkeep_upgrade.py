"""A database that any release left behind, in the middle of everything, is opened and run to quiet."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.storage.files import SCHEMA
from core.upkeep import incarnation
from core.upkeep.checker import check
from core.upkeep.doctor import examine
from core.work import service
from tests.fixtures.make_release_fixture import FOLDER, count, main, run, run_to_quiet
from tests.integration.admission.world import World

RELEASES = sorted(FOLDER.glob("release-*.sqlite3.gz"))
LEFT_AT = datetime(2026, 3, 31, 6, tzinfo=UTC)


@pytest.fixture(params=RELEASES, ids=lambda path: path.name.removesuffix(".sqlite3.gz"))
def left(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """Return the world that a release left, three days later."""
    path = tmp_path / "triggerdeck.sqlite3"
    path.write_bytes(gzip.decompress(request.param.read_bytes()))
    world = World(path, start=LEFT_AT + timedelta(days=3, minutes=10))
    for _ in range(20_000):
        world.clock.new_id()  # past the identities that are used
    yield world
    world.store.close()


def findings(world: World, *, settled: bool) -> list[str]:
    with world.store.read() as tx:
        return [f"{one.code}: {one.message}" for one in check(tx, now=world.clock.now(), settled=settled)]


def test_there_is_a_fixture_of_the_first_release() -> None:
    assert "release-0.1.0.sqlite3.gz" in {path.name for path in RELEASES}


def test_every_table_of_a_release_has_rows(left: World, tmp_path: Path) -> None:
    with closing(sqlite3.connect(left.path)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert len(tables) >= 20
    assert [table for table in tables if not count(left, table)] == []


def test_a_released_database_is_sound_when_it_is_opened_and_brought_up_to_date(left: World) -> None:
    assert left.rows("SELECT version_num FROM alembic_version") == [{"version_num": f"{SCHEMA:04d}"}]
    assert left.rows("PRAGMA user_version") == [{"user_version": SCHEMA}]
    assert findings(left, settled=False) == []


async def test_a_released_database_runs_to_quiet(left: World) -> None:
    fired = {row["id"] for row in left.work()}
    left.pipeline.reconcile()
    left.pass_once()
    assert fired <= {row["id"] for row in left.work()}
    await run_to_quiet(left)
    assert findings(left, settled=True) == []
    waiting = left.rows("SELECT trigger_name, status FROM work WHERE status NOT IN ('completed', 'failed')")
    assert sorted((row["trigger_name"], row["status"]) for row in waiting) == [("asking", "waitingForApproval")]
    assert left.rows("SELECT result FROM work WHERE trigger_name = 'sleeping'")[0]["result"] == "success"
    assert [row["attempt"] for row in left.rows("SELECT attempt FROM flow_step WHERE pid = 1")] == []


def test_a_question_that_a_release_asked_can_be_answered_and_its_run_goes_on(left: World) -> None:
    left.pipeline.reconcile()
    left.pass_once()
    run(left)
    (question,) = left.rows("SELECT id, work_id FROM pending_action WHERE status = 'pending'")
    with left.store.write() as tx:
        service.answer(tx, left.scope, question["id"], "approved", {}, left.clock.now())
    run(left)
    assert left.rows("SELECT status FROM work WHERE id = ?", question["work_id"]) == [{"status": "completed"}]
    assert findings(left, settled=True) == []


def test_the_doctor_finds_nothing_wrong_but_that_no_worker_runs(left: World) -> None:
    left.pipeline.reconcile()
    left.pass_once()
    run(left)
    incarnation.verify(left.store, left.path.with_name("engine"))
    found = {finding.code for finding in examine(left.store, left.clock).findings}
    assert found <= {"no_worker", "worker_stale", "disk_space"}


def test_the_fixture_can_be_made_by_the_present_release(tmp_path: Path) -> None:
    made = tmp_path / "made.gz"
    main(made)
    path = tmp_path / "triggerdeck.sqlite3"
    path.write_bytes(gzip.decompress(made.read_bytes()))
    world = World(path, start=LEFT_AT)
    assert findings(world, settled=False) == []
    world.store.close()
