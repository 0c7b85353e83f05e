"""Own the fields of a form: options on one line, one-line texts, texts with a picker, and the row around each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Label

from tui.present.lines import Line, Piece, line
from tui.widgets.lines_view import Bar

LABEL = 11


class Options(Bar, can_focus=True):
    """One of a few, on one line; left and right or space change it, up and down go to the next field."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l,space", "turn(1)", show=False),
        Binding("left,h", "turn(-1)", show=False),
        Binding("down,j", "app.focus_next", show=False, priority=True),
        Binding("up,k", "app.focus_previous", show=False, priority=True),
    ]
    ground = "back"

    class Changed(Message):
        """Another option was chosen."""

        def __init__(self, options: Options, value: str) -> None:
            super().__init__()
            self.options, self.value = options, value

    def __init__(self, options: Sequence[tuple[str, str]], value: str = "") -> None:
        super().__init__()
        self._options, self.value = tuple(options), value

    def put(self, value: str) -> None:
        """Show a value without telling."""
        self.value = value
        self.refresh()

    def line(self, cells: int) -> Line:  # noqa: ARG002  the Bar cuts it
        """Return every option, the chosen one lit."""
        parts: list[Piece] = []
        for key, title in self._options:
            chosen = key == self.value
            parts += [Piece("(•) " if chosen else "( ) ", "accent" if chosen else "faint"),
                      Piece(f"{title}  ", "strong" if chosen else "dim")]  # fmt: skip
        if self.value not in {key for key, _ in self._options}:
            parts.append(Piece(f"(•) {self.value}", "warn"))
        return line(*parts)

    def on_focus(self) -> None:
        """Stand out."""
        self.ground = "cursor"
        self.refresh()

    def on_blur(self) -> None:
        """Stand back."""
        self.ground = "back"
        self.refresh()

    def action_turn(self, by: int) -> None:
        """Choose the next option."""
        keys = [key for key, _ in self._options]
        at = keys.index(self.value) if self.value in keys else -1
        self.value = keys[(at + by) % len(keys)]
        self.refresh()
        self.post_message(self.Changed(self, self.value))


class LineInput(Input):
    """A one-line text without a border; up and down go to the next field. It tells where its cursor stands."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "app.focus_next", show=False, priority=True),
        Binding("up", "app.focus_previous", show=False, priority=True),
    ]

    class CursorAt(Message):
        """The cursor moved."""

        def __init__(self, field: LineInput, position: int) -> None:
            super().__init__()
            self.field, self.position = field, position

    def on_mount(self) -> None:
        """Begin to tell where the cursor stands."""
        self.watch(self, "selection", self._tell, init=False)

    def _tell(self) -> None:
        self.post_message(self.CursorAt(self, self.cursor_position))


class PickInput(LineInput):
    """A one-line text for which enter opens a list."""

    class Pick(Message):
        """The list is wanted."""

        def __init__(self, field: PickInput) -> None:
            super().__init__()
            self.field = field

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "pick", show=False, priority=True)]

    def action_pick(self) -> None:
        """Ask for the list."""
        self.post_message(self.Pick(self))


class FieldRow(Vertical):
    """A label, a control, and below them a hint and a fault where there are any."""

    DEFAULT_CSS = """
    FieldRow { height: auto; }
    FieldRow > Horizontal { height: auto; }
    FieldRow .label { width: 11; color: $deck-dim; }
    FieldRow.here .label { color: $deck-strong; }
    FieldRow Input, FieldRow Input:focus { height: 1; border: none; padding: 0 1; width: 1fr;
                                           background: $deck-raised; }
    FieldRow Input:focus { background: $deck-cursor; }
    FieldRow TextArea, FieldRow TextArea:focus { height: auto; min-height: 1; max-height: 8; border: none; padding: 0 1;
        background: $deck-raised; width: 1fr; }
    FieldRow TextArea:focus { background: $deck-cursor; }
    FieldRow .fault { color: $deck-bad; margin-left: 12; width: 1fr; height: auto; display: none; }
    FieldRow .fault.on { display: block; }
    """

    def __init__(self, key: str, label: str, control: Widget, hint: Widget | None = None) -> None:
        super().__init__(id=f"row-{key}")
        self._label, self.control, self._hint = label, control, hint

    def compose(self) -> ComposeResult:
        """Put label, control, hint and fault together."""
        with Horizontal():
            yield Label(self._label, classes="label", markup=False)
            yield self.control
        if self._hint is not None:
            yield self._hint
        yield Label("", classes="fault", markup=False)

    def on_descendant_focus(self) -> None:
        """Light the label."""
        self.add_class("here")

    def on_descendant_blur(self) -> None:
        """Dim the label."""
        self.remove_class("here")

    def fault(self, text: str) -> None:
        """Show what is wrong, or nothing."""
        label = self.query_one(".fault", Label)
        label.update(f"✗ {text}" if text else "")
        label.set_class(bool(text), "on")
