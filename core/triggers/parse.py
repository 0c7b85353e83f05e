"""Reads the schedule of a definition: every fault at once, each with its field and remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from core.errors import Fault, ScheduleInvalid
from core.triggers.cron import read_cron
from core.triggers.daylight import HIGH, LOW, Gap, LocalRule, Overlap
from core.triggers.durations import Step, read_jitter, read_step
from core.triggers.fields import FIRST_YEAR, LAST_YEAR
from core.triggers.interval import AnchoredRule, CalendarWalls, ElapsedRule
from core.triggers.once import OnceRule
from core.triggers.schedule import Kind, Rule, Schedule
from core.zones import DAY_S, Zone, zone

_KEYS = (
    "type",
    "expression",
    "every",
    "at",
    "timeZone",
    "daylightSaving",
    "startAt",
    "endAt",
    "maxOccurrences",
    "jitter",
    "excludes",
)
_BOUNDS = {"startAt", "endAt", "maxOccurrences"}
_ALLOWED: dict[str, set[str]] = {
    "once": {"type", "at", "timeZone", "jitter", "excludes"},
    "cron": {"type", "expression", "timeZone", "daylightSaving", "jitter", "excludes"} | _BOUNDS,
    "interval": {"type", "every", "timeZone", "daylightSaving", "jitter", "excludes"} | _BOUNDS,
}
_GAPS = ("auto", "shift", "skip")
_OVERLAPS = ("auto", "first", "second", "both")
_MOST_OCCURRENCES = 1_000_000_000
_INSTANT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?"
_Value = TypeVar("_Value")


def parse_schedule(mapping: Mapping[str, Any], *, now: datetime | None = None, prefix: str = "") -> Schedule:
    """Return the schedule that a definition's `source.schedule` says.

    With `now`, a rule that can never fire again after it is refused as well. Fault fields stand below `prefix`. Raise
    `ScheduleInvalid` with all faults.
    """
    try:
        schedule = _Reader(mapping).schedule()
        if now is not None:
            _refuse_silence(schedule, int(now.timestamp() // 1))
    except ScheduleInvalid as invalid:
        if prefix:
            raise invalid.under(prefix) from None
        raise
    return schedule


def _refuse_silence(schedule: Schedule, now: int) -> None:
    """Raise where the schedule has no time later than `now`."""
    if schedule.never_again(now):
        raise ScheduleInvalid([_silent(schedule)])


def _silent(schedule: Schedule) -> Fault:
    """Return the fault of a rule without any later time."""
    last = schedule.previous(schedule.high)
    main = {"once": "at", "cron": "expression", "interval": "every"}[schedule.kind]
    if last is None:
        message, remedy = "names no time that ever comes", "check day, month and year, and the bounds"
        return Fault(main, message, remedy, code="never_fires")
    shown = datetime.fromtimestamp(last, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    field = "endAt" if schedule.end_at is not None else "maxOccurrences" if schedule.max_occurrences else main
    return Fault(field, f"can never fire again; its last time was {shown}", "choose a later one", code="never_fires")


class _Reader:
    """Reads one mapping; collects faults and goes on as far as it makes sense."""

    def __init__(self, mapping: Mapping[str, Any]) -> None:
        if not isinstance(mapping, Mapping):
            raise ScheduleInvalid([Fault("", "a schedule must be a mapping", "write type: cron, and so on")])
        self._given = {key: value for key, value in mapping.items() if value is not None}
        self._faults: list[Fault] = []

    def schedule(self) -> Schedule:
        """Return the schedule or raise all faults."""
        kind = self._kind()
        self._check_keys(kind)
        build = {"once": self._once, "cron": self._cron, "interval": self._interval}
        schedule = build[kind]() if kind else None
        if schedule is None and kind in {"cron", "interval"}:
            self._check_bounds()
        if self._faults or schedule is None:
            raise self._refused()
        return self._bounded(schedule)

    def _refused(self) -> ScheduleInvalid:
        """Return the error with every fault once."""
        return ScheduleInvalid(dict.fromkeys(self._faults))

    def _fault(self, field: str, message: str, remedy: str = "") -> None:
        self._faults.append(Fault(field, message, remedy))

    def _attempt(self, read: Callable[[], _Value]) -> _Value | None:
        """Return what `read` returns, or None after keeping its faults."""
        try:
            return read()
        except ScheduleInvalid as invalid:
            self._faults += invalid.faults
            return None

    def _kind(self) -> Kind | None:
        kind = self._text("type", required="once, cron or interval")
        if kind is not None and kind not in _ALLOWED:
            close = _near(kind[:60], _ALLOWED)
            remedy = f"did you mean {close}?" if close else "write once, cron or interval"
            self._fault("type", f"{kind[:60]!r} is not a type of schedule", remedy)
            return None
        return kind  # type: ignore[return-value]

    def _check_keys(self, kind: Kind | None) -> None:
        """Refuse unknown keys, keys of another type, and exclusions."""
        for key in self._given:
            if key not in _KEYS:
                near = _near(str(key), _KEYS)
                self._fault(str(key), "is not a field of a schedule", f"did you mean {near}?" if near else "remove it")
            elif kind and key not in _ALLOWED[kind] and not self._harmless(key):
                owners = " or ".join(owner for owner, keys in _ALLOWED.items() if key in keys)
                self._fault(key, f"does not belong to a schedule of type {kind}", f"it is for {owners}; remove it")
        if self._given.get("excludes"):
            self._fault("excludes", "calendars are not supported yet", "remove excludes")

    def _harmless(self, key: str) -> bool:
        """Say whether a key of another type says nothing: policies that are all auto."""
        value = self._given[key]
        if key != "daylightSaving" or not isinstance(value, Mapping):
            return False
        return all(policy is None or policy == "auto" for policy in value.values())

    def _text(self, key: str, required: str = "") -> str | None:
        value = self._given.get(key)
        if value is None:
            if required:
                self._fault(key, "is missing", f"write {required}")
            return None
        if not isinstance(value, str):
            self._fault(key, f"must be a text, not {_kind_name(value)}", "put it in quotes")
            return None
        return value

    def _zone(self, *, required: bool) -> Zone | None:
        name = self._text("timeZone", required="an IANA zone such as Europe/Berlin" if required else "")
        if name is None:
            return None
        return self._attempt(lambda: zone(name))

    def _instant(self, key: str, required: str = "") -> tuple[int, int] | None:
        """Return (epoch seconds, offset seconds) of an instant with an offset."""
        value = self._given.get(key)
        if isinstance(value, datetime):
            value = value.isoformat()
        if value is None or not isinstance(value, str):
            self._given.update({} if value is None else {key: value})
            self._text(key, required)
            return None
        return self._attempt(lambda: read_instant(value, key))

    def _policies(self, *, follows_clock: bool) -> tuple[Gap, Overlap] | None:
        """Return the resolved daylight-saving policies."""
        given = self._given.get("daylightSaving", {})
        if not isinstance(given, Mapping):
            self._fault(
                "daylightSaving", f"must be a mapping, not {_kind_name(given)}", "write {gap: auto, overlap: auto}"
            )
            return None
        for key in given:
            if key not in {"gap", "overlap"}:
                self._fault(f"daylightSaving.{key}", "is not a daylight-saving policy", "write gap or overlap")
        gap = self._choice(given, "gap", _GAPS)
        overlap = self._choice(given, "overlap", _OVERLAPS)
        auto = "both" if follows_clock else "first"
        return (
            "skip" if gap == "skip" else "shift",
            auto if overlap == "auto" else overlap,  # type: ignore[return-value]
        )

    def _choice(self, given: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> str:
        value = given.get(key)
        if value is None:
            return "auto"
        if value not in choices:
            allowed = f"write {', '.join(choices[:-1])} or {choices[-1]}"
            self._fault(f"daylightSaving.{key}", f"{repr(value)[:40]} is not one of its values", allowed)
            return "auto"
        return str(value)

    def _whole_number(self, key: str, most: int) -> int | None:
        value = self._given.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            self._fault(key, f"must be a whole number, not {_kind_name(value)}", "write 1 or more")
        elif not 1 <= value <= most:
            shown = f"{value} is" if value < 10**20 else "is"
            self._fault(key, f"{shown} out of range", f"write 1 to {most:,}")
        else:
            return value
        return None

    def _jitter(self) -> int:
        text = self._text("jitter")
        return 0 if text is None else self._attempt(lambda: read_jitter(text, "jitter")) or 0

    def _definition(self) -> dict[str, Any]:
        """Return what was given, in fixed order."""
        given = {key: self._given[key] for key in _KEYS if key in self._given and self._given[key] != []}
        return {key: _plain(value) for key, value in given.items()}

    def _once(self) -> Schedule | None:
        at = self._instant("at", "an instant with offset, such as 2027-01-01T09:00:00+01:00")
        place, jitter_s = self._zone(required=False), self._jitter()
        if at is None:
            return None
        return Schedule("once", OnceRule(at[0]), place, self._definition(), jitter_s=jitter_s, at=at[0])

    def _cron(self) -> Schedule | None:
        text = self._text("expression", "six fields, such as 0 30 2 * * ?")
        line = None if text is None else self._attempt(lambda: read_cron(text))
        place, jitter_s = self._zone(required=True), self._jitter()
        policies = self._policies(follows_clock=line is not None and line.follows_clock)
        if line is None or place is None or policies is None:
            return None
        gap, overlap = policies
        rule = LocalRule(line.walls(), place, gap, overlap)
        given = self._definition()
        return Schedule("cron", rule, place, given, jitter_s=jitter_s, cron=line, gap=gap, overlap=overlap, local=rule)

    def _interval(self) -> Schedule | None:
        text = self._text("every", "an ISO-8601 duration such as PT15M or P1D")
        step = None if text is None else self._attempt(lambda: read_step(text, "every"))
        calendar = step is not None and step.is_calendar
        place, jitter_s = self._zone(required=calendar), self._jitter()
        policies = self._interval_policies(calendar=calendar or step is None)
        anchor = self._instant("startAt", "the anchor, an instant with offset")
        if step is None or anchor is None or policies is None or (calendar and place is None):
            return None
        if calendar and place is not None:
            self._check_anchor(place, anchor)
        rule, local = _interval_rule(step, anchor[0], place, policies)
        base = Schedule("interval", rule, place, self._definition(), jitter_s=jitter_s, every=step)
        return replace(base, gap=policies[0], overlap=policies[1], local=local) if calendar else base

    def _interval_policies(self, *, calendar: bool) -> tuple[Gap, Overlap] | None:
        if not calendar and "daylightSaving" in self._given and not self._harmless("daylightSaving"):
            self._fault("daylightSaving", "has no meaning for an interval of elapsed time", "remove it or use P1D")
        return self._policies(follows_clock=False)

    def _check_anchor(self, place: Zone, anchor: tuple[int, int]) -> None:
        right = place.offset_at(anchor[0])
        if right != anchor[1]:
            message = f"its offset {_offset_text(anchor[1])} is not that of {place.name} at that time"
            self._fault("startAt", message, f"write {_offset_text(right)}, or the time as the clock there shows it")

    def _check_bounds(self) -> tuple[int | None, int | None, int | None]:
        """Return startAt, endAt and maxOccurrences; keep their faults."""
        start, end = self._instant("startAt"), self._instant("endAt")
        most = self._whole_number("maxOccurrences", _MOST_OCCURRENCES)
        if "maxOccurrences" in self._given and "startAt" not in self._given:
            self._fault("maxOccurrences", "needs startAt, from which it counts", "add startAt")
        if start and end and end[0] <= start[0]:
            self._fault("endAt", "is not later than startAt", "choose a later end; it is exclusive")
        return (start and start[0], end and end[0], most)

    def _bounded(self, schedule: Schedule) -> Schedule:
        """Return the schedule within its bounds."""
        if schedule.kind == "once":
            return schedule
        start, end, most = self._check_bounds()
        if self._faults:
            raise self._refused()
        high = HIGH - 1 if schedule.kind == "cron" else HIGH - 2 * DAY_S - 1
        low = LOW if start is None else max(LOW, start)
        high = high if end is None else min(high, end - 1)
        final = schedule.rule.nth(low - 1, most) if most else None
        high = high if final is None else min(high, final)
        return replace(schedule, low=low, high=high, start_at=start, end_at=end, max_occurrences=most)


def _interval_rule(
    step: Step, anchor: int, place: Zone | None, policies: tuple[Gap, Overlap]
) -> tuple[Rule, LocalRule | None]:
    """Return the rule of an interval from its anchor instant, and the part of it that follows a zone's clock."""
    if not step.is_calendar or place is None:
        return ElapsedRule(anchor, max(1, step.seconds)), None
    from_anchor = policies[1] == "both"
    walls = CalendarWalls(place.wall_at(anchor), step.months, step.days, 0 if from_anchor else 1)
    local = LocalRule(walls, place, *policies)
    return (local if from_anchor else AnchoredRule(anchor, local)), local


