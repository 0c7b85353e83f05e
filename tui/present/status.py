"""Own the frame's first line as text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tui.present.lines import Line, Piece, Tone, clean, join, line, spread, width
from tui.present.times import clock_text

if TYPE_CHECKING:
    from core.views import Status

WORKER: dict[str, tuple[str, Tone]] = {
    "running": ("●", "ok"), "draining": ("◐", "warn"), "stale": ("!", "bad"), "none": ("○", "warn"),
}  # fmt: skip


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
    """Return the line; the places give way first: their names, then the line of them."""
    left = join((_workspace(facts), _worker(facts), _clock(facts), _inbox(facts), _locked(facts)))
    room = cells - width(left) - 3
    for places in (_places(facts, names=True), _places(facts, names=False)):
        if width(places) <= room:
            return spread(line(" ", left), line(places, " "), cells)
    return line(" ", left)


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


def _clock(facts: FrameFacts) -> Line:
    return line(Piece(f"{facts.zone} ", "dim"), clock_text(facts.now, facts.zone))


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
