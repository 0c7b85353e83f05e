"""A question's JSON Schema as form fields, and typed text back as values; pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.errors import Fault

FieldKind = Literal["text", "integer", "number", "boolean", "choice", "json"]

_SIMPLE: dict[str, FieldKind] = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a form. `choices` are the allowed values, each with its label; `start` is what stands in it first.

    `shape` says in words what a field of JSON holds.
    """

    name: str
    title: str
    kind: FieldKind
    required: bool
    description: str = ""
    choices: tuple[Any, ...] = ()
    labels: tuple[str, ...] = ()
    shape: str = ""
    start: Any = None
    has_start: bool = False
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    min_length: int = 0
    max_length: int | None = None

    @property
    def hint(self) -> str:
        """Return what the field takes, in a few words."""
        parts = [self.shape, _range_words(self), self.description]
        return " · ".join(part for part in parts if part)

    @property
    def start_text(self) -> str:
        """Return the starting value as it stands in the field."""
        if not self.has_start:
            return ""
        return self.start if isinstance(self.start, str) and self.kind == "text" else json.dumps(self.start)


def fields_of(schema: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[FieldSpec, ...]:
    """Return the form of an object schema in the schema's order; `values` win over its defaults."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    required = schema.get("required", ())
    return tuple(_field(str(name), rule, name in required, values) for name, rule in properties.items())


def _field(name: str, rule: Any, required: bool, values: Mapping[str, Any]) -> FieldSpec:
    rule = rule if isinstance(rule, Mapping) else {}
    has_start = name in values or "default" in rule
    kind, choices = _kind(rule), _choices(rule)
    return FieldSpec(
        name=name,
        title=str(rule.get("title") or name),
        kind=kind,
        required=required,
        description=str(rule.get("description") or ""),
        choices=tuple(value for value, _ in choices),
        labels=tuple(label for _, label in choices),
        shape=f"JSON, {_shape(rule)}" if kind == "json" else "",
        start=values.get(name, rule.get("default")),
        has_start=has_start,
        minimum=_number(rule.get("minimum")),
        maximum=_number(rule.get("maximum")),
        above=_number(rule.get("exclusiveMinimum")),
        below=_number(rule.get("exclusiveMaximum")),
        min_length=int(_number(rule.get("minLength")) or 0),
        max_length=None if _number(rule.get("maxLength")) is None else int(rule["maxLength"]),
    )


def _kind(rule: Mapping[str, Any]) -> FieldKind:
    if _choices(rule):
        return "choice"
    declared = rule.get("type")
    return _SIMPLE.get(declared, "json") if isinstance(declared, str) else "json"


def _choices(rule: Mapping[str, Any]) -> tuple[tuple[Any, str], ...]:
    if isinstance(rule.get("enum"), list):
        return tuple((value, _label(value)) for value in rule["enum"])
    one_of = rule.get("oneOf")
    if isinstance(one_of, list) and one_of and all(isinstance(item, Mapping) and "const" in item for item in one_of):
        return tuple((item["const"], str(item.get("title") or _label(item["const"]))) for item in one_of)
    return ()


def _label(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_NOUNS = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
          "null": "null", "array": "a list", "object": "an object"}  # fmt: skip


def _shape(rule: Mapping[str, Any]) -> str:
    """Return what a rule takes: `a list, each a text`, `an object with a, b`."""
    declared = rule.get("type")
    names = declared if isinstance(declared, list) else [declared]
    words = " or ".join(_NOUNS[name] for name in names if name in _NOUNS) or "any value"
    items, parts = rule.get("items"), rule.get("properties")
    if declared == "array" and isinstance(items, Mapping):
        return f"{words}, each {_shape(items)}"
    if declared == "object" and isinstance(parts, Mapping) and parts:
        return f"{words} with {', '.join(map(str, parts))}"
    return words


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def read_field(spec: FieldSpec, entered: Any) -> tuple[Any, Fault | None]:
    """Return the value of what was entered, or the fault that it has; None stands for "left out".

    `entered` is text for typed kinds, a bool for boolean and one of the choices (or None) for choice.
    """
    if entered is None or (isinstance(entered, str) and not entered.strip() and spec.kind != "text"):
        return _left_out(spec)
    if spec.kind == "text":
        return _read_text(spec, str(entered))
    if spec.kind in {"integer", "number"}:
        return _read_number(spec, str(entered).strip())
    return _read_json(spec, str(entered)) if spec.kind == "json" else (entered, None)


def _left_out(spec: FieldSpec) -> tuple[Any, Fault | None]:
    fault = Fault(spec.name, "must be filled in", spec.description or _example(spec)) if spec.required else None
    return None, fault


def _example(spec: FieldSpec) -> str:
    return {
        "integer": "write a whole number",
        "number": "write a number",
        "json": 'write JSON such as {"key": "value"}',
        "choice": "pick one",
    }.get(spec.kind, "write something")


def _read_text(spec: FieldSpec, text: str) -> tuple[Any, Fault | None]:
    if not text:
        return _left_out(spec)
    if len(text) < spec.min_length:
        return None, Fault(spec.name, f"must have at least {spec.min_length} characters")
    if spec.max_length is not None and len(text) > spec.max_length:
        return None, Fault(spec.name, f"must have at most {spec.max_length} characters, it has {len(text)}")
    return text, None


def _read_number(spec: FieldSpec, text: str) -> tuple[Any, Fault | None]:
    wanted = "a whole number" if spec.kind == "integer" else "a number"
    try:
        value = int(text) if spec.kind == "integer" else float(text)
    except ValueError:
        return None, Fault(spec.name, f"must be {wanted}")
    if isinstance(value, float) and not math.isfinite(value):
        return None, Fault(spec.name, f"must be {wanted}")
    fault = None if _in_range(spec, value) else Fault(spec.name, f"must be {_range_words(spec)}")
    return (None, fault) if fault else (value, None)


def _in_range(spec: FieldSpec, value: float) -> bool:
    return (
        (spec.minimum is None or value >= spec.minimum)
        and (spec.maximum is None or value <= spec.maximum)
        and (spec.above is None or value > spec.above)
        and (spec.below is None or value < spec.below)
    )


def _range_words(spec: FieldSpec) -> str:
    if spec.minimum is not None and spec.maximum is not None:
        return f"{spec.minimum:g}{'–' if spec.minimum >= 0 else ' to '}{spec.maximum:g}"
    parts = [
        f"{word} {limit:g}"
        for word, limit in (
            ("at least", spec.minimum),
            ("at most", spec.maximum),
            ("more than", spec.above),
            ("less than", spec.below),
        )
        if limit is not None
    ]
    return " and ".join(parts)


def _read_json(spec: FieldSpec, text: str) -> tuple[Any, Fault | None]:
    try:
        return json.loads(text), None
    except json.JSONDecodeError as error:
        return None, Fault(spec.name, f"is not JSON: {error.msg}", 'write it like {"key": [1, 2]}', error.pos)


def read_form(specs: tuple[FieldSpec, ...], entered: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Fault, ...]]:
    """Return the values of a whole form and all its faults; fields left empty are left out."""
    read = [(spec, *read_field(spec, entered.get(spec.name))) for spec in specs]
    faults = tuple(fault for _, _, fault in read if fault is not None)
    return {spec.name: value for spec, value, fault in read if fault is None and value is not None}, faults
