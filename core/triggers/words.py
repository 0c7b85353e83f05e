"""Schedules in plain English, long for the editor and short for a column, with notes on what is easily overlooked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.triggers.cron import Cron
from core.triggers.cron_words import (
    DAYS,
    MONTHS,
    WEEKDAYS,
    WEEKEND,
    clock_times,
    cron_words,
    field_words,
    joined,
    ordinal,
    plain,
)
from core.triggers.durations import Step
from core.triggers.fields import Field
from core.triggers.schedule import Schedule
from core.words import counted
from core.zones import DAY_S, Zone, civil_from_days

SHORT = 24


@dataclass(frozen=True, slots=True)
class Explanation:
    """A schedule in words; `fields` has (name, text, words) for each field of a cron line."""

    words: str
    notes: tuple[str, ...] = ()
    fields: tuple[tuple[str, str, str], ...] = ()


def explain(schedule: Schedule) -> Explanation:
    """Return the schedule in words, with its notes and, for cron, each field's meaning."""
    words = _rule_words(schedule) + _zone_words(schedule) + _bound_words(schedule)
    fields = tuple((field.kind.name, field.text, field_words(field)) for field in _fields(schedule.cron))
    return Explanation(words, tuple(_notes(schedule)), fields)


def _fields(cron: Cron | None) -> tuple[Field, ...]:
    if cron is None:
        return ()
    return (cron.second, cron.minute, cron.hour, cron.day, cron.month, cron.weekday, cron.year)


def _rule_words(schedule: Schedule) -> str:
    if schedule.cron is not None:
        return cron_words(schedule.cron)
    if schedule.every is None:
        return f"once, on {stamp(schedule.at or 0, schedule.zone)}"
    return every_words(schedule.every)


def _zone_words(schedule: Schedule) -> str:
    return f", {schedule.zone.name}" if schedule.zone is not None and schedule.kind != "once" else ""


def _bound_words(schedule: Schedule) -> str:
    """Return start, end and count of occurrences."""
    parts = []
    if schedule.start_at is not None:
        parts.append(f"from {stamp(schedule.start_at, schedule.zone)}")
    if schedule.end_at is not None:
        parts.append(f"until before {stamp(schedule.end_at, schedule.zone)}")
    if schedule.max_occurrences is not None:
        count = schedule.max_occurrences
        parts.append(f"{counted(count, 'time')} at most")
    return "".join(", " + part for part in parts)


