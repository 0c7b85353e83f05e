"""Own the whole detail of one Trigger as a screen, for terminals too narrow for the pane and for a closer look."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from textual.app import ComposeResult

from core.errors import TriggerdeckError
from core.views import TriggerView
from tui import copies
from tui.actions import SCROLL
from tui.navigation import Location
from tui.present.fires import FIRE_TITLES, fire_table
from tui.present.lines import Piece, line
from tui.present.trigger_detail import detail_lines
from tui.screens.place import Exporter
from tui.screens.trigger_steering import STEERING, Steering, Target
from tui.widgets.lines_view import LinesView


class TriggerScreen(Steering):
    """One Trigger: rule, countdown, notes, next fires, active Work, history."""

    CSS_PATH = "trigger_screen.tcss"
    place_id = "triggers"
    heading = "Trigger"
    live_kinds = frozenset({"trigger", "occurrence", "work", "flow"})
    ACTIONS = (*STEERING, *SCROLL)

    def __init__(self, namespace: str, name: str) -> None:
        super().__init__()
        self._namespace, self._trigger = namespace, name
        self.view: TriggerView | None = None

    def body(self) -> ComposeResult:
        """Yield the lines."""
        yield LinesView(id="detail")

    def crumbs(self) -> tuple[str, ...]:
        """Return where this is."""
        return ("Triggers", self._trigger)

    def targets(self) -> tuple[Target, ...]:
        """Return this Trigger."""
        if self.view is None:
            return ()
        return (Target(self._namespace, self._trigger, self.view.row.enabled, self.view.phase),)

    def renew(self) -> None:
        """Ask for it again."""
        name, namespace = self._trigger, self._namespace
        self.ask(lambda deck: deck.trigger(name, namespace), self._show, failed=self._gone, group="trigger")

    def _show(self, view: TriggerView) -> None:
        self.view = view
        self.query_one(LinesView).show(
            lambda cells: detail_lines(view, self.now, self.zone_for(view.row.time_zone), self.deck_app.mine, cells)
        )
        self.redraw_frame()

    def _gone(self, refusal: TriggerdeckError) -> None:
        self.view = None
        self.query_one(LinesView).show([line(Piece(refusal.sentence(), "warn"))])

    def beat(self, now: datetime) -> None:  # noqa: ARG002  the lines read the clock themselves
        """Count down."""
        self.query_one(LinesView).again()

    def zone_changed(self) -> None:
        """Draw times in the new display zone."""
        self.query_one(LinesView).again()

    def exporter(self) -> Exporter:
        """Return what writes its coming fires."""
        name, namespace = self._trigger, self._namespace
        return lambda deck: (FIRE_TITLES, fire_table(deck.preview_trigger(name, count=100, namespace=namespace)))

    def location(self) -> Location:
        """Return the link to this Trigger."""
        return Location("triggers", f"{self._namespace}/{self._trigger}")

    def copies(self) -> Iterable[tuple[str, str]]:
        """Offer this Trigger."""
        if self.view is None:
            return super().copies()
        return copies.of_trigger(self._namespace, self._trigger, self.view.row.uid)

    def headless(self) -> str:
        """Return the command that shows the same."""
        return f"triggerdeck describe trigger {self._trigger} --namespace {self._namespace}"
