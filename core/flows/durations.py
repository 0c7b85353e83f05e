"""Durations of fixed length: what timeouts, backoffs, waits and expiries are written in."""

from __future__ import annotations

from datetime import timedelta

from core.triggers.durations import is_duration, measure
from core.words import shown

LONGEST = timedelta(days=3660)


def parse_duration(text: object) -> timedelta:
    """Return the length of an ISO-8601 duration; a day is 24 hours here.

    Raises ValueError with one sentence for text that is none, months and years (no fixed length), zero and lengths
    above ten years.
    """
    if not isinstance(text, str):
        raise ValueError(f"must be an ISO-8601 duration as text, not {type(text).__name__}")  # noqa: TRY004 - every bad text is one kind of error
    if not is_duration(text.strip()):
        raise ValueError(f"{shown(text)} is not an ISO-8601 duration")
    try:
        measured = measure(text.strip())
        length = measured.days + measured.clock
    except OverflowError:
        length = timedelta.max
    else:
        if measured.months:
            raise ValueError(f"{shown(text)} counts months or years, which have no fixed length; say days or hours")
    if length <= timedelta(0):
        raise ValueError(f"{shown(text)} must be longer than zero")
    if length > LONGEST:
        raise ValueError(f"{shown(text)} is longer than ten years")
    return length
