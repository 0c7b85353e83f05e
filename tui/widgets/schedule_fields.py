"""Own the form of a Trigger: a row per field of the draft, shown for the kind of schedule; it keeps no edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea

from core.errors import Fault
from tui.present.cron_fields import cron_hint
from tui.present.draft import BY_KEY, SPECS, Draft, Spec
from tui.present.lines import Line, Piece, line
from tui.widgets.fields import LABEL, FieldRow, LineInput, Options, PickInput
from tui.widgets.lines_view import Bar

PICKED = {"timeZone", "flow"}


class CronHint(Bar):
    """Names the field of the cron expression under the cursor."""

    DEFAULT_CSS = "CronHint { height: 1; margin-left: 12; width: 1fr; }"
    ground = "back"

    def __init__(self) -> None:
        super().__init__()
        self._at: tuple[str, int] = ("", 0)

    def put(self, expression: str, cursor: int) -> None:
        """Show the hint for a cursor position."""
        self._at = (expression, cursor)
        self.refresh()

    def line(self, cells: int) -> Line:  # noqa: ARG002  the Bar cuts it
        """Return the hint."""
        return cron_hint(*self._at)


class FieldHint(Bar):
    """A quiet line below a field."""

    DEFAULT_CSS = "FieldHint { height: 1; margin-left: 12; width: 1fr; }"
    ground = "back"
    _line: Line = ()

    def put(self, row: Line) -> None:
        """Show a line."""
        self._line = row
        self.refresh()

    def line(self, cells: int) -> Line:  # noqa: ARG002  the Bar cuts it
        """Return the line."""
        return self._line


class Section(Bar):
    """A thin line with a title between groups of fields."""

    DEFAULT_CSS = "Section { height: 1; margin-top: 1; }"
    ground = "back"

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def line(self, cells: int) -> Line:
        """Return the title in a rule."""
        return line(Piece(f"{self._title} ", "head"), Piece("─" * max(cells - len(self._title) - 1, 0), "bar"))


SECTIONS = {"flow": "does", "enabled": "policies", "startAt": "bounds", "displayName": "about"}


class DraftForm(VerticalScroll, can_focus=False):
    """The fields of a draft."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
    ]
    """Before other keys, so that what is typed right after them reaches the next field."""

    class Edited(Message):
        """A field holds another text."""

        def __init__(self, key: str, text: str) -> None:
            super().__init__()
            self.key, self.text = key, text

    class Pick(Message):
        """A list is wanted for a field."""

        def __init__(self, key: str, text: str) -> None:
            super().__init__()
            self.key, self.text = key, text

    def __init__(self, *, is_new: bool) -> None:
        super().__init__()
        self._specs = tuple(spec for spec in SPECS if is_new or not spec.new_only)
        self._keys: dict[Widget, str] = {}
        self._rows: dict[str, FieldRow] = {}

    def compose(self) -> ComposeResult:
        """Yield a row per field."""
        for spec in self._specs:
            if spec.key in SECTIONS:
                yield Section(SECTIONS[spec.key])
            control = _control(spec)
            row = FieldRow(spec.key, spec.label, control, _hint(spec))
            row.display = "cron" in spec.shown_for
            self._keys[control], self._rows[spec.key] = spec.key, row
            yield row

    def hint(self, key: str, row: Line) -> None:
        """Show a quiet line below a field."""
        self.query_one(f"#row-{key} FieldHint", FieldHint).put(row)

    def begin(self) -> None:
        """Give the keys to the first text field that is in sight."""
        first = next(
            (row.control for row in self._rows.values() if row.display and isinstance(row.control, Input)), None
        )
        if first is not None:
            first.focus()

    def show(self, draft: Draft) -> None:
        """Show a draft's texts and the fields of its kind of schedule."""
        for key, row in self._rows.items():
            row.display = draft.type in BY_KEY[key].shown_for
            _put(row.control, draft.text(key))
        self.query_one(CronHint).put(draft.text("expression"), 0)

    def collect(self, draft: Draft) -> Draft:
        """Take in what stands in the fields now, also what has been typed and not been told yet."""
        for key, row in self._rows.items():
            if row.display and (text := _text(row.control)) is not None:
                draft = draft.put(key, text)
        return draft

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell an edit."""
        self._tell(event.input, event.value)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Tell an edit."""
        self._tell(event.text_area, event.text_area.text)

    def on_options_changed(self, event: Options.Changed) -> None:
        """Tell an edit."""
        self._tell(event.options, event.value)

    def _tell(self, control: Widget, text: str) -> None:
        if control in self._keys:
            self.post_message(self.Edited(self._keys[control], text))

    def on_line_input_cursor_at(self, event: LineInput.CursorAt) -> None:
        """Name the cron field under the cursor."""
        if self._keys.get(event.field) == "expression":
            self.query_one(CronHint).put(event.field.value, event.position)

    def on_pick_input_pick(self, event: PickInput.Pick) -> None:
        """Pass on that a list is wanted."""
        self.post_message(self.Pick(self._keys[event.field], event.field.value))

    def show_faults(self, faults: Iterable[Fault], own: Mapping[str, str]) -> None:
        """Show each fault below its field; the first one of a field counts."""
        told = dict(own)
        for fault in faults:
            key = field_of(fault)
            at = f" (character {fault.position + 1})" if fault.position is not None else ""
            told.setdefault(key, f"{fault.message}{at}" + (f"; {fault.remedy}" if fault.remedy else ""))
        for key, row in self._rows.items():
            row.fault(told.get(key, ""))

    def go_to_fault(self, faults: Iterable[Fault]) -> None:
        """Give the keys to the first field that has a fault."""
        for fault in faults:
            row = self._rows.get(field_of(fault))
            if row is not None:
                row.control.focus()
                return


def field_of(fault: Fault) -> str:
    """Return the key of the form's field that a fault is about; empty where none is."""
    best = [spec for spec in SPECS if fault.field == spec.path or fault.field.startswith(f"{spec.path}.")]
    if best:
        return max(best, key=lambda spec: len(spec.path)).key
    last = fault.field.rsplit(".", 1)[-1]
    return last if last in BY_KEY else ""


def _hint(spec: Spec) -> Bar | None:
    if spec.key == "expression":
        return CronHint()
    return FieldHint() if spec.key in PICKED or spec.kind == "json" else None


def _control(spec: Spec) -> Widget:
    if spec.kind in {"options", "switch"}:
        return Options(spec.options)
    if spec.kind == "json":
        area = TextArea(soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
        area.highlight_cursor_line = False
        return area
    kind = PickInput if spec.key in PICKED else LineInput
    return kind(placeholder=spec.hint, select_on_focus=False)


def _text(control: Widget) -> str | None:
    if isinstance(control, TextArea):
        return control.text
    return control.value if isinstance(control, Input | Options) else None


def _put(control: Widget, text: str) -> None:
    if isinstance(control, Options):
        control.put(text)
    elif isinstance(control, TextArea):
        if control.text != text:
            control.load_text(text)
    elif isinstance(control, Input) and control.value != text:
        with control.prevent(Input.Changed):
            control.value = text


__all__ = ["LABEL", "DraftForm", "field_of"]
