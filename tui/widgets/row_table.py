"""Own the one table: lines drawn on demand from pages that a place fetches; 100,000 rows cost what 100 cost."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.actions import TABLE
from tui.present.columns import Column, header_line, layout, row_line
from tui.present.lines import Line, Piece, mark_hits
from tui.theme import style
from tui.widgets.lines_view import blank

if TYPE_CHECKING:
    from core.views import Page

Row = TypeVar("Row")
Item = TypeVar("Item")
PAGE = 100
KEPT_PAGES = 12
SOUGHT_PAGES = 100


class RowTable(ScrollView, Generic[Row], can_focus=True):
    """Rows by index, fetched a page at a time.

    The owner answers `PageWanted` with `put_page`; `cells` turns a row into one line per column, `key` names it.
    A refresh keeps the cursor on its key; until new pages come, the old rows stay.
    """

    DEFAULT_CSS = "RowTable { height: 1fr; width: 1fr; scrollbar-size: 1 1; overflow-x: hidden; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"table('{action.id}')", action.title, show=False)
        for action in TABLE
        if action.widget
        for key in action.keys
    ]

    cursor: reactive[int] = reactive(0, repaint=False)

    class PageWanted(Message, Generic[Item]):
        """Rows are missing: fetch `limit` of them from `offset` and give them to `put_page` with this epoch."""

        def __init__(self, table: RowTable[Item], offset: int, limit: int, epoch: int) -> None:
            super().__init__()
            self.table, self.offset, self.limit, self.epoch = table, offset, limit, epoch

    class CursorMoved(Message, Generic[Item]):
        """The cursor stands on another row (None: on one that is not loaded yet)."""

        def __init__(self, table: RowTable[Item], row: Item | None) -> None:
            super().__init__()
            self.table, self.row = table, row

    class Opened(Message, Generic[Item]):
        """The row under the cursor was asked for with enter or a second click."""

        def __init__(self, table: RowTable[Item], row: Item) -> None:
            super().__init__()
            self.table, self.row = table, row

    class MarksChanged(Message, Generic[Item]):
        """Marks came or went."""

        def __init__(self, table: RowTable[Item], marks: frozenset[str]) -> None:
            super().__init__()
            self.table, self.marks = table, marks

    class AllWanted(Message, Generic[Item]):
        """Every row of the filter is to be marked: fetch all and give them to `mark_rows`."""

        def __init__(self, table: RowTable[Item], total: int) -> None:
            super().__init__()
            self.table, self.total = table, total

    def __init__(
        self,
        columns: Iterable[Column],
        cells: Callable[[Row], tuple[Line, ...]],
        key: Callable[[Row], str],
        *,
        id: str | None = None,  # noqa: A002  Textual's name
        empty: str = "nothing here",
    ) -> None:
        super().__init__(id=id)
        self.columns = tuple(columns)
        self._cells, self._key = cells, key
        self.empty = empty
        self.total: int | None = None
        self.epoch = 0
        self.marks: frozenset[str] = frozenset()
        self.needle = ""
        self.sort = ""
        self.descending = False
        self._pages: OrderedDict[int, tuple[Row, ...]] = OrderedDict()
        self._fresh: set[int] = set()
        self._wanted: set[int] = set()
        self._anchor: int | None = None
        self._held_key = ""
        self._sought = ""
        self._far: dict[str, Row] = {}
        self._drawn: dict[int, Strip] = {}

    # -- rows -----------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Forget every row: another filter or order. The cursor goes to the top."""
        self.epoch += 1
        self._pages.clear()
        self._fresh.clear()
        self._wanted.clear()
        self._held_key = ""
        self.total = None
        self._anchor = None
        self.set_reactive(RowTable.cursor, 0)
        self.scroll_to(0, 0, animate=False)
        self._want(0)
        self.refresh()

    def renew(self) -> None:
        """Fetch what is shown again; rows and cursor stay meanwhile."""
        self.epoch += 1
        self._fresh.clear()
        self._wanted.clear()
        row = self.row
        self._held_key = self._key(row) if row is not None else self._held_key
        self._want_visible()
        self._want(self.cursor // PAGE)

    def put_page(self, page: Page[Row], epoch: int) -> None:
        """Take a page that was wanted; one of an older epoch is dropped."""
        if epoch != self.epoch:
            return
        number = page.offset // PAGE
        self._wanted.discard(number)
        self._fresh.add(number)
        before = self.row
        self._pages[number] = page.rows
        self._pages.move_to_end(number)
        while len(self._pages) > KEPT_PAGES:
            self._pages.popitem(last=False)
        self._resize(page.total)
        self._hold_cursor(number)
        self._seek_on(number)
        self._want_visible()
        self.refresh()
        if self.row != before:
            self.post_message(self.CursorMoved(self, self.row))

    def _resize(self, total: int) -> None:
        if total != self.total:
            self.total = total
            self.virtual_size = Size(self.size.width, total + 1)
            self.set_reactive(RowTable.cursor, max(0, min(self.cursor, total - 1)))

    def _seek_on(self, number: int) -> None:
        """Fetch the next page while a key that was asked for has not been seen; the end ends it."""
        if self._sought and number + 1 < min(SOUGHT_PAGES, -(-(self.total or 0) // PAGE)):
            self._want(number + 1)
        else:
            self._sought = ""

    def _hold_cursor(self, number: int) -> None:
        wanted = self._sought or self._held_key
        if not wanted:
            return
        for at, row in enumerate(self._pages[number]):
            if self._key(row) == wanted:
                self._held_key, self._sought = wanted, ""
                self.set_reactive(RowTable.cursor, number * PAGE + at)
                self._show_cursor()
                return

    def row_at(self, index: int) -> Row | None:
        """Return the row at an index, None while it is not loaded."""
        rows = self._pages.get(index // PAGE, ())
        return rows[index % PAGE] if index % PAGE < len(rows) and index >= 0 else None

    @property
    def row(self) -> Row | None:
        """Return the row under the cursor."""
        return self.row_at(self.cursor)

    def loaded(self) -> tuple[Row, ...]:
        """Return the rows at hand, in order."""
        return tuple(row for number in sorted(self._pages) for row in self._pages[number])

    def replace(self, row: Row) -> None:
        """Put a row that is known to have changed in the place of the one with its key."""
        key = self._key(row)
        for number, rows in self._pages.items():
            self._pages[number] = tuple(row if self._key(old) == key else old for old in rows)
        self.refresh()

    def _want(self, number: int) -> None:
        if number in self._fresh or number in self._wanted or number < 0:
            return
        if self.total is not None and number and number * PAGE >= self.total:
            return
        self._wanted.add(number)
        self.post_message(self.PageWanted(self, number * PAGE, PAGE, self.epoch))

    def _want_visible(self) -> None:
        top = int(self.scroll_offset.y)
        for number in {top // PAGE, (top + max(self.size.height - 1, 1)) // PAGE}:
            self._want(number)

    # -- cursor and marks -----------------------------------------------------------------------------------------

    def move(self, index: int) -> None:
        """Put the cursor on a row and bring it into sight."""
        target = max(0, min(index, (self.total or 1) - 1))
        if target == self.cursor:
            return
        self.set_reactive(RowTable.cursor, target)
        row = self.row
        self._held_key = self._key(row) if row is not None else ""
        self._show_cursor()
        self._want(target // PAGE)
        self.refresh()
        self.post_message(self.CursorMoved(self, row))

    def move_to_key(self, key: str) -> bool:
        """Put the cursor on a loaded row by its key; otherwise hold the key until its page comes."""
        for number, rows in self._pages.items():
            for at, row in enumerate(rows):
                if self._key(row) == key:
                    self.move(number * PAGE + at)
                    return True
        self._sought = key
        self._fresh.clear()
        self._want(0)
        return False

    def _show_cursor(self) -> None:
        top, height = int(self.scroll_offset.y), max(self.size.height - 1, 1)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)

    def action_table(self, name: str) -> None:
        """Do what one of the table's keys says."""
        half = max((self.size.height - 1) // 2, 1)
        moves = {"row_down": self.cursor + 1, "row_up": self.cursor - 1, "row_first": 0,
                 "row_last": (self.total or 1) - 1, "half_down": self.cursor + half,
                 "half_up": self.cursor - half}  # fmt: skip
        if name in moves:
            self.move(moves[name])
        elif name == "enter_row" and self.row is not None:
            self.post_message(self.Opened(self, self.row))
        elif name == "mark":
            self._mark_one()
        elif name == "mark_range":
            self._mark_range()
        elif name == "mark_all":
            self._mark_all()

    def set_marks(self, marks: frozenset[str]) -> None:
        """Mark exactly these keys."""
        self.marks = marks
        self.refresh()
        self.post_message(self.MarksChanged(self, marks))

    def _mark_all(self) -> None:
        rows = self.loaded()
        if rows and len(self.marks) >= (self.total or 0):
            self.set_marks(frozenset())
        elif len(rows) < (self.total or 0):
            self.post_message(self.AllWanted(self, self.total or 0))
        else:
            self.mark_rows(rows)

    def mark_rows(self, rows: Iterable[Row]) -> None:
        """Mark these rows too and remember them, loaded or not."""
        found = {self._key(row): row for row in rows}
        self._far |= found
        self.set_marks(self.marks | frozenset(found))

    def marked_rows(self) -> tuple[Row, ...]:
        """Return the marked rows, as they are loaded now or as they were when they were marked, by key."""
        known = self._far | {self._key(row): row for row in self.loaded()}
        return tuple(known[key] for key in sorted(self.marks) if key in known)

    def _mark_one(self) -> None:
        if self.row is not None:
            self._anchor = self.cursor
            self.set_marks(self.marks ^ {self._key(self.row)})
            self.move(self.cursor + 1)

    def _mark_range(self) -> None:
        start = self._anchor if self._anchor is not None else self.cursor
        low, high = sorted((start, self.cursor))
        rows = (self.row_at(index) for index in range(low, high + 1))
        self._anchor = self.cursor
        self.set_marks(self.marks | {self._key(row) for row in rows if row is not None})

    # -- mouse ----------------------------------------------------------------------------------------------------

    def on_click(self, event: Click) -> None:
        """Put the cursor under the pointer; open on a double click."""
        index = event.y - 1 + int(self.scroll_offset.y)
        if event.y >= 1 and self.total and index < self.total:
            self.move(index)
            if event.chain == 2 and self.row is not None:
                self.post_message(self.Opened(self, self.row))

    # -- drawing --------------------------------------------------------------------------------------------------

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for what came into sight."""
        super().watch_scroll_y(old_value, new_value)
        self._want_visible()

    def on_mount(self) -> None:
        """Ask for the first page."""
        self._want(0)

    def on_resize(self) -> None:
        """Fit the columns to the new width and keep the cursor in sight."""
        self.virtual_size = Size(self.size.width, (self.total or 0) + 1)
        self._show_cursor()
        self._want_visible()

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Draw the cursor strong while the keys are here."""
        super().watch_has_focus(_has_focus)
        self.refresh()

    def tick(self) -> None:
        """Draw the lines in sight that would look another way now, because time has passed."""
        for y, drawn in list(self._drawn.items()):
            if y < self.size.height and self._line_at(y) != drawn:
                self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        """Draw the header or one row of the visible part."""
        drawn = self._drawn[y] = self._line_at(y)
        return drawn

    def _line_at(self, y: int) -> Strip:
        cells, theme = self.scrollable_content_region.width, self.app.theme
        widths = layout(self.columns, cells - 2)
        if y == 0:
            head = header_line(self.columns, widths, self.sort, descending=self.descending)
            return self._strip((Piece("  "), *head), cells, theme, "back")
        index = y - 1 + int(self.scroll_offset.y)
        if self.total is None or index >= self.total:
            return self._outside(y, cells, theme)
        row = self.row_at(index)
        if row is None:
            return self._strip((Piece("  "), Piece("·" * 12, "faint")), cells, theme, self._ground(index, marked=False))
        marked = self._key(row) in self.marks
        line = row_line(self._cells(row), self.columns, widths)
        here = "▸" if index == self.cursor else ""
        gutter = Piece(f"{'*' if marked else ''}{here}".ljust(2), "warn" if marked else "accent")
        return self._strip((gutter, *mark_hits(line, self.needle)), cells, theme, self._ground(index, marked=marked))

    def _outside(self, y: int, cells: int, theme: str) -> Strip:
        if y == 2 and not self.total:
            text = "reading …" if self.total is None else self.empty
            return self._strip((Piece(f"  {text}", "dim"),), cells, theme, "back")
        return blank(cells, theme)

    def _ground(self, index: int, *, marked: bool) -> str:
        if index == self.cursor:
            return "cursor" if self.has_focus else "cursor-dim"
        return "marked" if marked else "back"

    def _strip(self, row: Line, cells: int, theme: str, ground: str) -> Strip:
        segments = [Segment(piece.text, style(theme, piece.tone, ground)) for piece in row]
        return Strip(segments).adjust_cell_length(cells, style(theme, "", ground))
