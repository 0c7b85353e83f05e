"""Own the list of things: a table with filter, order and marks, fed by pages; a detail pane where there is room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget

from tui.actions import COMMON, TABLE, Action, settled
from tui.frame import Flash
from tui.navigation import Location
from tui.present import matches
from tui.present.columns import Column
from tui.present.lines import Line, Piece, clean, line, plain
from tui.screens.place import Place
from tui.widgets.row_table import RowTable

if TYPE_CHECKING:
    from core.deck import Deck
    from core.errors import Fault
    from core.views import Page
    from tui.config import PlaceConfig
    from tui.gateway import Sooner
    from tui.screens.panes import Panes
    from tui.screens.place import Exporter, ExportTable
    from tui.widgets.filter_input import FilterInput

Row = TypeVar("Row")
MARKED_MOST = 10_000
EXPORTED_MOST = 100_000


class TablePlace(Place, Generic[Row]):
    """A place that is a list; a subclass says columns, cells, key and how a page is fetched."""

    COLUMNS: ClassVar[tuple[Column, ...]] = ()
    SORTS: ClassVar[tuple[str, ...]] = ()
    ORDER: ClassVar[str] = ""
    """The one order that the rows have, where there is no choice."""
    EMPTY: ClassVar[str] = "nothing here"
    BULK: ClassVar[bool] = False
    """Whether the place's keys do something to many marked rows; elsewhere marks only narrow what is exported."""
    FILTER_HELP: ClassVar[str] = "words, or pairs such as flow:import"
    _stale = False  # the table fetches its first rows itself

    def __init__(self) -> None:
        super().__init__()
        self.filter_text = ""
        self.sort = self.SORTS[0] if self.SORTS else ""
        self.descending = False
        self.sought: tuple[str, ...] = ()
        self._filter_before = ""

    @classmethod
    @cache
    def all_actions(cls) -> tuple[Action, ...]:
        """Return what keys do here: common, table, own."""
        return settled(COMMON + TABLE + cls.ACTIONS)

    def remember(self, config: PlaceConfig) -> None:
        """Begin with the filter and the order of the last visit."""
        if not self.check_filter(config.filter):
            self.filter_text = config.filter
        if config.sort in self.SORTS:
            self.sort, self.descending = config.sort, config.descending
        self.pane_share = config.pane

    def kept_config(self) -> PlaceConfig:
        """Return what is remembered of this list."""
        from tui.config import PlaceConfig

        return PlaceConfig(self.filter_text, self.sort, self.descending, self.pane_share)

    def worded(self, action: Action) -> Action:
        """Leave marks out of the footer where nothing is done to many."""
        return replace(action, foot=0) if action.id == "mark" and not self.BULK else super().worded(action)

    # -- for subclasses -------------------------------------------------------------------------------------------

    def fetch(self, deck: Deck, offset: int, limit: int) -> Page[Row]:
        """Return rows in the present filter and order; runs in a thread."""
        raise NotImplementedError

    def sooner(self) -> Sooner[Page[Row]] | None:
        """Return what may show the first rows before the deck is open, if anything can."""
        return None

    def cells(self, row: Row) -> tuple[Line, ...]:
        """Return one line per column."""
        raise NotImplementedError

    def row_key(self, row: Row) -> str:
        """Return what names a row."""
        raise NotImplementedError

    def detail(self) -> Widget | None:
        """Return the pane beside the table, if the place has one."""
        return None

    def check_filter(self, text: str) -> str:  # noqa: ARG002  most places take any words
        """Return what is wrong with a filter, empty where nothing is; called before it is used."""
        return ""

    def checked(self, faults: tuple[Fault, ...]) -> str:
        """Return the first of a filter's faults as a sentence; without any, take an older one off the screen."""
        if not faults and self.is_mounted:
            self.flash("")
        return faults[0].sentence() if faults else ""

    def say_empty(self) -> None:
        """Let an empty table say whether the filter is why."""
        self.table.empty = "nothing matches this filter; esc takes it away" if self.filter_text else self.EMPTY

    # -- the frame ------------------------------------------------------------------------------------------------

    def body(self) -> ComposeResult:
        """Yield table and detail."""
        with Horizontal(id="body"):
            yield RowTable[Row](self.COLUMNS, self.cells, self.row_key, id="rows", empty=self.EMPTY)
            pane = self.detail()
            if pane is not None:
                pane.add_class("detail")
                yield pane

    def panes(self) -> Panes | None:
        """Return detail and table where they stand side by side."""
        from tui.screens.panes import Panes

        beside = next((pane for pane in self.query(".detail").results(Widget) if pane.display), None)
        return Panes(beside, self.table, "width") if beside is not None else None

    @property
    def table(self) -> RowTable[Row]:
        """Return the table."""
        return self.query_one("#rows", RowTable)

    def crumbs(self) -> tuple[str, ...]:
        """Return the heading with the number of rows."""
        total = self.table.total if self.is_mounted else None
        return (self.heading if total is None else f"{self.heading} {total:,}",)

    def crumb_filter(self) -> Line:
        """Return filter, marks and order."""
        parts: list[Piece] = []
        if self.filter_text:
            parts += [Piece("▏filter: ", "dim"), Piece(clean(self.filter_text), "accent"), Piece("  ")]
        if marks := len(self.table.marks):
            parts.append(Piece(f"{marks} marked  ", "warn"))
        if self.ORDER:
            parts.append(Piece(self.ORDER, "dim"))
        if self.sort:
            parts.append(Piece(f"sort: {self.sort} {'↓' if self.descending else '↑'}", "dim"))
        return line(*parts)

    def on_mount(self) -> None:
        """Show the first order and give the keys to the table."""
        self.table.sort, self.table.descending = self.sort, self.descending
        self.table.focus()

    # -- rows -----------------------------------------------------------------------------------------------------

    def on_row_table_page_wanted(self, message: RowTable.PageWanted[Row]) -> None:
        """Fetch the page in a thread."""
        table, offset, limit, epoch = message.table, message.offset, message.limit, message.epoch
        self.ask(
            lambda deck: self.fetch(deck, offset, limit),
            lambda page: self._got(table, page, epoch),
            group=f"{self.place_id}.rows.{offset}",
            sooner=self.sooner() if offset == 0 else None,
        )

    def _got(self, table: RowTable[Row], page: Page[Row], epoch: int) -> None:
        table.put_page(page, epoch)
        self.say_empty()
        self.rows_came()
        self.redraw_frame()

    def rows_came(self) -> None:
        """Note that rows came; called after each page."""

    def renew(self) -> None:
        """Fetch the rows in sight again."""
        self.table.renew()

    def on_row_table_all_wanted(self, message: RowTable.AllWanted[Row]) -> None:
        """Fetch every row of the filter and mark it."""
        table, total = message.table, min(message.total, MARKED_MOST)
        self.ask(
            lambda deck: self.fetch(deck, 0, total),
            lambda page: table.mark_rows(page.rows),
            group=f"{self.place_id}.all",
        )

    def on_row_table_marks_changed(self) -> None:
        """Draw the count of marks."""
        self.redraw_frame()

    @property
    def current(self) -> Row | None:
        """Return the row under the cursor."""
        return self.table.row

    # -- filter and order -----------------------------------------------------------------------------------------

    def do_filter(self) -> None:
        """Open the line in which the filter is typed."""
        from tui.widgets.filter_input import FilterInput

        self._filter_before = self.filter_text
        flash = self.query_one(Flash)
        flash.display = False
        field = FilterInput(self.filter_text, placeholder=self.FILTER_HELP, select_on_focus=False, id="filter")
        self.mount(field, before=flash)
        field.focus()

    def on_filter_input_left(self, event: FilterInput.Left) -> None:
        """Give the keys back to the table; a faulty filter stays open when sent, and changes nothing when left."""
        fault = self.check_filter(event.text.strip())
        if fault and event.sent:
            self.flash(fault, "warn")
            self.query_one(Flash).display = True
            return
        if fault:
            self.set_filter(self._filter_before)
        self.query("#filter").remove()
        self.query_one(Flash).display = True
        self.table.focus()

    def on_filter_input_typed(self, event: FilterInput.Typed) -> None:
        """Narrow the rows as one types."""
        self.query_one(Flash).display = False
        self.set_filter(event.text)

    def set_filter(self, text: str) -> None:
        """Show only rows that match."""
        if text.strip() == self.filter_text:
            return
        if fault := self.check_filter(text.strip()):
            self.flash(fault, "warn")
            return
        self.filter_text = text.strip()
        words = [word.lower() for word in self.filter_text.split() if ":" not in word and "~" not in word]
        self.sought = tuple(words) or self.sought
        self.table.needle = self.sought[0] if self.sought else ""
        self.table.reset()
        self.redraw_frame()

    def do_down_up(self) -> None:
        """Take marks away, then the filter, then close."""
        if self.table.marks:
            self.table.set_marks(frozenset())
        elif self.filter_text:
            self.set_filter("")
        elif self.table.needle:
            self.sought, self.table.needle = (), ""
            self.table.refresh()
        else:
            super().do_down_up()

    def do_match_next(self) -> None:
        """Go to the next row that shows what was looked for."""
        self._match(1)

    def do_match_previous(self) -> None:
        """Go to the row before that shows what was looked for; without that, to the notifications."""
        if self.sought:
            self._match(-1)
        else:
            self.deck_app.common.do_notifications()

    def _match(self, step: int) -> None:
        if not self.sought:
            self.flash("nothing was looked for yet: / takes words", "warn")
            return
        words, start, total = self.sought, self.table.cursor, self.table.total or 0
        self.ask(
            partial(self._search, words, start, total, step),
            partial(self._matched, words),
            group=f"{self.place_id}.match",
        )

    def _search(self, words: tuple[str, ...], start: int, total: int, step: int, deck: Deck) -> int | None:
        """Return the index of the row to go to; runs in a thread."""
        return matches.find(
            lambda offset, limit: self.fetch(deck, offset, limit).rows,
            lambda row: matches.shows(self.cells(row), words),
            start,
            total,
            step,
        )

    def _matched(self, words: tuple[str, ...], index: int | None) -> None:
        if index is None:
            self.flash(f"no other row shows {' '.join(words)!r}", "warn")
        else:
            self.table.move(index)

    def do_sort(self) -> None:
        """Order by the next of the place's orders."""
        if self.SORTS:
            self.order(self.SORTS[(self.SORTS.index(self.sort) + 1) % len(self.SORTS)], descending=False)

    def do_sort_reverse(self) -> None:
        """Turn the order around."""
        self.order(self.sort, descending=not self.descending)

    def order(self, sort: str, *, descending: bool) -> None:
        """Order the rows."""
        self.sort, self.descending = sort, descending
        self.table.sort, self.table.descending = sort, descending
        self.table.reset()
        self.redraw_frame()

    def arrive(self, location: Location) -> None:
        """Take the link's filter and put the cursor on its key."""
        if location.filter is not None:
            self.set_filter(location.filter)
        if location.key:
            self.table.move_to_key(location.key)

    def copies(self) -> Iterable[tuple[str, str]]:
        """Offer the list in its present filter; a subclass puts the row under the cursor before it."""
        from tui.copies import of_list

        return of_list(self.location(), self.headless())

    def location(self) -> Location:
        """Return the link to this filter."""
        return Location(self.place_id, "", self.filter_text)

    def exporter(self) -> Exporter | None:
        """Return what reads the marked rows, or every row of the filter, for `x`; runs in a thread."""
        marked = self.table.marked_rows()
        return lambda deck: self.export_table(marked or self.fetch(deck, 0, EXPORTED_MOST).rows)

    def export_table(self, rows: Sequence[Row]) -> ExportTable:
        """Return the columns and the rows as text."""
        titles = tuple(column.title.lower() for column in self.COLUMNS)
        return titles, [tuple(plain(cell).strip() for cell in self.cells(row)) for row in rows]
