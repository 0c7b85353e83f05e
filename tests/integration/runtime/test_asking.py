"""Questions: one row, one notification, the first answer wins, and waiting costs nothing."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, update

from core.clock import ManualClock
from core.errors import Denied, Invalid, NotFound, Precondition
from core.storage import access
from core.storage.columns import table_of
from core.storage.tables import Membership, Principal, Workspace
from core.work import service
from tests.integration.runtime.conftest import MakeRig
from tests.integration.runtime.rig import START, Rig, sh

SCHEMA = {
    "type": "object",
    "properties": {"batch": {"type": "integer", "minimum": 1, "maximum": 1000}},
    "required": ["batch"],
}


def ask(kind: str, **rest: Any) -> dict[str, Any]:
    return {"id": "release", "ask": {"kind": kind, "title": "Release {{ input.rows }} rows?", **rest}}


async def asked(rig: Rig, kind: str, *, waiting: str = "waitingForApproval", **rest: Any) -> str:
    after = sh("echo {{ steps.release.output.decision }}", step_id="after")
    work_id = rig.fire(ask(kind, **rest), after, given={"rows": 7})
    await rig.until(work_id, waiting)
    return work_id


def role(rig: Rig, **values: str) -> None:
    with rig.store.write() as tx:
        tx.run(update(table_of(Membership)).values(**values))


async def test_a_question_waits_in_a_row_with_one_notification(rig: Rig) -> None:
    work_id = await asked(rig, "approvalRequired", schema=SCHEMA)
    action = rig.action(work_id)
    assert action.title == "Release 7 rows?"
    assert action.expires_at - rig.actions()[0].created_at == timedelta(days=7)
    assert [line.action_id for line in rig.notifications()] == [action.id]
    assert rig.run(work_id).status == "waiting"
    assert rig.execution.running == 0
    assert {"action", "notification", "work"} <= rig.change_kinds()


@pytest.mark.parametrize(
    ("kind", "waiting", "rest", "decision", "values", "recorded"),
    [
        ("approvalRequired", "waitingForApproval", {"schema": SCHEMA}, "approve", {"batch": 5}, "approved"),
        ("confirmationRequired", "waitingForApproval", {}, "confirmed", {}, "confirmed"),
        ("choiceRequired", "waitingForInput", {"choices": ["a", "b"]}, "chosen", {"choice": "b"}, "chosen"),
        ("inputRequired", "waitingForInput", {"schema": SCHEMA}, "provide", {"batch": 5}, "provided"),
    ],
)
async def test_each_kind_of_question_is_answered_in_its_own_words(  # noqa: PLR0917 - one row of the table
    rig: Rig, kind: str, waiting: str, rest: dict[str, Any], decision: str, values: dict[str, Any], recorded: str
) -> None:
    work_id = await asked(rig, kind, waiting=waiting, **rest)
    rig.answer(rig.action(work_id).id, decision, values)
    assert (await rig.until(work_id)).status == "completed"
    output = rig.outputs(work_id)[0]
    assert (output["decision"], output["values"], output["by"]) == (recorded, values, "tester")
    assert output["at"].endswith("Z")
    assert rig.log(work_id, "out") == [recorded]


async def test_the_audit_trail_names_ids_and_codes_and_no_words_of_the_question(rig: Rig) -> None:
    work_id = await asked(rig, "approvalRequired")
    action = rig.action(work_id)
    rig.answer(action.id, "approve", {})
    await rig.until(work_id)
    with rig.store.read() as tx:
        trail = access.events(tx, rig.scope.workspace_id, 0)
    answered = next(event for event in trail if event["action"] == "answer")
    assert (answered["uid"], answered["name"]) == (action.id, "release")
    assert "Release 7" not in str(trail)


async def test_values_that_do_not_fit_are_refused_with_a_fault_for_each_field(rig: Rig) -> None:
    work_id = await asked(rig, "approvalRequired", schema=SCHEMA)
    with pytest.raises(Invalid) as refused:
        rig.answer(rig.action(work_id).id, "approve", {"batch": 5000})
    assert [fault.field for fault in refused.value.faults] == ["batch"]
    with pytest.raises(Invalid) as refused:
        rig.answer(rig.action(work_id).id, "approve", {})
    assert [fault.field for fault in refused.value.faults] == ["batch"]
    with pytest.raises(Invalid) as refused:
        rig.answer(rig.action(work_id).id, "perhaps", {})
    assert [fault.field for fault in refused.value.faults] == ["decision"]
    assert rig.action(work_id).status == "pending"


async def test_rejecting_needs_a_reason_and_fails_the_step(rig: Rig) -> None:
    work_id = await asked(rig, "approvalRequired", schema=SCHEMA)
    with pytest.raises(Invalid) as refused:
        rig.answer(rig.action(work_id).id, "reject")
    assert [fault.field for fault in refused.value.faults] == ["reason"]
    rig.answer(rig.action(work_id).id, "reject", {"reason": "too many"})
    assert (await rig.until(work_id)).status == "failed"
    assert rig.column(work_id, "error_code") == "rejected"
    assert "too many" in rig.column(work_id, "error_message")


async def test_a_rejected_question_may_let_the_run_go_on(rig: Rig) -> None:
    work_id = await asked(rig, "confirmationRequired", onReject="continue")
    rig.answer(rig.action(work_id).id, "decline")
    assert (await rig.until(work_id)).status == "completed"
    assert rig.log(work_id, "out") == ["declined"]


async def test_the_first_answer_wins_and_the_second_is_told_who_gave_it(rig: Rig) -> None:
    work_id = await asked(rig, "confirmationRequired")
    action_id = rig.action(work_id).id
    rig.answer(action_id, "confirm")
    with pytest.raises(Precondition, match="tester confirmed this at"):
        rig.answer(action_id, "decline")


async def test_of_many_answers_at_once_exactly_one_is_taken(rig: Rig) -> None:
    work_id = await asked(rig, "confirmationRequired")
    action_id = rig.action(work_id).id
    taken: list[str] = []

    def answer() -> None:
        try:
            rig.answer(action_id, "confirm")
            taken.append("yes")
        except Precondition:
            taken.append("no")

    threads = [threading.Thread(target=answer) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == ["no"] * 7 + ["yes"]
    assert rig.run(work_id).segment == 1


async def test_an_unanswered_question_expires_and_fails_the_work(make_rig: MakeRig) -> None:
    clock = ManualClock(START)
    rig = await make_rig(clock=clock)
    work_id = await asked(rig, "confirmationRequired", expiresAfter="P1D")
    assert await rig.execution.pass_once() == START + timedelta(days=1)
    clock.advance(timedelta(days=1))
    with pytest.raises(Precondition, match="expired"):
        rig.answer(rig.actions()[0].id, "confirm")
    assert (await rig.until(work_id)).status == "failed"
    assert rig.column(work_id, "error_code") == "expired"
    assert rig.actions()[0].status == "expired"


async def test_an_expired_question_may_let_the_run_go_on(make_rig: MakeRig) -> None:
    clock = ManualClock(START)
    rig = await make_rig(clock=clock)
    work_id = await asked(rig, "confirmationRequired", expiresAfter="PT1H", onExpiry="continue")
    clock.advance(timedelta(hours=2))
    assert (await rig.until(work_id)).status == "completed"
    assert rig.log(work_id, "out") == ["expired"]


async def test_cancelling_waiting_work_ends_it_and_its_question_at_once(rig: Rig) -> None:
    work_id = await asked(rig, "confirmationRequired")
    action_id = rig.action(work_id).id
    rig.cancel(work_id)
    assert rig.work(work_id).status == "cancelled"
    assert rig.actions()[0].status == "cancelled"
    with pytest.raises(Precondition, match="has ended"):
        rig.answer(action_id, "confirm")


async def test_answering_needs_the_right_at_that_moment(rig: Rig) -> None:
    from core.access.service import open_scope

    work_id = await asked(rig, "confirmationRequired")
    role(rig, role="Viewer")
    with rig.store.write() as tx:
        viewer = open_scope(tx, workspace="default", user="tester", now=rig.clock.now())
    with rig.store.write() as tx, pytest.raises(Denied):
        service.answer(tx, viewer, rig.action(work_id).id, "confirm", {}, rig.clock.now())
    assert rig.action(work_id).status == "pending"


@pytest.mark.parametrize("change", [{"state": "suspended"}, {"role": "Viewer"}])
async def test_a_right_lost_after_the_deck_was_opened_is_lost(rig: Rig, change: dict[str, str]) -> None:
    work_id = await asked(rig, "confirmationRequired")
    role(rig, **change)
    with pytest.raises(Denied):
        rig.answer(rig.action(work_id).id, "confirm")
    with pytest.raises(Denied):
        rig.cancel(work_id)
    assert rig.work(work_id).status == "waitingForApproval"


async def test_another_workspaces_question_is_not_found(rig: Rig) -> None:
    work_id = await asked(rig, "confirmationRequired")
    elsewhere = replace(rig.scope, workspace_id="another")
    with rig.store.write() as tx:
        tx.run(
            insert(table_of(Workspace)).values(id="another", tenant_id=rig.scope.tenant_id, name="another", active=True)
        )
        member = {"workspace_id": "another", "principal_id": rig.scope.principal_id, "role": "Owner", "state": "active"}
        tx.run(insert(table_of(Membership)).values(**member))
    with rig.store.write() as tx, pytest.raises(NotFound):
        service.answer(tx, elsewhere, rig.action(work_id).id, "confirm", {}, rig.clock.now())
    with rig.store.write() as tx, pytest.raises(NotFound):
        service.cancel(tx, elsewhere, work_id, rig.clock.now())


async def test_a_question_is_snoozed_until_before_it_expires(rig: Rig) -> None:
    work_id = await asked(rig, "confirmationRequired", expiresAfter="PT1H")
    action_id, now = rig.action(work_id).id, rig.clock.now()

    def snooze(after: timedelta) -> None:
        with rig.store.write() as tx:
            service.snooze(tx, rig.scope, action_id, now + after, rig.clock.now())

    snooze(timedelta(minutes=30))
    assert rig.actions()[0].snoozed_until == now + timedelta(minutes=30)
    with pytest.raises(Precondition, match="expires"):
        snooze(timedelta(hours=2))
    with pytest.raises(Precondition, match="past"):
        snooze(timedelta(hours=-1))


# -- the right to run ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [{"state": "suspended"}, {"role": "Viewer"}])
async def test_a_right_revoked_between_admission_and_the_first_step_cancels_the_work(
    rig: Rig, change: Mapping[str, str]
) -> None:
    work_id = rig.fire(sh("echo ran"))
    role(rig, **change)
    assert (await rig.until(work_id)).status == "cancelled"
    assert rig.column(work_id, "error_code") == "denied"
    assert rig.column(work_id, "error_message").startswith("not run: ")
    assert rig.log(work_id) == []


async def test_retry_makes_a_new_run_of_the_same_work(rig: Rig) -> None:
    work_id = rig.fire(sh("test $TRIGGERDECK_RUN = $TRIGGERDECK_WORK_ID.2"))
    assert (await rig.until(work_id)).status == "failed"
    rig.retry(work_id)
    assert (await rig.until(work_id)).status == "completed"
    assert rig.run(work_id).attempt == 2
    assert rig.column(work_id, "error_code") is None
    with pytest.raises(Precondition, match="is completed"):
        rig.retry(work_id)


async def test_work_cancelled_before_it_started_can_be_retried(rig: Rig) -> None:
    work_id = rig.fire(sh("true"))
    rig.cancel(work_id)
    assert rig.work(work_id).status == "cancelled"
    assert rig.occurrence(work_id).outcome == "dropped"
    rig.retry(work_id)
    assert (await rig.until(work_id)).status == "completed"


async def test_retry_needs_the_right_of_the_works_own_principal(rig: Rig) -> None:
    work_id = rig.fire(sh("exit 1"))
    await rig.until(work_id)
    role(rig, role="Viewer")
    person = {"id": "second", "tenant_id": rig.scope.tenant_id, "name": "second", "active": True}
    member = {"workspace_id": rig.scope.workspace_id, "principal_id": "second", "role": "Owner", "state": "active"}
    with rig.store.write() as tx:
        tx.run(insert(table_of(Principal)).values(**person))
        tx.run(insert(table_of(Membership)).values(**member))
    rig.scope = replace(rig.scope, principal_id="second", principal="second")
    with pytest.raises(Denied, match="cannot run again"):
        rig.retry(work_id)


async def test_ended_work_cannot_be_cancelled(rig: Rig) -> None:
    work_id = rig.fire(sh("true"))
    await rig.until(work_id)
    with pytest.raises(Precondition, match="completed already"):
        rig.cancel(work_id)


async def test_a_test_fire_has_no_trigger_and_is_marked(rig: Rig) -> None:
    work_id = rig.fire(sh("true"))
    assert rig.column(work_id, "is_test") is True
    assert rig.column(work_id, "trigger_uid") == ""
    assert rig.occurrence(work_id).kind == "manual"


async def test_a_test_fire_checks_the_input(rig: Rig) -> None:
    rig.flow(sh("true"), inputSchema={"type": "object", "required": ["rows"]})
    with pytest.raises(Invalid) as refused:
        rig.fire()
    assert [fault.field for fault in refused.value.faults] == ["input.rows"]


async def test_a_run_keeps_the_version_that_it_was_fired_with(rig: Rig) -> None:
    work_id = rig.fire(sh("echo old"))
    rig.flow(sh("echo new"))
    await rig.until(work_id)
    assert rig.log(work_id, "out") == ["old"]
