"""Own the four lines around every screen: status, breadcrumb with filter, flash, footer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from textual.strip import Strip
from textual.timer import Timer

from tui.actions import GROUPS, Action
from tui.present.lines import Line, Piece, Tone, clean, clip, join, line, plain, spread, width, wrap
from tui.present.status import status_line
from tui.widgets.lines_view import Bar, strip

if TYPE_CHECKING:
    from tui.app import DeckApp
    from tui.screens.place import Place

FLASH_S = 8.0
FLASH_ROWS = 3


class FrameBar(Bar):
    """A line of the frame: it knows the app and the place that it belongs to."""

    @property
    def deck_app(self) -> DeckApp:
        """Return the app as what it is."""
        return cast("DeckApp", self.app)

    @property
    def place(self) -> Place:
        """Return the place as what it is."""
        return cast("Place", self.screen)


class StatusBar(FrameBar):
    """Line 1: workspace, worker, heartbeat, zone and clock, inbox, read-only; places at the right."""

    def line(self, cells: int) -> Line:
        """Return the status with the places."""
        app = self.deck_app
        return status_line(app.frame_facts(), cells)


class Crumb(FrameBar):
    """Line 2: where we are, and what narrows it."""

    ground = "back"

    def line(self, cells: int) -> Line:
        """Return breadcrumb and filter, with the place's own note at the right."""
        *above, here = self.place.crumbs()
        path = line(" ", *(Piece(f"{clean(step)} › ", "dim") for step in above), Piece(clean(here), "strong"))
        return spread(join((path, self.place.crumb_filter())), self.place.crumb_note(), cells)


class Flash(FrameBar):
    """The line above the footer: what just happened; it goes after a few seconds. A long sentence takes more lines."""

    ground = "back"
    _said: tuple[str, Tone] = ("", "")
    _rows: tuple[Line, ...] = ()
    _timer: Timer | None = None

    def say(self, text: str, tone: Tone = "") -> None:
        """Show a sentence for a while; what is bad stays until the next one."""
        mark = {"ok": "✓ ", "warn": "! ", "bad": "✗ "}.get(tone, "")
        self._said = (f"{mark}{clean(text)}" if text else "", tone)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(FLASH_S, self._clear) if tone != "bad" else None
        self._lay()

    @property
    def text(self) -> str:
        """Return what is shown."""
        return self._said[0]

    def _clear(self) -> None:
        self._said = ("", "")
        self._lay()

    def _lay(self) -> None:
        text, tone = self._said
        rows = wrap(text, max(self.size.width - 2, 20), tone, "  ")
        if len(rows) > FLASH_ROWS:
            rest = " ".join(plain(row).strip() for row in rows[FLASH_ROWS - 1 :])
            rows = (*rows[: FLASH_ROWS - 1], clip((Piece(f"  {rest}", tone),), max(self.size.width - 2, 20)))
        self._rows = tuple(line(" ", row) for row in rows)
        self.styles.height = len(self._rows)
        self.refresh()

    def on_resize(self) -> None:
        """Break the sentence anew."""
        self._lay()

    def line(self, cells: int) -> Line:  # noqa: ARG002  the Bar cuts it
        """Return the sentence's first line."""
        return self._rows[0] if self._rows else ()

    def render_line(self, y: int) -> Strip:
        """Draw one of the sentence's lines."""
        row = self._rows[y] if y < len(self._rows) else ()
        return strip(row, self.size.width, self.app.theme, self.ground)


class Footer(FrameBar):
    """The last line: the keys that matter here, in groups; closed ones are faint."""

    def line(self, cells: int) -> Line:
        """Return as many groups as fit, the most wanted first."""
        shown = sorted(
            (action for action in self.place.offered() if self._wanted(action)), key=lambda action: action.foot
        )
        while shown and width(row := footer_line(shown, self.place.closed, typing=self.place.typing)) > cells:
            optional = [action for action in shown if action.id != "help"]
            if not optional:
                break
            shown.remove(optional[-1])
        return row if shown else ()

    def _wanted(self, action: Action) -> bool:
        return bool(action.foot and (action.typed_key or not self.place.typing))


def footer_line(actions: Iterable[Action], closed: frozenset[str], *, typing: bool = False) -> Line:
    """Return actions as `title key`, groups parted by a bar."""
    kept = list(actions)
    groups: list[Line] = []
    for group in GROUPS:
        row = join(
            _foot(action, action.id in closed, action.typed_key if typing else action.shown_key)
            for action in kept
            if action.group == group
        )
        if row:
            groups.append(row)
    return line(" ", join(groups, Piece(" │ ", "faint")))


def _foot(action: Action, closed: bool, key: str) -> Line:
    if closed:
        return (Piece(f"{action.title} {key}", "faint"),)
    return line(Piece(f"{action.title} ", "dim"), Piece(key, "key"))
