"""Own the actions that work in every place: going, zones, palette, copying, exporting, undoing, leaving."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import Usage
from core.views import NotificationRow
from core.words import counted
from tui.navigation import PLACES, Location, parse_link
from tui.present.columns import Column
from tui.present.lines import Line, Piece, Tone, clean, line, wrap
from tui.present.times import near
from tui.screens.place import Exporter, Place
from tui.widgets.chooser import Chooser, plain_choice
from tui.widgets.dialog import Confirm, Sheet
from tui.widgets.zone_picker import zone_picker

if TYPE_CHECKING:
    from tui.app import DeckApp
    from tui.undo import Undo

ZONE_WORDS = {"trigger": "each Trigger's own zone", "mine": "my zone", "UTC": "UTC"}
FORMATS = (("csv", "a spreadsheet"), ("json", "a script"))
SHOWN = 200
"""How many characters of a text are shown before and after it is copied."""
SEVERITY: dict[str, Tone] = {"information": "", "warning": "warn", "error": "bad"}


class CommonActions:
    """Answers `do_<id>` of the common actions for the app."""

    def __init__(self, app: DeckApp) -> None:
        self.app = app
        self.undo: Undo | None = None

    def doer(self, action_id: str) -> Callable[[], None] | None:
        """Return what does an action, None for an id that is not common."""
        if action_id.startswith("place_"):
            return partial(self.go_number, int(action_id[-1]))
        found: Callable[[], None] | None = getattr(self, f"do_{action_id}", None)
        return found

    @property
    def place(self) -> Place:
        """Return the place in sight."""
        return next(screen for screen in reversed(self.app.screen_stack) if isinstance(screen, Place))

    # -- going ----------------------------------------------------------------------------------------------------

    def go_number(self, number: int) -> None:
        """Go to one of the six places as it was left."""
        self.app.go(Location(PLACES[number - 1].mode))

    def do_go_to(self) -> None:
        """Ask where to go; a filter may follow the name."""
        columns = (
            Column("n", "", 2),
            Column("place", "place", 14),
            Column("alias", "also", 20),
            Column("eg", "for example", 30, grow=1),
        )
        eg = {
            "triggers": ":t enabled tag:nightly",
            "occurrences": ":occ state:skipped since:7d",
            "work": ":w status:failed",
        }
        rows = [
            plain_choice(
                place.mode,
                str(place.number),
                place.title,
                " ".join(place.aliases),
                (Piece(eg.get(place.mode, ""), "faint"),),
                words=f"{place.mode} {' '.join(place.aliases)} {place.number}",
            )
            for place in PLACES
        ]
        self.app.push_screen(
            Chooser("Go to", columns, rows, free=True, hint="name, alias or link · enter goes"), self._go_typed
        )

    def _go_typed(self, text: str | None) -> None:
        if text is None:
            return
        location = parse_link(text)
        if location is None:
            self.app.flash(f"no place is called {text.split()[0]!r}; ':' lists them", "warn")
        else:
            self.app.go(location)

    def do_back(self) -> None:
        """Step back in history."""
        self._step(self.app.history.back(), "this is where you began")

    def do_forward(self) -> None:
        """Step forward in history."""
        self._step(self.app.history.forward(), "nothing lies ahead")

    def do_last(self) -> None:
        """Change between the last two views."""
        self._step(self.app.history.last(), "you have been nowhere else yet")

    def _step(self, location: Location | None, otherwise: str) -> None:
        if location is None:
            self.app.flash(otherwise, "warn")
        else:
            self.app.go(location, remember=False)

    # -- zones and looks ------------------------------------------------------------------------------------------

    def do_zone(self) -> None:
        """Show times in the next of: trigger's zone, mine, UTC."""
        order = ("trigger", "mine", "UTC")
        at = order.index(self.app.zone_choice) if self.app.zone_choice in order else -1
        self._show_zone(order[(at + 1) % 3])

    def do_zone_pick(self) -> None:
        """Pick any zone."""
        now = self.app.clock.now()
        self.app.push_screen(
            zone_picker(now, self.app.zone_choice), lambda name: self._show_zone(name) if name else None
        )

    def _show_zone(self, name: str) -> None:
        self.app.zone_choice = name
        for place in self.app.places():
            place.zone_changed()
            place.redraw_frame()
        told = ZONE_WORDS.get(name, name) + (f" ({self.app.mine})" if name == "mine" else "")
        self.app.flash(f"times in {told}")

    def do_theme(self) -> None:
        """Change between dark and light."""
        self.app.theme = "deck-light" if self.app.theme == "deck-dark" else "deck-dark"

    def do_lock(self) -> None:
        """Close everything that changes something, or open it."""
        if self.app.door.read_only:
            self.app.flash("the deck was opened read-only; start it without --read-only to change things", "warn")
            return
        self.app.read_only_by_hand = not self.app.read_only_by_hand
        self.place.redraw_frame()
        self.app.flash("read-only mode is on; ctrl+l opens it" if self.app.locked else "changes are open again", "warn")

    # -- lists that run something ---------------------------------------------------------------------------------

    def do_palette(self) -> None:
        """Search every action of this place and run it."""
        place = self.place
        columns = (
            Column("key", "key", 7),
            Column("title", "action", 16),
            Column("help", "does", 30, drop=1, grow=1),
        )
        rows = []
        own = {action.id for action in place.ACTIONS}
        shown = [action for action in place.offered() if not action.hidden]
        for action in sorted(shown, key=lambda action: action.id not in own):
            reason = place.reason_closed(action).removeprefix(f"{action.title}: ")
            words = (Piece(action.title, "faint" if reason else ""),)
            told = (Piece(reason or action.help, "warn" if reason else "dim"),)
            rows.append(plain_choice(action.id, (Piece(action.shown_key, "key"),), words, told))
        self.app.push_screen(Chooser("Actions", columns, rows, hint="type to search · enter runs"), self._run)

    def _run(self, action_id: str | None) -> None:
        if action_id is None:
            return
        action = next(action for action in self.place.all_actions() if action.id == action_id)
        if action.widget:
            self.place.run_widget_action(action)
        else:
            self.place.action_do(action_id)

    def do_help(self) -> None:
        """Open the searchable help."""
        from tui.screens.help import HelpScreen

        place = self.place
        self.app.push_screen(HelpScreen(place), self._run)

    def do_notifications(self) -> None:
        """Read the notifications, newest first."""
        self.app.gateway.ask(
            self.app, lambda deck: deck.notifications(limit=500), self._notifications, group="notifications"
        )

    def _notifications(self, rows: tuple[NotificationRow, ...]) -> None:
        zone, now = (
            self.app.mine if self.app.zone_choice == "trigger" else self.app.display_zone_for(None),
            self.app.clock.now(),
        )
        newest_first = sorted(rows, key=lambda row: -row.id)

        def told(cells: int) -> list[Line]:
            lines = [part for row in newest_first for part in notification_lines(row, now, zone, cells)]
            return lines or [line(Piece("none yet", "dim"))]

        self.app.push_screen(Sheet("Notifications", told))

    # -- taking along ---------------------------------------------------------------------------------------------

    def do_copy(self) -> None:
        """Offer what can be copied here."""
        columns = (Column("what", "what", 12), Column("text", "text", 30, grow=1))
        rows = [plain_choice(text, (Piece(what, "dim"),), clean(text[:SHOWN])) for what, text in self.place.copies()
                if text]  # fmt: skip
        self.app.push_screen(Chooser("Copy", columns, rows, hint="enter copies"), self._copy)

    def _copy(self, text: str | None) -> None:
        if text is not None:
            self.app.copy_to_clipboard(text)
            self.app.flash(f"copied: {text[:SHOWN]}{'…' if len(text) > SHOWN else ''}", "ok")

    def do_export(self) -> None:
        """Offer the formats in which what is shown can be written."""
        exporter = self.place.exporter()
        if exporter is None:
            self.app.flash("there is nothing here to export", "warn")
            return
        name = f"{self.place.place_id}-{self.app.clock.now():%Y%m%d-%H%M%S}"
        rows = [plain_choice(f"{name}.{kind}", f"{name}.{kind}", (Piece(words, "dim"),)) for kind, words in FORMATS]
        columns = (Column("file", "file", 30, grow=1), Column("for", "for", 14))
        self.app.push_screen(
            Chooser("Export", columns, rows, free=True, hint="enter writes · or type another file name"),
            partial(self._export, exporter),
        )

    def _export(self, exporter: Exporter, file: str | None) -> None:
        if file is not None:
            self.app.gateway.ask(
                self.app,
                lambda deck: written(file, *exporter(deck)),
                lambda told: self.app.flash(told, "ok"),
                group="export",
                exclusive=False,
            )

    # -- undo and leaving -----------------------------------------------------------------------------------------

    def do_undo(self) -> None:
        """Take the last change back."""
        undo, self.undo = self.undo, None
        if undo is None:
            self.app.flash("there is nothing to undo", "warn")
            return
        self.app.gateway.ask(
            self.app, undo.call, lambda told: self.app.flash(told, "ok"), group="undo", exclusive=False
        )

    def do_quit(self) -> None:
        """Leave; ask only where something is not saved."""
        if isinstance(self.app.screen, Confirm):  # what it asks is answered first
            return
        unsaved = [place for place in self.app.places() if place.unsaved()]
        if unsaved:
            effects = [f"{' › '.join(place.crumbs())}: not saved" for place in unsaved]
            self.app.push_screen(Confirm("Leave without saving?", effects, do="leave", danger=True), self._leave)
        else:
            self._leave(True)

    def _leave(self, yes: bool | None) -> None:
        if yes:
            self.app.keep_config()
            running = self.app.status is not None and self.app.status.worker == "running"
            self.app.exit(message=farewell(running=running, kept=self.app.worker_kept))


