"""The timeline by keys, over the real core."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.conftest import OpenStage
from tui.screens.occurrences import OccurrencesPlace
from tui.screens.timeline import TimelinePlace
from tui.screens.timeline_fires import fires_between
from tui.screens.triggers import TriggersPlace
from tui.widgets.chooser import Chooser
from tui.widgets.heat_strip import HeatStrip
from tui.widgets.lines_view import LinesView


def cursor(stage: object) -> str:
    view = stage.place.query_one("#cursor", LinesView)  # type: ignore[attr-defined]
    return "".join(piece.text for row in view.lines for piece in row).strip()


async def test_the_cursor_stands_at_now_and_moves_a_slot_at_a_time(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("2")
        assert cursor(stage).startswith("cursor Sat 14:00  2 triggers fire: crm-pull warehouse-sync")
        await stage.press("h")
        assert cursor(stage).startswith("cursor Sat 13:45")
        assert "fired" in cursor(stage)
        await stage.press("l", "l")
        assert cursor(stage).startswith("cursor Sat 14:15")


async def test_a_dot_goes_to_the_busiest_slot_and_n_comes_back(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("2", ".")
        assert (
            cursor(stage) == "cursor Sun 00:00  4 triggers fire: crm-pull midnight-mail midnight-prices midnight-stats"
        )
        await stage.press("n")
        assert cursor(stage).startswith("cursor Sat 14:00")


async def test_moving_over_the_edge_moves_the_window_and_keeps_counting(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("2")
        strip = stage.place.query_one(HeatStrip)
        assert strip.timeline is not None
        strip.go_slot(0)
        await stage.settle()
        before = strip.timeline.from_at
        assert cursor(stage).startswith("cursor Sat 10:00")
        await stage.press("h")
        assert strip.timeline.from_at < before
        assert cursor(stage).startswith("cursor Sat 09:45")


async def test_minus_shows_a_week_as_a_calendar_without_the_hour_that_is_missing(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("2", "-")
        assert isinstance(stage.place, TimelinePlace), "minus is the timeline's own key here"
        assert "7 d from" in stage.text
        sunday = next(line for line in stage.lines if line.startswith(" Sun 29 Mar"))
        assert "⟂" in sunday
        await stage.press("j", "+")
        assert "24 h from" in stage.text


async def test_enter_lists_what_will_fire_and_goes_to_the_trigger(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("2", ".", "enter")
        chooser = stage.screen(Chooser)
        assert [choice.key for choice in chooser.found] == [
            "default/midnight-mail", "default/midnight-prices", "default/midnight-stats", "default/crm-pull",
        ]  # fmt: skip
        await stage.press("enter")
        assert isinstance(stage.place, TriggersPlace)
        assert stage.table.row.name == "midnight-mail"


async def test_enter_on_a_slot_of_the_past_shows_its_decisions(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("2", "h", "h", "enter")
        assert isinstance(stage.place, OccurrencesPlace)
        assert {row.trigger_name for row in stage.table.loaded()} == {"crm-pull", "warehouse-sync"}
        assert "13:40:00" in stage.text


async def test_the_same_function_forecasts_and_lists(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("2", ".")
        timeline = stage.place.query_one(HeatStrip).timeline
        assert timeline is not None
        lanes = [lane for lane in timeline.lanes if any(lane.forecast) and not lane.marks]
        assert {"crm-pull", "incoming-watch"} <= {lane.name for lane in lanes}
        for lane in lanes:
            ahead = stage.deck.preview_trigger(lane.name, after=timeline.now, until=timeline.to_at, count=500)
            fires = [fire for fire in ahead.fires if fire.nominal_at and fire.nominal_at < timeline.to_at]
            assert sum(lane.forecast) == len(fires)


async def test_an_export_that_is_cut_says_of_which_triggers(
    on_stage: OpenStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.screens.timeline_fires.MOST", 5)
    async with on_stage() as stage:
        await stage.press("2")
        timeline = stage.place.query_one(HeatStrip).timeline
        assert timeline is not None
        found = fires_between(stage.deck, timeline, timeline.now, timeline.to_at, None)
        assert found.cut == ("crm-pull", "warehouse-sync")
        assert sum(fire.trigger == "crm-pull" for fire in found.fires) == 5


@pytest.mark.parametrize(
    ("file", "holds"), [("out.ics", "BEGIN:VEVENT"), ("out.csv", "midnight-mail"), ("out.json", "[")]
)
async def test_what_is_to_come_can_be_taken_along(
    on_stage: OpenStage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, holds: str
) -> None:
    monkeypatch.chdir(tmp_path)
    async with on_stage() as stage:
        await stage.press("2", "x")
        stage.screen(Chooser).query_one(Input).value = file
        await stage.settle()
        await stage.press("enter")
        assert "wrote" in stage.flash
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert holds in text
    if file.endswith("json"):
        assert all(row["nominalAt"] >= "2026-03-28T13:03:11Z" for row in json.loads(text))


async def test_lanes_can_be_filtered_and_escape_shows_all_again(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("2", "slash")
        await stage.type("midnight")
        await stage.press("enter")
        assert "3 triggers" in stage.text
        assert "filter: midnight" in stage.text
        await stage.press("escape")
        assert "16 triggers" in stage.text


async def test_an_empty_workspace_says_what_to_do(on_stage: OpenStage) -> None:
    async with on_stage(empty=True, size=(80, 24)) as stage:
        await stage.press("2")
        assert "to write the first one" in stage.text
        await stage.press(".")
        assert stage.flash == "! nothing fires in this window"


async def test_what_has_fired_in_the_present_slot_is_found_in_the_history(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("2", "slash")
        await stage.type("warehouse")
        await stage.press("enter")
        assert cursor(stage) == "cursor Sat 14:00  1 trigger fired: warehouse-sync"
        await stage.press("enter")
        assert isinstance(stage.place, OccurrencesPlace)
        assert "warehouse-sync" in [row.trigger_name for row in stage.table.loaded()]
