"""Every door shows the question about a step in doubt from its form, and a restored copy asks it no more."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Select, TextArea

from cli.__main__ import run
from core.access.standing import system_user
from core.clock import ManualClock
from core.deck import Deck
from core.errors import Invalid
from core.runtime.memory import MemoryRuntime
from core.upkeep.backup import backup
from core.upkeep.restore import restore
from tests.integration.runtime.conftest import MakeRig
from tests.integration.runtime.doubt import (
    SHOWS,
    fragile,
    interrupted,
    sound,
)
from tests.integration.runtime.rig import START, Rig
from tests.tui.stage import Stage
from tui.app import DeckApp
from tui.gateway import Door, Gateway
from tui.present.schema_fields import fields_of
from tui.widgets.schema_form import FormField


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
