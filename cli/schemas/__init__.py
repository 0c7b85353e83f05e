"""The JSON Schemas of manifests, for editors and checks; what `apply` takes is decided by the core alone."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def manifest_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a kind's envelope with its definition."""
    schema = json.loads((files(__name__) / "envelope.json").read_text(encoding="utf-8"))
    definition = json.loads((files(__name__) / f"{kind.lower()}.json").read_text(encoding="utf-8"))
    schema["title"] = kind
    schema["properties"]["kind"] = {"const": kind}
    schema["properties"]["definition"] = definition
    return dict(schema)
