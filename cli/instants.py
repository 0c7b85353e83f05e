"""Reads the instants and ages that people type after an option."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Literal

from core.errors import Fault, Invalid

UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AGE = re.compile(r"([+-]?)(\d{1,9})([smhdw])")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.,]\d+)?)?([Zz]|[+-]\d\d:?\d\d)?")
_ABSOLUTE = "write it as 2026-03-29T02:30:00+01:00"
_REMEDY = f"{_ABSOLUTE}, as now, or as a distance such as 90m, 12h or 7d"


def parse_instant(text: str, field: str, now: datetime, *, toward: Literal["past", "future"]) -> datetime:
    """Return the aware UTC instant of `text`: RFC 3339 with an offset, `now`, or a distance from `now`.

    A distance without a sign lies `toward` the past or the future. Raises Invalid that names `field`.
    """
    text = text.strip()
    if text == "now":
        return now
    age = _AGE.fullmatch(text)
    if age is not None:
        return _at_distance(age, field, now, toward)
    return read_absolute(text, field, _REMEDY)


def _at_distance(age: re.Match[str], field: str, now: datetime, toward: str) -> datetime:
    sign = age[1] or ("-" if toward == "past" else "+")
    try:
        distance = timedelta(seconds=int(age[2]) * UNITS_S[age[3]])
        return now - distance if sign == "-" else now + distance
    except OverflowError:
        raise Invalid([Fault(field, f"{age[0]} from now is outside the calendar", "use a shorter distance")]) from None


def read_absolute(text: str, field: str, remedy: str = _ABSOLUTE) -> datetime:
    """Return the aware UTC instant of RFC 3339 text with an offset; raises Invalid that names `field`."""
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise Invalid([Fault(field, f"{text!r} is not an instant", remedy)])
    if match[3] is None:
        raise Invalid([Fault(field, f"{text!r} has no offset", "add Z for UTC or an offset such as +02:00")])
    try:
        return datetime.fromisoformat(text.upper().replace(",", ".").replace(" ", "T")).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Invalid([Fault(field, f"{text!r} is not an instant: {error}", remedy)]) from None
