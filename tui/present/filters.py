"""What one types into a filter, as the deck's queries: words and `key:value` pairs; pure."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from core.errors import Fault
from core.views import ACTIVE_WORK, OccurrenceQuery, WorkQuery
from tui.present.history import REASONS
from tui.present.times import zone

OUTCOMES = ("pending", "submitted", "skipped", "failed", "joined", "deferred", "dropped")
KIND_WORDS = ("scheduled", "manual", "event", "backfill")
STATUSES = (*ACTIVE_WORK, "completed", "failed", "cancelled")
_CHOICES: dict[str, tuple[str, tuple[str, ...]]] = {
    "state": ("outcome", OUTCOMES),
    "outcome": ("outcome", OUTCOMES),
    "reason": ("reason", tuple(REASONS)),
    "kind": ("kind", KIND_WORDS),
}
ACTIVITY = frozenset({"active", "ended"})
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
_PAIR = re.compile(r"^(-?\w+)([:~=])(.*)$")


def since(text: str, now: datetime) -> datetime | None:
    """Read `90m`, `30d`, `2w`, a date or an RFC 3339 instant; None where it is none of these."""
    match = re.fullmatch(r"(\d{1,4})([mhdw])", text.lower())
    if match:
        return now - timedelta(seconds=int(match[1]) * _UNITS[match[2]])
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def occurrence_query(text: str, now: datetime) -> tuple[OccurrenceQuery, tuple[Fault, ...]]:
    """Read `state:skipped since:30d trigger:nightly reason:paused kind:manual`; bare words are parts of a trigger."""
    words, pairs = _split(text)
    query, faults = OccurrenceQuery(trigger_like=" ".join(words) or None), []
    for key, value in pairs:
        change = _occurrence_part(key, value, now)
        if isinstance(change, Fault):
            faults.append(change)
        else:
            query = replace(query, **change)
    return query, tuple(faults)


def _occurrence_part(key: str, value: str, now: datetime) -> dict[str, Any] | Fault:
    if key in {"trigger", "namespace"}:
        return {key: value}
    field, allowed = _CHOICES.get(key, ("", ()))
    if field:
        return _one_of(field, value.replace("-", "_"), allowed)
    if key in {"since", "until"}:
        return _instant(key, value, now)
    return Fault(key, "is not something to filter by", "use state, since, until, trigger, reason, kind or namespace")


def work_query(text: str, now: datetime) -> tuple[WorkQuery, tuple[Fault, ...]]:
    """Read `status:failed since:7d trigger:nightly active`; other bare words are parts of a trigger."""
    words, pairs = _split(text, ACTIVITY)
    query, faults = WorkQuery(trigger_like=" ".join(words) or None), []
    for key, value in pairs:
        change = _work_part(key, value, now)
        if isinstance(change, Fault):
            faults.append(change)
        else:
            query = replace(query, **change)
    return query, tuple(faults)


def _work_part(key: str, value: str, now: datetime) -> dict[str, Any] | Fault:
    if key == "":
        return {"active": value == "active"}
    if key == "trigger":
        return {"trigger": value}
    if key in {"state", "status"}:
        return {"active": True} if value == "active" else _one_of("status", value, STATUSES)
    if key == "since":
        return _instant(key, value, now)
    return Fault(key, "is not something to filter by", "use status, since, trigger, or the word active")


def _split(text: str, known: frozenset[str] = frozenset()) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the words that triggers are looked for by (`nightly`, `trigger~nightly`), and pairs with `known` words."""
    words: list[str] = []
    pairs: list[tuple[str, str]] = []
    for word in text.split():
        key, value = _pair(word)
        if (key == "" and word not in known) or word.lower().startswith("trigger~"):
            words.append(value)
        else:
            pairs.append((key, value))
    return words, pairs


def _pair(word: str) -> tuple[str, str]:
    match = _PAIR.match(word)
    return (match[1].lower(), match[3]) if match else ("", word)


def _one_of(field: str, value: str, allowed: tuple[str, ...]) -> dict[str, Any] | Fault:
    folded = {each.lower(): each for each in allowed}
    if value.lower() in folded:
        return {field: folded[value.lower()]}
    close = [each for each in allowed if each.lower().startswith(value.lower())] if value else []
    if len(close) == 1:
        return {field: close[0]}
    return Fault(field, f"does not know {value!r}" if value else "says nothing", f"use one of {', '.join(allowed)}")


def _instant(field: str, value: str, now: datetime) -> dict[str, Any] | Fault:
    read = since(value, now)
    return {field: read} if read else Fault(field, f"cannot read {value!r}", "write 90m, 12h, 30d or 2026-03-01")


def instant(text: str, now: datetime, zone_name: str) -> datetime | None:
    """Read `02:30` (today), `2026-03-28 02:30` in a zone, or an instant with its own offset; None otherwise."""
    text = text.strip()
    if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", text):
        text = f"{now.astimezone(zone(zone_name)):%Y-%m-%d} {text:0>5}"
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=zone(zone_name))).astimezone(UTC)


def later(text: str, now: datetime, zone_name: str) -> datetime | None:
    """Read `90m`, `3h`, `2d` from now on, `16:00` (today or tomorrow), or an instant; None otherwise."""
    match = re.fullmatch(r"(\d{1,4})\s*([mhdw])", text.strip().lower())
    if match:
        return now + timedelta(seconds=int(match[1]) * _UNITS[match[2]])
    read = instant(text, now, zone_name)
    if read is not None and read <= now and ":" in text and "-" not in text:
        return read + timedelta(days=1)
    return read
