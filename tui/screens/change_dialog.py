"""Own the two dialogs before a save: what changes, and what to do when somebody else saved first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from core.views import Applied, FireChange
from tui.present.diff import ThreeWay, change_lines, conflict_lines
from tui.present.lines import Line, Piece, line
from tui.widgets.chooser import PopupTitle
from tui.widgets.dialog import Keys
from tui.widgets.lines_view import LinesView

BOX = """
    {0} {{ align: center middle; background: $deck-back 60%; }}
    {0} > Vertical {{ width: 94%; max-width: 116; height: 84%; max-height: 34; background: $deck-back;
                     border: round $deck-faint; }}
    {0} LinesView {{ margin: 1 2; }}
"""


def _keys(*pairs: tuple[str, str]) -> Line:
    parts: list[Piece] = []
    for title, key in pairs:
        parts += [Piece(f"{title} ", "dim"), Piece(key, "key"), Piece("   ")]
    return line(*parts)


class ChangeDialog(ModalScreen[bool]):
    """Show the fields and the fires that a save changes; enter saves."""

    DEFAULT_CSS = BOX.format("ChangeDialog")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y,ctrl+s", "answer(True)", show=False),
        Binding("escape,n,q", "answer(False)", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
    ]

    def __init__(self, title: str, applied: Applied, fires: FireChange, zone: str) -> None:
        super().__init__()
        self._title, self._applied, self._fires, self._zone = title, applied, fires, zone

    def compose(self) -> ComposeResult:
        """Put title, change and keys into a box."""
        with Vertical():
            yield PopupTitle(self._title, f"{self._applied.action} → gen {self._applied.generation}")
            yield LinesView(id="change")
            yield Keys(_keys(("save", "enter"), ("back to the editor", "esc"), ("scroll", "j k")))

    def on_mount(self) -> None:
        """Show the change."""
        applied = self._applied
        self.query_one(LinesView).show(
            lambda cells: change_lines(applied.changes, self._fires, self._zone, cells - 1, applied.notes)
        )

    def action_answer(self, yes: bool) -> None:
        """Close with the answer."""
        self.dismiss(yes)

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        view = self.query_one(LinesView)
        view.scroll_to(y=view.scroll_offset.y + by, animate=False)


class ConflictDialog(ModalScreen[str | None]):
    """Show base, stored and own value of each field; answers `mine`, `theirs` or nothing."""

    DEFAULT_CSS = BOX.format("ConflictDialog")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "answer('mine')", show=False),
        Binding("t", "answer('theirs')", show=False),
        Binding("escape,q", "leave", show=False),
    ]

    def __init__(self, rows: Sequence[ThreeWay]) -> None:
        super().__init__()
        self._rows = tuple(rows)

    def compose(self) -> ComposeResult:
        """Put title, table and keys into a box."""
        clashes = sum(row.conflict for row in self._rows)
        told = f"{clashes} of {len(self._rows)} fields in conflict"
        with Vertical():
            yield PopupTitle("Somebody else saved first", told)
            yield LinesView(id="conflict")
            yield Keys(_keys(("put mine on top of theirs", "m"), ("take theirs", "t"), ("back to the editor", "esc")))

    def on_mount(self) -> None:
        """Show the three columns."""
        self.query_one(LinesView).show(lambda cells: conflict_lines(self._rows, cells - 1))

    def action_answer(self, choice: str) -> None:
        """Close with the choice."""
        self.dismiss(choice)

    def action_leave(self) -> None:
        """Close without one."""
        self.dismiss(None)
