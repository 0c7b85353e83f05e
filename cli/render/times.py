"""Instants and distances in words for people."""

from __future__ import annotations

from datetime import UTC, datetime

from core.words import duration


def utc(value: datetime | None) -> str | None:
    """Return `2026-03-29 01:30:00Z`, or None."""
    return None if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def span(seconds: float) -> str:
    """Return a length of time in at most two units: `41m 7s`, `3d 2h`, `0.4s`."""
    return duration(seconds, gap=" ", fine=True)


def relative(value: datetime | None, now: datetime) -> str | None:
    """Return `in 2h 5m` or `3d ago`."""
    if value is None:
        return None
    seconds = int((value - now).total_seconds())
    return f"in {span(seconds)}" if seconds >= 0 else f"{span(-seconds)} ago"


def between(start: datetime | None, end: datetime | None) -> str | None:
    """Return how long something took, or None where it has not ended."""
    return None if start is None or end is None else span((end - start).total_seconds())


def offset(seconds: int) -> str:
    """Return seconds east of UTC as `+05:45`."""
    sign, rest = ("-", -seconds) if seconds < 0 else ("+", seconds)
    hours, minutes, odd = rest // 3600, rest % 3600 // 60, rest % 60
    return f"{sign}{hours:02}:{minutes:02}" + (f":{odd:02}" if odd else "")
