"""Show a log as it grows: follow, find, wrap, times; bounded, so that a talkative step costs no memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo

from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from core.views import LogRow
from tui.present.lines import Line, mark_hits
from tui.present.lines import width as line_width
from tui.present.log_lines import find, render, step_column
from tui.present.times import zone
from tui.theme import style
from tui.widgets.pane import Pane

KEPT = 5000


class LogView(Pane):
    """The newest lines of a log, in the order of their ids."""

    DEFAULT_CSS = "LogView { overflow-x: auto; scrollbar-size-horizontal: 0; }"

    class FollowChanged(Message):
        """Following was switched on or off, by key or by scrolling away."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._rows: list[LogRow] = []
        self._starts: list[int] = []
        self._drawn: list[Line] = []
        self._zone: tzinfo = UTC
        self.dropped = 0
        self.following = True
        self.wrapping = True
        self.timing = True
        self.needle = ""
        self._hit: int | None = None

    @property
    def newest_id(self) -> int:
        """Return the id after which to ask for more."""
        return self._rows[-1].id if self._rows else 0

    @property
    def rows(self) -> Sequence[LogRow]:
        """Return the lines that are kept."""
        return self._rows

    def clear(self) -> None:
        """Forget everything, for another Work."""
        self._rows.clear()
        self.dropped, self.following, self.needle, self._hit = 0, True, "", None
        self._redraw()

    def put_zone_name(self, name: str) -> None:
        """Show times in this zone."""
        if zone(name) != self._zone:
            self._zone = zone(name)
            self._redraw()

    def append(self, rows: Sequence[LogRow]) -> None:
        """Add newer lines; the oldest go where more than the bound are kept."""
        before = step_column(self._rows)
        self._rows.extend(row for row in rows if row.id > self.newest_id)
        surplus = len(self._rows) - KEPT
        if surplus > 0:
            del self._rows[:surplus]
            self.dropped += surplus
        if surplus > 0 or step_column(self._rows) != before:
            self._redraw()
        else:
            self._draw_from(len(self._starts))

    def toggle_follow(self) -> None:
        """Follow the newest line, or stay."""
        self.following = not self.following
        self._tail()

    def toggle_wrap(self) -> None:
        """Wrap long lines, or cut them and scroll sideways."""
        self.wrapping = not self.wrapping
        self._redraw()

    def toggle_times(self) -> None:
        """Show or hide the time of each line."""
        self.timing = not self.timing
        self._redraw()

    def search(self, text: str) -> bool:
        """Go to the newest line that holds the text; answer whether there is one."""
        self.needle, self._hit = text, None
        return self.search_next(-1)

    def search_next(self, step: int) -> bool:
        """Go to the next older (-1) or newer (+1) hit, round and round."""
        start = self._hit if self._hit is not None else 0
        self._hit = find(self._rows, self.needle, start, step)
        if self._hit is None:
            self.refresh()
            return False
        self.following = False
        top = self._starts[self._hit] - self.size.height // 2
        self.scroll_to(y=max(0, top), animate=False)
        self.refresh()
        return True

    def action_scroll_up(self) -> None:
        """Scroll one line up and stay there."""
        self._stay()
        super().action_scroll_up()

    def action_page_up(self) -> None:
        """Scroll a page up and stay there."""
        self._stay()
        super().action_page_up()

    def action_scroll_home(self) -> None:
        """Scroll to the oldest line and stay there."""
        self._stay()
        super().action_scroll_home()

    def action_scroll_end(self) -> None:
        """Go to the newest line and follow it."""
        self.following = True
        self._tail()

    def on_mouse_scroll_up(self) -> None:
        """Stay where the wheel leads."""
        self._stay()

    def _stay(self) -> None:
        if self.following and self.max_scroll_y:
            self.following = False
            self.post_message(self.FollowChanged())

    def _rebuild(self) -> None:
        self._redraw()

    def _redraw(self) -> None:
        self._starts.clear()
        self._drawn.clear()
        self._draw_from(0)

    def _draw_from(self, first: int) -> None:
        cells = self.scrollable_content_region.width
        if not cells:
            return
        steps = step_column(self._rows)
        for row in self._rows[first:]:
            self._starts.append(len(self._drawn))
            self._drawn.extend(
                render(row, self._zone, cells=cells, times=self.timing, wrap=self.wrapping, step_cells=steps)
            )
        self._lines = tuple(self._drawn)
        widest = cells if self.wrapping else max((line_width(row) for row in self._drawn), default=1)
        self.virtual_size = Size(max(widest, 1), len(self._drawn))
        self._tail()
        self.refresh()

    def _tail(self) -> None:
        if self.following:
            end = max(0, len(self._drawn) - self.scrollable_content_region.height)
            self.scroll_to(y=end, animate=False, immediate=True)
            self.call_after_refresh(self._stay_at_end)
        self.post_message(self.FollowChanged())

    def _stay_at_end(self) -> None:
        """Follow once more when the layout is done: lines may have come before the pane had its height."""
        if self.following:
            self.scroll_end(animate=False, immediate=True)

    def render_line(self, y: int) -> Strip:
        """Draw one line, hits marked, the found line on the cursor's ground."""
        left, top = self.scroll_offset
        index = top + y
        row = mark_hits(self._drawn[index], self.needle) if index < len(self._drawn) else ()
        ground = "cursor" if self._hit is not None and self._holds(self._hit, index) else "back"
        theme, cells = self.app.theme, self.scrollable_content_region.width
        whole = Strip([Segment(piece.text, style(theme, piece.tone, ground)) for piece in row])
        return whole.crop_extend(left, left + cells, style(theme, "", ground))

    def _holds(self, row: int, drawn: int) -> bool:
        end = self._starts[row + 1] if row + 1 < len(self._starts) else len(self._drawn)
        return self._starts[row] <= drawn < end
