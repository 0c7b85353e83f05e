"""Own one decision in full: every link of its chain, and the definition that it fired from."""

from __future__ import annotations

import json
from collections.abc import Iterable

from textual.app import ComposeResult

from core.errors import TriggerdeckError
from core.views import OccurrenceView
from tui import copies
from tui.actions import Action
from tui.navigation import Location
from tui.present import history
from tui.present.lines import Line, Piece, clean, line
from tui.screens.place import Exporter, Place
from tui.widgets.pane import Pane


class OccurrenceDetail(Place):
    """The chain of one occurrence."""

    place_id = "occurrences"
    heading = "Occurrences"
    live_kinds = frozenset({"occurrence", "work"})
    ACTIONS = (
        Action("open_work", ("o",), "work", "Go to the Work that came of it", "go", foot=20),
        Action("open_trigger", ("T",), "trigger", "Go to the Trigger", "go", foot=30),
    )

    def __init__(self, identity: str) -> None:
        super().__init__()
        self._identity = identity
        self._view: OccurrenceView | None = None

    def body(self) -> ComposeResult:
        """Yield the chain."""
        yield Pane(id="chain")

    def on_mount(self) -> None:
        """Give the keys to the chain."""
        pane = self.query_one(Pane)
        pane.say("reading …")
        pane.focus()

    def crumbs(self) -> tuple[str, ...]:
        """Return the way here."""
        row = self._view.row if self._view else None
        here = f"{row.trigger_name} {history.short_id(row.id)}" if row else history.short_id(self._identity)
        return (self.heading, here)

    def crumb_note(self) -> Line:
        """Return the outcome."""
        return line(history.outcome(self._view.row), " ") if self._view else ()

    def renew(self) -> None:
        """Read the chain again."""
        identity = self._identity
        self.ask(lambda deck: deck.occurrence(identity), self._got, failed=self._lost, group="occurrence")

    def _lost(self, refusal: TriggerdeckError) -> None:
        self.query_one(Pane).say(refusal.sentence(), "esc goes back")

    def _got(self, view: OccurrenceView) -> None:
        self._view = view
        self._draw()

    def zone_changed(self) -> None:
        """Draw times in the new zone."""
        self._draw()

    def _draw(self) -> None:
        view = self._view
        if view is None:
            return
        zone = self.zone_for(view.row.time_zone)
        self.query_one(Pane).show(lambda cells: (*history.why_lines(view, self.now, zone, cells), *_definition(view)))
        self.redraw_frame()

    def why_closed(self, action: Action) -> str:
        """Say why a key cannot work here."""
        if action.id == "open_work" and self._view is not None and self._view.row.work_id is None:
            return f"work: none came of it ({history.REASONS.get(self._view.row.reason, '')})"
        return f"{action.title}: still reading" if action in self.ACTIONS and self._view is None else ""

    def do_open_work(self) -> None:
        """Go to the work."""
        if self._view and self._view.row.work_id:
            self.deck_app.go(Location("work", self._view.row.work_id))

    def do_open_trigger(self) -> None:
        """Go to the trigger."""
        if self._view:
            row = self._view.row
            self.deck_app.go(Location("triggers", f"{row.namespace}/{row.trigger_name}"))

    def exporter(self) -> Exporter:
        """Return what writes the links of the chain."""
        identity = self._identity
        return lambda deck: (("link", "at", "state", "detail"), history.chain_table(deck.occurrence(identity)))

    def location(self) -> Location:
        """Return the link to this occurrence."""
        return Location("occurrences", history.short_id(self._identity))

    def headless(self) -> str:
        """Return the command that tells the same."""
        return f"triggerdeck why {history.short_id(self._identity)}"

    def copies(self) -> Iterable[tuple[str, str]]:
        """Offer the occurrence."""
        if self._view is None:
            return super().copies()
        return copies.of_occurrence(self._view.row, self._view.runbook)


def _definition(view: OccurrenceView) -> tuple[Line, ...]:
    text = json.dumps(view.definition, indent=2, ensure_ascii=False)
    head = line(Piece(f" definition it was decided by, generation {view.row.generation}", "head"))
    return ((), head, *((Piece(f" {clean(row)}", "dim"),) for row in text.splitlines()))
