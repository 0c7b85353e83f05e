"""A crash in the middle of a step that may not be repeated: one question, and what each answer of it comes to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert

from core.clock import ManualClock
from core.errors import Invalid, Precondition
from core.runtime.recovery import CRASH_LIMIT
from core.storage import runs
from core.storage.columns import table_of
from core.storage.tables import WorkerBeat
from tests.integration.runtime.conftest import MakeRig
from tests.integration.runtime.doubt import (
    SLEEPS_ONCE,
    begun,
    choose,
    crash,
    fragile,
    interrupted,
    message_of,
    next_worker,
    sound,
)
from tests.integration.runtime.rig import START, Rig, sh

# -- what is asked -------------------------------------------------------------------------------------------------


async def test_the_question_says_what_is_known(make_rig: MakeRig) -> None:
    rig = await make_rig(clock=ManualClock(START))
    beat = {"worker_id": "worker", "pid": 1, "host": "h", "version": "1", "zone_data": "z", "state": "working"}
    with rig.store.write() as tx:
        times = {"started_at": START, "beat_at": START + timedelta(seconds=42)}
        tx.run(insert(table_of(WorkerBeat)).values(**beat, **times))
    work_id = rig.fire(fragile(step_id="post"), name="payments")
    await begun(rig, work_id, 1)
    pid = rig.steps(work_id)[0].pid
    await crash(rig)
    assert rig.action(work_id).title == "Did step post of Test of payments finish?"
    assert message_of(rig, work_id).splitlines() == [
        "The worker died during try 1: whether it finished is not known.",
        "Began 2026-03-28 13:00:00Z; worker last alive 2026-03-28 13:00:42Z.",
        f"Process {pid} is gone: it ended by itself or with the worker.",
        "Its log ends at 2026-03-28 13:00:00Z:",
        "out> try 1",
    ]
    assert rig.steps(work_id)[0].pid is None
    assert {"action", "notification", "work"} <= rig.change_kinds()


async def test_the_output_of_an_earlier_try_is_part_of_what_is_known(rig: Rig) -> None:
    work_id = rig.fire(fragile(step_id="post"))
    await begun(rig, work_id, 1)
    with rig.store.write() as tx:
        known = runs.in_flight(tx)[0]
        runs.put_step(tx, known, fresh=False, output={"sent": 3}, attempt=2)
    await crash(rig)
    text = message_of(rig, work_id)
    assert 'An earlier try gave {"sent":3}' in text
    assert text.endswith("out of try 1> try 1")


async def test_a_long_log_is_shown_by_its_end(rig: Rig) -> None:
    lines = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo $i; done; "
    work_id = rig.fire(sh(lines + SLEEPS_ONCE.format(then="true", crashes=1), onCrash="ask"))
    await begun(rig, work_id, 1)
    await crash(rig)
    tail = message_of(rig, work_id).splitlines()[4:]
    assert tail == [*(f"out> {number}" for number in range(22, 41)), "out> try 1"]


# -- what is answered ----------------------------------------------------------------------------------------------


async def test_finished_without_an_output_goes_on_without_one(each_rig: Rig) -> None:
    work_id = await interrupted(each_rig, fragile(), sh("echo on", step_id="b"))
    choose(each_rig, work_id, "finished")
    assert (await each_rig.until(work_id)).status == "completed"
    assert each_rig.outputs(work_id) == [None, None]
    assert each_rig.log(work_id, "out") == ["try 1", "on"]
    step = each_rig.steps(work_id)[0]
    assert (step.attempt, step.error_code, step.error_message) == (1, None, None)


async def test_finished_with_nothing_to_do_ends_the_run_well(rig: Rig) -> None:
    work_id = await interrupted(rig, fragile(), sh("echo on", step_id="b"))
    choose(rig, work_id, "finished", output={"noWork": True})
    assert (await rig.until(work_id)).status == "completed"
    assert rig.column(work_id, "result") == "no_work"
    assert rig.steps(work_id)[1].status == "skipped"


async def test_run_it_again_is_the_next_try(each_rig: Rig) -> None:
    work_id = await interrupted(each_rig, fragile())
    choose(each_rig, work_id, "run it again")
    assert (await each_rig.until(work_id)).status == "completed"
    assert each_rig.log(work_id, "out") == ["try 1", "try 2"]
    assert each_rig.run(work_id).attempt == 1
    assert each_rig.steps(work_id)[0].attempt == 2
    sound(each_rig)


async def test_failed_fails_the_work_and_is_never_retried(each_rig: Rig) -> None:
    step = fragile(retry={"attempts": 3, "backoff": "PT0.01S"})
    work_id = await interrupted(each_rig, step, sh("echo on", step_id="b"))
    choose(each_rig, work_id, "failed", reason="the bank has no such payment")
    assert (await each_rig.until(work_id)).status == "failed"
    assert (each_rig.column(work_id, "result"), each_rig.column(work_id, "error_code")) == ("failed", "crashed")
    said = "step one: tester said that it failed when the worker died: the bank has no such payment"
    assert each_rig.column(work_id, "error_message") == said
    assert each_rig.log(work_id, "out") == ["try 1"]
    sound(each_rig)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({}, "choice"),
        ({"choice": "perhaps"}, "choice"),
        ({"choice": "finished", "output": [1]}, "output"),
        ({"choice": "finished", "output": "done"}, "output"),
        ({"choice": "run it again", "output": {"rows": 1}}, "choice"),
        ({"choice": "failed", "output": {}}, "choice"),
        ({"choice": "finished", "outptu": {}}, "outptu"),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused_by_its_field(
    rig: Rig, values: dict[str, Any], field: str
) -> None:
    work_id = await interrupted(rig, fragile())
    with pytest.raises(Invalid) as refused:
        rig.answer(rig.action(work_id).id, "chosen", values)
    assert [fault.field for fault in refused.value.faults] == [field]
    assert rig.action(work_id).status == "pending"


async def test_the_first_answer_wins(rig: Rig) -> None:
    work_id = await interrupted(rig, fragile())
    action_id = rig.action(work_id).id
    choose(rig, work_id, "finished")
    with pytest.raises(Precondition, match="tester chosen this at"):
        rig.answer(action_id, "chosen", {"choice": "run it again"})
    await rig.until(work_id)
    assert rig.log(work_id, "out") == ["try 1"]


async def test_an_answer_while_no_worker_runs_is_taken_up_by_the_next_one(each_rig: Rig) -> None:
    rig = each_rig
    work_id = await interrupted(rig, fragile())
    await rig.execution.stop()
    choose(rig, work_id, "run it again")
    sound(rig)
    await next_worker(rig)
    assert (await rig.until(work_id)).status == "completed"
    assert rig.log(work_id, "out") == ["try 1", "try 2"]


# -- nobody answers ------------------------------------------------------------------------------------------------


async def test_without_an_answer_in_seven_days_the_work_fails_and_its_outcome_is_unknown(make_rig: MakeRig) -> None:
    clock = ManualClock(START)
    rig = await make_rig(clock=clock)
    work_id = await interrupted(rig, fragile())
    clock.advance(timedelta(days=7, seconds=-1))
    await rig.execution.pass_once()
    assert rig.work(work_id).status == "waitingForInput"
    clock.advance(timedelta(seconds=1))
    assert (await rig.until(work_id)).status == "failed"
    assert [rig.column(work_id, name) for name in ("result", "error_code")] == ["outcome_unknown"] * 2
    assert "nobody said in time whether it finished" in rig.column(work_id, "error_message")
    assert rig.steps(work_id)[0].error_code == "outcome_unknown"
    assert [row.status for row in rig.actions()] == ["expired"]
    sound(rig)


async def test_a_flow_whose_time_is_over_while_it_asks_fails_and_its_outcome_is_unknown(make_rig: MakeRig) -> None:
    clock = ManualClock(START)
    rig = await make_rig(clock=clock)
    work_id = await interrupted(rig, fragile(), timeout="PT1H")
    clock.advance(timedelta(hours=1))
    assert (await rig.until(work_id)).status == "failed"
    assert (rig.column(work_id, "result"), rig.column(work_id, "error_code")) == ("outcome_unknown", "deadline")
    assert [row.status for row in rig.actions()] == ["cancelled"]
    sound(rig)


async def test_nobody_is_asked_about_a_flow_whose_time_was_over_before(make_rig: MakeRig) -> None:
    clock = ManualClock(START)
    rig = await make_rig(clock=clock)
    work_id = rig.fire(fragile(), timeout="PT1H")
    await begun(rig, work_id, 1)
    clock.advance(timedelta(hours=2))
    await crash(rig)
    assert (await rig.until(work_id)).status == "failed"
    assert (rig.column(work_id, "result"), rig.column(work_id, "error_code")) == ("outcome_unknown", "deadline")
    assert rig.actions() == []


async def test_work_whose_outcome_is_unknown_can_be_retried(make_rig: MakeRig) -> None:
    clock = ManualClock(START)
    rig = await make_rig(clock=clock)
    work_id = await interrupted(rig, fragile())
    clock.advance(timedelta(days=7))
    await rig.until(work_id)
    rig.retry(work_id)
    await rig.until_step(work_id, 0, "running")
    await crash(rig)
    await rig.until(work_id, "waitingForInput")
    choose(rig, work_id, "finished")
    assert (await rig.until(work_id)).status == "completed"
    assert rig.column(work_id, "result") == "success"
    assert (rig.run(work_id).attempt, rig.column(work_id, "error_code")) == (2, None)


# -- beside retry, cancel, crashes and restores ----------------------------------------------------------------------


@pytest.mark.parametrize(("attempts", "tries"), [(2, 2), (3, 3)])
async def test_a_try_that_a_person_asked_for_counts_among_the_steps_attempts(
    rig: Rig, attempts: int, tries: int
) -> None:
    step = fragile("exit 1", retry={"attempts": attempts, "backoff": "PT0.01S"})
    work_id = await interrupted(rig, step)
    choose(rig, work_id, "run it again")
    assert (await rig.until(work_id)).status == "failed"
    assert rig.column(work_id, "error_code") == "exit_status"
    assert rig.log(work_id, "out") == [f"try {number}" for number in range(1, tries + 1)]


async def test_each_try_that_dies_is_asked_about_anew_even_after_the_clock_was_set_back(make_rig: MakeRig) -> None:
    clock = ManualClock(START)
    rig = await make_rig(clock=clock)
    work_id = await interrupted(rig, fragile(crashes=2))
    choose(rig, work_id, "run it again")
    await begun(rig, work_id, 2)
    clock.step(START - timedelta(hours=1))
    await crash(rig)
    await rig.until(work_id, "waitingForInput")
    assert "during try 2:" in message_of(rig, work_id)
    choose(rig, work_id, "finished", output={"by": "hand"})
    clock.step(START + timedelta(hours=1))
    assert (await rig.until(work_id)).status == "completed"
    assert rig.outputs(work_id) == [{"by": "hand"}]
    assert len(rig.actions()) == len(rig.notifications()) == 2
    sound(rig)


async def test_a_step_that_kills_its_worker_each_time_cannot_be_run_for_ever(rig: Rig) -> None:
    work_id = rig.fire(fragile())
    await begun(rig, work_id, 1)
    with rig.store.write() as tx:
        runs.set_step(tx, rig.run(work_id).id, 0, was=("running",), attempt=CRASH_LIMIT)
    await crash(rig)
    assert rig.action(work_id).form["choices"] == ["finished", "failed"]
    with pytest.raises(Invalid):
        choose(rig, work_id, "run it again")
    choose(rig, work_id, "failed")
    assert (await rig.until(work_id)).status == "failed"


async def test_cancelling_while_it_asks_ends_work_and_question(each_rig: Rig) -> None:
    rig = each_rig
    work_id = await interrupted(rig, fragile())
    action_id = rig.action(work_id).id
    rig.cancel(work_id)
    assert (rig.work(work_id).status, rig.column(work_id, "result")) == ("cancelled", "cancelled")
    assert [row.status for row in rig.actions()] == ["cancelled"]
    with pytest.raises(Precondition, match="has ended"):
        rig.answer(action_id, "chosen", {"choice": "finished"})
    await rig.execution.pass_once()
    assert rig.steps(work_id)[0].status == "cancelled"
    sound(rig)


async def test_cancelling_after_the_answer_stops_what_the_answer_began(rig: Rig) -> None:
    work_id = await interrupted(rig, fragile())
    choose(rig, work_id, "run it again")
    rig.cancel(work_id)
    assert (await rig.until(work_id)).status == "cancelled"
    assert rig.log(work_id, "out") == ["try 1"]
    sound(rig)


async def test_nobody_is_asked_about_work_that_was_cancelled_before_the_crash(rig: Rig) -> None:
    work_id = rig.fire(fragile())
    await begun(rig, work_id, 1)
    rig.cancel(work_id)
    await crash(rig)
    assert (await rig.until(work_id)).status == "cancelled"
    assert rig.actions() == []
    sound(rig)


async def test_each_of_many_steps_is_asked_about_once(rig: Rig) -> None:
    fired = [rig.fire(fragile(), name=f"flow-{number}") for number in range(5)]
    for work_id in fired:
        await begun(rig, work_id, 1)
    await crash(rig)
    await crash(rig)
    assert sorted(row.work_id for row in rig.actions()) == sorted(fired)
    assert len(rig.notifications()) == 5
    sound(rig)
