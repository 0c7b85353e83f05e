"""Read YAML and JSON into plain values, losslessly, and write them back.

What YAML guesses is guessed as little as is customary: true/false (also yes/no, on/off), null, whole and decimal
numbers. Instants, `12:30` and `0644` stay text, keys are always text. Refused, each with its line: a key that stands
twice, tags, aliases that blow up, deep nesting, numbers that JSON does not know, text that is not UTF-8.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from core.errors import Fault, Invalid
from core.resources.scalars import BOOL, DEPTH_LIMIT, FLOAT, INT, NODE_LIMIT, NULL, Broken, decimal, integer
from core.resources.yaml_events import Builder

DOCUMENT_LIMIT_BYTES: Final = 262_144
DOCUMENT_LIMIT: Final = 5_000

_MARK = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Raw:
    """One document of a file: its number from 1, its first line, and either a value or the faults of its text."""

    number: int
    line: int
    value: Any
    faults: tuple[Fault, ...] = ()


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
        if start > 0 or end == len(text) or not _is_head(chunk):
            yield line, chunk
        line += chunk.count("\n")


def _is_head(chunk: str) -> bool:
    """Say whether there is nothing but directives (`%YAML 1.2`) and remarks before the first document."""
    lines = [line.strip() for line in chunk.splitlines()]
    return any(line.startswith("%") for line in lines) and all(not line or line[0] in "%#" for line in lines)


def _read_chunk(chunk: str, line: int, number: int) -> list[Raw]:
    try:
        _check_text(chunk, line)
        values = _read_json(chunk) if chunk.lstrip()[:1] in {"{", "["} else None
        if values is None:
            values = Builder(chunk, line).documents()
        for value in values:
            _check_value(value)
    except Broken as broken:
        where = f"line {broken.line}: " if broken.line else ""
        return [Raw(number, line, None, (Fault("", f"{where}{broken}", broken.remedy),))]
    return [Raw(number + place, line, value) for place, value in enumerate(values)]


def _check_text(chunk: str, line: int) -> None:
    try:
        size = len(chunk.encode())
    except UnicodeEncodeError as error:
        raise Broken(
            "holds a character that is not UTF-8", "save the file as UTF-8", line + chunk.count("\n", 0, error.start)
        ) from None
    if size > DOCUMENT_LIMIT_BYTES:
        raise Broken(f"the document has {size:,} bytes", f"keep it under {DOCUMENT_LIMIT_BYTES:,}", line)


def _check_value(value: Any) -> None:
    """Raise for what cannot be kept as JSON text of sane size."""
    level, nodes = [value], 0
    for _ in range(DEPTH_LIMIT + 1):
        nodes += len(level)
        if nodes > NODE_LIMIT:
            raise Broken(f"holds more than {NODE_LIMIT:,} values", "split it")
        texts = [text for node in level for text in _texts_of(node)]
        if any("\ud800" <= character <= "\udfff" for text in texts for character in text):
            raise Broken("holds half of a character (a lone surrogate)", "write the character itself")
        level = [inner for node in level for inner in _children(node)]
        if not level:
            return
    raise Broken(f"is nested deeper than {DEPTH_LIMIT} levels", "make it flatter")


def _texts_of(node: Any) -> list[str]:
    return [node] if isinstance(node, str) else list(node) if isinstance(node, dict) else []


def _children(node: Any) -> list[Any]:
    return list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []


# -- JSON ---------------------------------------------------------------------------------------------------------


def _read_json(chunk: str) -> list[Any] | None:
    """Return the documents of a JSON text (an array holds many), None where it is not JSON."""
    try:
        value = json.loads(
            chunk, object_pairs_hook=_object, parse_int=integer, parse_float=decimal, parse_constant=decimal
        )
    except ValueError:
        return None
    except RecursionError:
        raise Broken(f"is nested deeper than {DEPTH_LIMIT} levels", "make it flatter") from None
    return value if isinstance(value, list) else [value]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise Broken(f"the key {_twice(names)!r} stands twice", "keep one of them")
    return found


def _twice(names: list[str]) -> str:
    return next(name for name in names if names.count(name) > 1)[:60]


# -- writing ------------------------------------------------------------------------------------------------------


class _Dumper(yaml.SafeDumper):
    """Writes keys in their order and quotes whatever this module would not read back as text."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        """Write shared values in full."""
        return True


_ODD_BREAKS = frozenset("\x85\u2028\u2029\ufeff")


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Write lines as lines, and escape what other readers would take for a line's end."""
    style = '"' if _ODD_BREAKS & set(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)
for _tag, _pattern in (("null", NULL), ("bool", BOOL), ("int", INT), ("float", FLOAT)):
    _whole = re.compile(rf"(?:{_pattern.pattern})\Z", re.ASCII)
    _Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _whole, None)


def write_documents(values: Sequence[Any]) -> str:
    """Return YAML that reads back as exactly these values."""
    return str(
        yaml.dump_all(
            values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, explicit_start=len(values) > 1
        )
    )
