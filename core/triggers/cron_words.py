"""A cron line in plain English: one phrase for the time of day, one for the days, one for months and years."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.triggers.cron import Cron
from core.triggers.fields import Field, Term
from core.words import counted

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS, WEEKEND = (2, 3, 4, 5, 6), (1, 7)
_MOST_TIMES = 6
_NTH = ("", "first", "second", "third", "fourth", "fifth")


def cron_words(cron: Cron) -> str:
    """Return the whole line in words, without its zone."""
    times, days = time_words(cron), day_words(cron)
    if days == "every day" and times.startswith("every") and _all_day(cron.hour):
        days = ""
    return f"{times} {days}".rstrip() + _year_words(cron.year)


def _all_day(hour: Field) -> bool:
    """Say whether the hours run from midnight to midnight, so that `every day` says nothing more."""
    term = hour.terms[0]
    return hour.is_any or (len(hour.terms) == 1 and term.shape in {"any", "series"} and term.first == 0)


def joined(parts: Iterable[str]) -> str:
    """Return `a, b and c`."""
    texts = list(parts)
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th and so on."""
    suffix = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def clock(hour: int, minute: int, second: int) -> str:
    """Return hh:mm:ss."""
    return f"{hour:02d}:{minute:02d}:{second:02d}"


def plain(field: Field) -> bool:
    """Say whether a field names single values only."""
    return all(term.shape == "value" for term in field.terms)


def clock_times(cron: Cron) -> list[tuple[int, int, int]]:
    """Return the times of day of a line that names few single ones, else nothing."""
    fields = (cron.hour, cron.minute, cron.second)
    if not all(map(plain, fields)):
        return []
    times = [(h, m, s) for h in cron.hour.values for m in cron.minute.values for s in cron.second.values]
    return times if len(times) <= _MOST_TIMES else []


def time_words(cron: Cron) -> str:
    """Return when on a day: `at 02:30:00`, `every 5 minutes between 09:00 and 17:59`."""
    times = clock_times(cron)
    if times:
        return "at " + joined(clock(*time) for time in times)
    if not plain(cron.second):
        return _repeat(cron.second, "second") + _of_minutes(cron.minute) + _of_hours(cron.hour)
    seconds = "" if cron.second.values == (0,) else f" at {_named(cron.second, 'second')}"
    if not plain(cron.minute):
        return _repeat(cron.minute, "minute") + seconds + _of_hours(cron.hour)
    minutes = "" if cron.minute.values == (0,) else f" at {_named(cron.minute, 'minute')}"
    return _hours(cron.hour) + minutes + (seconds if not minutes else seconds.replace(" at ", " and ", 1))


def _hours(field: Field) -> str:
    return f"in {_named(field, 'hour')}" if plain(field) else _repeat(field, "hour")


def _named(field: Field, unit: str) -> str:
    """Return `minute 5` or `minutes 5, 10 and 20`."""
    values = field.values
    return f"{unit} {values[0]}" if len(values) == 1 else f"{unit}s {joined(map(str, values))}"


def _repeat(field: Field, unit: str) -> str:
    """Return `every minute`, `every 5 minutes from minute 3`, `every minute from 10 through 20`."""
    return joined(_repeat_term(field, term, unit) for term in field.terms)


def _repeat_term(field: Field, term: Term, unit: str) -> str:
    every = f"every {unit}" if term.step == 1 else f"every {term.step} {unit}s"
    if term.shape == "value":
        return f"at {unit} {term.first}"
    if term.shape == "range":
        return f"{every} from {term.first} through {term.final}"
    size = field.kind.high - field.kind.low + 1
    if term.first == field.kind.low and size % term.step == 0:
        return every
    return f"{every} from {unit} {term.first}"


def _of_minutes(field: Field) -> str:
    if field.is_any:
        return ""
    return f" of {_named(field, 'minute')}" if plain(field) else f" in {_spans(field, 'minute')}"


def _of_hours(field: Field) -> str:
    """Return the hours within which something repeats."""
    if field.is_any:
        return ""
    if len(field.terms) == 1 and (field.terms[0].shape == "value" or _is_run(field.terms[0])):
        first, final = field.terms[0].first, field.terms[0].final or field.terms[0].first
        if field.terms[0].shape == "value":
            final = first
        return f" between {first:02d}:00 and {final:02d}:59"
    return f" in {_named(field, 'hour')}" if plain(field) else f" in {_spans(field, 'hour')}"


def _is_run(term: Term) -> bool:
    return term.shape == "range" and term.step == 1


