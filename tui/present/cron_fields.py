"""Own which field of a cron expression the cursor stands in, and what may stand there."""

from __future__ import annotations

import re

from tui.present.lines import Line, Piece, line

FIELDS: tuple[tuple[str, str, str], ...] = (
    ("s", "second", "0–59 , - * /"),
    ("m", "minute", "0–59 , - * /"),
    ("h", "hour", "0–23 , - * /"),
    ("d", "day of month", "1–31 , - * / ? L W LW L-3 15W"),
    ("M", "month", "1–12 or JAN–DEC , - * /"),
    ("w", "day of week", "1–7 or SUN–SAT , - * / ? 6L 6#3"),
    ("y", "year", "empty or 1970–2099 , - * /"),
)


def field_at(expression: str, cursor: int) -> int:
    """Return the index of the field under a cursor; between two fields the one to the left counts."""
    starts = [match.start() for match in re.finditer(r"\S+", expression)]
    within = sum(start <= cursor for start in starts) - 1
    if within < 0:
        return 0
    ends = [match.end() for match in re.finditer(r"\S+", expression)]
    return within + 1 if within == len(starts) - 1 and cursor > ends[within] else within


def cron_hint(expression: str, cursor: int) -> Line:
    """Return the fields' letters with the present one lit, its name, its text and what is allowed."""
    at = field_at(expression, cursor)
    texts = expression.split()
    letters = [Piece(f"{letter} ", "key" if index == at else "faint") for index, (letter, _, _) in enumerate(FIELDS)]
    if at >= len(FIELDS):
        return line(*letters, Piece(" at most seven fields", "warn"))
    _, name, allowed = FIELDS[at]
    text = texts[at] if at < len(texts) else ""
    return line(*letters, Piece(f" {name}: ", "dim"), Piece(text or "…", "strong"), Piece(f"  {allowed}", "faint"))
