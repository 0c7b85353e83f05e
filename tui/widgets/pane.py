"""Lines that take the focus and scroll by the same keys as a table."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.present.lines import Piece
from tui.widgets.lines_view import LinesView


class Pane(LinesView, can_focus=True):
    """A LinesView that can be scrolled by keys."""

    can_focus = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_down", show=False),
        Binding("k,up", "scroll_up", show=False),
        Binding("g,home", "scroll_home", show=False),
        Binding("G,end", "scroll_end", show=False),
        Binding("ctrl+d,pagedown", "page_down", show=False),
        Binding("ctrl+u,pageup", "page_up", show=False),
    ]

    def say(self, *texts: str) -> None:
        """Show plain sentences, dim, one a line."""
        self.show(tuple((Piece(f" {text}", "dim"),) for text in texts))
