"""Own the app: six modes with a stack each, the theme, the frame's facts, and the actions that work everywhere."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.binding import Binding
from textual.screen import Screen

from tui.attention import Attention
from tui.config import Config, load, save
from tui.gateway import Door, Gateway, Refused, StorageLost, start_worker
from tui.live import Beat, Changed, Live, StatusSeen
from tui.navigation import BY_MODE, PLACES, History, Location
from tui.present.lines import Tone
from tui.present.status import FrameFacts
from tui.present.times import my_zone
from tui.screens.place import Place
from tui.screens.table_place import TablePlace
from tui.theme import themes

if TYPE_CHECKING:
    from core.views import Applied, Status
    from tui.common_actions import CommonActions
    from tui.undo import Undo


class DeckApp(App[None]):
    """The deck in a terminal. It paints first; the core is imported and opened in a thread after that."""

    TITLE = "Triggerdeck"
    CSS_PATH = Path(__file__).with_name("tui.tcss")
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Any]] = [Binding("ctrl+c", "quit_or_copy", show=False, priority=True)]
    MODES: ClassVar[dict[str, Any]] = {}
    DEFAULT_MODE = "triggers"

    def __init__(
        self,
        door: Door,
        *,
        gateway: Gateway | None = None,
        live: bool = True,
        config_file: Path | None = None,
        worker_kept: bool = True,
    ) -> None:
        super().__init__()
        self.worker_kept = worker_kept
        self._config_file = config_file
        self.config = load(config_file) if config_file is not None else Config()
        self.door = door
        self.clock = door.clock
        self.gateway = gateway or Gateway(door.open, door)
        self.live = Live(self, self.gateway, self.clock)
        self._lives = live
        self.history = History()
        self.status: Status | None = None
        self.attention = Attention(self)
        self.mine = my_zone()
        self.zone_choice = self.config.zone
        self.read_only_by_hand = False
        for theme in themes():
            self.register_theme(theme)
        self.set_reactive(DeckApp.theme, self.config.theme)
        self.stylesheet.set_variables(self.get_css_variables())
        self._modes = {place.mode: partial(self._make_place, place.mode) for place in PLACES}

    @cached_property
    def common(self) -> CommonActions:
        """Return what does the common actions; imported at the first one."""
        from tui.common_actions import CommonActions

        return CommonActions(self)

    # -- life -----------------------------------------------------------------------------------------------------

    def _make_place(self, mode: str) -> Screen[Any]:
        place = BY_MODE[mode].load()()
        if isinstance(place, TablePlace) and mode in self.config.places:
            place.remember(self.config.places[mode])
        return place

    def on_mount(self) -> None:
        """Open the deck once the first frame is on the terminal."""
        self.history.visit(Location(self.DEFAULT_MODE))
        self.call_after_refresh(self._begin)

    def on_unmount(self) -> None:
        """Let go of what still waits: leaving never waits for the database."""
        self.gateway.abandon()

    def _begin(self) -> None:
        self.gateway.start(self)
        self.attention.begin()
        if self._lives:
            self.live.start()
        if self.door.start_worker and not self.door.read_only:
            self.gateway.ask(self, start_worker, self._worker_started, group="worker.start")
        for fault in self.config.faults:
            self.flash(fault, "warn")

    def _worker_started(self, sentence: str) -> None:
        if sentence:
            self.flash(sentence, "ok")

    def keep_config(self) -> str:
        """Write what is remembered; return what went wrong."""
        if self._config_file is None:
            return ""
        tables = {place.place_id: place for place in self.places() if isinstance(place, TablePlace)}
        kept = {name: place.kept_config() for name, place in tables.items()}
        return save(self._config_file, Config(self.theme, self.zone_choice, dict(self.config.places) | kept))

    def on_beat(self, message: Beat) -> None:
        """Let the screen in sight have its second."""
        self._tell(message)
        if isinstance(self.screen, Place):
            self.screen.redraw_frame()

    def on_status_seen(self, message: StatusSeen) -> None:
        """Keep the status for the frame's first line."""
        self.status = message.status
        self.attention.seen(message.status)
        for place in self.places():
            if place.is_current:
                place.redraw_frame()

    def on_changed(self, message: Changed) -> None:
        """Tell every place; the hidden ones renew when they are seen again."""
        for place in self.places():
            place.on_changed(message)

    def _tell(self, message: Beat) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, Place) and screen.is_mounted:
                screen.second(message.now)

    def places(self) -> list[Place]:
        """Return every place that exists, in all modes."""
        stacks = self._screen_stacks.values()
        return [screen for stack in stacks for screen in stack if isinstance(screen, Place) and screen.is_mounted]

    def on_refused(self, message: Refused) -> None:
        """Say what the deck refused."""
        self.flash(message.refusal.sentence(), "bad")

    def on_storage_lost(self, message: StorageLost) -> None:
        """Leave with one sentence: there is nothing to show without a database."""
        self.exit(return_code=6, message=message.refusal.sentence())

    # -- the frame ------------------------------------------------------------------------------------------------

    def frame_facts(self) -> FrameFacts:
        """Return what the first line shows."""
        places = tuple((place.number, place.title) for place in PLACES)
        zone = self.mine if self.zone_choice in {"trigger", "mine"} else self.zone_choice
        here = BY_MODE[self.current_mode].number if self.current_mode in BY_MODE else 0
        return FrameFacts(self.status, self.clock.now(), zone, places, here, bool(self.locked))

    @property
    def undoable(self) -> bool:
        """Tell whether a change can be taken back."""
        return "common" in self.__dict__ and self.common.undo is not None

    @property
    def leaving(self) -> str:
        """Return what leaving the deck means, in a sentence without an end."""
        if self.status is None or self.status.worker not in {"running", "draining"}:
            return "Leave the deck; no worker runs"
        return "Leave the deck; the worker goes on" if self.worker_kept else "Leave the deck; the worker ends with it"

    @property
    def locked(self) -> str:
        """Return why nothing may be changed; empty where it may."""
        if self.door.read_only:
            return "closed, the deck was opened read-only"
        if self.read_only_by_hand:
            return "closed, read-only mode is on; ctrl+l opens it"
        return ""

    def display_zone_for(self, trigger_zone: str | None) -> str:
        """Return the zone for times of a Trigger under the chosen display zone."""
        if self.zone_choice == "trigger":
            return trigger_zone or self.mine
        return self.mine if self.zone_choice == "mine" else self.zone_choice

    def flash(self, text: str, tone: Tone = "") -> None:
        """Say a sentence on the screen in sight."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, Place) and screen.is_mounted:
                screen.flash(text, tone)
                return

    # -- going ----------------------------------------------------------------------------------------------------

    def go(self, location: Location, *, remember: bool = True) -> None:
        """Go to a place and show there what the location names."""
        if remember:
            self.history.visit(location)
        self.switch_mode(location.place)
        if location.key or location.filter is not None:
            self.call_after_refresh(self._arrive, location)

    def _arrive(self, location: Location) -> None:
        base = self.screen_stack[0]
        if isinstance(base, Place):
            base.arrive(location)

    # -- changes --------------------------------------------------------------------------------------------------

    def offer_undo(self, undo: Undo) -> None:
        """Keep how to take the last change back; `u` does it."""
        self.common.undo = undo

    def saved(self, applied: Applied, told: str) -> None:
        """Say that something was saved, and stand on it in the list."""
        place = self.screen_stack[0]
        if isinstance(place, Place):
            place.arrive(Location(place.place_id, f"{applied.namespace}/{applied.name}"))
            place.renew()
        self.call_after_refresh(self.flash, told, "ok")

    async def action_quit(self) -> None:
        """Leave as `q` does: Textual's own ctrl+q would ask nobody and keep nothing."""
        self.common.do_quit()

    def action_quit_or_copy(self) -> None:
        """Copy what is selected, or say how to leave."""
        selected = self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
        else:
            self.flash("q leaves the deck", "warn")
