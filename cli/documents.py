"""Reads manifests from files, folders and standard input."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from core.errors import Fault, Invalid, NotFound, Usage

LIMIT_BYTES = 64 << 20
SUFFIXES = (".yaml", ".yml", ".json")


def read_files(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return (file name, text) of every file; `-` is standard input, a folder stands for the manifests in it."""
    if not names:
        raise Usage("no file was named", "give -f FILE, or -f - for standard input")
    return [read_file(name) for given in names for name in _expand(given)]


def read_file(name: str) -> tuple[str, str]:
    """Return one file's name for people and its text."""
    if name == "-":
        return "standard input", _decode(_bounded(sys.stdin.buffer, "standard input"), "standard input")
    try:
        with Path(name).open("rb") as file:
            data = _bounded(file, name)
        return name, _decode(data, name)
    except FileNotFoundError:
        raise NotFound(f"there is no file {name}", "check the path") from None
    except OSError as error:
        raise NotFound(f"{name} cannot be read: {error.strerror}", "check the path and its permissions") from None


def read_object(text: str, field: str) -> dict[str, Any]:
    """Return a JSON object given as text, as `@FILE`, or as `-` for standard input."""
    if text == "-" or text.startswith("@"):
        text = read_file("-" if text == "-" else text[1:])[1]
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Invalid([Fault(field, f"this is not JSON: {error}", 'write an object such as {"rows": 3}')]) from None
    if not isinstance(value, dict):
        raise Invalid([Fault(field, "this is JSON but no object", 'write an object such as {"rows": 3}')])
    return value


def read_pairs(pairs: Sequence[str], field: str = "--set") -> dict[str, Any]:
    """Return `key=value` pairs as an object; a value that is JSON is taken as such, any other as text."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise Invalid([Fault(field, f"{pair!r} is not key=value", "write it as rows=3")])
        values[key] = _value(text)
    return values


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _expand(name: str) -> list[str]:
    folder = Path(name)
    if name == "-" or not folder.is_dir():
        return [name]
    found = sorted(str(path) for path in folder.iterdir() if path.suffix in SUFFIXES)
    if not found:
        raise NotFound(f"{name} holds no manifest", f"its files must end in {', '.join(SUFFIXES)}")
    return found


def _bounded(file: BinaryIO, name: str) -> bytes:
    """Return all of a file, which may be a device that never ends; raises Invalid beyond a sane size."""
    data = file.read(LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        raise Invalid([Fault(name, f"holds more than {LIMIT_BYTES >> 20} MiB", "split it into several files")])
    return data


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid([Fault(name, f"byte {error.start + 1} is not UTF-8", "save the file as UTF-8")]) from None
