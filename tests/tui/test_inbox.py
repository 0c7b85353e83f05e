"""The inbox by keys, over the real core."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Checkbox, Input, Select, TextArea

from core.views import ActionRow
from tests.tui import world
from tests.tui.conftest import OpenStage
from tests.tui.scenes import row
from tests.tui.stage import Stage
from tui.frame import Footer
from tui.screens.run import RunDetail
from tui.widgets.chooser import Chooser
from tui.widgets.dialog import Confirm
from tui.widgets.schema_form import FormField


def field(stage: Stage, name: str) -> FormField:
    return next(each for each in stage.place.query(FormField) if each.spec.name == name)


def fault(stage: Stage, name: str) -> str:
    return str(field(stage, name).query_one(".form-hint").render())


def answered(stage: Stage, identity: str) -> ActionRow:
    return stage.deck.action(identity).row


async def release(stage: Stage) -> str:
    await row("5", lambda text: "Release" in text)(stage)
    identity: str = stage.table.row.id
    return identity


async def test_questions_stand_oldest_first_and_old_ones_stand_out(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("5")
        ages = [action.created_at for action in stage.table.loaded()]
        assert ages == sorted(ages)
        assert "1d2h!" in stage.text


async def test_an_approval_takes_the_values_of_its_form(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        identity = await release(stage)
        await stage.press("enter", "ctrl+u", "end", "ctrl+u")
        await stage.type("250")
        await stage.press("ctrl+s")
        row_ = answered(stage, identity)
        assert (row_.status, row_.decision, row_.answered_by) == ("completed", "approved", "ana")
        assert stage.deck.action(identity).values["batch"] == 250
        assert stage.table.total == 3
        assert stage.flash.startswith("✓ approved")


async def test_enter_never_sends(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        identity = await release(stage)
        await stage.press("enter", "enter", "enter", "enter", "enter")
        assert answered(stage, identity).status == "pending"


async def test_what_is_wrong_stands_under_its_field_and_nothing_is_sent(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("5", lambda text: "Numbers" in text, "a")(stage)
        identity = stage.table.row.id
        assert fault(stage, "growth").startswith("✗ must be filled in")
        assert fault(stage, "region").startswith("✗ must be filled in")
        await stage.type("90")
        assert fault(stage, "growth") == "✗ must be -20 to 50"
        assert answered(stage, identity).status == "pending"


async def test_a_form_of_every_kind_is_filled_in_and_sent(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("5", lambda text: "Numbers" in text, "enter")(stage)
        identity = stage.table.row.id
        await stage.type("12.5")
        select = field(stage, "region").entry
        assert isinstance(select, Select)
        select.value = "1"
        box = field(stage, "final").entry
        assert isinstance(box, Checkbox)
        box.value = True
        await stage.press("ctrl+s")
        assert stage.deck.action(identity).values == {
            "growth": 12.5, "region": "AMER", "staff": 4, "final": True, "weights": {"web": 0.7, "shop": 0.3},
        }  # fmt: skip


async def test_a_rejection_wants_a_reason_and_goes_to_its_field(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        identity = await release(stage)
        await stage.press("r")
        assert answered(stage, identity).status == "pending"
        assert fault(stage, "reason").startswith("✗ is required when rejecting")
        await stage.type("too many rows")
        await stage.press("escape", "r")
        row_ = answered(stage, identity)
        assert (row_.status, row_.decision) == ("completed", "rejected")


async def test_ctrl_s_rejects_where_a_reason_was_asked_for(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        identity = await release(stage)
        await stage.press("r")
        assert "write the reason   reject ^s   back esc" in stage.text
        await stage.type("too many rows")
        await stage.press("ctrl+s")
        row_ = answered(stage, identity)
        assert (row_.status, row_.decision) == ("completed", "rejected")


async def test_leaving_the_form_forgets_that_a_rejection_was_begun(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        identity = await release(stage)
        await stage.press("r", "escape", "enter", "ctrl+s")
        assert answered(stage, identity).decision == "approved"


async def test_a_typed_time_of_day_is_not_taken_for_one_of_the_usual_times(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        identity = await release(stage)
        stage.app.zone_choice = "Europe/Berlin"
        stage.clock.advance(timedelta(hours=16))  # 06:03 of the next day, whose 09:00 is to come
        await stage.press("s")
        await stage.type("09:00")
        await stage.press("enter")
        assert stage.deck.action(identity).row.snoozed_until == datetime(2026, 3, 29, 7, tzinfo=UTC)


async def test_copying_offers_the_question_its_link_and_the_command_that_answers(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        identity = await release(stage)
        await stage.press("y")
        for text in (identity, f":inbox #{identity}", f"triggerdeck answer {identity[:8]} --approve"):
            assert text in stage.text


async def test_a_confirmation_can_be_declined_without_a_reason(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("5", lambda text: "Delete" in text)(stage)
        identity = stage.table.row.id
        await stage.press("r")
        assert answered(stage, identity).decision == "declined"


async def test_a_choice_cannot_be_refused_and_says_so(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("5", lambda text: "account" in text, "r")(stage)
        assert stage.flash == "! reject: this question can only be answered"


async def test_the_first_answer_wins_and_the_second_person_is_told_whose(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        identity = await release(stage)
        stage.deck.answer(identity, "approved", {"batch": 10, "notify": False})
        await stage.press("a")
        assert "ana" in stage.flash
        assert stage.table.total == 3


async def test_a_draft_is_kept_while_one_looks_at_another_question(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("5", lambda text: "Numbers" in text, "enter")(stage)
        await stage.type("7")
        assert stage.place.unsaved()
        await stage.press("escape", "j", "k")
        entry = field(stage, "growth").entry
        assert isinstance(entry, Input)
        assert entry.value in {"7", "7.0"}


async def test_a_change_elsewhere_does_not_empty_the_form(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("5", lambda text: "Numbers" in text, "enter")(stage)
        await stage.type("7")
        stage.deck.run("ledger-close")
        other = next(action for action in stage.deck.actions() if action.title.startswith("Release"))
        stage.deck.answer(other.id, "approved", {"batch": 10, "notify": False})
        await stage.look()
        entry = field(stage, "growth").entry
        assert isinstance(entry, Input)
        assert entry.value == "7"
        assert entry.has_focus


async def test_a_snoozed_question_goes_to_the_end_and_rings_no_more(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("5", "g")
        identity = stage.table.row.id
        await stage.press("s")
        stage.screen(Chooser)
        await stage.press("enter")
        assert "out of sight until" in stage.flash
        assert stage.table.loaded()[-1].id == identity
        await stage.look()
        assert "inbox 3" in stage.text


async def test_somebody_who_starts_to_wait_rings_once_and_stands_in_the_title(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        action = stage.deck.actions()[0]
        stage.deck.snooze(action.id, stage.clock.now().replace(minute=30))
        await stage.look()
        assert (stage.app.attention.title, stage.app.attention.rings) == ("(3) Triggerdeck", 0)
        stage.clock.step(stage.clock.now().replace(minute=31))
        await stage.beat()
        await stage.look()
        assert (stage.app.attention.title, stage.app.attention.rings) == ("(4) Triggerdeck", 1)
        assert "5 opens the inbox" in stage.flash


async def test_raw_json_goes_out_to_the_editor_and_comes_back_into_the_form(
    on_stage: OpenStage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[str] = []

    def edited(_: Any, text: str, *, suffix: str) -> str:
        seen.append(text + suffix)
        return '{"batch": 77, "notify": false}'

    monkeypatch.setattr("tui.external.edit_text", edited)
    async with on_stage() as stage:
        await release(stage)
        await stage.press("E")
        assert seen[0].endswith(".json")
        assert '"batch": 500' in seen[0]
        entry = field(stage, "batch").entry
        assert isinstance(entry, Input)
        assert entry.value == "77"


async def test_read_only_closes_every_answer_and_says_why(on_stage: OpenStage) -> None:
    async with on_stage(read_only=True) as stage:
        identity = await release(stage)
        assert "READ-ONLY" in stage.text
        await stage.press("a")
        assert stage.flash == "! approve: closed, the deck was opened read-only"
        assert answered(stage, identity).status == "pending"


async def test_the_work_that_asks_is_one_key_away(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await release(stage)
        await stage.press("o")
        assert isinstance(stage.place, RunDetail)


async def test_an_empty_inbox_says_where_questions_come_from(on_stage: OpenStage) -> None:
    async with on_stage(empty=True, size=(80, 24)) as stage:
        await stage.press("5")
        assert "nobody waits for you" in stage.text
        await stage.press("a")
        assert stage.flash == "! approve: no question is under the cursor"


QUESTION = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: asks}
definition:
  displayName: Asks
  steps:
    - id: q
      ask:
        kind: inputRequired
        title: Every kind
        schema:
          type: object
          required: [tags, level]
          properties:
            level: {enum: [1, null]}
            tags: {type: array, items: {type: string}}
            nested: {type: object, properties: {a: {type: integer}}}
---
apiVersion: agentstration.io/v1
kind: Trigger
metadata: {name: asker}
definition:
  displayName: Asker
  enabled: true
  source: {kind: schedule, schedule: {type: cron, expression: "0 0 0 1 1 ?", timeZone: UTC}}
  target: {kind: flow, flow: {name: asks}}
"""


