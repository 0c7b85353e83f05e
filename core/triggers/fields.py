"""The seven fields of a Quartz cron line: their limits, and the reading of one field with positions.

Only the documented grammar is read. `Term` keeps what was written, so that words can be made from it later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

FIRST_YEAR = 1970
LAST_YEAR = 2126  # where the search ends; fixed, so that a schedule is one set of instants for ever
MONTH_NAMES = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAY_NAMES = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True, slots=True, eq=False)
class FieldKind:
    """One of the seven fields: inclusive limits, the largest step of an open series, names for values."""

    name: str
    low: int
    high: int
    largest_step: int
    names: tuple[str, ...] = ()
    wraps: bool = True
    allowed: str = ""


SECOND = FieldKind("second", 0, 59, 59, allowed="0-59  , - * /")
MINUTE = FieldKind("minute", 0, 59, 59, allowed="0-59  , - * /")
HOUR = FieldKind("hour", 0, 23, 23, allowed="0-23  , - * /")
DAY_OF_MONTH = FieldKind("day of month", 1, 31, 31, allowed="1-31  , - * / ? L W  (L-3, LW, 15W)")
MONTH = FieldKind("month", 1, 12, 12, MONTH_NAMES, allowed="1-12 or JAN-DEC  , - * /")
DAY_OF_WEEK = FieldKind(
    "day of week", 1, 7, 7, DAY_NAMES, allowed="1-7 or SUN-SAT (1 is Sunday)  , - * / ? L #  (6L, 6#3)"
)
YEAR = FieldKind(
    "year", FIRST_YEAR, LAST_YEAR, 2_147_483_647, wraps=False, allowed=f"{FIRST_YEAR}-{LAST_YEAR}  , - * /"
)
FIELDS = (SECOND, MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK, YEAR)


class Term(NamedTuple):
    """One item of a field's list.

    `shape`: `any` (*), `none` (?), `value`, `range`, `series` (a/n), `last` (L, L-n), `lastWeekday` (LW, L-nW),
    `weekday` (nW), `lastOf` (6L), `nth` (6#3). `first`, `final`, `step` mean what the shape makes of them.
    """

    shape: str
    first: int = 0
    final: int = 0
    step: int = 1


class FieldText(NamedTuple):
    """One field as written, with its place in the whole expression."""

    text: str
    start: int


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A read field: the terms as written and the sorted plain values that they give."""

    kind: FieldKind
    text: str
    terms: tuple[Term, ...]
    values: tuple[int, ...] = field(default=())

    @property
    def is_any(self) -> bool:
        """Say whether every value of the field matches."""
        return len(self.values) == self.kind.high - self.kind.low + 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Field) and self.kind is other.kind and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def unspecified(self) -> bool:
        """Say whether the field is `?`."""
        return self.terms[0].shape == "none"