def wall_text(wall: int) -> str:
    """Return a wall time as `2026-03-29 02:30:00`."""
    year, month, day = civil_from_days(wall // DAY_S)
    return f"{year:04d}-{month:02d}-{day:02d} {clock_text(wall)}"


def clock_text(wall: int) -> str:
    """Return the time of day of a wall time as hh:mm:ss."""
    hour, rest = divmod(wall % DAY_S, 3600)
    return f"{hour:02d}:{rest // 60:02d}:{rest % 60:02d}"


def offset_text(offset_s: int) -> str:
    """Return an offset as +01:00, with seconds only where it has any."""
    sign, rest = "-" if offset_s < 0 else "+", abs(offset_s)
    return f"{sign}{rest // 3600:02d}:{rest % 3600 // 60:02d}" + (f":{rest % 60:02d}" if rest % 60 else "")


def stamp(instant: int, zone: Zone | None) -> str:
    """Return an instant as date, time and offset in its zone, or in UTC."""
    if zone is None:
        return wall_text(instant) + " UTC"
    return f"{wall_text(zone.wall_at(instant))} {offset_text(zone.offset_at(instant))}"


def every_words(step: Step) -> str:
    """Return `every 15 minutes`, `every month`, `every 1 month and 3 days`."""
    units = _units(step)
    if len(units) == 1 and units[0][0] == 1:
        return f"every {units[0][1]}"
    return "every " + joined(counted(count, unit) for count, unit in units)


def length_words(seconds: int) -> str:
    """Return `1 hour and 30 minutes`."""
    return joined(counted(count, unit) for count, unit in _units(Step("", seconds=seconds)))


def _units(step: Step) -> list[tuple[int, str]]:
    years, months = divmod(step.months, 12)
    weeks, days = divmod(step.days, 7) if step.days % 7 == 0 else (0, step.days)
    hours, rest = divmod(step.seconds, 3600)
    named = [(years, "year"), (months, "month"), (weeks, "week"), (days, "day"), (hours, "hour")]
    named += [(rest // 60, "minute"), (rest % 60, "second")]
    return [(count, unit) for count, unit in named if count]


def _notes(schedule: Schedule) -> Iterator[str]:
    """Yield what is easily overlooked about the rule itself."""
    if schedule.cron is not None:
        yield from _cron_notes(schedule.cron)
    if schedule.every is not None:
        yield from _interval_notes(schedule)
    if schedule.zone is not None and schedule.gap is not None and _changes_clocks(schedule.zone, schedule.low):
        yield from _policy_notes(schedule)
    if schedule.jitter_s:
        yield f"each time up to {length_words(schedule.jitter_s)} later, never as late as the next"


def _changes_clocks(zone: Zone, low: int) -> bool:
    return zone.next_transition(low) is not None


def _policy_notes(schedule: Schedule) -> Iterator[str]:
    if schedule.gap == "shift":
        yield "a wall time that does not exist is shifted by the length of the gap"
    else:
        yield "a wall time that does not exist is skipped"
    if schedule.overlap == "both":
        yield "a wall time that happens twice fires twice"
    else:
        yield f"a wall time that happens twice fires at the {schedule.overlap}"


def _cron_notes(cron: Cron) -> Iterator[str]:
    yield from _restart_notes(cron)
    term = cron.day.terms[0]
    months = cron.month.values
    if cron.day.unspecified:
        if any(term.shape == "nth" and term.final == 5 for term in cron.weekday.terms):
            yield "no time in a month without a fifth such day"
    elif term.shape in {"last", "lastWeekday"} and term.first >= 28:
        yield f"no time in a month of {term.first} days or fewer"
    elif cron.day.values and min(cron.day.values) >= 29:
        yield from _short_month_note(min(cron.day.values), months)
    elif any(term.shape == "weekday" and term.first >= 29 for term in cron.day.terms):
        yield "in a shorter month its last day takes the place"


def _short_month_note(day: int, months: tuple[int, ...]) -> Iterator[str]:
    if day == 29 and months == (2,):
        yield "in leap years only"
    elif day > 30 or 2 in months:
        yield f"no time in a month without a {ordinal(day)}"


def _restart_notes(cron: Cron) -> Iterator[str]:
    """Yield where a step does not divide its unit, so that the last stretch is shorter."""
    for field, whole in ((cron.second, "minute"), (cron.minute, "hour"), (cron.hour, "day")):
        size = field.kind.high - field.kind.low + 1
        for term in field.terms:
            if term.shape in {"any", "series"} and term.step > 1 and size % term.step:
                yield f"the step of {term.step} {field.kind.name}s begins again every {whole}"


def _interval_notes(schedule: Schedule) -> Iterator[str]:
    step, zone, start = schedule.every, schedule.zone, schedule.start_at
    if step is None or start is None:
        return
    if step.seconds and step.seconds % DAY_S == 0:
        yield f"{step.text} is elapsed time; P{step.seconds // DAY_S}D keeps the time on the wall clock"
    if step.months and zone is not None:
        day = civil_from_days(zone.wall_at(start) // DAY_S)[2]
        if day > 28:
            yield f"in a month without a {ordinal(day)} its last day takes the place"


def short_words(schedule: Schedule, width: int = SHORT) -> str:
    """Return the schedule in at most `width` characters: `02:30 daily · Berlin`, or the line itself."""
    words = _short(schedule)
    place = schedule.zone.name.rpartition("/")[2].replace("_", " ") if schedule.zone is not None else ""
    for candidate in (
        f"{words} · {place}" if words and place else "",
        words,
        schedule.cron.text if schedule.cron else "",
    ):
        if candidate and len(candidate) <= width:
            return candidate
    text = words or (schedule.cron.text if schedule.cron else "")
    return text[: width - 1] + "…"


def _short(schedule: Schedule) -> str:
    if schedule.cron is not None:
        return _short_cron(schedule.cron)
    if schedule.every is None:
        return f"once {wall_text(schedule.at or 0)[:16]}Z"
    units = _units(schedule.every)
    names = {"year": "y", "month": "mo", "week": "wk", "day": "d", "hour": "h", "minute": "min", "second": "s"}
    if len(units) == 1 and units[0][0] == 1:
        return f"every {units[0][1]}" + _short_anchor(schedule)
    return "every " + " ".join(f"{count} {names[unit]}" for count, unit in units) + _short_anchor(schedule)


def _short_anchor(schedule: Schedule) -> str:
    """Return from which time of day an interval runs."""
    if schedule.start_at is None:
        return ""
    wall = schedule.start_at if schedule.zone is None else schedule.zone.wall_at(schedule.start_at)
    text = clock_text(wall)
    return f" from {text[:5] if text.endswith(':00') else text}"


def _short_cron(cron: Cron) -> str:
    days = _short_days(cron)
    if days is None or not cron.year.is_any:
        return ""
    times = clock_times(cron)
    if 1 <= len(times) <= 2:
        at = ",".join(
            f"{hour:02d}:{minute:02d}" + (f":{second:02d}" if second else "") for hour, minute, second in times
        )
        return f"{at} daily" if days == "" else f"{days} {at}"
    repeat = _short_repeat(cron)
    return f"{repeat} {days}".strip() if repeat else ""


def _short_days(cron: Cron) -> str | None:
    """Return the days in a few letters: empty for every day, None where there is no short way."""
    field = cron.weekday if cron.day.unspecified else cron.day
    months = "" if cron.month.is_any else " ".join(MONTHS[month - 1][:3] for month in cron.month.values)
    if field.is_any:
        return "" if not months else None
    days = _short_weekdays(field) if cron.day.unspecified else _short_dates(field)
    if days is None or (months and len(cron.month.values) > 1):
        return None
    return f"{days} {months}".strip()


def _short_weekdays(field: Field) -> str | None:
    if field.values in (WEEKDAYS, WEEKEND):
        return "weekdays" if field.values == WEEKDAYS else "weekends"
    term = field.terms[0]
    if term.shape in {"lastOf", "nth"}:
        return f"{'last' if term.shape == 'lastOf' else ordinal(term.final)} {DAYS[term.first - 1][:3]}"
    return ",".join(DAYS[value - 1][:3] for value in field.values) if len(field.values) <= 3 else None


def _short_dates(field: Field) -> str | None:
    term = field.terms[0]
    if plain(field) and len(field.values) <= 3:
        return ",".join(map(ordinal, field.values))
    if len(field.terms) == 1 and term.shape in {"last", "lastWeekday"} and not term.first:
        return "last day" if term.shape == "last" else "last weekday"
    return None


def _short_repeat(cron: Cron) -> str:
    """Return `every 5 min`, `hourly`, `every 10 s`; empty where there is no short way."""
    if cron.second.values == (0,) and cron.hour.is_any and len(cron.minute.values) == 1:
        return "hourly" if cron.minute.values == (0,) else f"hourly at :{cron.minute.values[0]:02d}"
    units = ((cron.second, "s"), (cron.minute, "min"), (cron.hour, "h"))
    for index, (field, unit) in enumerate(units):
        if field.values == (0,):
            continue
        term = field.terms[0]
        regular = len(field.terms) == 1 and term.shape in {"any", "series"} and term.first == field.kind.low
        if not regular or not all(coarser.is_any for coarser, _ in units[index + 1 :]):
            return ""
        return (
            f"every {term.step} {unit}"
            if term.step > 1
            else {"s": "every second", "min": "every minute", "h": "hourly"}[unit]
        )
    return ""
