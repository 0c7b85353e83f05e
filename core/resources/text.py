"""Read YAML and JSON into plain values, losslessly, and write them back.

What YAML guesses is guessed as little as is customary: true/false (also yes/no, on/off), null, whole and decimal
numbers. Instants, `12:30` and `0644` stay text, keys are always text. Refused, each with its line: a key that stands
twice, tags, aliases that blow up, deep nesting, numbers that JSON does not know, text that is not UTF-8.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from core.errors import Fault, Invalid

DEPTH_LIMIT: Final = 50
NODE_LIMIT: Final = 50_000
DOCUMENT_LIMIT_BYTES: Final = 262_144
DOCUMENT_LIMIT: Final = 5_000

_MARK = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF")
_TRUE = frozenset({"yes", "true", "on"})
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(
    r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    re.ASCII,
)
_DIGIT_LIMIT = 300
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAG = "tag:yaml.org,2002:str"


@dataclass(frozen=True, slots=True)
class Raw:
    """One document of a file: its number from 1, its first line, and either a value or the faults of its text."""

    number: int
    line: int
    value: Any
    faults: tuple[Fault, ...] = ()


class _Broken(Exception):
    """The text cannot be read any further."""

    def __init__(self, message: str, remedy: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy
        self.line = line


def decode(data: bytes) -> str:
    """Return the text of a file; raises Invalid where it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Invalid([Fault("", f"line {line} is not UTF-8", "save the file as UTF-8")]) from None


