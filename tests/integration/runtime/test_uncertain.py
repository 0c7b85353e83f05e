"""A crash in the middle of a step that may not be repeated: one question, and what each answer of it comes to."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import insert
from textual.widgets import Select, TextArea

from cli.__main__ import run
from core.access.service import system_user
from core.clock import ManualClock
from core.deck import Deck
from core.errors import Invalid, Precondition
from core.runtime.engine import DbosRuntime
from core.runtime.memory import MemoryRuntime
from core.runtime.recovery import CRASH_LIMIT
from core.storage import runs
from core.storage.columns import table_of
from core.storage.tables import WorkerBeat
from core.upkeep.backup import backup
from core.upkeep.checker import check
from core.upkeep.restore import restore
from tests.integration.runtime.conftest import Doomed, MakeRig
from tests.integration.runtime.rig import START, Rig, sh
from tests.integration.runtime.test_recovery import alive, counting, pids, settled, two_sleepers
from tests.tui.stage import Stage
from tui.app import DeckApp
from tui.gateway import Door, Gateway
from tui.present.schema_fields import fields_of
from tui.widgets.schema_form import FormField

POINTS = ("step.started", "step.recorded", "step.executed", "step.before_commit", "step.settling")
RECOVERING = ("start.groups_ended", "start.recovering", "start.recovered", "start.resumed")
SLEEPS_ONCE = 'echo "try $TRIGGERDECK_ATTEMPT"; [ "$TRIGGERDECK_ATTEMPT" -gt {crashes} ] || exec sleep 300; {then}'
SHOWS = sh("echo {{ steps.one.output.rows }}", step_id="after")


def fragile(then: str = "true", *, crashes: int = 1, **rest: Any) -> dict[str, Any]:
    """Return a step that hangs in its first tries, so that a crash finds it in flight."""
    return sh(SLEEPS_ONCE.format(then=then, crashes=crashes), onCrash="ask", **rest)


async def crash(rig: Rig) -> None:
    """Let go of what runs as a killed worker does, and start the next worker on what is left."""
    await rig.execution.stop()
    await next_worker(rig)


async def next_worker(rig: Rig) -> None:
    """Start a worker over the same kind of engine."""
    rig.use(MemoryRuntime() if isinstance(rig.runtime, MemoryRuntime) else DbosRuntime(rig.store))
    await rig.execution.start()


async def interrupted(rig: Rig, *steps: Mapping[str, Any], **rest: Any) -> str:
    """Crash in the middle of the first step; return the Work, which asks."""
    work_id = rig.fire(*steps, **rest)
    await begun(rig, work_id, 1)
    await crash(rig)
    await rig.until(work_id, "waitingForInput")
    sound(rig)
    return work_id


async def begun(rig: Rig, work_id: str, attempt: int) -> None:
    """Return when a try of the first step runs and has written its line."""
    while f"try {attempt}" not in rig.log(work_id, "out"):
        await rig.until_step(work_id, 0, "running")
        await rig.next_event()


def choose(rig: Rig, work_id: str, choice: str, **values: Any) -> None:
    rig.answer(rig.action(work_id).id, "chosen", {"choice": choice, **values})


def sound(rig: Rig) -> None:
    """Fail the test unless the checker finds nothing."""
    with rig.store.read() as tx:
        assert check(tx, now=rig.clock.now()) == ()


def message_of(rig: Rig, work_id: str) -> str:
    return next(row.message for row in rig.actions() if row.work_id == work_id and row.status == "pending")


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


# -- killed for real -----------------------------------------------------------------------------------------------


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
    for child in psutil.Process(worker.pid).children():
        if "trap" in " ".join(child.cmdline()):
            child.kill()
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert all(alive(pid) for pid in pids(tmp_path))
    rig = await make_rig()
    assert not any(alive(pid) for pid in pids(tmp_path))
    text = message_of(rig, work_id)
    assert "still ran when the worker came back, and was ended" in text
    assert any(f"Process {pid} " in text for pid in pids(tmp_path))


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


# -- the doors -------------------------------------------------------------------------------------------------------


@pytest.fixture
async def known_rig(make_rig: MakeRig, tmp_path: Path) -> Rig:
    """Return a rig over a database that a deck made, whose Owner is the system's user."""
    Deck.open(tmp_path / "deck.sqlite3").close()
    return await make_rig(user=system_user())


