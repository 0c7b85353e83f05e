"""Own the line in which a list's filter is typed; it stands where the flash stands, while one types."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class FilterInput(Input):
    """Takes the filter and tells each letter; enter, down and escape give the keys back to the rows."""

    DEFAULT_CSS = """
    FilterInput, FilterInput:focus { height: 1; border: none; padding: 0 1; background: $deck-raised; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,down", "leave", show=False)]

    class Typed(Message):
        """The filter is another one now."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The rows want the keys back; `sent` tells whether with enter."""

        def __init__(self, text: str, *, sent: bool) -> None:
            super().__init__()
            self.text, self.sent = text, sent

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell the text."""
        event.stop()
        self.post_message(self.Typed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Send the filter and go to the rows."""
        event.stop()
        self.post_message(self.Left(event.value, sent=True))

    def action_leave(self) -> None:
        """Go to the rows; the filter stays, if it is one."""
        self.post_message(self.Left(self.value, sent=False))
