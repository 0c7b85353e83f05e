"""Reads the JSON objects of rows; needs no database library, since the first look has none."""

from __future__ import annotations

import json
from typing import Any


def read_object(text: str) -> dict[str, Any]:
    """Return a JSON object; a text that is none reads as an empty one, so that one damaged row hides no other."""
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