def _spans(field: Field, unit: str) -> str:
    """Return `minutes 0 to 29 and 45`, steps said as such."""
    return f"{unit}s " + joined(_span(term) for term in field.terms)


def _span(term: Term) -> str:
    if term.shape == "value":
        return str(term.first)
    step = "" if term.step == 1 else f" by {term.step}"
    return f"{term.first} to {term.final}{step}"


def day_words(cron: Cron) -> str:
    """Return on which days: `every day`, `on weekdays`, `on the last day of February`."""
    months = month_words(cron.month)
    days = _weekday_words(cron.weekday) if cron.day.unspecified else _day_of_month_words(cron.day)
    if "of the month" in days and months:
        return days.replace("of the month", "of " + months)
    return days + (f" in {months}" if months else "")


def month_words(field: Field) -> str:
    """Return the months, an empty text for every month."""
    if field.is_any:
        return ""
    return joined(_month_term(term) for term in field.terms)


def _month_term(term: Term) -> str:
    if term.shape == "value":
        return MONTHS[term.first - 1]
    through = MONTHS[term.first - 1] + (f" through {MONTHS[term.final - 1]}" if term.shape == "range" else "")
    if term.step == 1:
        return through if term.shape == "range" else f"{through} through {MONTHS[term.final - 1]}"
    return f"every {ordinal(term.step)} month from {through}"


def _weekday_words(field: Field) -> str:
    first = field.terms[0]
    if first.shape == "lastOf":
        return f"on the last {DAYS[first.first - 1]} of the month"
    if first.shape == "nth":
        return f"on the {_NTH[first.final]} {DAYS[first.first - 1]} of the month"
    if field.is_any:
        return "every day"
    if field.values in (WEEKDAYS, WEEKEND):
        return "on weekdays" if field.values == WEEKDAYS else "on weekends"
    return "on " + weekday_list(field)


def weekday_list(field: Field) -> str:
    """Return weekday names, a single range as one."""
    if len(field.terms) == 1 and _is_run(field.terms[0]) and len(field.values) > 2:
        return f"{DAYS[field.terms[0].first - 1]} through {DAYS[field.terms[0].final - 1]}"
    return joined(DAYS[value - 1] for value in _from_monday(field.values))


def _from_monday(values: Sequence[int]) -> list[int]:
    return sorted(values, key=lambda value: (value - 2) % 7)


def _day_of_month_words(field: Field) -> str:
    if field.is_any:
        return "every day"
    if plain(field):
        return f"on the {joined(map(ordinal, field.values))} of the month"
    return joined(_day_term(term) for term in field.terms) + ("" if _names_month(field) else " of the month")


def _names_month(field: Field) -> bool:
    return field.terms[0].shape in {"last", "lastWeekday"}


def _day_term(term: Term) -> str:
    shape, first = term.shape, term.first
    before = f"{counted(first, 'day')} before the last day of the month"
    if shape == "last":
        return f"{before}" if first else "on the last day of the month"
    if shape == "lastWeekday":
        return f"on the weekday nearest to {before}" if first else "on the last weekday of the month"
    if shape == "weekday":
        return f"on the weekday nearest to the {ordinal(first)}"
    if shape == "value":
        return f"on the {ordinal(first)}"
    every = "every day" if term.step == 1 else f"every {ordinal(term.step)} day"
    through = f" through the {ordinal(term.final)}" if shape == "range" else ""
    return f"{every} from the {ordinal(first)}{through}"


def _year_words(field: Field) -> str:
    if field.is_any:
        return ""
    return " in " + joined(_year_term(term) for term in field.terms)


def _year_term(term: Term) -> str:
    if term.shape == "value":
        return str(term.first)
    if term.shape == "range":
        through = f"{term.first} through {term.final}"
        return through if term.step == 1 else f"every {ordinal(term.step)} year from {through}"
    return f"every {ordinal(term.step)} year from {term.first}" if term.step > 1 else f"{term.first} and later"


def field_words(field: Field) -> str:
    """Return one field alone in words, for the line under the editor's cursor."""
    name = field.kind.name
    if field.unspecified:
        return "left to the other day field"
    if field.kind.name == "day of month":
        return _day_of_month_words(field)
    if name == "day of week":
        return _weekday_words(field)
    if name == "month":
        return f"in {month_words(field)}" if month_words(field) else "every month"
    if name == "year":
        return _year_words(field).strip() or "every year"
    return f"at {_named(field, name)}" if plain(field) else _repeat(field, name)
