"""Field by field, what a save changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.flows.canonical import canonical_json
from core.resources.documents import Document
from core.views import FieldChange


def changes(before: Document | None, after: Document) -> tuple[FieldChange, ...]:
    """Return the fields that differ, in the order of the file; before None means that all is new."""
    old = _content(before) if before else {"metadata": {}, "definition": {}}
    new = _content(after)
    return tuple(_differences("", old, new))


def _content(document: Document) -> dict[str, Any]:
    metadata = {"tags": list(document.tags), "annotations": dict(document.annotations)}
    return {"metadata": {key: value for key, value in metadata.items() if value}, "definition": document.definition}


def _differences(path: str, before: Any, after: Any) -> Iterator[FieldChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in [*after, *(key for key in before if key not in after)]:
            yield from _differences(f"{path}.{key}" if path else key, before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _differences(f"{path}[{place}]", old, new)
    elif isinstance(after, Mapping) and before is None and after:
        for key, value in after.items():
            yield from _differences(f"{path}.{key}" if path else key, None, value)
    elif canonical_json(before) != canonical_json(after):
        yield FieldChange(path, before, after)
