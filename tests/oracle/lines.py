"""Cron lines at random: well formed ones within what Quartz documents, and now and then one with slips of the pen."""

from __future__ import annotations

import random

_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_SLIPS = "0123456789*/-,?LW#ABCDEFGHIJKLMNOPRSTUVY ."
MISTYPED = 0.2


def line(draw: random.Random) -> str:
    """Return a line of six or seven fields; left out are those on which Quartz 2.3.2 itself is known to fail."""
    days = (_day_of_month(draw), "?") if draw.random() < 0.5 else ("?", _day_of_week(draw))
    fields = [
        _field(draw, 0, 59, every=0.1) if draw.random() < 0.5 else str(draw.randint(0, 59)),
        _field(draw, 0, 59, every=0.2) if draw.random() < 0.6 else str(draw.randint(0, 59)),
        _field(draw, 0, 23, every=0.3),
        days[0],
        _field(draw, 1, 12, _MONTHS, every=0.5),
        days[1],
        *_year(draw),
    ]
    text = draw.choice([" ", " ", "  ", "\t"]).join(fields)
    return _mistyped(draw, text) if draw.random() < MISTYPED else text


def _mistyped(draw: random.Random, text: str) -> str:
    letters = list(text)
    for _ in range(draw.choice([1, 1, 2])):
        at, slip = draw.randrange(len(letters)), draw.random()
        if slip < 0.4:
            del letters[at]
        else:
            letters[at : at + (slip < 0.7)] = draw.choice(_SLIPS)
    return "".join(letters)


def _field(draw: random.Random, low: int, high: int, names: tuple[str, ...] = (), *, every: float = 0.25) -> str:
    if draw.random() < every:
        return "*"
    return ",".join(_item(draw, low, high, names) for _ in range(draw.choice([1, 1, 1, 2, 3])))


def _item(draw: random.Random, low: int, high: int, names: tuple[str, ...]) -> str:
    kind, value = draw.random(), draw.randint(low, high)
    if kind < 0.35:
        return _value(draw, value, names)
    if kind < 0.55:
        return f"{_value(draw, value, names)}-{_value(draw, draw.randint(low, high), names)}"
    if kind < 0.7:
        return f"{value}-{draw.randint(low, high)}/{draw.randint(1, high // 2)}"
    return f"{value if kind < 0.85 else '*'}/{draw.randint(1, high)}" if kind < 0.95 else "*"


def _value(draw: random.Random, value: int, names: tuple[str, ...]) -> str:
    if names and draw.random() < 0.4:
        return _cased(draw, names[value - 1])
    return str(value) if draw.random() < 0.9 else f"{value:02d}"


def _cased(draw: random.Random, name: str) -> str:
    return draw.choice([name, name, name.lower(), name.title()])


def _day_of_month(draw: random.Random) -> str:
    special = ["L", "LW", f"L-{draw.randint(0, 30)}", f"L-{draw.randint(0, 27)}W", f"{draw.randint(1, 28)}W"]
    return draw.choice(special) if draw.random() < 0.55 else _field(draw, 1, 31)


def _day_of_week(draw: random.Random) -> str:
    day = draw.choice([str(draw.randint(1, 7)), _cased(draw, draw.choice(_DAYS))])
    special = ["L", f"{day}{draw.choice('Ll')}", f"{day}#{draw.randint(1, 5)}"]
    return draw.choice(special) if draw.random() < 0.35 else _field(draw, 1, 7, _DAYS)


def _year(draw: random.Random) -> list[str]:
    first = draw.randint(1970, 2080)
    until = f"{first}-{first + draw.randint(0, 40)}"
    kinds = [str(first), "*", until, f"{until}/{draw.randint(1, 9)}", f"{first}/{draw.randint(1, 20)}"]
    return [draw.choice(kinds)] if draw.random() < 0.4 else []
