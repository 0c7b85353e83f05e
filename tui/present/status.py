"""Own the frame's first line as text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tui.present.lines import Line, Piece, Tone, clean, join, line, spread, width
from tui.present.times import clock_text, short_zone

if TYPE_CHECKING:
    from core.views import Status

WORKER: dict[str, tuple[str, Tone]] = {
    "running": ("●", "ok"), "draining": ("◐", "warn"), "stale": ("!", "bad"), "none": ("○", "warn"),
}  # fmt: skip

APART = 3
"""The blanks at least between the inbox's figure and the places' figures, which would read as one number."""


@dataclass(frozen=True, slots=True)
class FrameFacts:
    """What the first line shows."""

    status: Status | None
    now: datetime
    zone: str
    places: tuple[tuple[int, str], ...]
    here: int
    read_only: bool
    following: bool = False


def status_line(facts: FrameFacts, cells: int) -> Line:
    """Return the line; where it is tight, the zone's area goes first, then the places' names, then the places."""
    for names in (True, False):
        for zone in (facts.zone, short_zone(facts.zone)):
            left, places = _left(facts, zone), _places(facts, names=names)
            if width(left) + width(places) + 2 + APART <= cells:
                return spread(line(" ", left), line(places, " "), cells)
    return line(" ", _left(facts, short_zone(facts.zone)))


def _left(facts: FrameFacts, zone: str) -> Line:
    return join((_workspace(facts), _worker(facts), _clock(facts, zone), _inbox(facts), _locked(facts)))


def _workspace(facts: FrameFacts) -> Line:
    return (Piece(clean(facts.status.workspace) if facts.status else "opening …", "strong"),)


def _worker(facts: FrameFacts) -> Line:
    if facts.status is None:
        return ()
    mark, tone = WORKER[facts.status.worker]
    age = "" if facts.status.beat_age_s is None else f" {facts.status.beat_age_s:.0f}s"
    words = {"running": age, "draining": " draining", "stale": f" silent{age}", "none": " none runs"}
    return line(
        Piece("worker ", "dim"), Piece(mark, tone), Piece(words[facts.status.worker], "dim" if tone == "ok" else tone)
    )


def _clock(facts: FrameFacts, zone: str) -> Line:
    return line(Piece(f"{zone} ", "dim"), clock_text(facts.now, facts.zone))


def _inbox(facts: FrameFacts) -> Line:
    if facts.status is None or not facts.status.inbox:
        return ()
    return (Piece(f"inbox {facts.status.inbox}", "warn"),)


def _locked(facts: FrameFacts) -> Line:
    return (Piece("READ-ONLY", "bad"),) if facts.read_only else ()


def _places(facts: FrameFacts, *, names: bool) -> Line:
    return join(
        (
            _place(number, title if names or number == facts.here else "", number == facts.here)
            for number, title in facts.places
        ),
        " ",
    )


def _place(number: int, title: str, here: bool) -> Line:
    return line(
        Piece(f"{number}", "key" if here else "dim"), Piece(f" {title}" if title else "", "strong" if here else "dim")
    )
