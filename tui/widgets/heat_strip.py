"""Draw the timeline: a strip of lanes under an axis and a total row, or a calendar of days and hours."""

from __future__ import annotations

from datetime import UTC, tzinfo

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from core.views import Timeline
from tui.present import forecast
from tui.present.lines import Line, Piece, fit, line
from tui.theme import style

HEAD_ROWS = 2


class HeatStrip(Widget, can_focus=True):
    """Lanes × slots with a cursor; draws only the lanes in sight."""

    class Moved(Message):
        """The cursor stands on another slot or lane."""

    class Opened(Message):
        """A slot was clicked twice: what fires in it is wanted."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.timeline: Timeline | None = None
        self.zone: tzinfo = UTC
        self.slot = 0
        self.lane = 0
        self.top = 0
        self._days: tuple[forecast.CalendarDay, ...] = ()
        self.calendar = False
        self.whole = True
        self.empty = ""

    def notify_style_update(self) -> None:
        """Draw again in the new theme."""
        super().notify_style_update()
        self.refresh()

    @property
    def label_cells(self) -> int:
        """Return the width of the names."""
        return 13 if self.calendar else max(14, min(22, self.size.width // 5))

    @property
    def slot_cells(self) -> int:
        """Return how many slots fit beside the names."""
        return max(8, self.size.width - self.label_cells - 2)

    @property
    def lane_uid(self) -> str:
        """Return the identity of the lane under the cursor; empty where there is none."""
        lanes = self.timeline.lanes if self.timeline else ()
        return lanes[self.lane].uid if self.lane < len(lanes) else ""

    def put(self, timeline: Timeline, zone: tzinfo, *, calendar: bool) -> None:
        """Show another window or other counts; the cursor stays on its slot and on its lane, wherever that is."""
        here = self.lane_uid
        self.timeline, self.zone, self.calendar = timeline, zone, calendar
        self.lane = next((at for at, lane in enumerate(timeline.lanes) if lane.uid == here), self.lane)
        self._days = forecast.calendar(timeline, zone) if calendar else ()
        self.slot = min(self.slot, max(0, len(timeline.total) - 1))
        self.move_lane(0)

    def go_slot(self, slot: int) -> None:
        """Put the cursor on a slot."""
        if self.timeline is not None and self.timeline.total:
            self.slot = max(0, min(slot, len(self.timeline.total) - 1))
            self._moved()

    def move_lane(self, by: int) -> None:
        """Move the cursor by lanes (strip) or by days (calendar)."""
        if self.timeline is None:
            return
        if self.calendar:
            if by:
                self.go_slot(self.slot + by * 24)
            else:
                self._moved()
            return
        self.lane = max(0, min(self.lane + by, len(self.timeline.lanes) - 1))
        rows = max(1, self.size.height - HEAD_ROWS)
        self.top = max(min(self.top, self.lane), self.lane - rows + 1)
        self._moved()

    def _moved(self) -> None:
        self.post_message(self.Moved())
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse points; a second click lists what fires there."""
        if self.timeline is None:
            return
        if self.calendar:
            self._click_hour(event)
        else:
            self.lane = max(0, min(self.top + event.y - HEAD_ROWS, len(self.timeline.lanes) - 1))
            self.go_slot(event.x - self.label_cells - 2)
        if event.chain == 2:
            self.post_message(self.Opened())

    def _click_hour(self, event: events.Click) -> None:
        at, hour = self._day_top + event.y - 1, (event.x - self.label_cells) // self._hour_cells
        if 0 <= at < len(self._days) and 0 <= hour < 24 and (held := self._days[at].hours[hour]) is not None:
            self.go_slot(held[0])

    def on_mouse_scroll_down(self) -> None:
        """Scroll by the wheel."""
        self.move_lane(3)

    def on_mouse_scroll_up(self) -> None:
        """Scroll by the wheel."""
        self.move_lane(-3)

    def render_line(self, y: int) -> Strip:
        """Draw one row of the screen."""
        row, ground, column = self._row(y)
        return self._strip(row, ground, column)

    def _row(self, y: int) -> tuple[Line, str, tuple[int, int] | None]:
        """Return a row, its ground and the cells [from, to) that the cursor column takes."""
        if self.timeline is None:
            return (), "back", None
        if self.calendar:
            return self._calendar_row(y)
        start = self.label_cells + 2
        column = (start + self.slot, start + self.slot + 1)
        if y == 0:
            return line(" " * start, forecast.axis_row(self.timeline, self.zone)), "back", column
        if y == 1:
            what = f"  {'all' if self.whole else 'these'} · fires/{forecast.slot_words(self.timeline.slot_s)}"
            label = fit(line(Piece(what, "dim")), start)
            return line(label, forecast.total_row(self.timeline)), "back", column
        index = self.top + y - HEAD_ROWS
        if index >= len(self.timeline.lanes):
            return self._empty(index), "back", None
        lane = self.timeline.lanes[index]
        mark = Piece("▸ " if index == self.lane else "  ", "accent")
        counted = forecast.lane_sum(lane, self.size.width - start - len(self.timeline.total))
        row = line(mark, forecast.lane_label(lane, self.label_cells), forecast.lane_row(lane), counted)
        return row, "cursor-dim" if index == self.lane else "back", column

    def _empty(self, index: int) -> Line:
        if self.timeline is None or self.timeline.lanes or index != 1:
            return ()
        return line("  ", Piece(self.empty, "dim"))

    def _calendar_row(self, y: int) -> tuple[Line, str, tuple[int, int] | None]:
        cell = self._hour_cells
        if y == 0:
            hours = "".join(("" if cell == 2 and hour % 2 else f"{hour:02}").center(cell) for hour in range(24))
            return line(" " * self.label_cells, Piece(hours, "head")), "back", None
        at = self._day_top + y - 1
        if at >= len(self._days):
            return (), "back", None
        day = self._days[at]
        top = max((hour[1] for each in self._days for hour in each.hours if hour), default=0)
        cells = [forecast.heat_cell(hour[1], top, cell) if hour else _missing(cell) for hour in day.hours]
        mark = Piece(f" {forecast.GAP}" if day.note else "", "warn")
        label = line(" ", Piece(day.label, "strong" if at == self._today else ""))
        row = line(fit(label, self.label_cells), *cells, Piece(f"  {day.total:,}", "faint"), mark)
        return row, "back", self._calendar_cursor(day)

    def _calendar_cursor(self, day: forecast.CalendarDay) -> tuple[int, int] | None:
        slots = [hour[0] if hour else -1 for hour in day.hours]
        held = [index for index, slot in enumerate(slots) if slot >= 0 and slot <= self.slot]
        if not held or self._day_of_cursor is not day:
            return None
        start = self.label_cells + held[-1] * self._hour_cells
        return start, start + self._hour_cells

    @property
    def _day_of_cursor(self) -> forecast.CalendarDay | None:
        found = None
        for day in self._days:
            first = next((hour[0] for hour in day.hours if hour), None)
            if first is not None and first <= self.slot:
                found = day
        return found

    @property
    def _day_top(self) -> int:
        rows = max(1, self.size.height - 1)
        day = self._day_of_cursor
        at = self._days.index(day) if day is not None else 0
        return max(0, min(at - rows + 1 if at >= rows else 0, len(self._days) - rows))

    @property
    def _today(self) -> int:
        slot = forecast.now_slot(self.timeline) if self.timeline else None
        starts = [next((hour[0] for hour in day.hours if hour), 0) for day in self._days]
        return max((at for at, first in enumerate(starts) if slot is not None and first <= slot), default=-1)

    @property
    def _hour_cells(self) -> int:
        return max(2, min(5, (self.size.width - self.label_cells - 8) // 24))

    def _strip(self, row: Line, ground: str, column: tuple[int, int] | None) -> Strip:
        theme, cells = self.app.theme, self.size.width
        base = Strip([Segment(piece.text, style(theme, piece.tone, ground)) for piece in row])
        base = base.crop_extend(0, cells, style(theme, "", ground))
        if column is None or column[0] >= cells:
            return base
        lit = Style(bgcolor=style(theme, "", "cursor").bgcolor)
        middle = Strip(Segment(part.text, (part.style or lit) + lit) for part in base.crop(*column))
        return Strip.join([base.crop(0, column[0]), middle, base.crop(column[1], cells)])


def _missing(cells: int) -> Piece:
    return Piece(forecast.GAP.center(cells), "warn")
