"""Turn pydantic's errors into faults: field in the document's own spelling, one sentence, one remedy."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from core.errors import Fault, Invalid
from core.resources.names import did_you_mean, kind_of
from core.words import shown


class Part(BaseModel):
    """A frozen part of a definition: camelCase outside, no unknown fields, no guessing between kinds."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        hide_input_in_errors=True,
    )


Checked = TypeVar("Checked", bound=BaseModel)


def check(model: type[Checked], value: object, *, later: Mapping[str, Sequence[str]] = MappingProxyType({})) -> Checked:
    """Return the value as a model; raises Invalid with every fault, fields relative to the value.

    `later` names by field the words that its type knows and that are not taken yet: no remedy offers them.
    """
    if not isinstance(value, Mapping):
        raise Invalid([Fault("", f"must be a mapping, not {kind_of(value)}", "write name: value")])
    try:
        return model.model_validate(dict(value))
    except ValidationError as error:
        raise Invalid(_fault(model, details, later) for details in error.errors(include_url=False)) from None


def _fault(model: type[BaseModel], details: ErrorDetails, later: Mapping[str, Sequence[str]]) -> Fault:
    field = _path(details["loc"])
    kind, given = details["type"], details.get("input")
    context = details.get("ctx", {})
    if kind == "extra_forbidden":
        word = details["loc"][-1]
        known = _fields_at(model, details["loc"][:-1])
        return Fault(field, "is not a field here", did_you_mean(word, known))
    if kind == "literal_error":
        return _choice(field, given, [word for word in _expected(context) if word not in later.get(field, ())])
    say = _SENTENCES.get(kind)
    if say is not None:
        return Fault(field, *say(given, context))
    return Fault(field, details["msg"][:1].lower() + details["msg"][1:])


def _path(place: tuple[int | str, ...]) -> str:
    path = ""
    for part in place:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _fields_at(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Return the names that are known where `place` points."""
    for part in place:
        by_name = {field.alias or name: field for name, field in model.model_fields.items()}
        inner = _model_in(by_name[part].annotation) if part in by_name else None
        if inner is None:
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    options = (annotation, *typing.get_args(annotation))
    return next((one for one in options if isinstance(one, type) and issubclass(one, BaseModel)), None)


Sentence = Callable[[Any, Mapping[str, Any]], tuple[str, str]]


def _wrong(expected: str, remedy: str) -> Sentence:
    return lambda given, _: (f"must be {expected}, not {kind_of(given)}", remedy)


def _expected(context: Mapping[str, Any]) -> list[str]:
    """Return the words that pydantic names: `'skip', 'fireOnce' or 'catchUp'`."""
    return re.findall(r"'([^']*)'", str(context.get("expected", "")))


def _choice(field: str, given: Any, words: Sequence[str]) -> Fault:
    what = shown(given) if isinstance(given, str) else kind_of(given)
    choose = f"write {', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else f"write {words[0]}"
    return Fault(field, f"{what} is not one of its values", did_you_mean(given, words, choose))


def _text(given: Any, _: Mapping[str, Any]) -> tuple[str, str]:
    return f"must be text, not {kind_of(given)}", "write one" if given is None else "put it in quotes"


def _own(_: Any, context: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a validator of our own said: the fault, then its remedy after the last semicolon."""
    message, _, remedy = str(context.get("error", "is wrong")).rpartition("; ")
    return (message, remedy) if message else (remedy, "correct it")


_SENTENCES: Final[dict[str, Sentence]] = {
    "missing": lambda _given, _context: ("is missing", "add it"),
    "string_type": _text,
    "string_too_short": lambda _given, context: ("is too short", f"write at least {context['min_length']} character"),
    "string_too_long": lambda given, context: (
        f"has {len(given):,} characters",
        f"keep at most {context['max_length']:,}",
    ),
    "bool_type": _wrong("true or false", "write true or false without quotes"),
    "int_type": _wrong("a whole number", "write it without quotes"),
    "int_from_float": _wrong("a whole number", "write it without a fraction"),
    "greater_than_equal": lambda _given, context: ("is too small", f"write {context['ge']} or more"),
    "less_than_equal": lambda _given, context: ("is too large", f"write {context['le']} or less"),
    "dict_type": _wrong("a mapping", "write name: value"),
    "model_type": _wrong("a mapping", "write name: value"),
    "model_attributes_type": _wrong("a mapping", "write name: value"),
    "list_type": _wrong("a list", "write [one, two]"),
    "value_error": _own,
}
