"""Own the popup that picks one of many by typing: palette, zones, flows, copies and notifications are one of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from core.views import Page
from tui.present.columns import Column
from tui.present.lines import Line, Piece, line, spread
from tui.widgets.lines_view import Bar
from tui.widgets.row_table import RowTable


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to pick: `words` is what typing is matched with; the cells are made when the row is seen."""

    key: str
    words: str
    cells: Callable[[], tuple[Line, ...]]


def plain_choice(key: str, *texts: str | Line, words: str = "") -> Choice:
    """Return a choice whose cells are known."""
    cells = tuple(line(text) if isinstance(text, str) else text for text in texts)
    return Choice(key, (words or " ".join("".join(p.text for p in cell) for cell in cells)).lower(), lambda: cells)


def matching(choices: Sequence[Choice], text: str) -> tuple[Choice, ...]:
    """Return choices that hold every word typed; those that begin with the text come first."""
    words = text.lower().split()
    found = [choice for choice in choices if all(word in choice.words for word in words)]
    if not words:
        return tuple(found)
    return tuple(sorted(found, key=lambda choice: not choice.words.startswith(words[0])))


class PopupTitle(Bar):
    """The popup's first line: what is asked, and which keys answer."""

    def __init__(self, title: str, hint: str) -> None:
        super().__init__()
        self._title, self._hint = title, hint

    def line(self, cells: int) -> Line:
        """Return title and keys."""
        return spread(line(Piece(f" {self._title}", "strong")), line(Piece(f"{self._hint} ", "dim")), cells)


class Chooser(ModalScreen[str | None]):
    """Type to narrow, enter to pick, escape to leave; answers the key of the choice."""

    DEFAULT_CSS = """
    Chooser { align: center middle; background: $deck-back 60%; }
    Chooser > Vertical { width: 100%; max-width: 104; height: 80%; max-height: 30; background: $deck-back;
                         border: round $deck-faint; }
    Chooser Input, Chooser Input:focus { height: 1; border: none; padding: 0 1; background: $deck-raised; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("down,ctrl+n", "step(1)", show=False),
        Binding("up,ctrl+p", "step(-1)", show=False),
        Binding("pagedown", "step(12)", show=False),
        Binding("pageup", "step(-12)", show=False),
    ]

    def __init__(
        self,
        title: str,
        columns: Sequence[Column],
        choices: Sequence[Choice],
        *,
        text: str = "",
        current: str = "",
        hint: str = "type to search · enter picks · esc leaves",
        free: bool = False,
        empty: str = "nothing matches",
    ) -> None:
        super().__init__()
        self._title, self._columns, self._choices = title, tuple(columns), tuple(choices)
        self._text, self._current, self._hint, self._free = text, current, hint, free
        self._empty = empty
        self.found: tuple[Choice, ...] = matching(choices, text)

    def compose(self) -> ComposeResult:
        """Put title, search line and rows into a box."""
        with Vertical():
            yield PopupTitle(self._title, self._hint)
            yield Input(self._text, placeholder="search, or any other" if self._free else "search")
            yield RowTable[Choice](
                self._columns, lambda choice: choice.cells(), lambda choice: choice.key, empty=self._empty
            )

    @property
    def table(self) -> RowTable[Choice]:
        """Return the table."""
        return self.query_one(RowTable)

    def on_mount(self) -> None:
        """Give the keys to the search line and stand on the current choice."""
        self.query_one(Input).focus()
        index = next((at for at, choice in enumerate(self.found) if choice.key == self._current), 0)
        self.call_after_refresh(self.table.move, index)

    def on_row_table_page_wanted(self, message: RowTable.PageWanted[Choice]) -> None:
        """Answer from memory."""
        rows = self.found[message.offset : message.offset + message.limit]
        message.table.put_page(Page(rows, len(self.found), message.offset), message.epoch)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the rows."""
        self.found = matching(self._choices, event.value)
        self.table.needle = event.value.split()[0] if event.value.split() else ""
        self.table.reset()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pick the row under the cursor, or take the text itself where any text goes."""
        row = self.found[self.table.cursor] if self.table.cursor < len(self.found) else None
        if row is not None:
            self.dismiss(row.key)
        elif self._free and event.value.strip():
            self.dismiss(event.value.strip())

    def on_row_table_opened(self, message: RowTable.Opened[Choice]) -> None:
        """Pick the row that was clicked."""
        self.dismiss(message.row.key)

    def action_step(self, by: int) -> None:
        """Move the cursor while the search line has the keys."""
        self.table.move(self.table.cursor + by)

    def action_leave(self) -> None:
        """Pick nothing."""
        self.dismiss(None)
