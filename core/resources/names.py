"""Names, namespaces, tags and annotations: what they may be, and what to say where they are not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final

from core.errors import Fault
from core.words import shown

NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
NAMESPACE: Final = re.compile(r"[a-z0-9.-]{1,128}", re.ASCII)
TAG_LIMIT: Final = 32
TAG_LENGTH: Final = 63
ANNOTATION_LIMIT: Final = 64
ANNOTATION_LENGTH: Final = 4_096


def near(word: object, known: Iterable[str]) -> str:
    """Return the known name that a word most likely means, else nothing."""
    folded = {_fold(name): name for name in known}
    found = get_close_matches(_fold(str(word)[:100]), folded, 1, 0.6)
    return folded[found[0]] if found else ""


def did_you_mean(word: object, known: Iterable[str], otherwise: str = "remove it") -> str:
    """Return a remedy for an unknown name."""
    match = near(word, known)
    return f"did you mean {match}?" if match else otherwise


def _fold(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def kind_of(value: object) -> str:
    """Return what a value is, in a user's words."""
    words = {type(None): "nothing", bool: "true or false", int: "a number", float: "a number", str: "text"}
    words |= {list: "a list", tuple: "a list", dict: "a mapping"}
    return words.get(type(value), type(value).__name__)


def name_faults(field: str, value: object) -> list[Fault]:
    """Return what is wrong with a resource's name."""
    if isinstance(value, str) and NAME.fullmatch(value):
        return []
    if not isinstance(value, str):
        return [_not_text(field, value)]
    remedy = "use 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit"
    return [Fault(field, f"{shown(value)} is not a name", remedy)]


def namespace_faults(field: str, value: object) -> list[Fault]:
    """Return what is wrong with a namespace."""
    if isinstance(value, str) and NAMESPACE.fullmatch(value):
        return []
    if not isinstance(value, str):
        return [_not_text(field, value)]
    return [Fault(field, f"{shown(value)} is not a namespace", "use 1 to 128 of a-z, 0-9, . and -")]


def tags_faults(field: str, value: object) -> list[Fault]:
    """Return what is wrong with a list of tags."""
    if not isinstance(value, list):
        return [Fault(field, f"must be a list, not {kind_of(value)}", "write [one, two]")]
    if len(value) > TAG_LIMIT:
        return [Fault(field, f"holds {len(value)} tags", f"keep at most {TAG_LIMIT}")]
    faults = [fault for place, tag in enumerate(value) for fault in _tag_faults(f"{field}[{place}]", tag)]
    texts = [tag for tag in value if isinstance(tag, str)]
    twice = sorted({tag for tag in texts if texts.count(tag) > 1})
    return faults + [Fault(field, f"{shown(tag)} stands twice", "write it once") for tag in twice]


def _tag_faults(field: str, tag: object) -> list[Fault]:
    if not isinstance(tag, str):
        return [_not_text(field, tag)]
    if not 1 <= len(tag) <= TAG_LENGTH or not tag.isprintable() or tag != tag.strip():
        return [Fault(field, f"{shown(tag)} is not a tag", f"use 1 to {TAG_LENGTH} printable characters")]
    return []


def annotations_faults(field: str, value: object) -> list[Fault]:
    """Return what is wrong with a mapping of annotations."""
    if not isinstance(value, Mapping):
        return [Fault(field, f"must be a mapping, not {kind_of(value)}", "write {runbook: https://…}")]
    if len(value) > ANNOTATION_LIMIT:
        return [Fault(field, f"holds {len(value)} annotations", f"keep at most {ANNOTATION_LIMIT}")]
    return [fault for key, text in value.items() for fault in _annotation_faults(field, key, text)]


def _annotation_faults(field: str, key: str, text: object) -> list[Fault]:
    where = f"{field}.{key}" if len(key) <= 128 else field
    if not 1 <= len(key) <= 128 or not key.isprintable():
        return [Fault(where, "has a key that is too long or not printable", "use 1 to 128 printable characters")]
    if not isinstance(text, str):
        return [_not_text(where, text)]
    if len(text) > ANNOTATION_LENGTH:
        return [Fault(where, f"has {len(text)} characters", f"keep at most {ANNOTATION_LENGTH}")]
    return []


def _not_text(field: str, value: object) -> Fault:
    remedy = "write one" if value is None else "put it in quotes"
    return Fault(field, f"must be text, not {kind_of(value)}", remedy)
