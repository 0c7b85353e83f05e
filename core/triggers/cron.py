"""Quartz cron lines: reading, all faults with their positions, and the wall-time rule that a line means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.errors import Fault, ScheduleInvalid
from core.triggers.days import matching_days
from core.triggers.fields import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    FIELDS,
    YEAR,
    Field,
    FieldText,
    Misread,
    read_field,
    split_fields,
)
from core.triggers.walls import CronWalls, minutes_of_day
from core.words import counted

LONGEST_EXPRESSION = 4_096


@dataclass(frozen=True, slots=True)
class Cron:
    """A read cron line: seven fields, the year `*` where it was left out."""

    text: str
    second: Field
    minute: Field
    hour: Field
    day: Field
    month: Field
    weekday: Field
    year: Field

    @property
    def follows_clock(self) -> bool:
        """Say whether the line runs hour after hour, so that it must not fall silent when a wall hour comes twice."""
        return any(_is_run_of_hours(term.shape, term.first, term.final, term.step) for term in self.hour.terms)

    def walls(self) -> CronWalls:
        """Return the wall times that the line means."""
        days = matching_days(self.month, self.day, self.weekday, self.year)
        return CronWalls(days, minutes_of_day(self.hour.values, self.minute.values), self.second.values)


def _is_run_of_hours(shape: str, first: int, final: int, step: int) -> bool:
    """Say whether one term of the hour field is `*`, `0/1` or a range `a-b`, a < b, each with step 1."""
    if step != 1:
        return False
    return shape == "any" or (shape == "series" and first == 0) or (shape == "range" and first < final)


_ANY_YEAR = FieldText("*", 0)


def read_cron(expression: str) -> Cron:
    """Return the line that `expression` says; raise `ScheduleInvalid` with every fault and its position."""
    if len(expression) > LONGEST_EXPRESSION:
        fault = Fault("expression", f"longer than {LONGEST_EXPRESSION} characters", "split it into several Triggers")
        raise ScheduleInvalid([fault])
    sources = split_fields(expression)
    if not 6 <= len(sources) <= 7:
        raise ScheduleInvalid([_count_fault(expression, sources)])
    fields, misreads = _read_fields(sources)
    if misreads:
        raise ScheduleInvalid(_faults(misreads))
    second, minute, hour, day, month, weekday, year = fields
    return Cron(expression, second, minute, hour, day, month, weekday, year)


def _read_fields(sources: tuple[FieldText, ...]) -> tuple[list[Field], list[Misread]]:
    fields: list[Field] = []
    misreads: list[Misread] = []
    for kind, source in zip(FIELDS, (*sources, _ANY_YEAR), strict=False):
        read, wrong = read_field(kind, source)
        misreads += wrong
        if read is not None:
            fields.append(read)
    return fields, [*misreads, *_day_conflict(fields, sources)]


def _day_conflict(fields: list[Field], sources: tuple[FieldText, ...]) -> Iterable[Misread]:
    """Yield the misread of a line in which not exactly one of the two day fields is `?`."""
    day = next((field for field in fields if field.kind is DAY_OF_MONTH), None)
    weekday = next((field for field in fields if field.kind is DAY_OF_WEEK), None)
    if day is None or weekday is None or day.unspecified != weekday.unspecified:
        return
    place = sources[FIELDS.index(DAY_OF_WEEK)].start
    if day.unspecified:
        yield Misread(place, "day of month and day of week are both ?", "write * in one of them")
    elif weekday.is_any:
        yield Misread(place, "neither day of month nor day of week is ?", "write ? for day of week")
    elif day.is_any:
        start = sources[FIELDS.index(DAY_OF_MONTH)].start
        yield Misread(start, "neither day of month nor day of week is ?", "write ? for day of month")
    else:
        message = "day of month and day of week are both set"
        yield Misread(place, message, "write ? in one of them; for both, make two Triggers")


def _count_fault(expression: str, sources: tuple[FieldText, ...]) -> Fault:
    """Return the fault of a line with the wrong number of fields."""
    from core.triggers.unix import macro_fault, unix_fault

    special = macro_fault(expression) or (unix_fault(expression) if len(sources) == 5 else None)
    if special is not None:
        return special
    if not sources:
        return Fault("expression", "is empty", "write six fields, such as 0 30 2 * * ?", 0)
    position = sources[7].start if len(sources) > 7 else len(expression)
    message = f"has {counted(len(sources), 'field')}; Quartz cron has 6 or 7"
    return Fault("expression", message, "order: second minute hour day-of-month month day-of-week [year]", position)


def _faults(misreads: Iterable[Misread]) -> list[Fault]:
    ordered = sorted(misreads, key=lambda misread: misread.position)
    return [Fault("expression", misread.message, misread.remedy, misread.position) for misread in ordered]


def field_at(expression: str, cursor: int) -> tuple[str, str, str]:
    """Return (name, text, allowed) of the field under a cursor position, for an editor.

    Between fields the one to the left counts; past the seventh nothing is named.
    """
    sources = split_fields(expression)
    index = max(0, sum(source.start <= cursor for source in sources) - 1)
    past_end = index < len(sources) and cursor > sources[index].start + len(sources[index].text)
    if past_end and index == len(sources) - 1:
        index += 1
    if index >= len(FIELDS):
        return ("", "", f"at most 7 fields; the last is {YEAR.name}")
    kind = FIELDS[index]
    return (kind.name, sources[index].text if index < len(sources) else "", kind.allowed)