async def test_the_deck_shows_and_answers_it_from_its_form(known_rig: Rig, tmp_path: Path) -> None:
    rig = known_rig
    work_id = await interrupted(rig, fragile(), SHOWS)
    deck = Deck.open(tmp_path / "deck.sqlite3")
    [row] = deck.actions()
    view = deck.action(row.id[:8])
    assert view.decisions == ("chosen",)
    fields = {field.name: field for field in fields_of(view.schema, view.values)}
    assert {name: (field.kind, field.required) for name, field in fields.items()} == {
        "choice": ("choice", True),
        "output": ("json", False),
        "reason": ("text", False),
    }
    assert fields["choice"].choices == ("finished", "run it again", "failed")
    assert "whether it finished is not known" in view.message
    assert deck.work(work_id).steps[0].error == "the worker died while this step ran; whether it finished is not known"
    with pytest.raises(Invalid):
        deck.answer(row.id, "chosen", {"choice": "finished", "output": 7})
    answered = deck.answer(row.id, "choose", {"choice": "finished", "output": {"rows": 7}})
    assert (answered.status, answered.decision, answered.answered_by) == ("completed", "chosen", system_user())
    assert (await rig.until(work_id)).status == "completed"
    assert rig.log(work_id, "out")[-1] == "7"
    assert deck.doctor().findings == ()
    deck.close()


async def test_the_inbox_draws_and_sends_its_form(
    known_rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = known_rig
    work_id = await interrupted(rig, fragile(), SHOWS)
    monkeypatch.setenv("TZ", "UTC")
    database = tmp_path / "deck.sqlite3"
    door = Door(database, start_worker=False, clock=rig.clock)
    app = DeckApp(door, gateway=Gateway(lambda: Deck.open(database, clock=rig.clock)), live=False)
    stage = Stage(app, ManualClock(START))
    async with app.run_test(size=(120, 36)) as pilot:
        await stage.begin(pilot)
        await stage.press("5")
        assert "Did step one of Test of import finish?" in stage.text
        assert "whether it finished is not known" in stage.text
        assert "out> try 1" in stage.text
        entries = {field.spec.name: field.entry for field in stage.place.query(FormField)}
        choice, output = entries["choice"], entries["output"]
        assert isinstance(choice, Select)
        assert isinstance(output, TextArea)
        await stage.press("a")
        assert rig.action(work_id).status == "pending", "nothing is chosen yet"
        choice.value, output.text = "0", '{"rows": 7}'
        await stage.press("enter", "ctrl+s")
        assert stage.flash.startswith("✓ chosen")
    assert (await rig.until(work_id)).status == "completed"
    assert rig.outputs(work_id)[0] == {"rows": 7}


async def test_the_command_line_lists_shows_and_answers_it(
    known_rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rig = known_rig
    work_id = await interrupted(rig, fragile(), SHOWS)
    action_id = rig.action(work_id).id
    monkeypatch.setenv("TRIGGERDECK_DATABASE", str(tmp_path / "deck.sqlite3"))
    assert run(["actions"]) == 0
    assert "Did step one of Test of import finish?" in capsys.readouterr().out
    assert run(["actions", action_id]) == 0
    shown = capsys.readouterr().out
    assert "whether it finished is not known" in shown
    assert "run it again" in shown
    assert run(["answer", action_id, "--set", "choice=failed", "--set", 'output={"rows": 7}']) != 0
    assert run(["answer", action_id, "--set", "choice=finished", "--set", 'output={"rows": 7}']) == 0
    assert (await rig.until(work_id)).status == "completed"
    assert rig.log(work_id, "out")[-1] == "7"


async def test_a_restored_copy_ends_the_work_and_withdraws_the_question(known_rig: Rig, tmp_path: Path) -> None:
    rig = known_rig
    work_id = await interrupted(rig, fragile())
    backup(rig.store, tmp_path / "copy.sqlite3", rig.clock)
    (tmp_path / "other").mkdir()
    restore(tmp_path / "copy.sqlite3", tmp_path / "other" / "deck.sqlite3")
    async with Rig(tmp_path / "other", MemoryRuntime(), user=system_user()) as copy:
        assert (copy.work(work_id).status, copy.column(work_id, "result")) == ("failed", "outcome_unknown")
        assert [row.status for row in copy.actions()] == ["cancelled"]
        await copy.execution.pass_once()
        assert copy.log(work_id, "out") == ["try 1"]
        sound(copy)