async def _asked_everything(stage: Stage) -> str:
    """Let a run ask for every kind of value, and stand in the first field of its form."""
    stage.deck.apply(QUESTION)
    stage.deck.run("asker")
    await world.work_on(stage.deck.database, stage.clock, timedelta(seconds=1))
    await stage.look()
    await row("5", lambda text: "Every kind" in text, "enter")(stage)
    identity: str = stage.table.row.id
    return identity


async def test_a_fault_inside_a_list_stands_under_the_field_of_the_list(on_stage: OpenStage) -> None:
    async with on_stage(size=(120, 36)) as stage:
        identity = await _asked_everything(stage)
        chosen = field(stage, "level").entry
        assert isinstance(chosen, Select)
        assert chosen.value is Select.NULL
        chosen.value = "0"
        area = field(stage, "tags").entry
        assert isinstance(area, TextArea)
        area.text = "[1]"
        await stage.press("ctrl+s")
        assert answered(stage, identity).status == "pending"
        assert "must be text, not a number" in fault(stage, "tags")
        area.text = '["a"]'
        await stage.press("ctrl+s")
        assert stage.deck.action(identity).values == {"level": 1, "tags": ["a"]}


async def test_the_footer_names_only_keys_that_work_in_the_form(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24)) as stage:
        await release(stage)
        assert "snooze s" in stage.bar(Footer)
        await stage.press("enter")
        assert stage.bar(Footer).split(" │ ")[:1] == ["approve ^s"]
        assert "back esc" in stage.bar(Footer)
        assert "snooze" not in stage.bar(Footer)
        await stage.press("escape")
        assert "snooze s" in stage.bar(Footer)


async def test_a_short_list_leaves_its_room_to_the_question_in_a_small_terminal(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24)) as stage:
        await release(stage)
        total = stage.table.total or 0
        assert stage.table.size.height == min(total + 2, 7)
        await stage.press("slash")
        await stage.type("Release")
        await stage.press("enter")
        assert stage.table.size.height == 3
        await stage.pilot.resize_terminal(120, 36)
        await stage.settle()
        assert stage.table.size.height > 20


async def test_an_answer_begun_on_another_question_is_not_lost_by_quitting(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await release(stage)
        await stage.press("enter")
        await stage.type("7")
        await stage.press("escape", "j", "q")
        stage.screen(Confirm)
        assert "Leave without saving?" in stage.text
