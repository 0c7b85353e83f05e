"""Work by keys, over the real core."""

from __future__ import annotations

from datetime import timedelta

from core.views import LogRow
from tests.tui import world
from tests.tui.conftest import OpenStage
from tests.tui.scenes import row
from tui.frame import Crumb, Footer
from tui.present.lines import plain
from tui.present.times import past
from tui.screens.inbox import InboxPlace
from tui.screens.occurrence_detail import OccurrenceDetail
from tui.screens.run import RunDetail
from tui.screens.work import WorkPlace
from tui.widgets.chooser import Chooser
from tui.widgets.dialog import Confirm
from tui.widgets.log_view import KEPT, LogView


async def test_active_only_shows_what_has_not_ended(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("4")
        everything = stage.table.total
        await stage.press("a")
        assert stage.table.total == 5
        assert "filter: active" in stage.text
        await stage.press("a")
        assert stage.table.total == everything


async def test_the_times_in_the_list_stand_in_the_order_of_its_rows(on_stage: OpenStage) -> None:
    async with on_stage(size=(120, 36)) as stage:
        stage.app.mine = "UTC"
        await stage.press("4")
        rows = stage.table.loaded()
        assert len(rows) > 20
        assert any(row.nominal_at and row.created_at - row.nominal_at > timedelta(minutes=30) for row in rows)
        column = next(at for at, column in enumerate(stage.table.columns) if column.key == "created")
        shown = [plain(stage.table._cells(row)[column]) for row in rows]
        assert shown == [past(row.created_at, stage.clock.now(), "UTC") for row in rows]
        assert [row.created_at for row in rows] == sorted((row.created_at for row in rows), reverse=True)
        assert "newest first" in stage.bar(Crumb)


async def test_copying_offers_all_parts_of_a_work_and_of_the_list(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24)) as stage:
        await stage.press("4")
        work = stage.table.row
        await stage.press("y")
        texts = [choice.key for choice in stage.screen(Chooser).found]
        assert texts[:5] == [
            work.id, work.trigger_name, f":work #{work.id}", f"triggerdeck work {work.id[:8]}",
            f"triggerdeck logs {work.id[:8]} --follow",
        ]  # fmt: skip
        assert texts[-2:] == [":work", "triggerdeck work"]
        link = texts[2]
        await stage.press("escape", "1", "colon")
        await stage.type(link)
        await stage.press("enter")
        assert isinstance(stage.place, RunDetail)
        assert work.trigger_name in stage.bar(Crumb)


