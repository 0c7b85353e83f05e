"""Own what every screen has: the frame around it, its actions, its questions to the deck, its life on changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual.app import ComposeResult
from textual.screen import Screen
from textual.timer import Timer

from core.errors import TriggerdeckError
from tui.actions import COMMON, Action, settled
from tui.frame import Crumb, Flash, Footer, StatusBar
from tui.gateway import Refused
from tui.live import Changed
from tui.navigation import Location
from tui.present.lines import Line, Tone
from tui.present.times import localised
from tui.widgets.lines_view import LinesView

if TYPE_CHECKING:
    from core.deck import Deck
    from core.views import Changes
    from tui.app import DeckApp
    from tui.gateway import Sooner
    from tui.screens.panes import Panes

Answer = TypeVar("Answer")
WIDE = 100
PATIENCE_S = 3
NO_ANSWER = "the database does not answer yet; another program may hold it"
ExportTable = tuple[tuple[str, ...], list[tuple[Any, ...]]]
"""Titles and rows of a table that goes into a file."""
Exporter = Callable[["Deck"], ExportTable]


class Place(Screen[Any]):
    """A screen of the deck inside the frame of four lines."""

    place_id: ClassVar[str] = ""
    heading: ClassVar[str] = ""
    ACTIONS: ClassVar[tuple[Action, ...]] = ()
    live_kinds: ClassVar[frozenset[str]] = frozenset()
    closed: frozenset[str] = frozenset()
    pane_share = 0
    """The percent that the second pane takes, 0 where nobody chose it."""
    _stale = True

    def __init__(self) -> None:
        super().__init__()
        self._delays: dict[str, Timer] = {}
        self._unanswered: dict[str, int] = {}
        """The questions under way, each with the seconds that it has waited."""
        self._numbers = count()

    def __init_subclass__(cls, **options: Any) -> None:
        cls.BINDINGS = [binding for action in cls.all_actions() for binding in action.bindings()]
        super().__init_subclass__(**options)

    @classmethod
    @cache
    def all_actions(cls) -> tuple[Action, ...]:
        """Return what keys do here: the common actions, then the place's own."""
        return settled(COMMON + cls.ACTIONS)

    # -- the frame ------------------------------------------------------------------------------------------------

    @property
    def typing(self) -> bool:
        """Tell whether text fields hold the keys here, so that the footer names only keys that work in them."""
        return False

    def compose(self) -> ComposeResult:
        """Put the frame around the body."""
        yield StatusBar()
        yield Crumb()
        yield from self.body()
        yield Flash()
        yield Footer()

    def body(self) -> ComposeResult:
        """Yield the place's own widgets."""
        raise NotImplementedError

    def crumbs(self) -> tuple[str, ...]:
        """Return the breadcrumb, the innermost last."""
        return (self.heading,)

    def crumb_filter(self) -> Line:
        """Return what narrows the place, for the second line."""
        return ()

    def crumb_note(self) -> Line:
        """Return the place's note at the right end of the second line."""
        return ()

    def redraw_frame(self) -> None:
        """Draw the frame's lines again; closed actions are asked for anew."""
        if self.is_mounted:
            self.closed = frozenset(action.id for action in self.all_actions() if self.reason_closed(action))
            for bar in (StatusBar, Crumb, Footer):
                self.query_one(bar).renew()

    def flash(self, text: str, tone: Tone = "") -> None:
        """Say a sentence above the footer, its instants in the display zone."""
        self.query_one(Flash).say(localised(text, self.zone_for(None)), tone)

    @property
    def deck_app(self) -> DeckApp:
        """Return the app as what it is."""
        return cast("DeckApp", self.app)

    @property
    def now(self) -> datetime:
        """Return the core clock's time."""
        return self.deck_app.clock.now()

    def zone_for(self, trigger_zone: str | None) -> str:
        """Return the zone in which a Trigger's times are shown."""
        return self.deck_app.display_zone_for(trigger_zone)

    # -- questions ------------------------------------------------------------------------------------------------

    def ask(
        self,
        call: Callable[[Deck], Answer],
        then: Callable[[Answer], None],
        *,
        failed: Callable[[TriggerdeckError], None] | None = None,
        group: str = "ask",
        exclusive: bool = True,
        sooner: Sooner[Answer] | None = None,
    ) -> None:
        """Ask the deck in a thread; `then` gets the answer on this screen, after one that `sooner` may give."""
        gateway = self.deck_app.gateway
        key = group if exclusive else f"{group} {next(self._numbers)}"
        self._unanswered[key] = 0

        def answered(answer: Answer) -> None:
            self._waits_no_more(key)
            then(answer)

        def refused(refusal: TriggerdeckError) -> None:
            self._waits_no_more(key)
            if failed is not None:
                failed(refusal)
            else:
                self.app.post_message(Refused(refusal))

        gateway.ask(self, call, answered, failed=refused, group=group, exclusive=exclusive, sooner=sooner)

    def _waits_no_more(self, key: str) -> None:
        self._unanswered.pop(key, None)
        if self.query_one(Flash).text.endswith(NO_ANSWER):
            self.flash("")

    def _tell_waiting(self) -> None:
        """Say that an answer takes long, once for each question."""
        for key, seconds in self._unanswered.items():
            self._unanswered[key] = seconds + 1
        if PATIENCE_S in self._unanswered.values():
            self.flash(NO_ANSWER, "warn")

    def soon(self, name: str, delay_s: float, call: Callable[[], None]) -> None:
        """Call once things have been quiet for `delay_s`; a newer call of the same name takes the older one's place."""
        if name in self._delays:
            self._delays[name].stop()
        self._delays[name] = self.set_timer(delay_s, partial(self._now_do, name, call))

    def _now_do(self, name: str, call: Callable[[], None]) -> None:
        self._delays.pop(name, None)
        call()

    @property
    def waits(self) -> bool:
        """Tell whether something is to be done soon."""
        return bool(self._delays)

    # -- actions --------------------------------------------------------------------------------------------------

    def action_do(self, action_id: str) -> None:
        """Do an action of this place or of the app, or say why it is closed."""
        action = next((action for action in self.all_actions() if action.id == action_id), None)
        if action is None:
            return
        if reason := self.reason_closed(action):
            self.flash(reason, "warn")
            return
        doer = getattr(self, f"do_{action_id}", None) or self.deck_app.common.doer(action_id)
        if doer is not None:
            doer()

    def offered(self) -> tuple[Action, ...]:
        """Return the actions as footer, help and palette tell them here and now."""
        return tuple(self.worded(action) for action in self.all_actions())

    def worded(self, action: Action) -> Action:
        """Return an action in the words that fit what is shown; `foot` 0 leaves it out of the footer."""
        if action.id == "quit":
            return replace(action, help=self.deck_app.leaving)
        if action.id == "undo" and not self.deck_app.undoable:
            return replace(action, foot=0)
        if action.id == "down_up" and self in self.app.screen_stack[1:]:
            return replace(action, title="back", foot=3)
        return action

    def run_widget_action(self, action: Action) -> None:
        """Do an action that a widget binds, as its key would."""
        if self.focused is not None:
            self.call_later(self.focused.run_action, f"table('{action.id}')")

    def reason_closed(self, action: Action) -> str:
        """Return why an action cannot work now; empty where it can."""
        if action.writes and self.deck_app.locked:
            return f"{action.title}: {self.deck_app.locked}"
        if action.id == "undo" and not self.deck_app.undoable:
            return "undo: there is nothing to undo"
        if action.id in {"wide", "larger", "smaller"} and self.panes() is None:
            return f"{action.title}: nothing stands beside what is shown"
        return self.why_closed(action)

    def why_closed(self, action: Action) -> str:  # noqa: ARG002  places answer for their own actions
        """Return why one of the place's own actions cannot work now; empty where it can."""
        return ""

    def do_down_up(self) -> None:
        """Close this screen where it stands upon another one."""
        if len(self.app.screen_stack) > 1:
            self.dismiss()

    def panes(self) -> Panes | None:
        """Return the second pane and what it shares the room with, None where none is in sight."""
        return None

    def do_larger(self) -> None:
        """Give the second pane more room."""
        self._resize_pane(1)

    def do_smaller(self) -> None:
        """Give the second pane less room."""
        self._resize_pane(-1)

    def _resize_pane(self, by: int) -> None:
        from tui.screens.panes import resize

        if reason := resize(self, by):
            self.flash(reason, "warn")

    def scroll_lines(self, by: int) -> None:
        """Scroll the lines of this screen."""
        view = self.query(LinesView).first()
        view.scroll_to(y=view.scroll_offset.y + by, animate=False)

    def do_scroll_1_down(self) -> None:
        """Scroll one line down."""
        self.scroll_lines(1)

    def do_scroll_1_up(self) -> None:
        """Scroll one line up."""
        self.scroll_lines(-1)

    def do_scroll_page_down(self) -> None:
        """Scroll a page down."""
        self.scroll_lines(max(self.size.height - 6, 1))

    def do_scroll_page_up(self) -> None:
        """Scroll a page up."""
        self.scroll_lines(-max(self.size.height - 6, 1))

    def do_scroll_first(self) -> None:
        """Go to the first line."""
        self.query(LinesView).first().scroll_home(animate=False)

    def do_scroll_last(self) -> None:
        """Go to the last line."""
        self.query(LinesView).first().scroll_end(animate=False)

    # -- life -----------------------------------------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        """Renew what changed while another screen was shown."""
        self.redraw_frame()
        if self._stale:
            self._stale = False
            self.renew()

    def on_resize(self) -> None:
        """Note whether there is room for a second pane."""
        wide = self.size.width >= WIDE
        self.set_class(wide, "wide")
        self.set_class(not wide, "narrow")
        if self.pane_share:
            from tui.screens.panes import lay

            lay(self)

    def on_changed(self, message: Changed) -> None:
        """Renew when something that is shown here changed."""
        if self.concerns(message.changes):
            if self.is_current:
                self.renew()
            else:
                self._stale = True

    def concerns(self, changes: Changes) -> bool:
        """Tell whether changes touch what is shown here."""
        return not self.live_kinds.isdisjoint(changes.keys)

    def second(self, now: datetime) -> None:
        """Let a second pass."""
        self._tell_waiting()
        self.beat(now)

    def renew(self) -> None:
        """Ask for everything shown again."""

    def beat(self, now: datetime) -> None:
        """Draw what depends on the time."""

    def do_reload(self) -> None:
        """Read everything again."""
        self.renew()
        self.flash("read again")

    def do_wide(self) -> None:
        """Hide what stands beside, or show it."""
        self.toggle_class("only-rows")

    def zone_changed(self) -> None:
        """Draw times in the new display zone."""
        self.refresh(layout=False)

    def unsaved(self) -> bool:
        """Tell whether leaving would lose something."""
        return False

    def arrive(self, location: Location) -> None:
        """Show what a deep link names."""

    def location(self) -> Location:
        """Return the deep link to what is shown."""
        return Location(self.place_id)

    # -- taking along ---------------------------------------------------------------------------------------------

    def copies(self) -> Iterable[tuple[str, str]]:
        """Return what `y` offers: (what it is, text)."""
        if command := self.headless():
            yield "command", command
        yield "link", f":{self.location().link()}"

    def headless(self) -> str:
        """Return the command line that shows the same."""
        return ""

    def exporter(self) -> Exporter | None:
        """Return what reads titles and rows for `x` in a thread, None where there is nothing to write."""
        return None
