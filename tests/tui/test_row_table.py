"""The table by itself: what it fetches, what it draws, where its cursor stays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from core.views import Page
from tui.present.columns import Column
from tui.present.lines import line
from tui.theme import themes
from tui.widgets.row_table import PAGE, RowTable

COLUMNS = (Column("name", "name", 12), Column("more", "more", 20, drop=1), Column("tail", "tail", 20, drop=2))


class Bench(App[None]):
    """A table over a list; each fetch and each drawn row is counted."""

    def __init__(self, total: int, *, answers: bool = True) -> None:
        super().__init__()
        for theme in themes():
            self.register_theme(theme)
        self.theme = "deck-dark"
        self.rows = [f"row-{number}" for number in range(total)]
        self.answers = answers
        self.fetched: list[int] = []
        self.drawn = 0

    def compose(self) -> ComposeResult:
        yield RowTable[str](COLUMNS, self.cells, str)

    def cells(self, row: str) -> tuple[tuple, ...]:
        self.drawn += 1
        return line(row), line("more"), line("tail")

    def on_row_table_page_wanted(self, message: RowTable.PageWanted[str]) -> None:
        self.fetched.append(message.offset)
        if self.answers:
            self.answer(message)

    def answer(self, message: RowTable.PageWanted[str]) -> None:
        rows = tuple(self.rows[message.offset : message.offset + message.limit])
        message.table.put_page(Page(rows, len(self.rows), message.offset), message.epoch)


@asynccontextmanager
async def table_of(
    total: int, *, size: tuple[int, int] = (80, 20)
) -> AsyncIterator[tuple[Bench, RowTable[str], Pilot[None]]]:
    app = Bench(total)
    async with app.run_test(size=size) as pilot:
        table = app.query_one(RowTable)
        table.focus()
        await pilot.pause()
        yield app, table, pilot


def shown(app: Bench) -> list[str]:
    return ["".join(part.text for part in strip).rstrip() for strip in app.screen._compositor.render_strips()]


async def test_a_hundred_thousand_rows_fetch_and_draw_what_a_hundred_do() -> None:
    costs = []
    for total in (100, 100_000):
        async with table_of(total) as (app, _, pilot):
            await pilot.press("j", "j", "k")
            costs.append((len(app.fetched), app.drawn))
    assert costs[0] == costs[1]


async def test_the_last_row_is_one_key_and_one_page_away() -> None:
    async with table_of(100_000) as (app, table, pilot):
        await pilot.press("G")
        await pilot.pause()
        assert table.row == "row-99999"
        assert app.fetched == [0, 99_900]
        assert "row-99999" in shown(app)[19]


async def test_what_is_not_there_yet_is_a_placeholder_and_then_a_row() -> None:
    async with table_of(1000) as (app, table, pilot):
        app.answers = False
        await pilot.press("G")
        await pilot.pause()
        assert table.row is None
        assert "····" in shown(app)[19]
        app.answers = True
        table.renew()
        await pilot.pause()
        assert table.row == "row-999"


async def test_rows_that_come_in_above_leave_the_cursor_on_its_row() -> None:
    async with table_of(300) as (app, table, pilot):
        await pilot.press("j", "j", "j")
        app.rows[0:0] = ["new-1", "new-2"]
        table.renew()
        await pilot.pause()
        assert table.row == "row-3"
        assert table.cursor == 5


async def test_a_row_that_went_leaves_the_cursor_where_it_was() -> None:
    async with table_of(10) as (app, table, pilot):
        await pilot.press("G")
        del app.rows[9]
        table.renew()
        await pilot.pause()
        assert table.row == "row-8"


async def test_an_answer_to_an_older_question_is_dropped() -> None:
    async with table_of(10) as (_, table, pilot):
        old = table.epoch
        table.reset()
        table.put_page(Page(("stale",), 1, 0), old)
        await pilot.pause()
        assert table.row == "row-0"


async def test_marks_stay_with_their_rows_and_a_range_is_marked_from_the_last() -> None:
    async with table_of(50) as (app, table, pilot):
        await pilot.press("space", "j", "j", "V")
        assert table.marks == {"row-0", "row-1", "row-2", "row-3"}
        app.rows.insert(0, "new")
        table.renew()
        await pilot.pause()
        assert table.marks == {"row-0", "row-1", "row-2", "row-3"}


async def test_columns_go_in_the_order_of_their_priority_when_it_gets_narrow() -> None:
    async with table_of(5, size=(50, 10)) as (app, _, pilot):
        assert "MORE" in shown(app)[0]
        assert "TAIL" not in shown(app)[0]
        await pilot.resize_terminal(30, 10)
        await pilot.pause()
        assert "MORE" not in shown(app)[0]
        assert "NAME" in shown(app)[0]


async def test_a_key_on_a_later_page_is_found_by_fetching_on() -> None:
    async with table_of(PAGE * 4) as (_, table, pilot):
        table.move_to_key(f"row-{PAGE * 3 + 5}")
        await pilot.pause()
        await pilot.pause()
        assert table.row == f"row-{PAGE * 3 + 5}"


async def test_an_empty_answer_says_that_there_is_nothing() -> None:
    async with table_of(0) as (app, table, _):
        assert table.row is None
        assert "nothing here" in shown(app)[2]


async def test_the_cursor_is_seen_on_a_marked_row_without_colours_too() -> None:
    async with table_of(3) as (app, _, pilot):
        await pilot.press("asterisk", "j")
        await pilot.pause()
        assert [row[:7] for row in shown(app)[1:4]] == ["* row-0", "*▸row-1", "* row-2"]
