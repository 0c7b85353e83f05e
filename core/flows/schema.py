"""JSON Schema, draft 2020-12: is a schema one, and does a value fit it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from core.errors import Fault
from core.flows.canonical import canonical_json
from core.flows.reading import kind_of, near
from core.words import shown

if TYPE_CHECKING:  # jsonschema costs a tenth of a second: it is loaded by the first check, not by the first frame
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

INPUT_LIMIT_BYTES = 65_536
TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_KIND_WORDS = {
    "array": "a list", "object": "a mapping", "boolean": "true or false", "string": "text", "number": "a number",
    "integer": "a whole number", "null": "null",
}  # fmt: skip
_OF_NAMES = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_OF_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_OF_ONE = frozenset(
    {
        "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
        "unevaluatedProperties",
    }
)  # fmt: skip
_KEYWORDS = (
    *sorted(_OF_NAMES | _OF_LISTS | _OF_ONE),
    "type", "enum", "const", "required", "format", "pattern", "minLength", "maxLength", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "minContains",
    "maxContains", "minProperties", "maxProperties", "dependentRequired", "dependencies", "title", "description",
    "default", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType",
    "contentSchema", "$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$comment", "$vocabulary",
)  # fmt: skip
_OF_OTHERS = frozenset({"example"})  # OpenAPI writes it, and means no harm
Path = Iterable[str | int]


def check_schema(schema: object, field: str) -> list[Fault]:
    """Return what is wrong with a schema itself; an object schema is wanted, since inputs are objects."""
    if not isinstance(schema, Mapping):
        return [Fault(field, "must be a JSON Schema object", "write at least {type: object}", code="schema_invalid")]
    if schema.get("type", "object") != "object":
        return [Fault(f"{field}.type", "must be object", "inputs and answers are JSON objects", code="schema_invalid")]
    try:
        if fault := _reference_fault(schema, field):
            return [fault]
        return _keyword_value_faults(schema, field)
    except RecursionError:
        return [Fault(field, "is nested too deeply", "make it flatter", code="schema_invalid")]


def _keyword_value_faults(schema: Mapping[str, Any], field: str) -> list[Fault]:
    """Return a fault for each keyword whose value JSON Schema does not allow."""
    from jsonschema import Draft202012Validator

    checker = Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)
    found: dict[str, Fault] = {}
    for error in checker.iter_errors(schema):
        path = join_path(field, error.absolute_path)
        found.setdefault(path, Fault(path, *_explained(error), code="schema_invalid"))
    return [found[path] for path in sorted(found)]


def _explained(error: ValidationError) -> tuple[str, str]:
    """Return what is wrong with a schema and what to do."""
    given = repr(error.instance)[:60]
    if error.validator == "anyOf" and list(error.absolute_path)[-1:] == ["type"]:
        close = near(str(error.instance), TYPES)
        return f"{given} is not a type of JSON Schema", close or f"write {', '.join(TYPES[:-1])} or {TYPES[-1]}"
    if error.validator == "format":
        return f"{given} is not a {str(error.validator_value).replace('regex', 'regular expression')}", "correct it"
    if error.validator == "type":
        wanted: Any = error.validator_value
        words = [_KIND_WORDS[one] for one in (wanted if isinstance(wanted, list) else [wanted])]
        return f"{given} is not what JSON Schema wants here", f"write {' or '.join(words)}"
    return f"is not valid JSON Schema: {error.message[:200]}", "correct it"


def keyword_faults(schema: object, field: str) -> list[Fault]:
    """Return a fault for each keyword that is nearly one of JSON Schema, which would ignore it without a word."""
    faults: list[Fault] = []
    if not isinstance(schema, Mapping):
        return faults
    for name, value in schema.items():
        if name not in _KEYWORDS and name not in _OF_OTHERS and (meant := near(str(name), _KEYWORDS, cutoff=0.8)):
            message = "is not a keyword of JSON Schema"
            faults.append(Fault(join_path(field, [str(name)]), message, meant, code="schema_invalid"))
        for place, inner in _inner_schemas(str(name), value):
            faults += keyword_faults(inner, join_path(field, [str(name), *place]))
    return faults


def _inner_schemas(name: str, value: object) -> Iterator[tuple[Sequence[str | int], object]]:
    """Yield the schemas that a keyword holds, each with its place below it."""
    if name in _OF_NAMES and isinstance(value, Mapping):
        yield from (([str(key)], inner) for key, inner in value.items())
    elif name in _OF_LISTS and isinstance(value, list):
        yield from (([place], inner) for place, inner in enumerate(value))
    elif name in _OF_ONE:
        yield [], value


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
    if error.validator == "required":
        return [_input_fault([*error.absolute_path, _missing(error)], "is required", "add it")]
    if error.validator == "additionalProperties" and error.validator_value is False:
        known = [str(name) for name in _properties(error)]
        return [
            _input_fault([*error.absolute_path, name], "is not a known field", near(name, known) or "remove it")
            for name in _extra(error)
        ]
    return [_input_fault(error.absolute_path, *_misfit(error))]


def _input_fault(path: Path, message: str, remedy: str) -> Fault:
    return Fault(join_path("", path), message, remedy, code="input_invalid")


def _misfit(error: ValidationError) -> tuple[str, str]:
    """Return what is wrong with a value, and what to do, without repeating a long one."""
    allowed: Any = error.validator_value
    if error.validator == "type":
        kinds = allowed if isinstance(allowed, list) else [allowed]
        words = [_KIND_WORDS.get(str(one), str(one)) for one in kinds]
        return f"must be {' or '.join(words)}, not {kind_of(error.instance)}", "make it what the schema says"
    if error.validator == "enum":
        words = [str(one) for one in allowed][:20]
        message = f"{shown(str(error.instance))} is not one of its values"
        return message, near(str(error.instance), words) or f"write one of {', '.join(words)[:200]}"
    message = error.message
    return message if len(message) <= 200 else f"{message[:100]} … {message[-80:]}", "make it what the schema says"


def _missing(error: ValidationError) -> str:
    """Return the one property that this `required` error is about; jsonschema names it in the message only."""
    names: Any = error.validator_value
    for name in names:
        if error.message.startswith(repr(name)):
            return str(name)
    return ""


def _extra(error: ValidationError) -> list[str]:
    known = _properties(error)
    return [str(name) for name in cast("Mapping[str, Any]", error.instance) if name not in known]


def _properties(error: ValidationError) -> Mapping[str, Any]:
    return error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}


def _reference_fault(schema: Mapping[str, Any], field: str) -> Fault | None:
    """Return the first reference that leads out of the schema, or nowhere inside it."""
    from referencing import Registry, Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    resource: Resource[Any] = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = Registry[Any]().with_resource("", resource).resolver()
    for reference in _references(schema):
        if not reference.startswith("#"):
            message, remedy = f"refers to {shown(reference)}", "use only references inside it (#/$defs/…)"
            return Fault(field, message, remedy, code="schema_invalid")
        try:
            resolver.lookup(reference)
        except (Unresolvable, ValueError, TypeError, LookupError):
            message = f"refers to {shown(reference)}, which is not in it"
            return Fault(field, message, "define it under $defs", code="schema_invalid")
    for reference in _references(schema):
        if _turns_back(reference, lambda there: resolver.lookup(there).contents):
            message, remedy = f"refers to {shown(reference)}, which comes back to itself", "let it end in a type"
            return Fault(field, message, remedy, code="schema_invalid")
    return None


def _turns_back(start: str, lookup: Callable[[str], object]) -> bool:
    """Say whether a reference leads to itself again before any value is taken apart: no check of it would end."""
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        for reference in _at_the_same_place(lookup(ahead.pop())):
            if reference == start:
                return True
            if reference.startswith("#") and reference not in seen:
                seen.add(reference)
                ahead.append(reference)
    return False


def _at_the_same_place(node: object) -> Iterator[str]:
    """Yield the references that a schema follows for the very value that it is about."""
    if not isinstance(node, Mapping):
        return
    if isinstance(node.get("$ref"), str):
        yield node["$ref"]
    for name in ("allOf", "anyOf", "oneOf"):
        for child in node[name] if isinstance(node.get(name), list) else ():
            yield from _at_the_same_place(child)


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
