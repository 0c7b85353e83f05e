"""JSON Schema, draft 2020-12: is a schema one, and does a value fit it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from core.errors import Fault
from core.flows.canonical import canonical_json

if TYPE_CHECKING:  # jsonschema costs a tenth of a second: it is loaded by the first check, not by the first frame
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

INPUT_LIMIT_BYTES = 65_536
Path = Iterable[str | int]


def check_schema(schema: object, field: str) -> list[Fault]:
    """Return what is wrong with a schema itself; an object schema is wanted, since inputs are objects."""
    from jsonschema import Draft202012Validator, SchemaError

    if not isinstance(schema, Mapping):
        return [Fault(field, "must be a JSON Schema object", "write at least {type: object}", code="schema_invalid")]
    if schema.get("type", "object") != "object":
        return [Fault(f"{field}.type", "must be object", "inputs and answers are JSON objects", code="schema_invalid")]
    try:
        if fault := _reference_fault(schema, field):
            return [fault]
        Draft202012Validator.check_schema(schema)
    except RecursionError:
        return [Fault(field, "is nested too deeply", "make it flatter", code="schema_invalid")]
    except SchemaError as error:
        path = join_path(field, error.absolute_path)
        return [Fault(path, f"is not valid JSON Schema: {error.message}", "correct it", code="schema_invalid")]
    return []


def validate_input(schema: Mapping[str, Any], value: object) -> list[Fault]:
    """Return every way in which `value` does not fit `schema`; fields are relative to the value.

    The value must be a JSON object of at most 65,536 UTF-8 bytes.
    """
    if not isinstance(value, Mapping):
        return [Fault("", "must be a JSON object", "write {name: value}", code="input_invalid")]
    try:
        if len(canonical_json(value).encode()) > INPUT_LIMIT_BYTES:
            return [Fault("", "is larger than 65,536 bytes", "pass a reference to the data", code="input_invalid")]
        return _check(schema, value)
    except (TypeError, ValueError):
        return [Fault("", "must contain only JSON values", "write text, numbers, lists, objects", code="input_invalid")]
    except RecursionError:
        return [Fault("", "is nested too deeply to be checked", "make it flatter", code="input_invalid")]


def _check(schema: Mapping[str, Any], value: Mapping[str, Any]) -> list[Fault]:
    errors = sorted(_validator(canonical_json(schema)).iter_errors(value), key=lambda error: list(map(str, error.path)))
    return [fault for error in errors for fault in _faults_of(error)]


def join_path(base: str, path: Path) -> str:
    """Return a dotted path with list positions in brackets."""
    text = base
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


@lru_cache(maxsize=512)
def _validator(schema_text: str) -> Draft202012Validator:
    import json

    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema_text), format_checker=Draft202012Validator.FORMAT_CHECKER)


def _faults_of(error: ValidationError) -> list[Fault]:
    field = join_path("", error.absolute_path)
    if error.validator == "required":
        return [
            Fault(join_path("", [*error.absolute_path, _missing(error)]), "is required", "add it", code="input_invalid")
        ]
    if error.validator == "additionalProperties" and error.validator_value is False:
        return [
            Fault(
                join_path("", [*error.absolute_path, name]), "is not a known field", "remove it", code="input_invalid"
            )
            for name in _extra(error)
        ]
    return [Fault(field, error.message, "make it what the schema says", code="input_invalid")]


def _missing(error: ValidationError) -> str:
    """Return the one property that this `required` error is about; jsonschema names it in the message only."""
    names: Any = error.validator_value
    for name in names:
        if error.message.startswith(repr(name)):
            return str(name)
    return ""


def _extra(error: ValidationError) -> list[str]:
    known = error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}
    return [str(name) for name in cast("Mapping[str, Any]", error.instance) if name not in known]


def _reference_fault(schema: Mapping[str, Any], field: str) -> Fault | None:
    """Return the first reference that leads out of the schema, or nowhere inside it."""
    from referencing import Registry, Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    resource: Resource[Any] = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = Registry[Any]().with_resource("", resource).resolver()
    for reference in _references(schema):
        if not reference.startswith("#"):
            message, remedy = f"refers to {reference!r}", "use only references inside it (#/$defs/…)"
            return Fault(field, message, remedy, code="schema_invalid")
        try:
            resolver.lookup(reference)
        except (Unresolvable, ValueError, TypeError, LookupError):
            message = f"refers to {reference!r}, which is not in it"
            return Fault(field, message, "define it under $defs", code="schema_invalid")
    return None


def _references(node: object) -> Iterator[str]:
    if isinstance(node, Mapping):
        for name in ("$ref", "$dynamicRef"):
            if isinstance(node.get(name), str):
                yield node[name]
        for child in node.values():
            yield from _references(child)
    elif isinstance(node, list | tuple):
        for child in node:
            yield from _references(child)
