"""Own the list of Triggers: what fires next, how the last ones went, and what may be done about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from textual.widget import Widget

from tui.actions import Action
from tui.present.columns import Column
from tui.present.lines import Line, Piece, Tone, clean, line
from tui.present.states import name_line, phase_mark, recent_bars
from tui.present.times import near, until
from tui.screens.table_place import TablePlace
from tui.screens.trigger_steering import STEERING, Steering, Target
from tui.widgets.lines_view import LinesView
from tui.widgets.row_table import RowTable

if TYPE_CHECKING:
    from core.deck import Deck
    from core.errors import TriggerdeckError
    from core.views import Page, TriggerRow, TriggerView
    from tui.gateway import Door, Sooner
    from tui.screens.flow_writing import FlowWriter
    from tui.screens.place import ExportTable

DETAIL_DELAY_S = 0.06
EXPORTED = ("namespace", "name", "phase", "schedule", "timeZone", "flow", "nextNominalAt", "nextDueAt", "lastOutcome")


class TriggersPlace(TablePlace["TriggerRow"], Steering):
    """Every Trigger of the workspace."""

    place_id = "triggers"
    heading = "Triggers"
    live_kinds = frozenset({"trigger", "occurrence", "work", "flow"})
    ACTIONS = (
        *STEERING,
        Action("new", ("a",), "new", "Write a new Trigger", "do", writes=True, foot=5),
        Action("write_flow", ("F",), "flow", "Write its Flow in $EDITOR, or a new Flow", "do", writes=True),
        Action("clone", ("c",), "clone", "Write a new Trigger that begins as a copy", "do", writes=True),
    )
    COLUMNS = (
        Column("name", "name", 16, grow=2, most=34, sort="name"),
        Column("state", "st", 2, sort="phase"),
        Column("schedule", "schedule", 16, drop=2, grow=3, most=48),
        Column("next", "next", 12, sort="next"),
        Column("in", "in", 6, drop=1, align="right"),
        Column("recent", "last", 10, drop=3, grow=1, most=20, sort="last", newest_right=True),
    )
    SORTS = ("next", "name", "last", "phase")
    EMPTY = "no Trigger yet: a writes the first one, F a Flow for it to run"
    BULK = True
    FILTER_HELP = "enabled  flow~import  tag:nightly  phase:degraded  words …"

    def __init__(self) -> None:
        super().__init__()
        self.view: TriggerView | None = None

    def detail(self) -> Widget:
        """Return the pane beside the table."""
        return LinesView(id="detail")

    # -- rows -----------------------------------------------------------------------------------------------------

    def fetch(self, deck: Deck, offset: int, limit: int) -> Page[TriggerRow]:
        """Return rows in the present filter and order."""
        from tui.present.trigger_filter import parse_filter

        query, _ = parse_filter(self.filter_text, sort=self.sort, descending=self.descending)  # type: ignore[arg-type]  # one of SORTS
        return deck.triggers(query, offset=offset, limit=limit)

    def sooner(self) -> Sooner[Page[TriggerRow]] | None:
        """Return the rows in sight as they can be read without the deck; a filter needs the deck."""
        if self.filter_text:
            return None
        sort, descending, limit = self.sort, self.descending, max(self.size.height, 1)

        def look(door: Door) -> Page[TriggerRow] | None:
            from core.views.triggers import TriggerQuery

            return door.first_triggers(TriggerQuery(sort=sort, descending=descending), limit)  # type: ignore[arg-type]  # one of SORTS

        return look

    def check_filter(self, text: str) -> str:
        """Return the first fault of a filter."""
        if not text:
            return self.checked(())
        from tui.present.trigger_filter import parse_filter

        return self.checked(parse_filter(text)[1])

    def row_key(self, row: TriggerRow) -> str:
        """Return `namespace/name`."""
        return f"{row.namespace}/{row.name}"

    def cells(self, row: TriggerRow) -> tuple[Line, ...]:
        """Return one line per column."""
        zone, now = self.zone_for(row.time_zone), self.now
        note = (Piece("⚠", "warn"),) if row.next_note else ()
        ink: Tone = "" if row.enabled else "dim"
        held = row.phase == "paused" and row.next_due_at is not None
        far: Tone = "dim" if row.next_due_at is None or (row.next_due_at - now).total_seconds() > 3600 else ""
        return (
            name_line(row), phase_mark(row.phase), line(Piece(clean(row.summary), ink)),
            line(Piece(near(row.next_due_at, now, zone), "dim" if held else ""), note),
            (Piece("paused", "dim"),) if held else line(Piece(until(row.next_due_at, now), far)),
            recent_bars(row.recent),
        )  # fmt: skip

    def targets(self) -> tuple[Target, ...]:
        """Return the marked Triggers, or the one under the cursor."""
        if self.table.marks:
            return tuple(map(_target, self.table.marked_rows()))
        return (_target(self.current),) if self.current is not None else ()

    # -- detail ---------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Show the detail once there is room for it."""
        super().on_resize()
        if self.view is None and self.current is not None:
            self._ask_view_soon()

    def on_row_table_cursor_moved(self, message: RowTable.CursorMoved[TriggerRow]) -> None:
        """Show another Trigger's detail, once the cursor rests."""
        if message.row is not None and (self.view is None or self.view.row.uid != message.row.uid):
            self._ask_view_soon()
        self.redraw_frame()

    def rows_came(self) -> None:
        """Show what the cursor stands on."""
        self._ask_view_soon()

    def _ask_view_soon(self) -> None:
        self.soon("detail", DETAIL_DELAY_S, self._ask_view)

    def _ask_view(self) -> None:
        row = self.current
        if row is not None and self.has_class("wide"):
            name, namespace = row.name, row.namespace
            self.ask(lambda deck: deck.trigger(name, namespace), self._show, failed=self._gone, group="triggers.detail")

    def _show(self, view: TriggerView) -> None:
        from tui.present.trigger_detail import detail_lines

        self.view = view
        pane, mine = self.query_one("#detail", LinesView), self.deck_app.mine
        pane.show(lambda cells: detail_lines(view, self.now, self.zone_for(view.row.time_zone), mine, cells))

    def _gone(self, refusal: TriggerdeckError) -> None:
        self.view = None
        self.query_one("#detail", LinesView).show([line(Piece(refusal.sentence(), "warn"))])

    def beat(self, now: datetime) -> None:  # noqa: ARG002  rows read the clock themselves
        """Count down."""
        self.table.tick()
        if self.view is not None and self.has_class("wide"):
            self.query_one("#detail", LinesView).again()

    def on_mount(self) -> None:
        """Say in the title whose zone the next times are in."""
        super().on_mount()
        self.zone_changed()

    def zone_changed(self) -> None:
        """Draw times in the new display zone."""
        title = "next (own)" if self.deck_app.zone_choice == "trigger" else "next"
        self.table.columns = tuple(
            replace(column, title=title) if column.key == "next" else column for column in self.COLUMNS
        )
        self.table.refresh()
        self.beat(self.now)

    def on_row_table_opened(self, message: RowTable.Opened[TriggerRow]) -> None:
        """Open the whole detail."""
        from tui.screens.trigger_screen import TriggerScreen

        self.app.push_screen(TriggerScreen(message.row.namespace, message.row.name))

    # -- actions --------------------------------------------------------------------------------------------------

    def do_new(self) -> None:
        """Write a new Trigger."""
        from tui.screens.editor import EditorScreen

        self.app.push_screen(EditorScreen())

    def do_clone(self) -> None:
        """Write a new Trigger from this one."""
        self._open_editor(clone=True)

    def do_write_flow(self) -> None:
        """Write the Flow of this Trigger in $EDITOR, or a new one where no Trigger is chosen."""
        row = self.current
        path, _, _ = row.flow.partition("@") if row is not None else ("", "", "")
        namespace, slash, name = path.rpartition("/")
        here = row.namespace if row is not None else self.deck_app.door.namespace
        self.flow_writer.write(name, namespace if slash else here)

    def unsaved(self) -> bool:
        """Tell whether a Flow's text was refused and waits to be mended."""
        return "flow_writer" in self.__dict__ and self.flow_writer.refused

    @cached_property
    def flow_writer(self) -> FlowWriter:
        """Return what writes Flows here; it keeps a text that was refused."""
        from tui.screens.flow_writing import FlowWriter

        return FlowWriter(self)

    # -- taking along ---------------------------------------------------------------------------------------------

    def copies(self) -> Iterable[tuple[str, str]]:
        """Offer the Trigger under the cursor, then the list."""
        from tui import copies

        if (row := self.current) is not None:
            yield from copies.of_trigger(row.namespace, row.name, row.uid)
        yield from super().copies()

    def headless(self) -> str:
        """Return the command that lists Triggers."""
        return "triggerdeck get trigger -o table"

    def export_table(self, rows: Sequence[TriggerRow]) -> ExportTable:
        """Return rows with whole instants instead of short ones."""
        told = [
            (row.namespace, row.name, row.phase, row.words, row.time_zone, row.flow, _iso(row.next_nominal_at),
             _iso(row.next_due_at), row.last_outcome)
            for row in rows
        ]  # fmt: skip
        return EXPORTED, told


def _target(row: TriggerRow) -> Target:
    return Target(row.namespace, row.name, row.enabled, row.phase)


def _iso(at: datetime | None) -> str:
    return at.isoformat().replace("+00:00", "Z") if at else ""
