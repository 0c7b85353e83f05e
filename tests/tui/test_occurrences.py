"""The history by keys, over the real core."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from tests.tui.conftest import OpenStage
from tests.tui.scenes import row
from tui.present.lines import plain
from tui.screens.occurrence_detail import OccurrenceDetail
from tui.screens.occurrences import OccurrencesPlace
from tui.screens.run import RunDetail
from tui.screens.triggers import TriggersPlace
from tui.widgets.chooser import Chooser
from tui.widgets.dialog import Sheet, ShortForm
from tui.widgets.lines_view import LinesView
from tui.widgets.pane import Pane


def why(stage: object) -> str:
    pane = stage.place.query_one("#why", Pane)  # type: ignore[attr-defined]
    return "\n".join("".join(piece.text for piece in line) for line in pane.lines)


async def test_each_skip_says_why_and_names_what_stood_in_its_way(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("3", lambda text: "partition-purge" in text)(stage)
        assert "overlap: Work" in stage.text
        assert 'waits for an answer to "Delete 3 old partitions?"' in why(stage)
        assert "not submitted" in why(stage)


async def test_what_was_missed_while_nobody_looked_is_one_counted_row(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("3", lambda text: "missed" in text)(stage)
        assert "10 missed 01:05–03:20" in stage.text
        assert "misfire policy" in why(stage)


async def test_one_fire_stands_for_the_missed_one(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("3", "slash")
        await stage.type("reason:coalesced")
        await stage.press("enter", "enter")
        assert isinstance(stage.place, OccurrenceDetail)
        assert "It was missed while nobody was there to fire it, and fired once, late" in " ".join(stage.text.split())
        assert "https://runbooks.example/nightly-import" in stage.text
        await stage.press("o")
        assert isinstance(stage.place, RunDetail)


async def test_a_filter_narrows_and_a_wrong_one_says_why_and_changes_nothing(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("3", "slash")
        await stage.type("state:skipped since:30d")
        await stage.press("enter")
        assert stage.table.total == 35
        assert stage.flash == "", "what was wrong while one typed is no longer told"
        await stage.press("slash")
        await stage.press("end", "ctrl+u")
        await stage.type("state:purple")
        await stage.press("enter")
        assert "outcome: does not know 'purple'" in stage.flash
        await stage.press("escape")
        assert stage.table.total == 35
        await stage.press("escape")
        assert stage.table.total == 179


async def test_an_instant_without_a_row_is_explained(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("3", lambda text: "nightly-import" in text, "W")(stage)
        stage.screen(ShortForm)
        await stage.press("tab")
        await stage.type("2026-03-28 05:00")
        await stage.press("enter")
        assert isinstance(stage.place, OccurrencesPlace)
        told = "\n".join(plain(row) for row in stage.screen(Sheet).query_one(LinesView).lines)
        assert "names no time at 28 Mar 05:00:00 +01" in " ".join(told.split())
        assert "after    Sun 29 Mar 2026 03:30:00 +02" in told


async def test_an_instant_that_cannot_be_read_keeps_the_question_open(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("3", "W", "tab")
        await stage.type("noonish")
        await stage.press("enter")
        assert "write 02:30, 2026-03-28 02:30 or an instant" in stage.prose
        stage.screen(ShortForm)


async def test_following_stays_at_the_newest_decision(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("3", "j", "j", "f")
        assert stage.table.cursor == 0
        stage.deck.run("ledger-close")
        await stage.look()
        assert stage.table.cursor == 0
        assert stage.table.row.trigger_name == "ledger-close"
        assert "following" in stage.text
        await stage.press("j")
        assert "following" not in stage.lines[1]


async def test_without_following_the_cursor_stays_on_its_row(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("3", "j", "j")
        held = stage.table.row.id
        stage.deck.run("ledger-close")
        await stage.look()
        assert stage.table.row.id == held


async def test_from_a_row_one_gets_to_its_trigger_and_back(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("3", lambda text: "us-digest" in text, "T")(stage)
        assert isinstance(stage.place, TriggersPlace)
        assert stage.table.row.name == "us-digest"
        await stage.press("[")
        assert isinstance(stage.place, OccurrencesPlace)


async def test_a_row_without_work_says_so_instead_of_going_nowhere(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("3", lambda text: "missed" in text, "o")(stage)
        assert stage.flash.startswith("! work: none came of it")


async def test_the_display_zone_changes_all_rows(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("3")
        assert "NOMINAL (BERLIN)" in stage.text
        await stage.press("z", "z")
        assert "NOMINAL (UTC)" in stage.text
        assert "28 Mar 13:00:00 Z" in stage.text


async def test_copying_offers_all_parts_of_an_occurrence_and_of_the_list(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("3", lambda text: "submitted" in text, "y")(stage)
        texts = [choice.key for choice in stage.screen(Chooser).found]
        found = stage.table.row
        assert texts[:5] == [
            found.id, found.trigger_name, f":occurrences #{found.id}", f"triggerdeck why {found.id[:8]}", found.work_id,
        ]  # fmt: skip
        assert texts[-2:] == [":occurrences", "triggerdeck occurrences"]
        await stage.press("escape", "enter", "y")
        assert [choice.key for choice in stage.screen(Chooser).found] == texts[:5]


async def test_the_chain_tells_its_zone_with_the_offset(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24)) as stage:
        stage.app.mine = "UTC"
        await row("3", lambda text: "us-digest" in text)(stage)
        at = stage.table.row.nominal_at.astimezone(ZoneInfo("America/New_York"))
        assert f"nominal {at:%H:%M:%S}.000 -04" in why(stage)
        await stage.press("enter")
        assert f"{at:%d %b %Y %H:%M:%S} -04 New_York · " in stage.prose