def read_documents(text: str) -> tuple[Raw, ...]:
    """Return every document of a text, those with faults too; empty ones are left out."""
    text = text.removeprefix("\ufeff")
    found: list[Raw] = []
    for line, chunk in _chunks(text):
        if len(found) >= DOCUMENT_LIMIT:
            fault = Fault("", f"the file holds more than {DOCUMENT_LIMIT:,} documents", "split it")
            return (*found, Raw(len(found) + 1, line, None, (fault,)))
        found += _read_chunk(chunk, line, len(found) + 1)
    return tuple(found)


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Cut at the lines that begin a YAML document: such a line can stand nowhere else."""
    starts = [0, *(mark.start() for mark in _MARK.finditer(text) if mark.start() > 0)]
    line = 1
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        chunk = text[start:end]
        yield line, chunk
        line += chunk.count("\n")


def _read_chunk(chunk: str, line: int, number: int) -> list[Raw]:
    try:
        _check_text(chunk, line)
        values = _read_json(chunk) if chunk.lstrip()[:1] in {"{", "["} else None
        if values is None:
            values = _Builder(chunk, line).documents()
        for value in values:
            _check_value(value)
    except _Broken as broken:
        where = f"line {broken.line}: " if broken.line else ""
        return [Raw(number, line, None, (Fault("", f"{where}{broken}", broken.remedy),))]
    return [Raw(number + place, line, value) for place, value in enumerate(values)]


def _check_text(chunk: str, line: int) -> None:
    try:
        size = len(chunk.encode())
    except UnicodeEncodeError as error:
        raise _Broken(
            "holds a character that is not UTF-8", "save the file as UTF-8", line + chunk.count("\n", 0, error.start)
        ) from None
    if size > DOCUMENT_LIMIT_BYTES:
        raise _Broken(f"the document has {size:,} bytes", f"keep it under {DOCUMENT_LIMIT_BYTES:,}", line)


def _check_value(value: Any) -> None:
    """Raise for what cannot be kept as JSON text of sane size."""
    level, nodes = [value], 0
    for _ in range(DEPTH_LIMIT + 1):
        nodes += len(level)
        if nodes > NODE_LIMIT:
            raise _Broken(f"holds more than {NODE_LIMIT:,} values", "split it")
        texts = [text for node in level for text in _texts_of(node)]
        if any("\ud800" <= character <= "\udfff" for text in texts for character in text):
            raise _Broken("holds half of a character (a lone surrogate)", "write the character itself")
        level = [inner for node in level for inner in _children(node)]
        if not level:
            return
    raise _Broken(f"is nested deeper than {DEPTH_LIMIT} levels", "make it flatter")


def _texts_of(node: Any) -> list[str]:
    return [node] if isinstance(node, str) else list(node) if isinstance(node, dict) else []


def _children(node: Any) -> list[Any]:
    return list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []


# -- JSON ---------------------------------------------------------------------------------------------------------


def _read_json(chunk: str) -> list[Any] | None:
    """Return the documents of a JSON text (an array holds many), None where it is not JSON."""
    try:
        value = json.loads(
            chunk, object_pairs_hook=_object, parse_int=_integer, parse_float=_decimal, parse_constant=_decimal
        )
    except ValueError:
        return None
    except RecursionError:
        raise _Broken(f"is nested deeper than {DEPTH_LIMIT} levels", "make it flatter") from None
    return value if isinstance(value, list) else [value]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Broken(f"the key {_twice(names)!r} stands twice", "keep one of them")
    return found


def _twice(names: list[str]) -> str:
    return next(name for name in names if names.count(name) > 1)[:60]


def _integer(text: str) -> int:
    if len(text) > _DIGIT_LIMIT:
        raise _Broken(f"a number has {len(text):,} digits", "write it as text, in quotes")
    return int(text)


def _decimal(text: str) -> float:
    try:
        value = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        raise _Broken(f"{text[:40]} is not a number", "put it in quotes") from None
    if not math.isfinite(value):
        raise _Broken(f"{text[:40]} is not a number that JSON knows", "put it in quotes")
    return value


# -- YAML ---------------------------------------------------------------------------------------------------------


class _Builder:
    """Builds the values of one chunk from YAML's events."""

    def __init__(self, chunk: str, line: int) -> None:
        self._events = yaml.parse(chunk, Loader=_LOADER)
        self._line = line
        self._nodes = 0
        self._anchors: dict[str, tuple[Any, int]] = {}

    def documents(self) -> list[Any]:
        """Return the value of each document that is not empty."""
        found = []
        for event in self._each():
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
                found.append(self._node(self._next(), 0))
        return [value for value in found if value is not None]

    def _each(self) -> Iterator[Any]:
        while True:
            event = self._next()
            if isinstance(event, yaml.StreamEndEvent):
                return
            yield event

    def _next(self) -> Any:
        try:
            return next(self._events)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = self._line + mark.line if mark else None
            raise _Broken(*_explained(error, mark), line) from None
        except yaml.YAMLError as error:
            raise _Broken(f"is not YAML: {str(error).splitlines()[0][:120]}", "remove control characters") from None
        except RecursionError:
            raise _Broken(f"is nested deeper than {DEPTH_LIMIT} levels", "make it flatter") from None

    def _at(self, event: Any) -> int:
        return int(self._line + event.start_mark.line)

    def _node(self, event: Any, depth: int) -> Any:
        if depth > DEPTH_LIMIT:
            raise _Broken(f"is nested deeper than {DEPTH_LIMIT} levels", "make it flatter", self._at(event))
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        before = self._nodes
        self._count(1, event)
        value = self._value(event, depth)
        if event.anchor:
            self._anchors[event.anchor] = (value, self._nodes - before)
        return value

    def _value(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        self._check_tag(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(depth)
        return self._mapping(depth)

    def _count(self, nodes: int, event: Any) -> None:
        self._nodes += nodes
        if self._nodes > NODE_LIMIT:
            raise _Broken(f"holds more than {NODE_LIMIT:,} values", "write less, or fewer aliases", self._at(event))

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise _Broken(f"the alias *{event.anchor[:60]} has no complete anchor before it", "", self._at(event))
        value, nodes = self._anchors[event.anchor]
        self._count(nodes, event)
        return value

    def _check_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag != "!":
            raise _Broken(f"tags such as {event.tag[:60]} are not supported", "write the plain value", self._at(event))

    def _sequence(self, depth: int) -> list[Any]:
        found = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            found.append(self._node(event, depth + 1))
        return found

    def _mapping(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: list[Any] = []
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event)
            value = self._node(self._next(), depth + 1)
            if key == "<<" and event.style is None:
                merged += value if isinstance(value, list) else [value]
            elif key in found:
                raise _Broken(f"the key {key[:60]!r} stands twice", "keep one of them", self._at(event))
            else:
                found[key] = value
        for one in merged:
            if not isinstance(one, dict):
                raise _Broken("<< merges mappings only", "name the anchor of a mapping")
            found = {**one, **found}
        return found

    def _key(self, event: Any) -> str:
        if isinstance(event, yaml.AliasEvent):
            value = self._alias(event)
        elif isinstance(event, yaml.ScalarEvent):
            self._count(1, event)
            value = event.value
            if event.anchor:
                self._anchors[event.anchor] = (value, 1)
        else:
            value = None
        if not isinstance(value, str):
            raise _Broken("a key must be text", "write name: value", self._at(event))
        return value

    def _scalar(self, event: Any) -> Any:
        if event.tag == _TEXT_TAG or (event.tag in {None, "!"} and not event.implicit[0]):
            return event.value
        self._check_tag(event)
        try:
            return plain(event.value)
        except _Broken as broken:
            broken.line = self._at(event)
            raise


def plain(text: str) -> Any:
    """Return what an unquoted YAML scalar means."""
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() in _TRUE
    if _INT.fullmatch(text):
        return _integer(text)
    return _decimal(text) if _FLOAT.fullmatch(text) else text


def _explained(error: yaml.MarkedYAMLError, mark: Any) -> tuple[str, str]:
    problem = error.problem or error.context or "cannot be read"
    column = f" (column {mark.column + 1})" if mark else ""
    if "\\t" in problem or "'\t'" in problem or "tab" in problem.split() or "cannot start any token" in problem:
        return f"is not YAML: {problem}{column}", "indent with spaces, not tabs, and quote special characters"
    return f"is not YAML: {problem}{column}", "check indentation, colons and quotes"


# -- writing ------------------------------------------------------------------------------------------------------


class _Dumper(yaml.SafeDumper):
    """Writes keys in their order and quotes whatever this module would not read back as text."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        """Write shared values in full."""
        return True


for _tag, _pattern in (("null", _NULL), ("bool", _BOOL), ("int", _INT), ("float", _FLOAT)):
    _whole = re.compile(rf"(?:{_pattern.pattern})\Z", re.ASCII)
    _Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _whole, None)  # type: ignore[no-untyped-call] # PyYAML


def write_documents(values: list[dict[str, Any]]) -> str:
    """Return YAML that reads back as exactly these values."""
    return str(
        yaml.dump_all(
            values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, explicit_start=len(values) > 1
        )
    )
