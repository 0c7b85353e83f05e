"""Own the history: what was decided, when, and why; what was missed stands as counted ranges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical

from core.views import OccurrenceQuery, OccurrenceRow, OccurrenceView, Page, WhyNot
from tui import copies
from tui.actions import Action
from tui.navigation import Location
from tui.present import history
from tui.present.columns import Column
from tui.present.filters import instant, occurrence_query
from tui.present.lines import Line, Piece, clean, line
from tui.present.times import full, localised, short_zone
from tui.screens.panes import Panes
from tui.screens.table_place import TablePlace
from tui.widgets.dialog import Blank, Sheet, ShortForm
from tui.widgets.pane import Pane
from tui.widgets.row_table import RowTable

if TYPE_CHECKING:
    from core.deck import Deck

TALL = 30
WHY_DELAY_S = 0.06


class OccurrencesPlace(TablePlace[OccurrenceRow]):
    """Every decision, newest first."""

    CSS_PATH = "occurrences.tcss"
    place_id = "occurrences"
    heading = "Occurrences"
    live_kinds = frozenset({"occurrence", "work"})
    ORDER = "newest first"
    EMPTY = "nothing was decided yet: the first row comes when a Trigger is due (1)"
    FILTER_HELP = "words of a trigger, or state:skipped since:30d until:2026-03-01 reason:missed kind:manual"
    COLUMNS = (
        Column("nominal", "nominal", 22, grow=1, most=32),
        Column("lag", "lag", 6, drop=3, align="right"),
        Column("trigger", "trigger", 14, grow=1, most=30),
        Column("kind", "kind", 6, drop=4),
        Column("outcome", "outcome", 9),
        Column("reason", "reason", 18, grow=3, most=80),
        Column("work", "work", 10, drop=2),
    )
    ACTIONS = (
        Action("follow", ("f",), "follow", "Stay at the newest decision as they come", "view", foot=20),
        Action("why_not", ("W",), "why not", "Ask why there is no row at an instant", "do", foot=15),
        Action("open_work", ("o",), "work", "Go to the Work that came of it", "go", foot=30),
        Action("open_trigger", ("T",), "trigger", "Go to the Trigger", "go", foot=40),
        Action("only_trigger", ("t",), "only this", "Show only this Trigger's history", "view"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.following = False
        self._view: OccurrenceView | None = None

    def panes(self) -> Panes | None:
        """Return the chain and the table above it."""
        why = self.query_one("#why", Pane)
        return Panes(why, self.table, "height") if why.display else None

    # -- rows -----------------------------------------------------------------------------------------------------

    def body(self) -> ComposeResult:
        """Yield the table above the chain of the row under the cursor."""
        with Vertical(id="body"):
            yield RowTable[OccurrenceRow](self.COLUMNS, self.cells, self.row_key, id="rows", empty=self.EMPTY)
            yield Pane(id="why", ground="raised")

    def fetch(self, deck: Deck, offset: int, limit: int) -> Page[OccurrenceRow]:
        """Return rows in the present filter."""
        return deck.occurrences(self.asked(), offset=offset, limit=limit)

    def asked(self) -> OccurrenceQuery:
        """Return the filter as core reads it."""
        return occurrence_query(self.filter_text, self.now)[0]

    def check_filter(self, text: str) -> str:
        """Return the first fault of a filter."""
        return self.checked(occurrence_query(text, self.now)[1])

    def row_key(self, row: OccurrenceRow) -> str:
        """Return the occurrence's identity."""
        return row.id

    def cells(self, row: OccurrenceRow) -> tuple[Line, ...]:
        """Return one line per column."""
        return (
            history.nominal(row, self.now, self.zone_for(None)),
            history.lag(row),
            line(clean(row.trigger_name)),
            (Piece(history.KINDS[row.kind], "dim"),),
            history.outcome(row),
            line(history.reason_words(row)),
            history.work_cell(row),
        )

    def rows_came(self) -> None:
        """Stay at the newest while following, and tell why the row under the cursor is as it is."""
        if self.following:
            self.table.move(0)
        self._tell_why()

    def crumb_note(self) -> Line:
        """Say that the view follows."""
        return (Piece("following ", "ok"),) if self.following else ()

    # -- why ------------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Name the display zone in the title."""
        super().on_mount()
        self.zone_changed()

    def zone_changed(self) -> None:
        """Draw times in the new zone."""
        name = short_zone(self.zone_for(None))
        self.table.columns = (replace(self.COLUMNS[0], title=f"nominal ({name})"), *self.COLUMNS[1:])
        self.table.refresh()
        self._tell_why()

    def on_resize(self) -> None:
        """Give the chain more room on a tall screen."""
        super().on_resize()
        self.set_class(self.size.height >= TALL, "tall")

    def on_row_table_cursor_moved(self) -> None:
        """Fetch the chain of the row under the cursor."""
        if self.following and self.table.cursor:
            self.following = False
            self.redraw_frame()
        self._tell_why()

    def _tell_why(self) -> None:
        row = self.current
        pane = self.query_one("#why", Pane)
        if row is None:
            pane.show(())
            return
        self.soon("why", WHY_DELAY_S, self._ask_why)

    def _ask_why(self) -> None:
        if row := self.current:
            self.ask(lambda deck: deck.occurrence(row.id), self._got_why, group="occurrences.why")

    def _got_why(self, view: OccurrenceView) -> None:
        self._view = view
        zone = self.zone_for(view.row.time_zone)
        tall = self.has_class("tall")
        self.query_one("#why", Pane).show(
            lambda cells: (
                history.why_lines(view, self.now, zone, cells)
                if tall
                else (
                    *history.indented(history.sentence(view, zone), cells, "strong")[:2],
                    *history.chain_words(view, zone, cells),
                )
            )
        )

    def on_row_table_opened(self) -> None:
        """Open the whole chain."""
        if row := self.current:
            self._open(row.id)

    def _open(self, identity: str) -> None:
        from tui.screens.occurrence_detail import OccurrenceDetail

        self.app.push_screen(OccurrenceDetail(identity))

    def arrive(self, location: Location) -> None:
        """Take the link's filter and open the chain of its key."""
        super().arrive(location)
        if location.key:
            self._open(location.key)

    # -- actions --------------------------------------------------------------------------------------------------

    def why_closed(self, action: Action) -> str:
        """Say why a key cannot work on this row."""
        row = self.current
        if action.id in {"sort", "sort_reverse"}:
            return "the history has one order: the newest first"
        if action.id in {"open_work", "open_trigger", "only_trigger"} and row is None:
            return f"{action.title}: no row is under the cursor"
        if action.id == "open_work" and row is not None and row.work_id is None:
            return f"work: none came of it ({history.REASONS.get(row.reason, row.reason)})"
        return ""

    def do_follow(self) -> None:
        """Stay at the newest row, or stop that."""
        self.following = not self.following
        if self.following:
            self.table.move(0)
        self.flash("following the newest" if self.following else "not following")
        self.redraw_frame()

    def do_open_work(self) -> None:
        """Go to the work."""
        if (row := self.current) and row.work_id:
            self.deck_app.go(Location("work", row.work_id))

    def do_open_trigger(self) -> None:
        """Go to the trigger."""
        if row := self.current:
            self.deck_app.go(Location("triggers", f"{row.namespace}/{row.trigger_name}"))

    def do_only_trigger(self) -> None:
        """Narrow to this trigger."""
        if row := self.current:
            self.set_filter(f"trigger:{row.trigger_name}")

    def do_why_not(self) -> None:
        """Ask for a trigger and an instant."""
        row = self.current
        zone = self.zone_for(row.time_zone if row else None)
        blanks = (
            Blank("name", "Trigger", row.trigger_name if row else "", check=lambda text: "" if text else "name one"),
            Blank("at", f"Instant (in {zone})", "", "02:30 · 2026-03-28 02:30 · 2026-03-28T01:30Z",
                  lambda text: "" if instant(text, self.now, zone) else "write 02:30, 2026-03-28 02:30 or an instant"),
        )  # fmt: skip
        self.app.push_screen(
            ShortForm("Why did it not fire?", blanks, do="ask"), lambda typed: self._why_not(typed, zone)
        )

    def _why_not(self, typed: dict[str, str] | None, zone: str) -> None:
        at = instant(typed["at"], self.now, zone) if typed else None
        if typed is not None and at is not None:
            self.ask(lambda deck: deck.why_not(typed["name"], at), lambda answer: self._tell_why_not(answer, zone))

    def _tell_why_not(self, answer: WhyNot, zone: str) -> None:
        if answer.occurrence is not None:
            self._open(answer.occurrence.id)
            return
        title = f"{answer.trigger_name}, {full(answer.at, zone)}"
        self.app.push_screen(Sheet(title, lambda cells: _why_not_lines(answer, zone, cells)))

    def headless(self) -> str:
        """Return the command that lists the same."""
        query = self.asked()
        parts = [
            f" --{name} {_shell(value)}"
            for name, value in (
                ("trigger", query.trigger),
                ("outcome", query.outcome),
                ("reason", query.reason),
                ("since", query.since),
                ("until", query.until),
            )
            if value
        ]
        return "triggerdeck occurrences" + "".join(parts)

    def copies(self) -> Iterable[tuple[str, str]]:
        """Offer the occurrence under the cursor, then the list."""
        if row := self.current:
            seen = self._view is not None and self._view.row.id == row.id
            yield from copies.of_occurrence(row, self._view.runbook if self._view and seen else None)
        yield from super().copies()


def _why_not_lines(answer: WhyNot, zone: str, cells: int) -> tuple[Line, ...]:
    return (
        (),
        *history.indented(_sentence(localised(answer.sentence, zone)), cells, "strong"),
        (),
        line(Piece(" before   ", "dim"), full(answer.previous_nominal, zone)),
        line(Piece(" after    ", "dim"), full(answer.next_nominal, zone)),
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _shell(value: object) -> str:
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(value, datetime) else str(value)
