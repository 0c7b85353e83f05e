"""What a step leaves: no process, however it left its group, and no folder; also where the worker was killed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from core.runtime.folders import StepFolders, steps_folder
from core.runtime.guard import end_left_behind
from tests.integration.runtime.conftest import Doomed, MakeRig
from tests.integration.runtime.rig import KEEPER, Rig, die_unguarded, sh
from tests.integration.runtime.test_recovery import settled

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux follows such processes")

NOTE = "echo $$ > {folder}/leaving; mv {folder}/leaving {folder}/pid; exec sleep 300"
WAYS = {
    "a session of its own": "setsid sh -c '{note}' &",
    "a double fork without its environment": "(env -i setsid /bin/sh -c '{note}' </dev/null >/dev/null 2>&1 &)",
}


def leaving(way: str, folder: Path, then: str) -> str:
    """Return a script that starts a process which leaves its group, and goes on when that has noted its pid."""
    start = WAYS[way].format(note=NOTE.format(folder=folder))
    return f"{start}\nwhile [ ! -e {folder}/pid ]; do sleep 0.01; done; {then}"


async def left(folder: Path) -> psutil.Process:
    """Return the process that left its group."""
    await settled((folder / "pid").exists)
    return psutil.Process(int((folder / "pid").read_text()))


def has_ended(process: psutil.Process, within_s: float = 10.0) -> bool:
    gone, _ = psutil.wait_procs([process], within_s)
    return bool(gone)


def keepers(parent: psutil.Process) -> list[psutil.Process]:
    """Return the program that starts steps, then what keeps each of them."""
    found = []
    for one in parent.children(recursive=True):
        with suppress(psutil.Error):
            found += [one] if KEEPER in " ".join(one.cmdline()) else []
    return found


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "300"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


# -- processes -------------------------------------------------------------------------------------------------------


async def test_the_end_of_a_step_ends_what_left_its_group(rig: Rig, tmp_path: Path, way: str) -> None:
    waits = f"until [ -e {tmp_path}/go ]; do sleep 0.01; done; echo over"
    work_id = rig.fire(sh(leaving(way, tmp_path, waits)))
    await rig.until_step(work_id, 0, "running")
    process = await left(tmp_path)
    (tmp_path / "go").touch()
    assert (await rig.until(work_id)).status == "completed"
    assert has_ended(process)
    assert rig.log(work_id) == ["over"]


async def test_a_cancel_ends_what_left_its_group(rig: Rig, tmp_path: Path, way: str) -> None:
    work_id = rig.fire(sh(leaving(way, tmp_path, "exec sleep 300")))
    await rig.until_step(work_id, 0, "running")
    process = await left(tmp_path)
    rig.cancel(work_id)
    assert (await rig.until(work_id)).status == "cancelled"
    assert has_ended(process)


async def test_a_timeout_ends_what_left_its_group(rig: Rig, tmp_path: Path, way: str) -> None:
    work_id = rig.fire(sh(leaving(way, tmp_path, "exec sleep 300"), timeout="PT1S"))
    await rig.until_step(work_id, 0, "running")
    process = await left(tmp_path)
    assert (await rig.until(work_id)).status == "failed"
    assert rig.column(work_id, "error_code") == "timeout"
    assert has_ended(process)


@pytest.mark.slow
async def test_a_killed_worker_ends_what_left_its_group(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed, way: str
) -> None:
    rig = await make_rig()
    rig.fire(sh(leaving(way, tmp_path, "exec sleep 300")))
    await rig.__aexit__()
    worker = doomed()
    process = await left(tmp_path)
    worker.kill()
    worker.wait()
    assert has_ended(process)


async def test_a_process_that_left_its_group_is_asked_to_end_before_it_is_killed(rig: Rig, tmp_path: Path) -> None:
    polite = f"trap 'echo asked > {tmp_path}/asked; exit' TERM; touch {tmp_path}/pid; while :; do sleep 0.01; done"
    stubborn = "trap '' TERM; while :; do sleep 0.01; done"
    (tmp_path / "polite").write_text(polite)
    work_id = rig.fire(sh(f"setsid sh {tmp_path}/polite & {stubborn}"))
    await rig.until_step(work_id, 0, "running")
    await settled((tmp_path / "pid").exists)
    rig.cancel(work_id)
    assert (await rig.until(work_id)).status == "cancelled"
    assert (tmp_path / "asked").exists()


async def test_what_kills_the_keeper_of_a_step_ends_the_step(rig: Rig, tmp_path: Path) -> None:
    work_id = rig.fire(sh(leaving("a double fork without its environment", tmp_path, "exec sleep 300")))
    step = await rig.until_step(work_id, 0, "running")
    process = await left(tmp_path)
    assert step.pid is not None
    keepers(psutil.Process())[-1].kill()
    assert (await rig.until(work_id)).status == "failed"
    assert rig.column(work_id, "error_message") == "step one: the program was ended by SIGKILL"
    assert has_ended(process)


async def test_steps_run_on_and_begin_after_the_program_that_starts_them_was_killed(rig: Rig, tmp_path: Path) -> None:
    waits = f"until [ -e {tmp_path}/go ]; do sleep 0.01; done; echo over"
    running = rig.fire(sh(waits), name="running")
    await rig.until_step(running, 0, "running")
    keepers(psutil.Process())[0].kill()
    later = rig.fire(sh("echo began"), name="later")
    assert (await rig.until(later)).status == "completed"
    (tmp_path / "go").touch()
    assert (await rig.until(running)).status == "completed"
    assert rig.log(running) == ["over"]


async def test_an_idle_worker_has_no_process_of_its_own(rig: Rig) -> None:
    await rig.execution.pass_once()
    assert keepers(psutil.Process()) == []


async def test_a_stopped_worker_leaves_no_process_of_its_own(rig: Rig) -> None:
    assert (await rig.until(rig.fire(sh("true")))).status == "completed"
    assert keepers(psutil.Process())
    await rig.execution.stop()
    assert keepers(psutil.Process()) == []


@pytest.mark.slow
async def test_the_next_start_ends_what_left_its_group_and_outlived_worker_and_guard(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed
) -> None:
    rig = await make_rig()
    work_id = rig.fire(sh(leaving("a session of its own", tmp_path, "exec sleep 300"), onCrash="fail"))
    await rig.__aexit__()
    worker = doomed()
    process = await left(tmp_path)
    die_unguarded(worker)
    assert process.is_running()
    rig = await make_rig()
    assert not process.is_running()
    assert rig.steps(work_id)[0].error_code == "crashed"


async def test_only_what_writes_into_the_folder_of_this_database_is_ended_at_a_start(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    here, there = (steps_folder(tmp_path / name) for name in ("deck.sqlite3", "other.sqlite3"))
    here.mkdir()
    env = {"TRIGGERDECK_OUTPUT": f"{there}/step-1/output.json"}
    neighbour = subprocess.Popen(["/bin/sleep", "300"], env=env, start_new_session=True)
    try:
        await settled(psutil.Process(neighbour.pid).environ)
        assert end_left_behind(here) == 0
        assert neighbour.poll() is None
        assert stranger.poll() is None
        there.mkdir()
        assert end_left_behind(there) == 1
        neighbour.wait(10)
        assert stranger.poll() is None
    finally:
        neighbour.kill()
        neighbour.wait()


# -- folders ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_next_start_removes_the_folder_of_a_step_whose_worker_was_killed(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed
) -> None:
    rig = await make_rig()
    work_id = rig.fire(sh(f'echo half > "$TRIGGERDECK_OUTPUT"; touch {tmp_path}/began; exec sleep 300', onCrash="fail"))
    await rig.__aexit__()
    worker = doomed()
    await settled((tmp_path / "began").exists)
    worker.kill()
    worker.wait()
    place = steps_folder(tmp_path / "deck.sqlite3")
    assert [path.name for path in place.glob("*/*")] == ["output.json"]
    rig = await make_rig()
    assert rig.work(work_id).status in {"failed", "running"}
    assert not place.exists()


async def test_a_start_leaves_the_folders_of_a_living_worker_on_another_database_alone(
    rig: Rig, tmp_path: Path
) -> None:
    work_id = rig.fire(sh(f"until [ -e {tmp_path}/go ]; do sleep 0.01; done; echo '1' > $TRIGGERDECK_OUTPUT"))
    await rig.until_step(work_id, 0, "running")
    StepFolders(tmp_path / "other.sqlite3").clear()
    StepFolders(tmp_path / "deck").clear()
    (tmp_path / "go").touch()
    assert (await rig.until(work_id)).status == "completed"
    assert rig.outputs(work_id) == [1]


def test_what_no_step_made_stays_where_it_is(tmp_path: Path) -> None:
    folders = StepFolders(tmp_path / "deck.sqlite3")
    folders.place.mkdir()
    (folders.place / "notes").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    (folders.place / "step-link").symlink_to(tmp_path / "elsewhere")
    (folders.place / "step-made").mkdir()
    folders.clear()
    assert sorted(path.name for path in folders.place.iterdir()) == ["notes", "step-link"]
    assert (tmp_path / "elsewhere" / "kept").exists()


async def test_a_step_leaves_no_folder_and_a_stopped_worker_none_at_all(rig: Rig, tmp_path: Path) -> None:
    kept = await rig.until(rig.fire(sh("dirname $TRIGGERDECK_OUTPUT")))
    (folder,) = rig.log(kept.id, "out")
    assert Path(folder).parent == steps_folder(tmp_path / "deck.sqlite3")
    assert not Path(folder).exists()
    await rig.execution.stop()
    assert not steps_folder(tmp_path / "deck.sqlite3").exists()


async def test_a_folder_that_cannot_be_made_postpones_the_step(rig: Rig, tmp_path: Path) -> None:
    place = steps_folder(tmp_path / "deck.sqlite3")
    place.write_text("a file in the way")
    work_id = rig.fire(sh("echo ran"))
    place.unlink()
    assert (await rig.until(work_id)).status == "completed"