class Misread(Exception):
    """A piece of a field that the grammar does not know: position in the expression, sentence, remedy."""

    def __init__(self, position: int, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.position = position
        self.message = message
        self.remedy = remedy


class _Misreads(Exception):
    """All items of one field that cannot be read."""

    def __init__(self, items: list[Misread]) -> None:
        super().__init__()
        self.items = items


# Patterns are compiled by `re` when first used: importing this package stays cheap.
_ITEM = r"(?:(\*)|([0-9]+|[A-Z]+)(?:(-)([0-9]+|[A-Z]+))?)?(?:(/)([0-9]+))?"
_LAST_DAY = r"L(?:-([0-9]+))?(W)?"
_NEAREST = r"([0-9]+)W"
_DAY_RULE = r"([0-9]+|[A-Z]{3})(?:(L)|#([0-9]+))"


def split_fields(expression: str) -> tuple[FieldText, ...]:
    """Return the fields of an expression; only spaces and tabs separate."""
    return tuple(FieldText(match[0], match.start()) for match in re.finditer(r"[^ \t]+", expression))


def upper(text: str) -> str:
    """Return `text` in capitals, character by character, so that positions stay."""
    return "".join(big if len(big := char.upper()) == 1 else char for char in text)


def read_field(kind: FieldKind, source: FieldText) -> tuple[Field | None, list[Misread]]:
    """Read one field; return it, or every item of it that cannot be read."""
    try:
        return _field(kind, source.text), []
    except _Misreads as wrong:
        return None, [Misread(source.start + item.position, item.message, item.remedy) for item in wrong.items]


@lru_cache(maxsize=4096)
def _field(kind: FieldKind, text: str) -> Field:
    """Return the field that `text` says; raise `_Misreads`, positions counted from the field's start."""
    terms: list[Term] = []
    misreads: list[Misread] = []
    items = text.split(",")
    position = 0
    for item in items:
        try:
            terms.append(_read_item(kind, upper(item), position, alone=len(items) == 1))
        except Misread as misread:
            misreads.append(misread)
        position += len(item) + 1
    if misreads:
        raise _Misreads(misreads)
    return Field(kind, text, tuple(terms), _values(kind, terms))


def _read_item(kind: FieldKind, text: str, position: int, *, alone: bool) -> Term:
    """Read one item of a list; `alone` says that the list has no other."""
    if not text:
        raise Misread(position, f"the {kind.name} list has an empty item", "remove the extra comma")
    if kind is DAY_OF_MONTH or kind is DAY_OF_WEEK:
        special = _read_day_item(kind, text, position)
        if special is not None:
            if not alone and special.shape != "weekday":
                raise Misread(position, f"{text} cannot be combined with other days", "make two Triggers, one for each")
            return special
    elif text == "?":
        raise Misread(
            position, f"? is not possible for {kind.name}", "? belongs to day of month or day of week; write *"
        )
    return _read_plain_item(kind, text, position)


def _read_day_item(kind: FieldKind, text: str, position: int) -> Term | None:
    """Read `?`, `L`, `W` and `#` forms; return None for a plain item."""
    if text == "?":
        return Term("none")
    if kind is DAY_OF_WEEK:
        return _read_weekday_rule(text, position)
    if last := re.fullmatch(_LAST_DAY, text):
        offset = _number(last[1], position + 2, "the offset from the last day", 0, 30) if last[1] else 0
        return Term("lastWeekday" if last[2] else "last", offset)
    if near := re.fullmatch(_NEAREST, text):
        return Term("weekday", _number(near[1], position, kind.name, kind.low, kind.high))
    return None


def _read_weekday_rule(text: str, position: int) -> Term | None:
    if text == "L":
        return Term("value", 7)
    rule = re.fullmatch(_DAY_RULE, text)
    if rule is None:
        return None
    day = _value(DAY_OF_WEEK, rule[1], position)
    if rule[2]:
        return Term("lastOf", day)
    return Term("nth", day, _number(rule[3], position + rule.start(3), "the week after #", 1, 5))


def _read_plain_item(kind: FieldKind, text: str, position: int) -> Term:
    """Read `*`, `a`, `a-b` and any of them with `/n`."""
    match = re.fullmatch(_ITEM, text)
    if match is None or not text:
        raise _unreadable(kind, text, position)
    star, first_text, dash, slash = match[1], match[2], match[3], match[5]
    step = _step(kind, match, position) if slash else 1
    if star or first_text is None:
        return Term("any", kind.low, kind.high, step)
    first = _value(kind, first_text, position)
    if slash and not first_text.isdigit():
        raise Misread(
            position + match.start(5), "a step cannot follow a name", f"write numbers, {first} instead of {first_text}"
        )
    if dash:
        return _range(kind, match, position, first, step)
    return Term("series", first, kind.high, step) if slash else Term("value", first)


def _range(kind: FieldKind, match: re.Match[str], position: int, first: int, step: int) -> Term:
    first_text, final_text = match[2], match[4]
    if first_text.isdigit() != final_text.isdigit():
        place = position + match.start(4)
        raise Misread(place, "a range mixes a name and a number", "write two names or two numbers")
    final = _value(kind, final_text, position + match.start(4))
    if first > final and not kind.wraps:
        raise Misread(position, f"{kind.name} range {first}-{final} runs backwards", f"write {final}-{first}")
    return Term("range", first, final, step)


def _step(kind: FieldKind, match: re.Match[str], position: int) -> int:
    place = position + match.start(6)
    step = _number(match[6], place, "the step", 1, 2_147_483_647)
    if not match[3] and step > kind.largest_step:
        raise Misread(
            place, f"the step {step} is larger than {kind.largest_step}", f"write a single {kind.name} instead"
        )
    return step


def _value(kind: FieldKind, text: str, position: int) -> int:
    """Return the number that `text` means in this field."""
    if text.isdigit():
        return _number(text, position, kind.name, kind.low, kind.high)
    if text in kind.names:
        return kind.names.index(text) + 1
    near = _near_name(kind, text)
    remedy = f"did you mean {near}?" if near else _HINTS.get(text, f"allowed: {kind.allowed}")
    article = "an" if kind is HOUR else "a"
    raise Misread(position, f"{text[:40]} is not {article} {kind.name}", remedy)


_HINTS = {"H": "H is Jenkins syntax; use jitter", "C": "C needs a calendar and is not supported"}


def _near_name(kind: FieldKind, text: str) -> str:
    """Return the three-letter name that a longer or mistyped one stands for, or an empty text."""
    for name in kind.names:
        if text.startswith(name):
            return name
    from difflib import get_close_matches

    return next(iter(get_close_matches(text[:3], kind.names, 1, 0.6)), "")


def _number(text: str, position: int, name: str, low: int, high: int) -> int:
    digits = text.lstrip("0") or "0"
    if len(digits) > 10 or not low <= int(digits) <= high:
        shown = digits if len(digits) <= 10 else f"{digits[:10]}…"
        limits = f"{low} to {high}" if high < 2_147_483_647 else f"at least {low}"
        raise Misread(position, f"{shown} is out of range for {name}", f"allowed: {limits}")
    return int(digits)


def _unreadable(kind: FieldKind, text: str, position: int) -> Misread:
    """Point at the first character of an item that fits nothing."""
    match = re.match(_ITEM, text)
    good = match.end() if match else 0
    shown = text[:40]
    letter = text[good : good + 1]
    remedy = _HINTS.get(letter, f"allowed: {kind.allowed}")
    if letter == "/" or text.endswith(("/", "-")):
        remedy = "a number must follow / and -"
    return Misread(position + good, f"{shown!r} cannot be read as {kind.name}", remedy)


def _values(kind: FieldKind, terms: list[Term]) -> tuple[int, ...]:
    """Return the sorted plain values of all terms; special day forms give none."""
    found: set[int] = set()
    for term in terms:
        found.update(term_values(kind, term))
    return tuple(sorted(found))


def term_values(kind: FieldKind, term: Term) -> Iterator[int]:
    """Yield the values of a plain term; a range past its end goes on from the low limit."""
    if term.shape == "value":
        yield term.first
    elif term.shape in {"any", "series", "range"}:
        size = kind.high - kind.low + 1
        stop = term.final + (size if term.first > term.final else 0)
        for value in range(term.first, stop + 1, term.step):
            yield (value - kind.low) % size + kind.low
