"""Secrets: read by name when a step runs, never stored, masked wherever they would show."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

MASK = "•••"
FOLDERS = ("TRIGGERDECK_SECRETS_DIR", "CREDENTIALS_DIRECTORY")
SHORTEST_MASKED = 3


class Secrets:
    """Reads secrets from the worker's environment, else from files in its secrets folders.

    The folders are those that TRIGGERDECK_SECRETS_DIR and CREDENTIALS_DIRECTORY (systemd's) name; a file holds one
    secret, without its last line break.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment

    def read(self, name: str) -> str | None:
        """Return a secret's value, or None where there is none."""
        if name in self._environment:
            return self._environment[name]
        for variable in FOLDERS:
            folder = self._environment.get(variable)
            if folder and (path := Path(folder, name)).is_file():
                return path.read_text(encoding="utf-8").removesuffix("\n")
        return None


def mask(text: str, values: Iterable[str]) -> str:
    """Return text with every secret in it replaced, also where JSON escaped it or only one of its lines shows."""
    for value in sorted(_forms(values), key=len, reverse=True):
        text = text.replace(value, MASK)
    return text


def _forms(values: Iterable[str]) -> set[str]:
    forms: set[str] = set()
    for value in values:
        forms |= {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], *value.splitlines()}
    return {form for form in forms if len(form) >= SHORTEST_MASKED}
