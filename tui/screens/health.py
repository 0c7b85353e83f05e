"""Own the health of the machinery, and the keys that start and stop the worker."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from core.errors import TriggerdeckError
from core.views import Health
from tui.actions import Action
from tui.gateway import start_worker, stop_worker
from tui.present import health as present
from tui.present.lines import Line
from tui.screens.place import Exporter, Place
from tui.widgets.dialog import Confirm
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from core.deck import Deck

EVERY_S = 5
ALIVE = frozenset({"running", "draining"})


class HealthPlace(Place):
    """Worker, lags, projection, queue, database, zone data, errors."""

    place_id = "health"
    heading = "Health"
    live_kinds = frozenset({"worker", "trigger", "work", "action"})
    ACTIONS = (
        Action("start_worker", ("S",), "start worker", "Start a background worker; it outlives the deck", "do",
               writes=True, foot=10),
        Action("stop_worker", ("X",), "stop worker", "Let the worker end its running steps and stop", "do",
               writes=True, danger=True, foot=12),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._health: Health | None = None
        self._beats = 0

    def body(self) -> ComposeResult:
        """Yield the lines."""
        yield Pane(id="health")

    def on_mount(self) -> None:
        """Give the keys to the lines."""
        pane = self.query_one(Pane)
        pane.say("reading …")
        pane.focus()

    def renew(self) -> None:
        """Ask again."""
        self.ask(lambda deck: deck.health(), self._got, failed=self._lost, group="health")

    def _lost(self, refusal: TriggerdeckError) -> None:
        if self._health is None:
            self.query_one(Pane).say(refusal.sentence())
        else:
            self.flash(refusal.sentence(), "bad")

    def _got(self, health: Health) -> None:
        self._health = health
        self._draw()
        self.redraw_frame()

    def _draw(self) -> None:
        health = self._health
        if health is not None:
            self.query_one(Pane).show(lambda cells: self._lines(health, cells))

    def _lines(self, health: Health, cells: int) -> tuple[Line, ...]:
        zone, room = self.zone_for(None), self.query_one(Pane).size.height
        airy = present.health_lines(health, self.now, zone, cells, tall=True)
        return airy if len(airy) <= room else present.health_lines(health, self.now, zone, cells, tall=False)

    def beat(self, now: datetime) -> None:  # noqa: ARG002  ages ask for the time themselves
        """Let ages grow; ask again now and then, since heartbeats are no changes."""
        self._beats += 1
        if self._beats % EVERY_S == 0 or self._outrun:
            self.renew()
        else:
            self._draw()

    def zone_changed(self) -> None:
        """Draw times in the new zone."""
        self._draw()

    # -- actions --------------------------------------------------------------------------------------------------

    @property
    def runs(self) -> bool:
        """Tell whether a worker runs, by what the frame's first line says."""
        status = self.deck_app.status
        return status is not None and status.worker in ALIVE

    @property
    def _outrun(self) -> bool:
        """Tell whether the first line knows better by now whether a worker runs than what is shown."""
        shown = any(worker.state in ALIVE for worker in self._health.workers) if self._health else False
        return self._health is not None and self.deck_app.status is not None and shown != self.runs

    def why_closed(self, action: Action) -> str:
        """Say why a key cannot work now."""
        if action.id == "start_worker" and self.runs:
            return "start worker: one runs already"
        if action.id == "stop_worker" and self._health is not None and not self.runs:
            return "stop worker: none runs"
        return ""

    def do_start_worker(self) -> None:
        """Start a worker."""
        self.ask(_start, self._told, group="health.worker")

    def do_stop_worker(self) -> None:
        """Ask once, then stop the worker."""
        effects = (
            "Running steps end first, then the worker stops.",
            "Nothing fires until one is started again.",
            "What is missed until then is decided by each Trigger's misfire policy.",
        )
        self.app.push_screen(Confirm("Stop the worker?", effects, do="stop it", danger=True), self._stop)

    def _stop(self, yes: bool | None) -> None:
        if yes:
            self.ask(stop_worker, self._told, group="health.worker")

    def _told(self, sentence: str) -> None:
        self.flash(sentence, "ok")
        self.renew()

    def headless(self) -> str:
        """Return the command that shows the same."""
        return "triggerdeck doctor"

    def exporter(self) -> Exporter:
        """Return what writes every fact of the machinery as name and value."""
        return lambda deck: (("fact", "value"), list(present.facts(deck.health())))


def _start(deck: Deck) -> str:
    return start_worker(deck) or "a worker runs already"
