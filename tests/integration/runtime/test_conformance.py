"""One suite for the port: the engine and its fake behave alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.runtime.memory import MemoryRuntime
from core.runtime.port import Progress, Runtime, Segment, Submission
from core.storage.store import Store
from tests.integration.runtime.rig import Rig, sh

FIRST = Segment("run-a.1", 0, "hash")


class Script:
    """Says MORE a few times, then ENDED; may be told to wait for its cancel event."""

    def __init__(self, steps: int = 1, *, until_cancelled: bool = False) -> None:
        self.steps = steps
        self.until_cancelled = until_cancelled
        self.calls: list[str] = []
        self.entered = asyncio.Event()
        self.cancelled = 0

    async def __call__(self, segment: Segment, cancel: asyncio.Event) -> Progress:
        self.calls.append(segment.id)
        self.entered.set()
        if self.until_cancelled:
            await cancel.wait()
            self.cancelled += 1
        return Progress.MORE if self.calls.count(segment.id) < self.steps else Progress.ENDED


@pytest.fixture
async def runtime(tmp_path: Path, engine_kind: str) -> AsyncIterator[Runtime]:
    store = Store.open(tmp_path / "deck.sqlite3")
    made: Runtime = MemoryRuntime()
    if engine_kind == "engine":
        from core.runtime.engine import DbosRuntime

        made = DbosRuntime(store)
    yield made
    await made.stop()
    store.close()


async def test_a_segment_is_advanced_until_it_has_ended(runtime: Runtime) -> None:
    script = Script(steps=3)
    await runtime.start(script)
    assert await runtime.submit(FIRST) is Submission.ACCEPTED
    assert await runtime.drain(10)
    assert script.calls == ["run-a.1:0"] * 3


async def test_the_same_segment_again_is_a_duplicate_and_runs_once(runtime: Runtime) -> None:
    script = Script()
    await runtime.start(script)
    await runtime.submit(FIRST)
    assert await runtime.submit(FIRST) is Submission.DUPLICATE
    assert await runtime.drain(10)
    assert await runtime.submit(FIRST) is Submission.DUPLICATE
    assert await runtime.drain(10)
    assert script.calls == ["run-a.1:0"]


async def test_the_same_id_with_another_input_is_a_conflict(runtime: Runtime) -> None:
    script = Script()
    await runtime.start(script)
    await runtime.submit(FIRST)
    assert await runtime.submit(Segment("run-a.1", 0, "other")) is Submission.CONFLICT
    assert await runtime.drain(10)
    assert script.calls == ["run-a.1:0"]


async def test_the_next_segment_of_a_run_is_another_segment(runtime: Runtime) -> None:
    script = Script()
    await runtime.start(script)
    assert await runtime.submit(FIRST) is Submission.ACCEPTED
    assert await runtime.submit(Segment("run-a.1", 1, "hash")) is Submission.ACCEPTED
    assert await runtime.drain(10)
    assert sorted(script.calls) == ["run-a.1:0", "run-a.1:1"]


async def test_cancel_reaches_the_running_segment_of_that_run_only(runtime: Runtime) -> None:
    script = Script(until_cancelled=True)
    await runtime.start(script)
    await runtime.submit(FIRST)
    await runtime.submit(Segment("run-b.1", 0, "hash"))
    async with asyncio.timeout(10):
        await script.entered.wait()
    await runtime.cancel("run-a.1")
    assert not await runtime.drain(0.2)
    await runtime.cancel("run-b.1")
    assert await runtime.drain(10)
    assert script.cancelled == 2


async def test_cancelling_an_unknown_run_does_nothing(runtime: Runtime) -> None:
    script = Script()
    await runtime.start(script)
    await runtime.cancel("nobody.1")
    assert script.calls == []


async def test_reconcile_submits_what_the_engine_does_not_know(runtime: Runtime) -> None:
    script = Script()
    await runtime.start(script)
    assert await runtime.reconcile([FIRST]) == {"run-a.1:0": Submission.ACCEPTED}
    assert await runtime.drain(10)
    assert script.calls == ["run-a.1:0"]


async def test_reconcile_runs_again_what_the_engine_holds_to_be_over(runtime: Runtime) -> None:
    script = Script()
    await runtime.start(script)
    await runtime.submit(FIRST)
    assert await runtime.drain(10)
    assert await runtime.reconcile([FIRST]) == {"run-a.1:0": Submission.ACCEPTED}
    assert await runtime.drain(10)
    assert script.calls == ["run-a.1:0"] * 2


async def test_reconcile_leaves_alone_what_executes(runtime: Runtime) -> None:
    script = Script(until_cancelled=True)
    await runtime.start(script)
    await runtime.submit(FIRST)
    assert await runtime.reconcile([FIRST]) == {"run-a.1:0": Submission.DUPLICATE}
    await runtime.cancel("run-a.1")
    assert await runtime.drain(10)
    assert script.calls == ["run-a.1:0"]


async def test_drain_says_that_something_still_executes(runtime: Runtime) -> None:
    script = Script(until_cancelled=True)
    await runtime.start(script)
    await runtime.submit(FIRST)
    assert not await runtime.drain(0.05)
    await runtime.cancel("run-a.1")
    assert await runtime.drain(10)


async def test_two_hundred_segments_end_once_each(runtime: Runtime) -> None:
    script = Script()
    await runtime.start(script)
    segments = [Segment(f"run-{number}.1", 0, "hash") for number in range(200)]
    for segment in segments:
        await runtime.submit(segment)
    assert await runtime.drain(30)
    assert sorted(script.calls) == sorted(segment.id for segment in segments)


async def test_a_flow_of_three_steps_runs_in_order(each_rig: Rig) -> None:
    steps = [sh("echo first", step_id="a"), sh("echo second", step_id="b"), sh("echo third", step_id="c")]
    work_id = each_rig.fire(*steps)
    work = await each_rig.until(work_id)
    assert work.status == "completed"
    assert each_rig.log(work_id, "out") == ["first", "second", "third"]


async def test_a_question_ends_the_segment_and_its_answer_starts_the_next(each_rig: Rig) -> None:
    ask = {"id": "release", "ask": {"kind": "approvalRequired", "title": "Release?"}}
    work_id = each_rig.fire(sh("echo once", step_id="a"), ask, sh("echo {{ steps.release.output.by }}", step_id="b"))
    await each_rig.until(work_id, "waitingForApproval")
    assert each_rig.execution.running == 0
    each_rig.answer(each_rig.action(work_id).id, "approve")
    assert (await each_rig.until(work_id)).status == "completed"
    assert each_rig.run(work_id).segment == 1
    assert each_rig.log(work_id, "out") == ["once", "tester"]


async def test_a_running_step_is_cancelled(each_rig: Rig) -> None:
    work_id = each_rig.fire(sh("exec sleep 300"))
    await each_rig.until_step(work_id, 0, "running")
    each_rig.cancel(work_id)
    assert (await each_rig.until(work_id)).status == "cancelled"


async def test_a_running_step_is_timed_out(each_rig: Rig) -> None:
    work_id = each_rig.fire(sh("exec sleep 300", timeout="PT0.2S"))
    assert (await each_rig.until(work_id)).status == "failed"
    assert each_rig.column(work_id, "error_code") == "timeout"
