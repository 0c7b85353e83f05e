"""Build plain values from YAML's events: duplicates, tags, bombs and depth are refused, each with its line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import yaml

from core.resources.scalars import DEPTH_LIMIT, NODE_LIMIT, Broken, plain

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAG = "tag:yaml.org,2002:str"


class Builder:
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
            raise Broken(*_explained(error, mark), line) from None
        except yaml.YAMLError as error:
            raise Broken(f"is not YAML: {str(error).splitlines()[0][:120]}", "remove control characters") from None
        except RecursionError:
            raise Broken(f"is nested deeper than {DEPTH_LIMIT} levels", "make it flatter") from None

    def _at(self, event: Any) -> int:
        return int(self._line + event.start_mark.line)

    def _node(self, event: Any, depth: int) -> Any:
        if depth > DEPTH_LIMIT:
            raise Broken(f"is nested deeper than {DEPTH_LIMIT} levels", "make it flatter", self._at(event))
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
            raise Broken(f"holds more than {NODE_LIMIT:,} values", "write less, or fewer aliases", self._at(event))

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            message = f"the alias *{event.anchor[:60]} has no complete anchor before it"
            raise Broken(message, f"put &{event.anchor[:60]} before it, or quotes around it", self._at(event))
        value, nodes = self._anchors[event.anchor]
        self._count(nodes, event)
        return value

    def _check_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag != "!":
            raise Broken(f"tags such as {event.tag[:60]} are not supported", "write the plain value", self._at(event))

    def _sequence(self, depth: int) -> list[Any]:
        found = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            found.append(self._node(event, depth + 1))
        return found

    def _mapping(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event)
            value = self._node(self._next(), depth + 1)
            if key == "<<" and isinstance(event, yaml.ScalarEvent) and event.implicit[0]:
                merged += self._merged(value, event)
            elif key in found:
                raise Broken(f"the key {key[:60]!r} stands twice", "keep one of them", self._at(event))
            else:
                found[key] = value
        for one in merged:
            found = {**one, **found}
        return found

    def _merged(self, value: Any, event: Any) -> list[dict[str, Any]]:
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(one, dict) for one in parts):
            raise Broken("<< merges mappings only", "name the anchor of a mapping", self._at(event))
        return parts

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
            raise Broken("a key must be text", "write name: value", self._at(event))
        return value

    def _scalar(self, event: Any) -> Any:
        if event.tag == _TEXT_TAG or (event.tag in {None, "!"} and not event.implicit[0]):
            return event.value
        self._check_tag(event)
        try:
            return plain(event.value)
        except Broken as broken:
            broken.line = self._at(event)
            raise


def _explained(error: yaml.MarkedYAMLError, mark: Any) -> tuple[str, str]:
    problem = error.problem or error.context or "cannot be read"
    column = f" (column {mark.column + 1})" if mark else ""
    if "\\t" in problem or "'\t'" in problem or "tab" in problem.split() or "cannot start any token" in problem:
        return f"is not YAML: {problem}{column}", "indent with spaces, not tabs, and quote special characters"
    return f"is not YAML: {problem}{column}", "check indentation, colons and quotes"
