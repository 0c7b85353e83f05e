"""Own the help: every key of the place in sight, searchable; enter runs what it shows. Made from the registry."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from core.views import Page
from tui.actions import GROUPS, Action, printed
from tui.present.columns import Column
from tui.present.lines import Line, Piece, Tone, line, wrap
from tui.screens.place import Place
from tui.widgets.chooser import PopupTitle
from tui.widgets.lines_view import Bar, LinesView
from tui.widgets.row_table import RowTable

GROUP_WORDS = {
    "do": "act", "mark": "mark", "view": "look", "move": "move", "go": "go", "file": "take along", "app": "deck",
}  # fmt: skip
LEGENDS: tuple[Line, ...] = (
    line(Piece(" ● ", "ok"), "fired  ", Piece("○ ", "dim"), "to come  ", Piece("⊘ ", "warn"), "skipped  ",
         Piece("✕ ", "bad"), "failed  ", Piece("‖ ", "dim"), "paused  ", Piece("⟂ ", "warn"), "clock changes"),
    line(Piece(" ▶ ", "busy"), "running  ", Piece("◇ ", "warn"), "waits for you  ", Piece("✓ ", "ok"), "completed  ",
         Piece("⊘ ", "warn"), "cancelled  ", Piece("… ", "busy"), "queued"),
)  # fmt: skip


class Legend(Bar):
    """One line of marks with their meaning."""

    def __init__(self, row: Line) -> None:
        super().__init__()
        self._row = row

    def line(self, cells: int) -> Line:  # noqa: ARG002  the Bar cuts it
        """Return the marks."""
        return self._row


class HelpScreen(ModalScreen[str | None]):
    """Type to search, enter runs; answers the id of the action, or None."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("down,ctrl+n", "step(1)", show=False),
        Binding("up", "step(-1)", show=False),
        Binding("pagedown", "step(10)", show=False),
        Binding("pageup", "step(-10)", show=False),
    ]
    COLUMNS = (
        Column("group", "", 10, drop=1),
        Column("keys", "key", 9),
        Column("title", "action", 14),
        Column("help", "what it does", 48, grow=3),
    )

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place
        shown = [action for action in place.offered() if not action.hidden]
        own = {action.id for action in place.ACTIONS}
        self._actions = sorted(shown, key=lambda action: (action.id not in own, GROUPS.index(action.group)))
        self._found = list(self._actions)

    def compose(self) -> ComposeResult:
        """Put search line, actions and the legend into a box."""
        with Vertical():
            yield PopupTitle(f"Help · {self._place.heading}", "type to search · enter runs · esc leaves")
            yield Input(placeholder="search")
            yield RowTable[Action](
                self.COLUMNS, self._cells, lambda action: action.id, empty="no key does that; try another word"
            )
            yield LinesView(id="told", ground="raised")
            for row in LEGENDS:
                yield Legend(row)

    def on_mount(self) -> None:
        """Give the keys to the search line."""
        self.query_one(Input).focus()

    def _reason(self, action: Action) -> str:
        return self._place.reason_closed(action).removeprefix(f"{action.title}: ")

    def _cells(self, action: Action) -> tuple[Line, ...]:
        reason = self._reason(action)
        keys = " ".join(printed(key) for key in action.keys[:3])
        return (
            (Piece(GROUP_WORDS[action.group], "faint"),),
            (Piece(keys, "faint" if reason else "key"),),
            line(Piece(action.title, "dim" if reason else "strong")),
            (Piece(reason, "warn"),) if reason else line(action.help),
        )

    def _tell(self) -> None:
        """Tell the action under the cursor in full: what it does, and why it is closed where it is."""
        at = self.query_one(RowTable).cursor
        action = self._found[at] if at < len(self._found) else None
        reason = self._reason(action) if action else ""
        text = "; ".join(part for part in (action.help if action else "", reason) if part)
        tone: Tone = "warn" if reason else ""
        self.query_one("#told", LinesView).show(lambda cells: [line(" ", row) for row in wrap(text, cells - 2, tone)])

    def on_row_table_cursor_moved(self) -> None:
        """Tell about another action."""
        self._tell()

    def on_row_table_page_wanted(self, message: RowTable.PageWanted[Action]) -> None:
        """Answer from the registry."""
        rows = tuple(self._found[message.offset : message.offset + message.limit])
        self.query_one(RowTable).put_page(Page(rows, len(self._found), message.offset), message.epoch)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep the actions that hold every word typed."""
        words = event.value.lower().split()
        self._found = [action for action in self._actions if all(word in _words(action) for word in words)]
        table = self.query_one(RowTable)
        table.needle = words[0] if words else ""
        table.reset()
        self._tell()

    def on_input_submitted(self) -> None:
        """Run the action under the cursor."""
        at = self.query_one(RowTable).cursor
        if at < len(self._found):
            self.dismiss(self._found[at].id)

    def on_row_table_opened(self) -> None:
        """Run the action that was clicked."""
        self.on_input_submitted()

    def action_step(self, by: int) -> None:
        """Move the cursor while the search line has the keys."""
        table = self.query_one(RowTable)
        table.move(table.cursor + by)

    def action_leave(self) -> None:
        """Run nothing."""
        self.dismiss(None)


def _words(action: Action) -> str:
    keys = " ".join((*action.keys, *map(printed, action.keys)))
    return f"{action.title} {action.help} {action.id} {GROUP_WORDS[action.group]} {keys}".lower()
