"""Own the list of Work: what runs, what waits, what failed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from textual.widget import Widget

from core.views import Effect, Page, WorkQuery, WorkRow, WorkView
from tui import copies
from tui.actions import Action
from tui.navigation import Location
from tui.present import works
from tui.present.columns import Column
from tui.present.filters import work_query
from tui.present.history import short_id
from tui.present.lines import Line, Piece, line
from tui.present.times import past
from tui.screens import work_actions
from tui.screens.table_place import TablePlace
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from core.deck import Deck

GLANCE_DELAY_S = 0.06


class WorkPlace(TablePlace[WorkRow]):
    """Every Work, newest first."""

    place_id = "work"
    heading = "Work"
    live_kinds = frozenset({"work", "action"})
    ORDER = "newest first"
    EMPTY = "no work yet: it comes when a Trigger fires, or with r on one (1)"
    FILTER_HELP = "words of a trigger, or status:failed since:7d, or active"
    COLUMNS = (
        Column("status", "status", 11),
        Column("trigger", "trigger", 14, grow=2, most=34),
        Column("created", "created", 12, drop=2),
        Column("took", "took", 6, align="right"),
        Column("steps", "steps", 5, drop=3, align="right"),
        Column("what", "flow or error", 13, grow=3, most=60, drop=1),
        Column("id", "id", 8, drop=4),
    )
    ACTIONS = (
        Action("active_only", ("a",), "active only", "Show only Work that has not ended, or all", "view", foot=35),
        *work_actions.ACTIONS,
    )

    def __init__(self) -> None:
        super().__init__()
        self._view: WorkView | None = None

    def detail(self) -> Widget:
        """Return the pane with the Work at a glance."""
        return Pane(id="glance")

    def fetch(self, deck: Deck, offset: int, limit: int) -> Page[WorkRow]:
        """Return rows in the present filter."""
        return deck.works(self.asked(), offset=offset, limit=limit)

    def asked(self) -> WorkQuery:
        """Return the filter as core reads it."""
        return work_query(self.filter_text, self.now)[0]

    def check_filter(self, text: str) -> str:
        """Return the first fault of a filter."""
        return self.checked(work_query(text, self.now)[1])

    def row_key(self, row: WorkRow) -> str:
        """Return the Work's identity."""
        return row.id

    def cells(self, row: WorkRow) -> tuple[Line, ...]:
        """Return one line per column."""
        return (
            works.status(row, short=True),
            line(works.name(row)),
            line(past(row.created_at, self.now, self.zone_for(None))),
            works.took(row, self.now),
            works.steps_figure(row),
            works.what(row),
            (Piece(short_id(row.id), "dim"),),
        )

    def beat(self, now: datetime) -> None:  # noqa: ARG002  lengths ask for the time themselves
        """Let the lengths of running Work grow."""
        if any(row.ended_at is None for row in self.table.loaded()):
            self.table.refresh()
            self._draw_glance()

    def rows_came(self) -> None:
        """Show the Work under the cursor."""
        self.on_row_table_cursor_moved()

    def on_row_table_cursor_moved(self) -> None:
        """Fetch the Work under the cursor."""
        row = self.current
        if row is None:
            self._view = None
            self.query_one("#glance", Pane).show(())
        else:
            self.soon("glance", GLANCE_DELAY_S, self._ask_work)
        self.redraw_frame()

    def _ask_work(self) -> None:
        if row := self.current:
            self.ask(lambda deck: deck.work(row.id), self._got_work, group="work.glance")

    def _got_work(self, view: WorkView) -> None:
        self._view = view
        self._draw_glance()

    def _draw_glance(self) -> None:
        view = self._view
        if view is not None:
            zone = self.zone_for(None)
            self.query_one("#glance", Pane).show(lambda cells: works.glance(view, self.now, zone, cells))

    def on_row_table_opened(self) -> None:
        """Open the run."""
        if row := self.current:
            self._open(row.id)

    def _open(self, identity: str) -> None:
        from tui.screens.run import RunDetail

        self.app.push_screen(RunDetail(identity))

    def arrive(self, location: Location) -> None:
        """Take the link's filter and open the run of its key."""
        super().arrive(location)
        if location.key:
            self._open(location.key)

    def why_closed(self, action: Action) -> str:
        """Say why a key cannot work on this row."""
        if action.id in {"sort", "sort_reverse"}:
            return "Work has one order: the newest first"
        return work_actions.why_closed(action, self.current)

    def do_active_only(self) -> None:
        """Show what has not ended, or everything."""
        self.set_filter("" if self.filter_text == "active" else "active")

    def do_cancel(self) -> None:
        """Ask whether to cancel the Work under the cursor."""
        if row := self.current:
            work_actions.cancel(self, row, self._done)

    def do_retry(self) -> None:
        """Run the Work under the cursor once more."""
        if row := self.current:
            work_actions.retry(self, row, self._done)

    def _done(self, effect: Effect) -> None:
        self.flash(effect.message, "ok")
        self.renew()

    def do_open_trigger(self) -> None:
        """Go to the trigger."""
        if row := self.current:
            self.deck_app.go(Location("triggers", f"{row.namespace}/{row.trigger_name}"))

    def do_open_occurrence(self) -> None:
        """Go to the decision that made it."""
        if row := self.current:
            self.deck_app.go(Location("occurrences", row.occurrence_id))

    def do_open_inbox(self) -> None:
        """Go to the question that it waits for."""
        if row := self.current:
            work_actions.open_question(self, row.id)

    def headless(self) -> str:
        """Return the command that lists the same."""
        query = self.asked()
        since = f"{query.since:%Y-%m-%dT%H:%M:%SZ}" if query.since else ""
        pairs = (("trigger", query.trigger), ("status", query.status), ("since", since))
        active = " --active" if query.active else ""
        return "triggerdeck work" + "".join(f" --{name} {value}" for name, value in pairs if value) + active

    def copies(self) -> Iterable[tuple[str, str]]:
        """Offer the Work under the cursor, then the list."""
        if row := self.current:
            seen = self._view is not None and self._view.row.id == row.id
            yield from copies.of_work(row, self._view.runbook if self._view and seen else None)
        yield from super().copies()
