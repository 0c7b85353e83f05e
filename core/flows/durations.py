"""ISO-8601 durations of fixed length: what timeouts, backoffs, waits and expiries are written in."""

from __future__ import annotations

from datetime import timedelta

import isodate

LONGEST = timedelta(days=3660)


def parse_duration(text: object) -> timedelta:
    """Return the length of an ISO-8601 duration; a day is 24 hours here.

    Raises ValueError with one sentence for text that is none, months and years (no fixed length), negative or
    zero lengths and lengths above ten years.
    """
    if not isinstance(text, str):
        raise ValueError(f"must be an ISO-8601 duration as text, not {type(text).__name__}")  # noqa: TRY004 - every bad text is one kind of error
    try:
        value = isodate.parse_duration(text.strip())
    except (isodate.ISO8601Error, OverflowError, ValueError, ArithmeticError):
        raise ValueError(f"{text!r} is not an ISO-8601 duration such as PT30S, PT5M or P1D") from None
    if not isinstance(value, timedelta):
        raise ValueError(f"{text!r} counts months or years, which have no fixed length; say days or hours")  # noqa: TRY004 - as above
    if value <= timedelta(0):
        raise ValueError(f"{text!r} must be longer than zero")
    if value > LONGEST:
        raise ValueError(f"{text!r} is longer than ten years")
    return value


def format_duration(length: timedelta) -> str:
    """Return the shortest ISO-8601 text of a length."""
    return str(isodate.duration_isoformat(length))