def notification_lines(row: NotificationRow, now: datetime, zone: str, cells: int) -> list[Line]:
    """Return when and what, the words wrapped under each other."""
    at = f"{near(row.at, now, zone, seconds=True):>16}  "
    first, *more = wrap(row.title, max(cells - len(at), 10), SEVERITY[row.severity])
    return [line(Piece(at, "dim"), first), *(line(" " * len(at), part) for part in more)]


def farewell(*, running: bool, kept: bool) -> str | None:
    """Return what becomes of the worker after the deck, None where none runs."""
    if not running:
        return None
    if kept:
        return "The worker goes on; `triggerdeck worker status` shows it, `triggerdeck worker stop` ends it."
    return "The worker ends with the deck, as soon as the steps that run have ended."


def written(file: str, titles: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """Write rows to a file as its name asks and return what was written, in a sentence."""
    path = put(file, exported(file, titles, rows))
    return f"wrote {counted(len(rows), 'row')} to {path}"


def put(file: str, text: str) -> Path:
    """Write a text to a new file and return its whole path; what exists is left as it is."""
    try:
        path = Path(file).expanduser().resolve()
        with path.open("x", encoding="utf-8", newline="") as out:
            out.write(text)
    except FileExistsError as fault:
        raise Usage(f"{file} exists already and was left as it is", "name another file") from fault
    except (OSError, RuntimeError) as fault:  # RuntimeError: ~ of nobody
        raise Usage(f"{file} cannot be written: {getattr(fault, 'strerror', fault)}", "name another file") from fault
    return path


def exported(file: str, titles: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """Return rows as the file's name asks: JSON for `.json`, CSV for everything else."""
    if file.endswith(".json"):
        return json.dumps(
            [dict(zip(titles, row, strict=True)) for row in rows], ensure_ascii=False, indent=1, default=str
        )
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(titles)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell: Any) -> Any:
    """Keep a spreadsheet from running text that begins like a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in {"=", "+", "-", "@"} else cell
