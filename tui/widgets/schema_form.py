"""Make a form from a JSON Schema; `enter` never sends it, faults stand under their fields."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Checkbox, Input, Select, Static, TextArea

from core.errors import Fault
from tui.present.lines import clean
from tui.present.schema_fields import FieldSpec, fields_of, read_form


class FormField(Vertical):
    """A title, an entry and one line that holds the hint or the fault."""

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__(classes="form-field")
        self.spec = spec
        self._entry = _entry(spec)

    def compose(self) -> ComposeResult:
        """Lay title and entry side by side, the hint below."""
        star = "*" if self.spec.required else ""
        with Horizontal():
            yield Static(f"{clean(self.spec.title)}{star}", classes="form-title", markup=False)
            yield self._entry
        yield Static(clean(self.spec.hint), classes="form-hint", markup=False)

    def on_mount(self) -> None:
        """Take no line for a hint that is empty."""
        self.tell(None)

    @property
    def entry(self) -> Widget:
        """Return the widget that takes the value."""
        return self._entry

    @property
    def entered(self) -> Any:
        """Return what stands in the entry: text, a bool, or one of the choices."""
        entry = self._entry
        if isinstance(entry, Checkbox):
            return entry.value
        if isinstance(entry, Select):
            return None if entry.value is Select.NULL else self.spec.choices[int(str(entry.value))]
        if isinstance(entry, TextArea):
            return entry.text
        return entry.value if isinstance(entry, Input) else None

    def tell(self, fault: Fault | None) -> None:
        """Show the fault in place of the hint, or the hint again."""
        hint = self.query_one(".form-hint", Static)
        hint.update(f"✗ {clean(fault.message)}{_remedy(fault)}" if fault else clean(self.spec.hint))
        hint.display = bool(fault or self.spec.hint)
        self.set_class(fault is not None, "-wrong")


def _remedy(fault: Fault) -> str:
    return f"; {clean(fault.remedy)}" if fault.remedy else ""


class YesNo(Checkbox):
    """A box that says in words whether it is ticked."""

    def __init__(self, value: bool) -> None:
        super().__init__("yes" if value else "no", value, compact=True)
        self._say(value)

    def watch_value(self) -> None:
        """Say the new value."""
        self._say(self.value)
        super().watch_value()

    def _say(self, value: bool) -> None:
        self.BUTTON_INNER = "x" if value else " "
        self.label = "yes" if value else "no"


def _entry(spec: FieldSpec) -> Widget:
    if spec.kind == "boolean":
        return YesNo(bool(spec.start))
    if spec.kind == "choice":
        options = [(clean(label), str(index)) for index, label in enumerate(spec.labels)]
        begun = spec.has_start and spec.start in spec.choices
        start = str(spec.choices.index(spec.start)) if begun else Select.NULL
        return Select(options, value=start, compact=True, prompt="choose")
    if spec.kind == "json":
        text = json.dumps(spec.start, indent=2, ensure_ascii=False) if spec.has_start else ""
        area = TextArea(text, compact=True, tab_behavior="focus", classes="form-json")
        area.cursor_blink = False
        return area
    entry = Input(spec.start_text, compact=True)
    entry.cursor_blink = False
    return entry


class SchemaForm(VerticalScroll, can_focus=False):
    """The fields of one question."""

    class Edited(Message):
        """Somebody changed a field."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._schema: Mapping[str, Any] = {}
        self._values: Mapping[str, Any] = {}
        self.edited = False
        self._asked = 0
        self._turn = asyncio.Lock()

    @property
    def form_fields(self) -> tuple[FormField, ...]:
        """Return the fields from top to bottom."""
        return tuple(self.query(FormField))

    async def ask(self, schema: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        """Show the form of another schema, or the same one with other values; of many asked for, only the newest."""
        self._asked += 1
        mine = self._asked
        async with self._turn:
            if mine != self._asked:
                return
            self._schema, self._values, self.edited = schema, values, False
            await self.remove_children()
            await self.mount_all([FormField(spec) for spec in fields_of(schema, values)])

    def read(self) -> tuple[dict[str, Any], tuple[Fault, ...]]:
        """Return the values and the faults of what stands in the fields."""
        fields = self.form_fields
        values, faults = read_form(tuple(field.spec for field in fields), {f.spec.name: f.entered for f in fields})
        unseen = {name: value for name, value in self._values.items() if name not in {f.spec.name for f in fields}}
        return {**unseen, **values}, faults

    def tell(self, faults: Iterable[Fault], *, focus: bool = False) -> tuple[Fault, ...]:
        """Show each fault under its field; return those that belong to no field here."""
        by_name = {_first(fault.field): fault for fault in reversed(tuple(faults))}
        for field in self.form_fields:
            fault = by_name.pop(field.spec.name, None)
            field.tell(fault)
            if fault and focus:
                field.entry.focus()
                focus = False
        return tuple(by_name.values())

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Checkbox.Changed)
    @on(Select.Changed)
    def _check(self, event: Message) -> None:
        event.stop()
        field = next((each for each in self.form_fields if each.entry is event._sender), None)
        if field is None or (not field.entry.has_focus_within and not field.entry.has_focus):
            return
        self.edited = True
        _, faults = read_form((field.spec,), {field.spec.name: field.entered})
        field.tell(faults[0] if faults else None)
        self.post_message(self.Edited())

    @on(Input.Submitted)
    def _next(self, event: Input.Submitted) -> None:
        """Take `enter` as "next field", never as "send"."""
        event.stop()
        self.screen.focus_next()


def _first(path: str) -> str:
    """Return the field of a fault's path: `values.tags[0].name` is in `tags`."""
    return path.removeprefix("values.").partition(".")[0].partition("[")[0]
