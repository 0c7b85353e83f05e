"""One test for each trap of the engine that was measured before it was chosen."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from core.runtime import engine
from core.runtime.port import Progress, Segment, Submission
from core.storage.enginefile import begin_epoch, engine_path, open_engine_file
from core.storage.store import Store
from tests.integration.runtime.conftest import MakeRig
from tests.integration.runtime.rig import sh

ROOT = Path(__file__).parents[3]


def in_engine_file(folder: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(engine_path(folder / "deck.sqlite3"))) as connection:
        return connection.execute(statement).fetchall()


async def test_the_engine_has_a_file_of_its_own_with_wal_and_patience(make_rig: MakeRig, tmp_path: Path) -> None:
    await make_rig("engine")
    path = engine_path(tmp_path / "deck.sqlite3")
    assert path.name == "deck.sqlite3.engine"
    assert in_engine_file(tmp_path, "PRAGMA journal_mode") == [("wal",)]
    pool = open_engine_file(path)
    with pool.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
    pool.dispose()


async def test_a_writer_in_our_file_does_not_hold_up_the_engine(make_rig: MakeRig, tmp_path: Path) -> None:
    rig = await make_rig("engine")
    with rig.store.write():
        assert in_engine_file(tmp_path, "SELECT count(*) FROM workflow_status") == [(0,)]
        with closing(sqlite3.connect(engine_path(rig.store.path), timeout=0.1)) as connection:
            connection.execute("BEGIN IMMEDIATE")


async def test_a_run_is_started_directly_and_never_through_the_engines_polled_queue(
    make_rig: MakeRig, tmp_path: Path
) -> None:
    rig = await make_rig("engine")
    rig.flow(sh("true"))
    for _ in range(3):
        await rig.until(rig.fire())
    await rig.execution.drain(10)
    queues = in_engine_file(tmp_path, "SELECT queue_name, recovery_attempts FROM workflow_status")
    assert queues == [(None, 1)] * 3


async def test_the_same_id_with_another_input_is_told_apart_even_after_a_restart(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "deck.sqlite3")
    held = asyncio.Event()

    async def hold(_segment: Segment, _cancel: asyncio.Event) -> Progress:
        held.set()
        await asyncio.Event().wait()
        return Progress.ENDED

    first = engine.DbosRuntime(store)
    await first.start(hold)
    await first.submit(Segment("run.1", 0, "hash"))
    async with asyncio.timeout(10):
        await held.wait()
    keep = engine_path(store.path).read_bytes()
    await first.stop()
    assert keep
    second = engine.DbosRuntime(store)
    second._hashes.clear()
    await second.start(hold)
    await second.submit(Segment("run.1", 0, "hash"))
    second._hashes.clear()
    assert await second.submit(Segment("run.1", 0, "other")) is Submission.CONFLICT
    assert await second.submit(Segment("run.1", 0, "hash")) is Submission.DUPLICATE
    await second.stop()
    store.close()


async def test_the_workflow_id_is_the_key_and_no_deduplication_id_is_used(make_rig: MakeRig, tmp_path: Path) -> None:
    rig = await make_rig("engine")
    work_id = rig.fire(sh("true"))
    await rig.until(work_id)
    await rig.execution.drain(10)
    rows = in_engine_file(tmp_path, "SELECT workflow_uuid, deduplication_id, queue_name FROM workflow_status")
    assert rows == [(f"{work_id}.1:0", None, None)]


async def test_two_hundred_waiting_runs_cost_no_thread_and_no_slot(make_rig: MakeRig) -> None:
    rig = await make_rig("engine", slots=8)
    rig.flow({"id": "ask", "ask": {"kind": "confirmationRequired", "title": "Go on?"}})
    waiting = [rig.fire() for _ in range(200)]
    await rig.until(waiting[-1], "waitingForApproval", within_s=60)
    assert {rig.work(work_id).status for work_id in waiting} == {"waitingForApproval"}
    assert rig.execution.running == 0
    assert threading.active_count() < 60
    assert await rig.execution.drain(10)
    assert len([task for task in asyncio.all_tasks() if not task.done()]) < 10
    rig.execution._accepting = True
    quick = rig.fire(sh("true"), name="quick")
    assert (await rig.until(quick)).status == "completed"


async def test_steps_are_async_and_preemptible() -> None:
    import inspect

    assert inspect.iscoroutinefunction(inspect.unwrap(engine._advance))
    assert inspect.iscoroutinefunction(inspect.unwrap(engine.run_segment))


async def test_an_abandoned_run_is_taken_up_at_the_next_start_under_the_same_executor(
    make_rig: MakeRig, tmp_path: Path
) -> None:
    rig = await make_rig("engine")
    work_id = rig.fire(sh(f"test -e {tmp_path}/again || exec sleep 300"))
    await rig.until_step(work_id, 0, "running")
    await rig.__aexit__()
    assert in_engine_file(tmp_path, "SELECT executor_id FROM workflow_status") == [(engine.EXECUTOR,)]
    (tmp_path / "again").touch()
    rig = await make_rig("engine")
    assert (await rig.until(work_id)).status == "completed"
    assert rig.steps(work_id)[0].attempt == 2
    assert rig.run(work_id).attempt == 1


async def test_the_version_is_a_constant_so_that_an_upgrade_strands_nothing(make_rig: MakeRig, tmp_path: Path) -> None:
    rig = await make_rig("engine")
    await rig.until(rig.fire(sh("true")))
    await rig.execution.drain(10)
    assert in_engine_file(tmp_path, "SELECT application_version FROM workflow_status") == [("1",)]


async def test_what_the_engine_stores_is_json_and_never_a_pickle(make_rig: MakeRig, tmp_path: Path) -> None:
    rig = await make_rig("engine")
    work_id = rig.fire(sh("true"))
    await rig.until(work_id)
    await rig.execution.drain(10)
    [(inputs,)] = in_engine_file(tmp_path, "SELECT inputs FROM workflow_input")
    [(output,)] = in_engine_file(tmp_path, "SELECT output FROM workflow_output")
    assert json.loads(str(inputs))["args"][:2] == [f"{work_id}.1", 0]
    assert json.loads(str(output)) == "ended"
    with pytest.raises((pickle.UnpicklingError, ValueError)):
        pickle.loads(str(inputs).encode())  # noqa: S301 - it is the point that this fails


def test_the_engine_is_imported_by_the_worker_alone() -> None:
    program = (
        "import sys, core.deck, core.runtime.execution, core.runtime.memory, core.work.service, core.flows.publishing;"
        "sys.exit('dbos' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


async def test_the_engines_file_goes_where_ours_is_older(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "deck.sqlite3")
    path = engine_path(store.path)
    begin_epoch(store)
    store.close()
    backup = store.path.read_bytes()
    store = Store.open(store.path)
    begin_epoch(store)
    marker = sqlite3.connect(path)
    marker.execute("CREATE TABLE memory_of_a_future (x)")
    marker.close()
    store.close()
    for stale in tmp_path.glob("deck.sqlite3-*"):
        stale.unlink()
    store.path.write_bytes(backup)
    store = Store.open(store.path)
    begin_epoch(store)
    assert in_engine_file(tmp_path, "SELECT name FROM sqlite_master WHERE name = 'memory_of_a_future'") == []
    store.close()


async def test_an_engine_file_that_is_no_database_is_replaced(make_rig: MakeRig, tmp_path: Path) -> None:
    engine_path(tmp_path / "deck.sqlite3").write_bytes(b"not a database at all" * 100)
    rig = await make_rig("engine")
    assert (await rig.until(rig.fire(sh("true")))).status == "completed"


async def test_the_engine_writes_nothing_to_the_terminal(make_rig: MakeRig, capfd: pytest.CaptureFixture[str]) -> None:
    rig = await make_rig("engine")
    await rig.until(rig.fire(sh("true")))
    assert capfd.readouterr() == ("", "")
    assert all(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("dbos").handlers)


async def test_finished_segments_are_forgotten_by_the_engine(
    make_rig: MakeRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "FORGET_AFTER", 3)
    rig = await make_rig("engine")
    rig.flow(sh("true"))
    for _ in range(7):
        await rig.until(rig.fire())
    await rig.execution.drain(10)
    assert len(in_engine_file(tmp_path, "SELECT 1 FROM workflow_status")) < 5


async def test_a_fault_of_ours_postpones_a_run_instead_of_losing_it(
    make_rig: MakeRig, engine_kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from datetime import timedelta

    from core.runtime import execution

    monkeypatch.setattr(execution, "RETRY_AFTER", timedelta(seconds=0.1))
    rig = await make_rig(engine_kind)
    original = rig.execution._interpreter.advance
    faults = iter([True])

    async def faulty(segment: Segment, cancel: asyncio.Event) -> Progress:
        if next(faults, False):
            raise OSError("the disk is full")
        return await original(segment, cancel)

    monkeypatch.setattr(rig.execution._interpreter, "advance", faulty)
    assert (await rig.until(rig.fire(sh("true")))).status == "completed"
    assert "run.fault" in caplog.text
