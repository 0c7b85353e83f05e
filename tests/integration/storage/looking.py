"""What the storage tests look with."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.errors import StorageUnusable


def contents(folder: Path) -> dict[str, str]:
    """Return the hash of every file below a folder, by name."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@contextmanager
def unusable(pattern: str) -> Iterator[None]:
    """Expect the refusal of a database, in one line that matches."""
    with pytest.raises(StorageUnusable) as caught:
        yield
    sentence = caught.value.sentence()
    assert re.search(pattern, sentence), sentence
    assert "\n" not in sentence
