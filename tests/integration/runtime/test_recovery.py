"""Workers that are killed for real: nothing is lost, nothing is done twice at once, nothing is left behind."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.errors import StorageUnusable
from core.runtime.guard import end_recorded_group, started_at
from core.storage.enginefile import engine_path
from tests.integration.runtime.conftest import Doomed, MakeRig
from tests.integration.runtime.rig import Rig, die_unguarded, sh

pytestmark = pytest.mark.slow

POINTS_BEFORE_THE_STEP = ("dispatch.before_claim", "dispatch.claimed", "dispatch.submitted", "dispatch.mark_committed")
POINTS_IN_THE_STEP = ("step.started", "step.spawned", "step.recorded", "step.executed", "step.before_commit")


async def settled(condition: Callable[[], object], within_s: float = 20.0) -> None:
    """Wait until a condition of another process holds; fails the test after the deadline."""
    never = asyncio.Event()
    async with asyncio.timeout(within_s):
        while not condition():
            try:
                async with asyncio.timeout(0.02):
                    await never.wait()
            except TimeoutError:
                continue


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def counting(folder: Path) -> str:
    return f"echo x >> {folder}/count; sleep 0.05; echo done >> {folder}/done"


def two_sleepers(folder: Path) -> str:
    """Return a script whose shell and child both note their pids and then sleep."""
    return f"sh -c 'echo $$ >> {folder}/pids; exec sleep 300' & echo $$ >> {folder}/pids; wait"


def pids(folder: Path) -> list[int]:
    path = folder / "pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


async def prepared(tmp_path: Path, make_rig: MakeRig, script: str, **rest: str) -> str:
    """Fire Work in a database that no worker has open."""
    rig = await make_rig()
    work_id = rig.fire(sh(script, **rest))
    await rig.__aexit__()
    return work_id


@pytest.mark.parametrize("point", POINTS_BEFORE_THE_STEP)
async def test_a_kill_before_the_step_runs_it_exactly_once(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed, point: str
) -> None:
    work_id = await prepared(tmp_path, make_rig, "sleep 0.3; " + counting(tmp_path))
    assert doomed("engine", point).wait(30) == -signal.SIGKILL
    rig = await make_rig("engine")
    assert (await rig.until(work_id)).status == "completed"
    assert (tmp_path / "done").read_text() == "done\n"
    assert rig.run(work_id).attempt == 1
    assert rig.occurrence(work_id).outcome == "submitted"


@pytest.mark.parametrize("point", POINTS_IN_THE_STEP)
async def test_a_kill_in_the_step_runs_it_again_as_the_next_attempt(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed, point: str
) -> None:
    work_id = await prepared(tmp_path, make_rig, counting(tmp_path))
    assert doomed("engine", point).wait(30) == -signal.SIGKILL
    rig = await make_rig("engine")
    assert (await rig.until(work_id)).status == "completed"
    assert rig.steps(work_id)[0].attempt == 2
    ran = (tmp_path / "count").read_text().split()
    assert len(ran) == (1 if point in {"step.started", "step.spawned", "step.recorded"} else 2)


async def test_a_kill_after_the_step_was_recorded_does_not_run_it_again(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed
) -> None:
    rig = await make_rig()
    work_id = rig.fire(sh(counting(tmp_path), step_id="a"), sh("true", step_id="b"))
    await rig.__aexit__()
    assert doomed("engine", "step.settled").wait(30) == -signal.SIGKILL
    rig = await make_rig("engine")
    assert (await rig.until(work_id)).status == "completed"
    assert (tmp_path / "count").read_text() == "x\n"


async def test_on_crash_fail_ends_the_work_with_code_crashed(tmp_path: Path, make_rig: MakeRig, doomed: Doomed) -> None:
    work_id = await prepared(tmp_path, make_rig, counting(tmp_path), onCrash="fail")
    assert doomed("engine", "step.executed").wait(30) == -signal.SIGKILL
    rig = await make_rig("engine")
    assert (await rig.until(work_id)).status == "failed"
    assert rig.column(work_id, "error_code") == "crashed"
    assert (tmp_path / "count").read_text() == "x\n"


async def test_a_killed_worker_leaves_no_process_of_its_steps(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed
) -> None:
    await prepared(tmp_path, make_rig, two_sleepers(tmp_path))
    worker = doomed("engine")
    await settled(lambda: len(pids(tmp_path)) == 2)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    await settled(lambda: not any(alive(pid) for pid in pids(tmp_path)), within_s=5)


async def test_a_process_that_outlived_worker_and_guard_is_ended_before_the_step_runs_again(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed
) -> None:
    work_id = await prepared(tmp_path, make_rig, two_sleepers(tmp_path))
    worker = doomed("engine")
    await settled(lambda: len(pids(tmp_path)) == 2)
    orphans = pids(tmp_path)
    die_unguarded(worker)
    assert all(alive(pid) for pid in orphans)
    rig = await make_rig("engine")
    assert not any(alive(pid) for pid in orphans)
    await rig.until_step(work_id, 0, "running")
    rig.cancel(work_id)
    assert (await rig.until(work_id)).status == "cancelled"


async def test_deleting_the_engines_file_loses_nothing(tmp_path: Path, make_rig: MakeRig, doomed: Doomed) -> None:
    rig = await make_rig()
    ask = {"id": "ask", "ask": {"kind": "confirmationRequired", "title": "Go on?"}}
    waiting = rig.fire(ask, sh("echo answered", step_id="b"), name="waits")
    running = rig.fire(sh(counting(tmp_path)), name="runs")
    await rig.__aexit__()
    assert doomed("engine", "step.executed").wait(30) == -signal.SIGKILL
    for path in tmp_path.glob("deck.sqlite3.engine*"):
        path.unlink()
    rig = await make_rig("engine")
    assert (await rig.until(running)).status == "completed"
    await rig.until(waiting, "waitingForApproval")
    rig.answer(rig.action(waiting).id, "confirm")
    assert (await rig.until(waiting)).status == "completed"
    assert engine_path(tmp_path / "deck.sqlite3").exists()


async def test_a_step_that_kills_its_worker_each_time_is_not_run_for_ever(rig: Rig) -> None:
    from core.runtime.recovery import CRASH_LIMIT, recover
    from core.storage import runs

    work_id = rig.fire(sh("exec sleep 300"))
    await rig.until_step(work_id, 0, "running")
    await rig.execution.stop()
    with rig.store.write() as tx:
        runs.set_step(tx, rig.run(work_id).id, 0, was=("running",), attempt=CRASH_LIMIT)
    assert recover(rig.store, rig.clock.now()) == 1
    assert rig.steps(work_id)[0].status == "failed"
    assert rig.steps(work_id)[0].error_code == "crashed"


def test_a_pid_that_the_system_gave_to_somebody_else_is_never_touched() -> None:
    stranger = subprocess.Popen(["sleep", "300"], start_new_session=True)
    try:
        began = started_at(stranger.pid)
        assert began is not None
        assert not end_recorded_group(stranger.pid, began - 1.0, "work")
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


async def test_a_result_is_kept_while_the_database_cannot_be_written(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    original = rig.execution._interpreter._settle
    refusals = iter([True, True])

    def full(*args: Any) -> Any:
        if next(refusals, False):
            raise StorageUnusable("the disk is full", "free some space")
        return original(*args)

    monkeypatch.setattr(rig.execution._interpreter, "_settle", full)
    work_id = rig.fire(sh(counting(tmp_path)))
    assert (await rig.until(work_id)).status == "completed"
    assert (tmp_path / "count").read_text() == "x\n"
    assert "step.unrecorded" in caplog.text


async def test_a_stop_ends_the_processes_that_it_abandons(rig: Rig, tmp_path: Path) -> None:
    work_id = rig.fire(sh(two_sleepers(tmp_path)))
    await rig.until_step(work_id, 0, "running")
    await settled(lambda: len(pids(tmp_path)) == 2)
    await rig.execution.stop()
    await settled(lambda: not any(alive(pid) for pid in pids(tmp_path)), within_s=5)
    assert rig.steps(work_id)[0].status == "running", "the next start decides by onCrash"


async def test_a_drain_lets_a_running_step_finish_and_takes_nothing_new(rig: Rig, tmp_path: Path) -> None:
    first = rig.fire(sh(counting(tmp_path)), name="first")
    await rig.until_step(first, 0, "running")
    second = rig.fire(sh("true"), name="second")
    assert await rig.execution.drain(10)
    await rig.execution.pass_once()
    assert rig.work(first).status == "completed"
    assert rig.work(second).status == "pending"


async def test_a_run_whose_identity_is_taken_by_another_input_fails_instead_of_passing_as_it(rig: Rig) -> None:
    from core.runtime.port import Segment

    work_id = rig.fire(sh("true"))
    rig.runtime._hashes[Segment(f"{work_id}.1", 0, "").id] = "of another input"  # type: ignore[attr-defined]
    assert (await rig.until(work_id)).status == "failed"
    assert rig.column(work_id, "error_code") == "conflict"