def read_instant(text: str, field: str) -> tuple[int, int]:
    """Return (epoch seconds, offset seconds) of an RFC 3339 instant; raise `ScheduleInvalid` naming `field`."""
    match = re.fullmatch(_INSTANT, text)
    if match is None:
        remedy = "write it like 2026-03-29T02:30:00+01:00"
        raise ScheduleInvalid([Fault(field, f"{text[:40]!r} is not an instant", remedy)])
    if not match[3]:
        raise ScheduleInvalid([Fault(field, f"{text} has no offset", f"write {text}Z or {text}+01:00")])
    if match[2] and match[2].strip(".0"):
        raise ScheduleInvalid([Fault(field, f"{text} has a fraction of a second", "write whole seconds")])
    try:
        instant = datetime.fromisoformat(text.upper())
        seconds = int(instant.timestamp())
    except (ValueError, OverflowError) as error:
        raise ScheduleInvalid([Fault(field, f"{text} does not exist: {error}", "check day, month and time")]) from error
    last = 9999 if field == "endAt" else LAST_YEAR
    if not FIRST_YEAR <= instant.year <= last:
        raise ScheduleInvalid([Fault(field, f"{text} is out of range", f"write a year from {FIRST_YEAR} to {last}")])
    offset = instant.utcoffset()
    return seconds, int(offset.total_seconds()) if offset else 0


def _offset_text(offset_s: int) -> str:
    """Return an offset as +hh:mm."""
    sign, rest = "-" if offset_s < 0 else "+", abs(offset_s)
    return f"{sign}{rest // 3600:02d}:{rest % 3600 // 60:02d}" + (f":{rest % 60:02d}" if rest % 60 else "")


def _near(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    folded = {name.casefold(): name for name in known}
    return next((folded[name] for name in get_close_matches(word.casefold().replace("_", ""), folded, 1, 0.6)), "")


def _kind_name(value: object) -> str:
    """Return what a wrong value is, in a user's words."""
    names = {bool: "true or false", int: "a number", float: "a number with a fraction", str: "a text"}
    names |= {list: "a list", dict: "a mapping"}
    return names.get(type(value), type(value).__name__)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, datetime):
        return value.isoformat()
    return dict(value) if isinstance(value, Mapping) else value
