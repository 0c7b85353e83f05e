"""Own the timeline: when everything fires, past and to come, by the worker's own function."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from textual.app import ComposeResult

from core.errors import TriggerdeckError
from core.views import Timeline, TimelineLane, TriggerQuery
from tui.live import Changed
from tui.navigation import Location
from tui.present import forecast
from tui.present.columns import Column
from tui.present.fires import own_time
from tui.present.lines import Line, Piece, clean, line
from tui.present.times import offset, short_zone, zone
from tui.screens.place import Place
from tui.screens.timeline_counts import LANES, Counted, count_lanes
from tui.screens.timeline_fires import Fires, fires_between, write
from tui.screens.timeline_keys import KEYS
from tui.widgets.chooser import Chooser, plain_choice
from tui.widgets.dialog import Blank, ShortForm
from tui.widgets.heat_strip import HeatStrip
from tui.widgets.lines_view import LinesView

RECOUNT_S = 1.0
NONE_YET = "no trigger yet: press 1, then a, to write the first one"
NO_MATCH = "no trigger matches this filter; esc takes it away"


class TimelinePlace(Place):
    """All Triggers on one axis."""

    CSS_PATH = "timeline.tcss"
    place_id = "timeline"
    heading = "Timeline"
    live_kinds = frozenset({"trigger", "occurrence", "work"})
    ACTIONS = KEYS

    def __init__(self) -> None:
        super().__init__()
        self.span = forecast.SPANS[1]
        self._around: datetime | None = None
        self.filter_text = ""
        self._timeline: Timeline | None = None
        self._want_slot_of: datetime | None = None
        self._want_lane: int | None = None
        self._order: list[str] = []
        self._shown_span = self.span
        self._first = 0
        self._total = 0
        self._counting = False

    def body(self) -> ComposeResult:
        """Yield the strip and what stands under its cursor."""
        yield HeatStrip(id="strip")
        yield LinesView(id="cursor", ground="raised")

    def on_mount(self) -> None:
        """Give the keys to the strip."""
        self.strip.focus()
        self.query_one("#cursor", LinesView).show((line(Piece(" reading …", "dim")),))

    @property
    def strip(self) -> HeatStrip:
        """Return the strip."""
        return self.query_one(HeatStrip)

    @property
    def zone_name(self) -> str:
        """Return the display zone: a Timeline has no trigger's zone, so mine stands for it."""
        app = self.deck_app
        return app.mine if app.zone_choice == "trigger" else app.display_zone_for(None)

    def crumbs(self) -> tuple[str, ...]:
        """Return what is shown: how long, from when."""
        shown = self._timeline
        if shown is None:
            return (self.heading,)
        there = shown.from_at.astimezone(zone(self.zone_name))
        span = forecast.span_words(self._shown_span)
        when = f"{span} from {there:%a %d %b %H:%M} {short_zone(self.zone_name)}"
        return (self.heading, f"{when} {offset(shown.from_at, self.zone_name)}")

    def crumb_filter(self) -> Line:
        """Return the filter of the lanes."""
        return line(Piece("▏filter: ", "dim"), Piece(clean(self.filter_text), "accent")) if self.filter_text else ()

    def crumb_note(self) -> Line:
        """Return how many lanes there are, which of them are shown, and that more is being counted."""
        shown = self._timeline
        if shown is None:
            return ()
        told = forecast.lanes_words(self._first, len(shown.lanes), self._total)
        return line(Piece("counting … ", "busy") if self._counting else "", Piece(f"{told} ", "dim"))

    # -- reading --------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Choose the length of a slot for the new width."""
        super().on_resize()
        self.call_after_refresh(self.renew)

    def on_changed(self, message: Changed) -> None:
        """Count again at most once a second, however much changes."""
        if not self.is_current:
            super().on_changed(message)
        elif self.concerns(message.changes) and not self.waits:
            self.soon("count", RECOUNT_S, self.renew)

    def renew(self) -> None:
        """Count again for the window in sight."""
        if not self.strip.size.width:
            return
        at = self._around or self.now
        window = forecast.window_around(at, self.span, self.strip.slot_cells, zone(self.zone_name))
        query = TriggerQuery(text=self.filter_text, sort="name" if self.filter_text else "next")
        self._counting = True
        self.redraw_frame()
        count = partial(count_lanes, window, query, self._first)
        self.ask(count, partial(self._got, self.span), failed=self._lost, group="timeline")

    def _lost(self, refusal: TriggerdeckError) -> None:
        self._counting = False
        self.query_one("#cursor", LinesView).show((line(Piece(f" {refusal.sentence()}", "bad")),))

    def _got(self, span: timedelta, counted: Counted) -> None:
        first = self._timeline is None
        kept = self._want_slot_of or (None if first else self._cursor_at())
        timeline = forecast.held_order(counted.timeline, self._order)
        self._timeline, self._want_slot_of, self._total, self._counting = timeline, None, counted.total, False
        self._order, self._shown_span = [lane.uid for lane in timeline.lanes], span
        self.strip.whole = len(timeline.lanes) >= counted.total
        self.strip.empty = NO_MATCH if self.filter_text else NONE_YET
        self.strip.put(timeline, zone(self.zone_name), calendar=forecast.is_calendar(span))
        if self._want_lane is not None:
            self.strip.move_lane(self._want_lane - self.strip.lane)
            self._want_lane = None
        self.strip.go_slot(self._slot_of(kept) if kept else forecast.now_slot(timeline) or 0)
        self.redraw_frame()

    @property
    def _lanes(self) -> tuple[TimelineLane, ...]:
        return self._timeline.lanes if self._timeline else ()

    def _cursor_at(self) -> datetime | None:
        return forecast.slot_start(self._timeline, self.strip.slot) if self._timeline else None

    def _slot_of(self, at: datetime) -> int:
        shown = self._timeline
        return int((at - shown.from_at).total_seconds()) // shown.slot_s if shown else 0

    def zone_changed(self) -> None:
        """Lay the window for the new zone."""
        self.renew()

    def on_heat_strip_moved(self) -> None:
        """Say what stands under the cursor."""
        shown = self._timeline
        if shown is not None:
            slot, area = self.strip.slot, zone(self.zone_name)
            self.query_one("#cursor", LinesView).show(
                lambda cells: forecast.cursor_lines(shown, slot, area, cells) if shown.lanes else ()
            )

    # -- moving ---------------------------------------------------------------------------------------------------

    def do_slot_left(self) -> None:
        """Move one slot earlier; at the edge, the window moves."""
        self._step(-1)

    def do_slot_right(self) -> None:
        """Move one slot later; at the edge, the window moves."""
        self._step(1)

    def _step(self, by: int) -> None:
        shown = self._timeline
        if shown is None:
            return
        if 0 <= self.strip.slot + by < len(shown.total):
            self.strip.go_slot(self.strip.slot + by)
        else:
            self._shift(by, 0.5)

    def _shift(self, direction: int, share: float) -> None:
        at = self._cursor_at()
        self._around = (self._around or self.now) + direction * self.span * share
        if at is not None and share < 1 and self._timeline is not None:
            self._want_slot_of = at + direction * timedelta(seconds=self._timeline.slot_s)
        elif at is not None:
            self._want_slot_of = at + direction * self.span
        self.renew()

    def do_page_left(self) -> None:
        """Show the window before."""
        self._shift(-1, 1)

    def do_page_right(self) -> None:
        """Show the next window."""
        self._shift(1, 1)

    def do_lane_down(self) -> None:
        """Move to the next lane or day; from the last lane, to the lanes after."""
        if not self.strip.calendar and self.strip.lane >= len(self._lanes) - 1:
            self._show_lanes(self._first + LANES, 0)
        else:
            self.strip.move_lane(1)

    def do_lane_up(self) -> None:
        """Move to the lane or day before; from the first lane, to the lanes before."""
        if not self.strip.calendar and self.strip.lane == 0:
            self._show_lanes(self._first - LANES, LANES - 1)
        else:
            self.strip.move_lane(-1)

    def do_lane_first(self) -> None:
        """Move to the first lane of all."""
        self.strip.move_lane(-LANES)
        self._show_lanes(0, 0)

    def do_lane_last(self) -> None:
        """Move to the last lane of all."""
        self.strip.move_lane(LANES)
        self._show_lanes((max(self._total, 1) - 1) // LANES * LANES, LANES - 1)

    def _show_lanes(self, first: int, lane: int) -> None:
        """Show another stretch of lanes, if there is one, with the cursor on its lane."""
        if 0 <= first < self._total and first != self._first:
            self._first, self._want_lane = first, lane
            self.renew()

    def on_heat_strip_opened(self) -> None:
        """List what fires where it was clicked twice."""
        self.do_list_slot()

    def do_closer(self) -> None:
        """Show a shorter time around the cursor."""
        self._zoom(-1)

    def do_farther(self) -> None:
        """Show a longer time around the cursor."""
        self._zoom(1)

    def _zoom(self, by: int) -> None:
        at = forecast.SPANS.index(self.span) + by
        if not 0 <= at < len(forecast.SPANS):
            self.flash("this is the shortest time" if by < 0 else "this is the longest time", "warn")
            return
        here = self._cursor_at()
        current = self._timeline is not None and self.strip.slot == forecast.now_slot(self._timeline)
        self.span = forecast.SPANS[at]
        self._around = None if current else here
        self._want_slot_of = self.now if current else here
        self.renew()

    def do_now(self) -> None:
        """Go back to the present."""
        self._around, self._want_slot_of = None, self.now
        self.renew()

    def do_busiest(self) -> None:
        """Go to the slot with the most fires."""
        slot = forecast.busiest(self._timeline) if self._timeline else None
        if slot is None:
            self.flash("nothing fires in this window", "warn")
        else:
            self.strip.go_slot(slot)

    # -- what fires -----------------------------------------------------------------------------------------------

    def do_lanes(self) -> None:
        """Ask for words."""
        blank = Blank("text", "Words: name, namespace, tag, flow; empty shows all", self.filter_text)
        self.app.push_screen(ShortForm("Show lanes", (blank,), do="show"), self._filter)

    def _filter(self, typed: dict[str, str] | None) -> None:
        if typed is not None:
            self.set_filter(typed["text"])

    def set_filter(self, text: str) -> None:
        """Show only lanes that match."""
        self.filter_text, self._first, self._order = text.strip(), 0, []
        self.renew()

    def do_down_up(self) -> None:
        """Take the filter away, then close."""
        if self.filter_text:
            self.set_filter("")
        else:
            super().do_down_up()

    def do_open_trigger(self) -> None:
        """Go to the trigger of the lane."""
        shown = self._timeline
        if shown and shown.lanes and not self.strip.calendar:
            lane = shown.lanes[self.strip.lane]
            self.deck_app.go(Location("triggers", f"{lane.namespace}/{lane.name}"))
        else:
            self.flash("pick a lane first; enter lists what fires in this slot", "warn")

    def do_list_slot(self) -> None:
        """List the fires to come of the slot; where none are to come, go to what was decided in it."""
        shown = self._timeline
        if shown is None:
            return
        slot = self.strip.slot
        start = forecast.slot_start(shown, slot)
        end = start + timedelta(seconds=shown.slot_s)
        if end > shown.now and any(lane.forecast[slot] for lane in shown.lanes):
            self.ask(lambda deck: fires_between(deck, shown, start, end, slot), self._list, group="timeline.list")
        elif start <= shown.now and forecast.decided_at(shown, slot):
            self.deck_app.go(
                Location("occurrences", "", f"since:{start:%Y-%m-%dT%H:%M:%SZ} until:{end:%Y-%m-%dT%H:%M:%SZ}")
            )
        else:
            self.flash("nothing fires in this slot", "warn")

    def _list(self, found: Fires) -> None:
        area = zone(self.zone_name)
        columns = (
            Column("at", "at", 12),
            Column("name", "trigger", 20, grow=1),
            Column("zone", "its own time", 22, drop=1),
        )
        choices = [
            plain_choice(
                f"{fire.namespace}/{fire.trigger}",
                f"{fire.nominal_at.astimezone(area):%a %H:%M:%S}",
                clean(fire.trigger),
                (Piece(own_time(fire), "dim"),),
            )
            for fire in found.fires
        ]
        self.app.push_screen(
            Chooser("Fires in this slot", columns, choices, hint="enter goes to the trigger"), self._go
        )

    def _go(self, key: str | None) -> None:
        if key:
            self.deck_app.go(Location("triggers", key))

    # -- taking along ---------------------------------------------------------------------------------------------

    def do_export(self) -> None:
        """Offer the formats."""
        shown = self._timeline
        if shown is None:
            return
        name = f"timeline-{shown.from_at:%Y%m%d-%H%M}"
        choices = [plain_choice(f"{name}.{kind}", f"{name}.{kind}", (Piece(words, "dim"),)) for kind, words in _KINDS]
        columns = (Column("file", "file", 30, grow=1), Column("for", "for", 30))
        self.app.push_screen(
            Chooser("Export what is to come", columns, choices, free=True, hint="enter writes, into this folder"),
            self._export,
        )

    def _export(self, file: str | None) -> None:
        shown = self._timeline
        if file is None or shown is None:
            return
        start = max(shown.now, shown.from_at)
        self.ask(
            lambda deck: write(file, fires_between(deck, shown, start, shown.to_at, None), shown.now),
            lambda sentence: self.flash(sentence + self._left_out(), "ok"),
            group="timeline.export",
        )

    def _left_out(self) -> str:
        return "" if self.strip.whole else f"; of {forecast.lanes_words(self._first, len(self._lanes), self._total)}"

    def headless(self) -> str:
        """Return the command that shows the same."""
        shown = self._timeline
        if shown is None:
            return "triggerdeck timeline"
        return f"triggerdeck timeline --from {shown.from_at:%Y-%m-%dT%H:%MZ} --to {shown.to_at:%Y-%m-%dT%H:%MZ}"

    def arrive(self, location: Location) -> None:
        """Take the link's filter."""
        if location.filter is not None:
            self.set_filter(location.filter)


_KINDS = (("ics", "a calendar program"), ("csv", "a spreadsheet"), ("json", "a script"))