async def test_copying_a_long_log_shows_its_beginning_and_copies_all(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("4", lambda text: "approval" in text, "enter", "y")(stage)
        await stage.type("connecting")
        await stage.press("enter")
        assert stage.app.clipboard.count("\n") > 5
        assert stage.flash.endswith("…")
        assert len(stage.flash) < 250


async def test_cancelling_asks_once_says_what_is_not_undone_and_enter_is_no_yes(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("4", lambda text: "approval" in text, "c")(stage)
        stage.screen(Confirm)
        assert "is not undone" in stage.prose
        await stage.press("enter")
        stage.screen(Confirm)
        await stage.press("n")
        identity = stage.table.row.id
        assert not stage.deck.work(identity).cancel_requested
        await stage.press("c", "y")
        assert stage.deck.work(identity).cancel_requested or stage.deck.work(identity).row.status == "cancelled"


async def test_only_what_failed_can_run_again(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("4", lambda text: "crm-pull" in text, "R")(stage)
        assert "only failed or cancelled work runs again" in stage.flash
        await row("4", lambda text: "us-digest" in text, "R")(stage)
        assert stage.deck.work(stage.table.row.id).row.status == "pending"


async def test_a_run_shows_steps_log_values_and_events_under_tab(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("4", lambda text: "approval" in text, "enter")(stage)
        assert isinstance(stage.place, RunDetail)
        assert "in the inbox" in stage.text
        assert "slow response from the warehouse" in stage.text
        await stage.press("tab", "tab")
        assert '"rows": 12400' in stage.text
        await stage.press("tab")
        assert "step release" in stage.text
        await stage.press("tab")
        assert stage.place.tab == "steps"
        await stage.press("shift+tab")
        assert stage.place.tab == "events"
        await stage.press("escape")
        assert isinstance(stage.place, WorkPlace)


async def test_the_log_is_searched_wrapped_and_timed_by_keys(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24)) as stage:
        await row("4", lambda text: "approval" in text, "enter", "tab", "slash")(stage)
        await stage.type("batch 20")
        await stage.press("enter")
        log = stage.place.query_one(LogView)
        assert not log.following
        assert "/batch 20" in stage.text
        wrapped = len(log.lines)
        await stage.press("w")
        assert len(log.lines) < wrapped
        await stage.press("t")
        assert "13:53:12" not in stage.text
        await stage.press("f")
        assert log.following


async def test_a_text_that_no_line_holds_is_said_to_be_missing(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("4", lambda text: "approval" in text, "enter", "slash")(stage)
        await stage.type("nowhere")
        await stage.press("enter")
        assert stage.flash == "! no line of the log shows 'nowhere'"


async def test_from_a_run_one_gets_to_its_question_and_to_its_decision(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("4", lambda text: "approval" in text, "enter", "i")(stage)
        assert isinstance(stage.place, InboxPlace)
        assert stage.table.row.title == "Release 12400 rows?"
        await stage.press("o")
        assert isinstance(stage.place, RunDetail)
        await stage.press("O")
        assert isinstance(stage.place, OccurrenceDetail)
        assert "asked for" in stage.text


async def test_a_log_keeps_the_newest_lines_and_says_how_many_went(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("4", lambda text: "approval" in text, "enter")(stage)
        log = stage.place.query_one(LogView)
        before = len(log.rows)
        log.append([LogRow(10_000 + number, world.NOW, "load", "out", f"line {number}") for number in range(KEPT)])
        assert len(log.rows) == KEPT
        assert log.dropped == before
        assert log.rows[-1].text == f"line {KEPT - 1}"


async def test_an_unknown_work_is_one_sentence(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("colon")
        await stage.type("work #ffffffff")
        await stage.press("enter")
        assert isinstance(stage.place, RunDetail)
        assert "ffffffff" in stage.text
        assert "esc goes back to the list" in stage.text


async def test_an_approved_run_goes_on_and_ends_before_ones_eyes(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("4", lambda text: "approval" in text, "enter")(stage)
        assert "waits for approval" in stage.lines[1]
        await stage.press("i", "a")
        await world.work_on(stage.deck.database, stage.clock, timedelta(minutes=2))
        await stage.press("4")
        await stage.look()
        assert isinstance(stage.place, RunDetail)
        assert "✓ completed" in stage.lines[1]
        assert "8/8" in stage.lines[1]


async def test_a_log_grows_while_one_looks_at_it(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("4", lambda text: "us-digest" in text, "enter", "R")(stage)
        assert stage.flash.startswith("✓")
        log = stage.place.query_one(LogView)
        before = len(log.rows)
        await world.work_on(stage.deck.database, stage.clock, timedelta(seconds=30))
        await stage.look()
        assert len(log.rows) > before
        assert "failed" in stage.lines[1]


async def test_scrolling_up_stays_and_the_end_follows_again(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24)) as stage:
        await row("4", lambda text: "approval" in text, "enter", "tab")(stage)
        log = stage.place.query_one(LogView)
        log.append([LogRow(10_000 + number, world.NOW, "load", "out", f"line {number}") for number in range(100)])
        await stage.settle()
        assert "following" in stage.text
        await stage.press("k")
        assert "log stays" in stage.text
        top = log.scroll_offset.y
        log.append([LogRow(20_000, world.NOW, "load", "out", "one more")])
        await stage.settle()
        assert log.scroll_offset.y == top
        await stage.press("G")
        assert "following" in stage.text
        assert "one more" in stage.text


async def test_a_search_finds_what_is_shown_and_says_when_nothing_is(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await row("4", lambda text: "approval" in text, "enter", "tab", "n")(stage)
        assert stage.flash == "! nothing was looked for yet: / takes a text"
        stage.place.query_one(LogView).append(
            [LogRow(10_000, world.NOW, "load", "out", "\x1b]0;hidden title\x07plain \x1b[31mre\x1b[0md words")]
        )
        await stage.press("slash")
        await stage.type("hidden")
        await stage.press("enter")
        assert stage.flash == "! no line of the log shows 'hidden'"
        await stage.press("slash", "ctrl+u")
        await stage.type("plain red")
        await stage.press("enter")
        assert "hidden" not in stage.text
        assert "plain red words" in stage.text


async def test_the_tabs_stand_in_the_footer_of_a_small_terminal(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24)) as stage:
        await row("4", lambda text: "approval" in text, "enter")(stage)
        assert "next tab tab" in stage.bar(Footer)
