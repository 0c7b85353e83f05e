"""One text for one JSON value: what hashes and caches compare."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """Return compact JSON with sorted keys; raises TypeError or ValueError for what is not JSON."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def fingerprint(value: Any) -> str:
    """Return the SHA-256 of a JSON value's one text, in hex."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
