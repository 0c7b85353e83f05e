"""ISO-8601 durations: one reader of their writing, and what schedules take from it.

isodate reads `PT24H` and `P1D` alike; in a schedule they differ, so the units as written decide. Where a length is
fixed (timeouts, waits, expiries) a day is 24 hours: `core.flows.durations`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from core.errors import Fault, ScheduleInvalid

_LONGEST_S = 100 * 365 * 86_400 + 25 * 86_400
_LONGEST_MONTHS = 1_200
_LONGEST_DAYS = 36_525
_LONGEST_TEXT = 60
_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_DAYS = "".join(f"(?:{_NUMBER}{unit})?" for unit in "YMWD")
_HOURS = "".join(f"(?:{_NUMBER}{unit})?" for unit in "HMS")
_SHAPE = rf"P(?=.){_DAYS}(?:T(?=.){_HOURS})?"


@dataclass(frozen=True, slots=True)
class Measure:
    """A duration by the units as written: years and months, weeks and days, hours to seconds."""

    months: float
    days: timedelta
    clock: timedelta


@dataclass(frozen=True, slots=True)
class Step:
    """A distance between two nominal times: elapsed seconds, or calendar months and days."""

    text: str
    seconds: int = 0
    months: int = 0
    days: int = 0

    @property
    def is_calendar(self) -> bool:
        """Say whether the step is taken on the calendar rather than on elapsed time."""
        return bool(self.months or self.days)


def read_step(text: str, field: str) -> Step:
    """Return the step that `text` says; raise `ScheduleInvalid` for anything but whole, unmixed, sane durations."""
    fault = _shape_fault(text, field)
    if fault is not None:
        raise ScheduleInvalid([fault])
    step = _measure(text)
    if step.seconds and step.is_calendar:
        message = f"{text} mixes calendar units with hours, minutes or seconds"
        raise ScheduleInvalid([Fault(field, message, "write P1D for the calendar or PT24H for elapsed time")])
    if not step.seconds and not step.is_calendar:
        raise ScheduleInvalid([Fault(field, f"{text} is no time at all", "the shortest is PT1S")])
    if step.seconds > _LONGEST_S or step.months > _LONGEST_MONTHS or step.days > _LONGEST_DAYS:
        raise ScheduleInvalid([Fault(field, f"{text} is longer than 100 years", "write a shorter duration")])
    return step


def read_jitter(text: str, field: str) -> int:
    """Return the seconds of a jitter, 0 to one day; raise `ScheduleInvalid` otherwise."""
    fault = _shape_fault(text, field)
    step = None if fault else _measure(text)
    if step is not None and step.is_calendar and not step.months and step.days <= 1:
        step = Step(text, step.seconds + 86_400 * step.days)
    if fault is None and step is not None and (step.is_calendar or step.seconds > 86_400):
        fault = Fault(field, f"{text} is longer than PT24H", "write a shorter jitter, such as PT10M")
    if fault is not None or step is None:
        raise ScheduleInvalid([fault] if fault else [])
    return step.seconds


def _shape_fault(text: str, field: str) -> Fault | None:
    """Return what is wrong with the writing of a duration."""
    if len(text) > _LONGEST_TEXT or re.search(r"\d{11}", text):
        return Fault(field, f"{text[:30]}… is too large a duration", "write a duration of at most 100 years")
    if re.search(r"\d[.,]\d", text):
        return Fault(field, f"{text} has a fraction", "write whole units: PT90S instead of PT1.5M")
    if text.startswith(("-", "+", "P-")) or re.search(r"-\d", text):
        return Fault(field, f"{text} has a sign", "write a plain duration such as PT15M")
    if not is_duration(text):
        hint = "use capitals: " + text.upper() if is_duration(text.upper()) else "write PT15M, PT24H, P1D or P1M"
        return Fault(field, f"{text!r} is not an ISO-8601 duration", hint)
    return None


def _measure(text: str) -> Step:
    """Return the step of a duration whose writing is known to be right, in whole units."""
    try:
        measured = measure(text)
    except OverflowError:
        return Step(text, days=_LONGEST_DAYS + 1)
    return Step(text, int(measured.clock.total_seconds()), int(measured.months), measured.days.days)


# -- reading -----------------------------------------------------------------------------------------------------------


def is_duration(text: str) -> bool:
    """Say whether `text` is written like an ISO-8601 duration without a sign; its units may have fractions."""
    return len(text) <= _LONGEST_TEXT and re.fullmatch(_SHAPE, text) is not None


def measure(text: str) -> Measure:
    """Return what such a text says. Raise `OverflowError` where that is more than 999,999,999 days."""
    from isodate import Duration, parse_duration

    calendar_text, _, clock_text = text.partition("T")
    clock = parse_duration(f"PT{clock_text}") if clock_text else timedelta()
    if calendar_text == "P":
        return Measure(0, timedelta(), clock)
    read = parse_duration(calendar_text)
    if isinstance(read, Duration):
        return Measure(float(read.years * 12 + read.months), read.tdelta, clock)
    return Measure(0, read, clock)
