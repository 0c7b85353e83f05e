"""What an unquoted scalar means: as little as is customary is guessed, all else is text."""

from __future__ import annotations

import math
import re
from typing import Any, Final

DEPTH_LIMIT: Final = 50
NODE_LIMIT: Final = 50_000

NULL = re.compile(r"~|null|Null|NULL|")
BOOL = re.compile(r"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF")
_TRUE = frozenset({"yes", "true", "on"})
INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
FLOAT = re.compile(
    r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    re.ASCII,
)
_DIGIT_LIMIT = 300


class Broken(Exception):
    """The text cannot be read any further."""

    def __init__(self, message: str, remedy: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy
        self.line = line


def plain(text: str) -> Any:
    """Return what an unquoted YAML scalar means."""
    if NULL.fullmatch(text):
        return None
    if BOOL.fullmatch(text):
        return text.lower() in _TRUE
    if INT.fullmatch(text):
        return integer(text)
    return decimal(text) if FLOAT.fullmatch(text) else text


def integer(text: str) -> int:
    """Return a whole number of sane length."""
    if len(text) > _DIGIT_LIMIT:
        raise Broken(f"a number has {len(text):,} digits", "write it as text, in quotes")
    return int(text)


def decimal(text: str) -> float:
    """Return a number that JSON knows."""
    try:
        value = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        raise Broken(f"{text[:40]} is not a number", "put it in quotes") from None
    if not math.isfinite(value):
        raise Broken(f"{text[:40]} is not a number that JSON knows", "put it in quotes")
    return value
