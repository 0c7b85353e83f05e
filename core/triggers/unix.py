"""Five-field Unix lines: recognised where a Quartz line is expected, and said in Quartz.

Unix counts weekdays from Sunday = 0 (7 is Sunday too), Quartz from Sunday = 1. Unix fires when day of month *or* day
of week matches where both are restricted; one Quartz line cannot say that.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from core.errors import Fault, ScheduleInvalid
from core.triggers.fields import DAY_NAMES, MONTH_NAMES

_MACROS = {
    "@yearly": "0 0 0 1 1 ?",
    "@annually": "0 0 0 1 1 ?",
    "@monthly": "0 0 0 1 * ?",
    "@weekly": "0 0 0 ? * SUN",
    "@daily": "0 0 0 * * ?",
    "@midnight": "0 0 0 * * ?",
    "@hourly": "0 0 * * * ?",
}


class _Part(NamedTuple):
    """One Unix field: limits and names, the first of which means `low`."""

    name: str
    low: int
    high: int
    largest_step: int
    names: tuple[str, ...] = ()


_PARTS = (
    _Part("minute", 0, 59, 59),
    _Part("hour", 0, 23, 23),
    _Part("day of month", 1, 31, 31),
    _Part("month", 1, 12, 12, MONTH_NAMES),
    _Part("day of week", 0, 7, 7, DAY_NAMES),
)
_ITEM = r"(?:(\*)|([0-9]{1,2}|[A-Z]{3})(?:-([0-9]{1,2}|[A-Z]{3}))?)(?:/([0-9]{1,3}))?"


def unix_to_quartz(line: str) -> str:
    """Return the Quartz line that fires when a five-field Unix line or macro does.

    Raise `ScheduleInvalid` where the line is not Unix cron, or where no single Quartz line says the same.
    """
    text = line.strip(" \t")
    if text.lower() in _MACROS:
        return _MACROS[text.lower()]
    words = re.split(r"[ \t]+", text)
    if len(words) != 5:
        raise _refused(f"has {len(words)} fields; a Unix cron line has 5")
    values = [_values(part, word) for part, word in zip(_PARTS, words, strict=True)]
    minute, hour, day, month = (
        _say(part, word, found) for part, word, found in zip(_PARTS[:4], words, values, strict=False)
    )
    day_free, weekday_free = len(set(values[2])) == 31, len({value % 7 for value in values[4]}) == 7
    if weekday_free:
        return f"0 {minute} {hour} {day} {month} ?"
    if not day_free:
        raise _refused("Unix cron joins day of month and day of week with or; Quartz cannot", "make two Triggers")
    return f"0 {minute} {hour} ? {month} {_weekdays(values[4])}"


def _refused(message: str, remedy: str = "write minute hour day-of-month month day-of-week") -> ScheduleInvalid:
    return ScheduleInvalid([Fault("expression", message, remedy)])


def _values(part: _Part, text: str) -> list[int]:
    """Return the values of one Unix field, in order of writing."""
    return [value for item in text.upper().split(",") for value in _item_values(part, item)]


def _item_values(part: _Part, item: str) -> range:
    match = re.fullmatch(_ITEM, item)
    if match is None:
        raise _refused(f"{item!r} is not a Unix {part.name}")
    star, first_text, final_text, step_text = match.groups()
    step = int(step_text or 1)
    if step == 0:
        raise _refused(f"the step of {item!r} is zero")
    if star:
        return range(part.low, min(part.high, 6 if part.low == 0 and part.high == 7 else part.high) + 1, step)
    first = _number(part, first_text)
    final = _number(part, final_text) if final_text else (part.high if step_text else first)
    if final < first:
        raise _refused(f"{item!r} runs backwards")
    return range(first, final + 1, step)


def _number(part: _Part, text: str) -> int:
    if text.isdigit() and part.low <= int(text) <= part.high:
        return int(text)
    if text in part.names:
        return part.names.index(text) + part.low
    raise _refused(f"{text} is not a Unix {part.name}")


def _say(part: _Part, text: str, values: list[int]) -> str:
    """Return a minute, hour, day or month field as it is, or as a list where Quartz refuses its form."""
    written = text.upper()
    steps = [int(step) for step in re.findall(r"/([0-9]+)", written)]
    named_step = re.search(r"[A-Z]{3}/", written)
    if named_step or any(step > part.largest_step for step in steps):
        return ",".join(str(value) for value in sorted(set(values)))
    return written


def _weekdays(values: list[int]) -> str:
    """Return Quartz names for Unix weekdays, runs of three or more as ranges."""
    days = {value % 7 for value in values}
    runs: list[list[int]] = []
    for day in sorted(days, key=lambda day: (day - 1) % 7):
        if runs and (runs[-1][-1] + 1) % 7 == day:
            runs[-1].append(day)
        else:
            runs.append([day])
    return ",".join(_run_text(run) for run in runs)


def _run_text(run: list[int]) -> str:
    names = [DAY_NAMES[day] for day in run]
    return f"{names[0]}-{names[-1]}" if len(names) > 2 else ",".join(names)


def unix_fault(line: str) -> Fault | None:
    """Return the fault for a five-field Unix line, its remedy the Quartz form; None where it is not Unix cron."""
    try:
        values = [
            _values(part, word) for part, word in zip(_PARTS, re.split(r"[ \t]+", line.strip(" \t")), strict=True)
        ]
    except ScheduleInvalid:
        return None
    del values
    message = "is a five-field Unix cron line; Quartz begins with seconds and has ? in one day field"
    try:
        return Fault("expression", message, f"write {unix_to_quartz(line)}", 0, "unix_cron")
    except ScheduleInvalid as refused:
        fault = refused.faults[0]
        return Fault("expression", message, f"{fault.message}; {fault.remedy}", 0, "unix_cron")


def macro_fault(text: str) -> Fault | None:
    """Return the fault for a crontab macro such as `@daily`, its remedy the Quartz form."""
    word = text.strip(" \t").lower()
    if word in _MACROS:
        return Fault("expression", f"{word} is a crontab macro", f"write {_MACROS[word]}", 0, "unix_cron")
    if word.startswith("@"):
        return Fault("expression", f"{word[:40]} is a crontab macro without a Quartz form", "write six fields", 0)
    return None
