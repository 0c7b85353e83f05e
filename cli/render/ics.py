"""Fire times as an iCalendar file (RFC 5545): one event of no length for each."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

_ESCAPES = {"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"}


def calendar(fires: Iterable[datetime], *, name: str, words: str, now: datetime) -> str:
    """Return a calendar with an event at each instant; lines end in CRLF and are folded at 75 octets."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//triggerdeck//fires//EN", f"X-WR-CALNAME:{_escape(name)}"]
    for fire in fires:
        lines += _event(fire, name=name, words=words, now=now)
    lines.append("END:VCALENDAR")
    return "".join(f"{folded}\r\n" for line in lines for folded in _fold(line))


def _event(fire: datetime, *, name: str, words: str, now: datetime) -> list[str]:
    at = _stamp(fire)
    return [
        "BEGIN:VEVENT",
        f"UID:{at}-{_escape(name)}@triggerdeck",
        f"DTSTAMP:{_stamp(now)}",
        f"DTSTART:{at}",
        f"SUMMARY:{_escape(name)}",
        f"DESCRIPTION:{_escape(words)}",
        "TRANSP:TRANSPARENT",
        "END:VEVENT",
    ]


def _stamp(value: datetime) -> str:
    return value.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _escape(text: str) -> str:
    return "".join(_ESCAPES.get(char, char) for char in text if char != "\r")


def _fold(line: str) -> list[str]:
    parts, current, size = [], "", 0
    for char in line:
        octets = len(char.encode())
        if size + octets > 75:
            parts.append(current)
            current, size = " ", 1
        current += char
        size += octets
    return [*parts, current]
