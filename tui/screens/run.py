"""Own one Work in full: its steps as bars, its log as it grows, what went in and out, what happened."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar

from textual.app import ComposeResult

from core.errors import TriggerdeckError
from core.views import ACTIVE_WORK, Changes, Effect, LogRow, WorkRow, WorkView
from tui import copies
from tui.actions import Action
from tui.frame import FrameBar
from tui.navigation import Location
from tui.present import gantt, works
from tui.present.history import short_id
from tui.present.lines import Line, Piece, join, line, spread
from tui.screens import work_actions
from tui.screens.panes import Panes
from tui.screens.place import Exporter, Place
from tui.widgets.dialog import Blank, ShortForm
from tui.widgets.log_view import LogView
from tui.widgets.pane import Pane

TABS = ("steps", "log", "io", "events")
_TITLES = {"steps": "Steps", "log": "Log", "io": "Input/Output", "events": "Events"}
LOG_PAGE = 1000
LOG_TITLES = ("at", "step", "stream", "text")


class TabBar(FrameBar):
    """The names of the tabs and the state of the log."""

    ground = "back"

    def line(self, cells: int) -> Line:
        """Return the tabs, the open one strong."""
        detail = self.screen
        assert isinstance(detail, RunDetail)  # noqa: S101  narrows the type
        tabs = [line(Piece("▸ " if tab == detail.tab else "  ", "accent"),
                     Piece(_TITLES[tab], "strong" if tab == detail.tab else "dim")) for tab in TABS]  # fmt: skip
        return spread(join(tabs), line(detail.log_state(), " "), cells)


class RunDetail(Place):
    """One Work."""

    CSS_PATH = "run.tcss"
    place_id = "work"
    heading = "Work"
    live_kinds = frozenset({"work", "action"})
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        *work_actions.ACTIONS,
        Action("next_tab", ("tab",), "next tab", "Steps, Log, Input/Output, Events", "view", foot=5),
        Action("previous_tab", ("shift+tab",), "tab before", "The tab before", "view"),
        Action("follow", ("f",), "follow", "Follow the log, or stay where it is", "view", foot=27),
        Action("find", ("slash",), "find", "Find a text in the log", "view", foot=46),
        Action("find_older", ("n",), "older hit", "The next older line that holds the text", "view"),
        Action("find_newer", ("N",), "newer hit", "The next newer line that holds the text", "view",
               overrides="notifications"),
        Action("wrap", ("w",), "wrap", "Wrap long log lines, or cut them", "view", foot=47, overrides="wide"),
        Action("times", ("t",), "times", "Show or hide the times of log lines", "view", foot=48),
    )  # fmt: skip

    def __init__(self, identity: str) -> None:
        super().__init__()
        self._identity = identity
        self._view: WorkView | None = None
        self.tab = "steps"

    def body(self) -> ComposeResult:
        """Yield the tabs' panes; classes say which ones are seen."""
        yield TabBar()
        yield Pane(id="steps")
        yield LogView(id="log")
        yield Pane(id="io")
        yield Pane(id="events")

    def on_mount(self) -> None:
        """Open the first tab."""
        self.query_one("#steps", Pane).say("reading …")
        self._open_tab("steps")

    @property
    def log_view(self) -> LogView:
        """Return the log."""
        return self.query_one("#log", LogView)

    def crumbs(self) -> tuple[str, ...]:
        """Return the way here."""
        row = self._view.row if self._view else None
        return (self.heading, f"{short_id(row.id)} {works.name(row)}" if row else short_id(self._identity))

    def crumb_note(self) -> Line:
        """Return status, length and progress."""
        return works.head(self._view.row, self.now) if self._view else ()

    # -- reading --------------------------------------------------------------------------------------------------

    def concerns(self, changes: Changes) -> bool:
        """Tell whether changes touch this Work or one of the questions."""
        if self._view is None or "action" in changes.keys:
            return super().concerns(changes)
        return self._view.row.id in changes.keys.get("work", ())

    def renew(self) -> None:
        """Read the Work and the rest of its log."""
        identity = self._identity
        self.ask(lambda deck: deck.work(identity), self._got, failed=self._lost, group="run.work")
        self._more_log()

    def _lost(self, refusal: TriggerdeckError) -> None:
        self.query_one("#steps", Pane).say(refusal.sentence(), "esc goes back to the list")

    def _got(self, view: WorkView) -> None:
        self._view = view
        self._draw()

    def _more_log(self) -> None:
        identity, after = self._identity, self.log_view.newest_id
        self.ask(
            lambda deck: deck.logs(identity, after=after, limit=LOG_PAGE),
            self._got_log,
            failed=lambda _: None,
            group="run.log",
            exclusive=False,
        )

    def _got_log(self, rows: tuple[LogRow, ...]) -> None:
        if rows:
            self.log_view.put_zone_name(self.zone_for(None))
            self.log_view.append(rows)
            if len(rows) == LOG_PAGE:
                self._more_log()
        self.query_one(TabBar).refresh()

    def beat(self, now: datetime) -> None:  # noqa: ARG002  lengths ask for the time themselves
        """Let bars and log grow while the Work is active."""
        if self._view is not None and self._view.row.status in ACTIVE_WORK:
            self._more_log()
            self._draw_steps()

    def _draw(self) -> None:
        view = self._view
        if view is None:
            return
        zone = self.zone_for(None)
        self._draw_steps()
        self.query_one("#io", Pane).show(lambda cells: works.input_output(view, cells))
        self.query_one("#events", Pane).show(lambda cells: works.event_lines(view.events, self.now, zone, cells))
        self.query_one(TabBar).refresh()  # whichever came first, the Work or its log
        self.redraw_frame()

    def _draw_steps(self) -> None:
        view = self._view
        if view is not None:
            pane = self.query_one("#steps", Pane)
            pane.show(lambda cells: (*gantt.step_lines(view.steps, self.now, cells), *works.remarks(view, cells)[:-1]))
            if not self.pane_share:
                pane.styles.max_height = max(3, min(len(pane.lines) + 1, self.size.height // 2))

    def zone_changed(self) -> None:
        """Draw times in the new zone."""
        self.log_view.put_zone_name(self.zone_for(None))
        self._draw()

    # -- tabs -----------------------------------------------------------------------------------------------------

    def _open_tab(self, tab: str) -> None:
        self.tab = tab
        for each in TABS:
            self.set_class(each == tab, f"-{each}")
        self.query_one(f"#{'log' if tab == 'steps' else tab}").focus()
        self.redraw_frame()
        self.query_one(TabBar).refresh()

    def do_next_tab(self) -> None:
        """Open the next tab."""
        self._open_tab(TABS[(TABS.index(self.tab) + 1) % len(TABS)])

    def do_previous_tab(self) -> None:
        """Open the tab before."""
        self._open_tab(TABS[(TABS.index(self.tab) - 1) % len(TABS)])

    def log_state(self) -> Line:
        """Return how the log is shown: following, the text looked for, how much was dropped."""
        view = self.log_view
        if self.tab not in {"steps", "log"}:
            return ()
        parts = [
            ()
            if self.row is None or self.row.status not in ACTIVE_WORK
            else (Piece("following", "ok") if view.following else Piece("log stays", "dim"),),
            (Piece(f"/{view.needle}", "accent"),) if view.needle else (),
            (Piece(f"{view.dropped:,} older lines left out", "warn"),) if view.dropped else (),
        ]
        return join(parts, "  ")

    def on_log_view_follow_changed(self) -> None:
        """Say whether the log is followed."""
        self.query_one(TabBar).renew()

    def do_follow(self) -> None:
        """Follow the log, or stay."""
        self.log_view.toggle_follow()

    def do_wrap(self) -> None:
        """Wrap long lines, or cut them."""
        self.log_view.toggle_wrap()

    def do_times(self) -> None:
        """Show or hide times."""
        self.log_view.toggle_times()

    def do_find(self) -> None:
        """Ask for a text and go to it."""
        blank = Blank("text", "Text; n goes to the next older line, N to the next newer", self.log_view.needle)
        self.app.push_screen(ShortForm("Find in the log", (blank,), do="find"), self._find)

    def _find(self, typed: dict[str, str] | None) -> None:
        if typed is None:
            return
        if self.tab not in {"steps", "log"}:
            self._open_tab("log")
        self._hit(found=self.log_view.search(typed["text"]))
        self.query_one(TabBar).refresh()

    def _hit(self, *, found: bool) -> None:
        needle = self.log_view.needle
        self.flash(f"no line of the log shows {needle!r}" if needle and not found else "", "warn")

    def do_find_older(self) -> None:
        """Go to the next older hit."""
        self._next_hit(-1)

    def do_find_newer(self) -> None:
        """Go to the next newer hit."""
        self._next_hit(1)

    def _next_hit(self, step: int) -> None:
        if self.log_view.needle:
            self._hit(found=self.log_view.search_next(step))
        else:
            self.flash("nothing was looked for yet: / takes a text", "warn")

    # -- actions --------------------------------------------------------------------------------------------------

    @property
    def row(self) -> WorkRow | None:
        """Return the Work, None until it is read."""
        return self._view.row if self._view else None

    def why_closed(self, action: Action) -> str:
        """Say why a key cannot work on this Work."""
        return work_actions.why_closed(action, self.row)

    def do_cancel(self) -> None:
        """Ask whether to cancel."""
        if self.row:
            work_actions.cancel(self, self.row, self._done)

    def do_retry(self) -> None:
        """Run it once more."""
        if self.row:
            work_actions.retry(self, self.row, self._done)

    def _done(self, effect: Effect) -> None:
        self.flash(effect.message, "ok")
        self.renew()

    def do_open_trigger(self) -> None:
        """Go to the trigger."""
        if self.row:
            self.deck_app.go(Location("triggers", f"{self.row.namespace}/{self.row.trigger_name}"))

    def do_open_occurrence(self) -> None:
        """Go to the decision that made it."""
        if self.row:
            self.deck_app.go(Location("occurrences", self.row.occurrence_id))

    def do_open_inbox(self) -> None:
        """Go to its question."""
        if self.row:
            work_actions.open_question(self, self.row.id)

    def panes(self) -> Panes | None:
        """Return the log and the steps above it, where both are in sight."""
        return Panes(self.log_view, self.query_one("#steps", Pane), "height") if self.tab == "steps" else None

    def exporter(self) -> Exporter:
        """Return what writes the whole log."""
        identity = self._identity
        return lambda deck: (LOG_TITLES, works.log_table(work_actions.whole_log(deck, identity)))

    def location(self) -> Location:
        """Return the link to this Work."""
        return Location("work", short_id(self._identity))

    def headless(self) -> str:
        """Return the command that shows the same."""
        return f"triggerdeck logs {short_id(self._identity)} --follow"

    def copies(self) -> Iterable[tuple[str, str]]:
        """Offer the Work and the log that is shown."""
        if self._view is None:
            yield from super().copies()
        else:
            yield from copies.of_work(self._view.row, self._view.runbook)
        yield "log", "\n".join(row.text for row in self.log_view.rows)
