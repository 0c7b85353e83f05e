"""`preview --jsonl`: one request a line in, one answer a line out, in order, as fast as the evaluator answers.

A line that cannot be answered gets an error line; nothing but the end of the input ends the program. Answers go out
as soon as the requests that are there have been read, so that a program at the other end may wait for each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from cli.instants import read_absolute
from core.clock import epoch_seconds, from_epoch
from core.errors import Fault, Invalid, ScheduleInvalid
from core.triggers import Schedule, parse_schedule

CHUNK_BYTES = 1 << 16
DEFAULT_COUNT = 10
MOST_FIRES = 100_000
RULES_KEPT = 8_192
DAY_S = 86_400

ALIASES = {"expr": "expression", "zone": "timeZone"}
POLICIES = ("gap", "overlap")
REQUEST_KEYS = {"after", "until", "count"}
KIND_OF = {"expression": "cron", "every": "interval", "at": "once"}


class Refused(Invalid):
    """A request that makes no sense, whatever its rule says."""

    code = "request_invalid"


def serve(source: int, write: Callable[[bytes], object], now: int) -> None:
    """Answer every line that arrives at the file descriptor `source`; `now` is the default of `after`, in seconds."""
    rest = b""
    while chunk := os.read(source, CHUNK_BYTES):
        *lines, tail = chunk.split(b"\n")
        if not lines:
            rest += tail
            continue
        lines[0], rest = rest + lines[0], tail
        write("".join(answer(line, now) + "\n" for line in lines).encode())
    if rest:
        write((answer(rest, now) + "\n").encode())


def answer(line: bytes, now: int) -> str:
    """Return the answer to one line as one line of JSON; never raises."""
    try:
        return _answer(_read(line), now)
    except Invalid as error:
        return _error(error.code, error.faults)
    except Exception as error:  # noqa: BLE001 a bad line gives an error line, never an exit
        return _error("internal", [Fault("", f"this request failed: {type(error).__name__}: {error}")])


def _read(line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused([Fault("", f"this line is not JSON: {error}"[:200], "write one object a line")]) from None
    if not isinstance(request, dict):
        raise Refused([Fault("", "this line is JSON but no object", "write one object a line")])
    return request


def _answer(request: dict[str, Any], now: int) -> str:
    schedule = _schedule(request)
    after = _instant(request, "after", now)
    until = _instant(request, "until", schedule.high)
    count = _count(request)
    fires = schedule.between(after, until, count)
    ended = len(fires) < count and (until >= schedule.high or schedule.next(max(after, until)) is None)
    return _fires_text(fires, exhausted=ended)


def _fires_text(fires: list[int], *, exhausted: bool) -> str:
    listed = ", ".join([f'"{_day(at // DAY_S)}{_time(at % DAY_S)}"' for at in fires])
    return f'{{"fires": [{listed}], "exhausted": {"true" if exhausted else "false"}}}'


@lru_cache(maxsize=16_384)
def _day(number: int) -> str:
    return from_epoch(number * DAY_S).strftime("%Y-%m-%dT")


@lru_cache(maxsize=16_384)
def _time(second: int) -> str:
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"


def _schedule(request: Mapping[str, Any]) -> Schedule:
    rule = {key: value for key, value in request.items() if key not in REQUEST_KEYS}
    parsed = _parsed.get(key := repr(rule))
    if parsed is None:
        parsed = _parse(rule)
        if len(_parsed) >= RULES_KEPT:
            _parsed.clear()
        _parsed[key] = parsed
    return parsed


_parsed: dict[str, Schedule] = {}


def _parse(rule: Mapping[str, Any]) -> Schedule:
    schedule: dict[str, Any] = {}
    for key, value in rule.items():
        name = ALIASES.get(key, key)
        if name in schedule:
            raise ScheduleInvalid([Fault(name, "is given twice", f"leave out {key} or its other spelling")])
        schedule[name] = value
    return parse_schedule(_with_policies(_with_type(schedule)))


def _with_type(schedule: dict[str, Any]) -> dict[str, Any]:
    if schedule.get("type") is not None:
        return schedule
    kind = next((kind for key, kind in KIND_OF.items() if schedule.get(key) is not None), None)
    if kind is None:
        raise ScheduleInvalid([Fault("expression", "is missing", "give expr with zone, every with startAt, or at")])
    return {**schedule, "type": kind}


def _with_policies(schedule: dict[str, Any]) -> dict[str, Any]:
    """Return the schedule with `gap` and `overlap` where a definition has them."""
    policies = {key: value for key in POLICIES if (value := schedule.pop(key, None)) is not None}
    if not policies:
        return schedule
    given = schedule.get("daylightSaving")
    if given is not None and not isinstance(given, Mapping):
        return schedule
    return {**schedule, "daylightSaving": {**(given or {}), **policies}}


def _instant(request: Mapping[str, Any], field: str, default: int) -> int:
    text = request.get(field)
    if text is None:
        return default
    if not isinstance(text, str):
        raise Refused([Fault(field, "must be a text", "write an instant such as 2026-03-27T00:00:00Z")])
    return _read_instant(text, field)


@lru_cache(maxsize=16_384)
def _read_instant(text: str, field: str) -> int:
    try:
        return epoch_seconds(read_absolute(text, field))
    except Invalid as error:
        raise Refused(error.faults) from None


def _count(request: Mapping[str, Any]) -> int:
    count = request.get("count")
    if count is None:
        return DEFAULT_COUNT
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_FIRES:
        raise Refused([Fault("count", "must be a whole number", f"write 1 to {MOST_FIRES}")])
    return count


def _error(code: str, faults: tuple[Fault, ...] | list[Fault]) -> str:
    first, *others = faults or (Fault("", "the request is invalid"),)
    sentences = [Fault("", first.message, first.remedy, first.position).sentence(), *(o.sentence() for o in others)]
    return json.dumps({"error": {"code": code, "field": first.field, "message": " | ".join(sentences)}})
