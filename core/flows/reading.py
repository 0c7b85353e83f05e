"""Reads a mapping field by field, collecting every fault with its path instead of stopping at the first."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from core.errors import Fault
from core.flows.durations import parse_duration
from core.words import shown

SECRET_NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_.-]{0,127}$")


class Scope:
    """What an expression at this place may refer to: the steps that come earlier, and all steps' names."""

    def __init__(self, earlier: frozenset[str], everything: frozenset[str]) -> None:
        self.earlier = earlier
        self.everything = everything


class Fields:
    """One mapping being read; `unread()` in the end refuses what nobody asked for."""

    def __init__(self, value: object, path: str, faults: list[Fault], scope: Scope | None = None) -> None:
        self.path = path
        self.faults = faults
        self.scope = scope or Scope(frozenset(), frozenset())
        self.known: list[str] = []
        self.values: Mapping[str, Any] = {}
        if isinstance(value, Mapping):
            self.values = value
        else:
            self.fault("", f"must be a mapping of fields, not {kind_of(value)}", "write name: value")

    def at(self, name: str) -> str:
        """Return the full path of a field."""
        return ".".join(part for part in (self.path, name) if part)

    def fault(self, name: str, message: str, remedy: str = "", *, code: str = "invalid") -> None:
        """Note a fault of a field."""
        self.faults.append(Fault(self.at(name), message, remedy, code=code))

    def take(self, name: str) -> Any:
        """Return a field as it is; None where it is absent."""
        self.known.append(name)
        return self.values.get(name)

    def has(self, name: str) -> bool:
        """Return whether the field is written at all."""
        return self.values.get(name) is not None

    def inner(self, name: str) -> Fields:
        """Return a reader of a nested mapping."""
        return Fields(self.take(name), self.at(name), self.faults, self.scope)

    def text(self, name: str, *, required: bool = False, longest: int = 500) -> str:
        """Return a text field; empty where it is absent."""
        value = self.take(name)
        if value is None:
            if required:
                self.fault(name, "is required", "add it")
            return ""
        if not isinstance(value, str):
            self.fault(name, f"must be text, not {kind_of(value)}", "put it in quotes")
            return ""
        if required and not value.strip():
            self.fault(name, "must not be empty", "write what it should say")
        if len(value) > longest:
            self.fault(name, f"is longer than {longest} characters", "shorten it")
        return value

    def choice(self, name: str, allowed: Sequence[str], default: str) -> str:
        """Return one of a few words."""
        value = self.take(name)
        if value is None:
            return default
        if value not in allowed:
            remedy = near(str(value), allowed) or f"write {allowed[0]}, for instance"
            self.fault(name, f"must be one of {', '.join(allowed)}, not {shown(str(value))}", remedy)
            return default
        return str(value)

    def integer(self, name: str, default: int, *, least: int, most: int) -> int:
        """Return a whole number between two bounds."""
        value = self.take(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.fault(name, f"must be a whole number from {least} to {most}", f"write {default}, for instance")
            return default
        return value

    def duration(self, name: str) -> timedelta | None:
        """Return an ISO-8601 duration of fixed length."""
        value = self.take(name)
        if value is None:
            return None
        try:
            return parse_duration(value)
        except ValueError as error:
            self.fault(name, str(error), "write a duration such as PT30S, PT5M or P1D")
            return None

    def template(self, name: str, *, required: bool = False, longest: int = 4096) -> str:
        """Return a text that may hold `{{ … }}`, checked against the steps before it."""
        value = self.text(name, required=required, longest=longest)
        self.check(name, value)
        return value

    def condition(self, name: str) -> str | None:
        """Return an expression that is true or false."""
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value, str):
            self.fault(name, f"must be an expression as text, not {kind_of(value)}", "put it in quotes")
            return None
        self._checked(name, value, is_condition=True)
        return value

    def check(self, name: str, value: object) -> None:
        """Check every `{{ … }}` anywhere inside a value."""
        if isinstance(value, str):
            self._checked(name, value)
        elif isinstance(value, Mapping):
            for key, child in value.items():
                self.check(f"{name}.{key}", child)
        elif isinstance(value, list | tuple):
            for position, child in enumerate(value):
                self.check(f"{name}[{position}]", child)

    def named_values(self, name: str, key: re.Pattern[str], what: str) -> dict[str, Any]:
        """Return environment variables or headers: names to templates or `{secretRef: NAME}`."""
        value = self.take(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.fault(name, f"must be a mapping of names to text, not {kind_of(value)}", "write NAME: value")
            return {}
        for entry, content in value.items():
            self._named_value(f"{name}.{entry}", str(entry), content, key, what)
        return dict(value)

    def unread(self) -> None:
        """Refuse every field that nobody took, naming the closest one that exists."""
        for name in self.values:
            if name not in self.known:
                self.fault(
                    str(name), "is not a known field", near(str(name), self.known) or "remove it", code="unknown_field"
                )

    def _named_value(self, where: str, entry: str, content: Any, key: re.Pattern[str], what: str) -> None:
        if not key.match(entry):
            self.fault(where, f"is not a valid {what} name", "use letters, digits and _, as the system knows them")
        if isinstance(content, Mapping):
            name = content.get("secretRef")
            if set(content) != {"secretRef"} or not isinstance(name, str) or not SECRET_NAME.match(name):
                self.fault(where, "must be text or {secretRef: NAME}", "name the secret, never its value")
        elif isinstance(content, str):
            self.check(where, content)
        else:
            self.fault(where, f"must be text or {{secretRef: NAME}}, not {kind_of(content)}", "put it in quotes")

    def _checked(self, name: str, value: str, *, is_condition: bool = False) -> None:
        from core.flows.expressions import ExpressionError, check_condition, check_template  # brings Jinja

        try:
            references = check_condition(value) if is_condition else check_template(value)
        except ExpressionError as error:
            self.fault(name, str(error), "correct what stands between {{ and }}", code="expression_invalid")
            return
        for step in references:
            if step in self.scope.earlier:
                continue
            if step in self.scope.everything:
                message = f"refers to step {shown(step)}, which does not come earlier"
                self.fault(name, message, "move that step up, or this one down", code="expression_invalid")
            else:
                self.fault(
                    name,
                    f"refers to a step {shown(step)} that does not exist",
                    near(step, tuple(self.scope.earlier)) or "name a step that comes earlier",
                    code="expression_invalid",
                )


_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def is_one_line(text: str) -> bool:
    """Return whether a text holds neither line ends nor control characters, which would upset a terminal."""
    return _BREAKS.search(text) is None


def near(word: str, known: Sequence[str], *, cutoff: float = 0.6) -> str:
    """Return "did you mean …" for the closest known word, or nothing."""
    folded = {name.lower(): name for name in known}
    match = difflib.get_close_matches(word.lower()[:100], folded, n=1, cutoff=cutoff)
    return f"did you mean {folded[match[0]]}?" if match else ""


def kind_of(value: object) -> str:
    """Return what people call the JSON type of a value."""
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "a mapping"}
    return "nothing" if value is None else names.get(type(value), type(value).__name__)
