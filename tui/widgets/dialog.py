"""Own the popups that ask: yes or no with effects shown, and short forms of one-line fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from tui.present.lines import Line, Piece, line, wrap
from tui.widgets.chooser import PopupTitle
from tui.widgets.lines_view import Bar, LinesView


class Keys(Bar):
    """The popup's last line: what each key does."""

    def __init__(self, row: Line) -> None:
        super().__init__()
        self._row = row

    def line(self, cells: int) -> Line:  # noqa: ARG002  the Bar cuts it
        """Return the keys."""
        return line(" ", self._row)


class Confirm(ModalScreen[bool]):
    """Say what will happen and ask once; `y` does it, `n` and escape do not, enter does it where nothing is lost."""

    DEFAULT_CSS = """
    Confirm { align: center middle; background: $deck-back 60%; }
    Confirm > Vertical { width: 80%; max-width: 84; height: auto; max-height: 80%; background: $deck-back;
                         border: round $deck-faint; }
    Confirm.danger > Vertical { border: round $deck-bad; }
    Confirm LinesView { height: auto; max-height: 16; margin: 1 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape,q", "answer(False)", show=False),
        Binding("enter", "enter", show=False),
    ]

    def __init__(self, title: str, effects: Sequence[Line | str], *, do: str, danger: bool = False) -> None:
        super().__init__(classes="danger" if danger else "")
        self._title, self._effects, self._do, self._danger = title, effects, do, danger

    def compose(self) -> ComposeResult:
        """Put title, effects and keys into a box."""
        keys = line(Piece(f"{self._do} ", "dim"), Piece("y" if self._danger else "y / enter", "key"),
                    Piece("   back ", "dim"), Piece("n / esc", "key"))  # fmt: skip
        with Vertical():
            yield PopupTitle(self._title, "")
            yield LinesView(id="effects", heights=lambda: (1, 16))
            yield Keys(keys)

    def on_mount(self) -> None:
        """Show the effects, broken to the width."""
        self.query_one(LinesView).show(self._rows)

    def _rows(self, cells: int) -> list[Line]:
        parts = (wrap(effect, cells) if isinstance(effect, str) else (effect,) for effect in self._effects)
        return [row for part in parts for row in part]

    def action_answer(self, yes: bool) -> None:
        """Close with the answer."""
        self.dismiss(yes)

    def action_enter(self) -> None:
        """Say yes where nothing is lost by it."""
        if not self._danger:
            self.dismiss(True)


@dataclass(frozen=True, slots=True)
class Blank:
    """One field of a short form; `check` returns what is wrong with a text, empty where nothing is."""

    key: str
    label: str
    value: str = ""
    hint: str = ""
    check: Callable[[str], str] = lambda _: ""


class ShortForm(ModalScreen[dict[str, str] | None]):
    """A few one-line fields; enter goes to the next one and sends from the last."""

    DEFAULT_CSS = """
    ShortForm { align: center middle; background: $deck-back 60%; }
    ShortForm > Vertical { width: 80%; max-width: 84; height: auto; background: $deck-back;
                           border: round $deck-faint; }
    ShortForm Input, ShortForm Input:focus { height: 1; border: none; padding: 0; margin: 0 2;
                                             background: $deck-raised; }
    ShortForm Label { margin: 1 2 0 2; color: $deck-dim; }
    ShortForm Label.fault { margin: 0 2; color: $deck-bad; }
    ShortForm Keys { margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False), Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False), Binding("ctrl+s", "send", show=False),
    ]  # fmt: skip

    def __init__(self, title: str, blanks: Sequence[Blank], *, do: str) -> None:
        super().__init__()
        self._title, self._blanks, self._do = title, tuple(blanks), do

    def compose(self) -> ComposeResult:
        """Put label, field and fault of each blank into a box."""
        with Vertical():
            yield PopupTitle(self._title, "")
            for blank in self._blanks:
                yield Label(blank.label, markup=False)
                yield Input(blank.value, placeholder=blank.hint, id=f"blank-{blank.key}")
                yield Label("", classes="fault", id=f"fault-{blank.key}", markup=False)
            yield Keys(
                line(
                    Piece(f"{self._do} ", "dim"),
                    Piece("enter", "key"),
                    Piece("   back ", "dim"),
                    Piece("esc", "key"),
                )
            )

    def on_mount(self) -> None:
        """Begin in the first field."""
        self.query(Input).first().focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go on to the next field; from the last one, send."""
        if event.input is self.query(Input).last():
            self.action_send()
        else:
            self.focus_next()

    def action_send(self) -> None:
        """Close with the values, if none of them is wrong."""
        values = {blank.key: self.query_one(f"#blank-{blank.key}", Input).value.strip() for blank in self._blanks}
        faults = {blank.key: blank.check(values[blank.key]) for blank in self._blanks}
        for key, fault in faults.items():
            self.query_one(f"#fault-{key}", Label).update(f"✗ {fault}" if fault else "")
        if not any(faults.values()):
            self.dismiss(values)

    def action_leave(self) -> None:
        """Close with nothing."""
        self.dismiss(None)


class Sheet(ModalScreen[None]):
    """Lines to read in a box: fires, notifications, an answer."""

    DEFAULT_CSS = """
    Sheet { align: center middle; background: $deck-back 60%; }
    Sheet > Vertical { width: 92%; max-width: 112; height: 84%; max-height: 34; background: $deck-back;
                       border: round $deck-faint; }
    Sheet LinesView { margin: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "leave", show=False),
        Binding("j,down", "scroll(1)", show=False), Binding("k,up", "scroll(-1)", show=False),
        Binding("ctrl+d,pagedown", "scroll(12)", show=False), Binding("ctrl+u,pageup", "scroll(-12)", show=False),
        Binding("g,home", "scroll(-10_000)", show=False), Binding("G,end", "scroll(10_000)", show=False),
    ]  # fmt: skip

    def __init__(self, title: str, lines: Sequence[Line] | Callable[[int], Sequence[Line]]) -> None:
        super().__init__()
        self._title, self._lines = title, lines

    def compose(self) -> ComposeResult:
        """Put title and lines into a box."""
        with Vertical():
            yield PopupTitle(self._title, "j k scroll · esc leaves")
            yield LinesView(id="sheet")

    def on_mount(self) -> None:
        """Show the lines."""
        self.query_one(LinesView).show(self._lines)

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        view = self.query_one(LinesView)
        view.scroll_to(y=view.scroll_offset.y + by, animate=False)

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)
