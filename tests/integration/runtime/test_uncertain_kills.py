"""Workers that are killed in a step that may not be repeated: it is asked about once, and an answer is never lost."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from core.runtime.memory import MemoryRuntime
from tests.integration.runtime.conftest import Doomed, MakeRig
from tests.integration.runtime.doubt import (
    SHOWS,
    choose,
    message_of,
    sound,
)
from tests.integration.runtime.rig import Rig, die_unguarded, sh
from tests.integration.runtime.test_recovery import alive, counting, pids, settled, two_sleepers

POINTS = ("step.started", "step.recorded", "step.executed", "step.before_commit", "step.settling")
RECOVERING = ("start.groups_ended", "start.recovering", "start.recovered", "start.resumed")


@pytest.fixture
def onlooker(tmp_path: Path) -> Iterator[Rig]:
    """Return a rig that drives nothing: it looks and answers while a worker of another process works."""
    rig = Rig(tmp_path, MemoryRuntime())
    yield rig
    rig.store.close()


async def killed(
    tmp_path: Path,
    make_rig: MakeRig,
    doomed: Doomed,
    point: str,
    *more: Mapping[str, Any],
    engine: str = "memory",
) -> str:
    """Fire Work whose first step is killed with its worker by SIGKILL at a named place."""
    rig = await make_rig()
    work_id = rig.fire(sh(counting(tmp_path), onCrash="ask"), *more)
    await rig.__aexit__()
    assert doomed(engine, point).wait(30) == -signal.SIGKILL
    return work_id


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "point"), [*(("memory", point) for point in POINTS), ("engine", "step.executed")])
async def test_a_step_that_was_killed_anywhere_is_not_repeated_but_asked_about(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed, engine: str, point: str
) -> None:
    work_id = await killed(tmp_path, make_rig, doomed, point, SHOWS, engine=engine)
    rig = await make_rig(engine)
    await rig.until(work_id, "waitingForInput")
    assert rig.run(work_id).status == "waiting"
    assert rig.steps(work_id)[0].status == "waiting"
    assert rig.execution.running == 0
    assert [line.action_id for line in rig.notifications()] == [rig.action(work_id).id]
    sound(rig)
    before = (tmp_path / "count").exists()
    choose(rig, work_id, "finished", output={"rows": 7})
    assert (await rig.until(work_id)).status == "completed"
    assert rig.outputs(work_id)[0] == {"rows": 7}
    assert rig.log(work_id, "out") == ["7"]
    assert (tmp_path / "count").exists() == before, "the step did not run again"
    assert before == (point not in {"step.started", "step.recorded"})
    sound(rig)


@pytest.mark.slow
@pytest.mark.parametrize("point", RECOVERING)
async def test_a_worker_that_is_killed_while_it_asks_leaves_one_question(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed, point: str
) -> None:
    work_id = await killed(tmp_path, make_rig, doomed, "step.executed")
    assert doomed("memory", point).wait(30) == -signal.SIGKILL
    rig = await make_rig()
    await rig.until(work_id, "waitingForInput")
    assert len(rig.actions()) == len(rig.notifications()) == 1
    choose(rig, work_id, "run it again")
    assert (await rig.until(work_id)).status == "completed"
    assert (tmp_path / "count").read_text() == "x\nx\n"
    sound(rig)


@pytest.mark.slow
async def test_a_second_kill_while_the_question_is_open_asks_nothing_new(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed, onlooker: Rig
) -> None:
    work_id = await killed(tmp_path, make_rig, doomed, "step.executed")
    worker = doomed()
    await settled(lambda: onlooker.work(work_id).status == "waitingForInput")
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    rig = await make_rig()
    await rig.execution.pass_once()
    assert len(rig.actions()) == len(rig.notifications()) == 1
    assert rig.action(work_id).status == "pending"
    sound(rig)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["start.recovered", "start.resumed", "step.starting", "step.started"])
async def test_an_answer_survives_a_worker_that_is_killed_before_it_took_it_up(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed, point: str
) -> None:
    work_id = await killed(tmp_path, make_rig, doomed, "step.executed")
    rig = await make_rig()
    choose(rig, work_id, "run it again")
    await rig.__aexit__()
    assert doomed("memory", point).wait(30) == -signal.SIGKILL
    rig = await make_rig()
    await rig.until(work_id, "waitingForInput", "completed")
    if point == "step.started":  # its second try had begun: that one is asked about
        assert rig.action(work_id).form["attempt"] == 2
        choose(rig, work_id, "finished")
    assert (await rig.until(work_id)).status == "completed"
    assert (tmp_path / "done").read_text() == ("done\n" if point == "step.started" else "done\ndone\n")
    sound(rig)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["dispatch.before_resume", "dispatch.resumed"])
async def test_an_answer_survives_the_worker_that_was_about_to_take_it_up(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed, onlooker: Rig, point: str
) -> None:
    work_id = await killed(tmp_path, make_rig, doomed, "step.executed")
    worker = doomed("engine", point)
    await settled(lambda: onlooker.work(work_id).status == "waitingForInput")
    other = onlooker.fire(sh("true"), name="other")
    await settled(lambda: onlooker.work(other).status == "completed")  # so it has started and makes its passes
    choose(onlooker, work_id, "finished")
    assert worker.wait(30) == -signal.SIGKILL
    rig = await make_rig("engine")
    assert (await rig.until(work_id)).status == "completed"
    assert (tmp_path / "done").read_text() == "done\n"
    sound(rig)


@pytest.mark.slow
async def test_a_process_that_outlived_its_worker_is_ended_and_the_question_says_so(
    tmp_path: Path, make_rig: MakeRig, doomed: Doomed
) -> None:
    rig = await make_rig()
    work_id = rig.fire(sh(two_sleepers(tmp_path), onCrash="ask"))
    await rig.__aexit__()
    worker = doomed()
    await settled(lambda: len(pids(tmp_path)) == 2)
    die_unguarded(worker)
    assert all(alive(pid) for pid in pids(tmp_path))
    rig = await make_rig()
    assert not any(alive(pid) for pid in pids(tmp_path))
    text = message_of(rig, work_id)
    assert "still ran when the worker came back, and was ended" in text
    assert any(f"Process {pid} " in text for pid in pids(tmp_path))
