"""Own how states look: a mark and a tone for each phase, a bar for each of the last outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.present.lines import Line, Piece, Tone

if TYPE_CHECKING:
    from core.views import TriggerRow

PHASES: dict[str, tuple[str, Tone, str]] = {
    "scheduled": ("●", "ok", "on"),
    "disabled": ("○", "faint", "off"),
    "paused": ("‖", "warn", "paused"),
    "completed": ("■", "dim", "completed"),
    "degraded": ("!", "bad", "degraded"),
}
OUTCOMES: dict[str, tuple[str, Tone]] = {
    "s": ("▇", "calm"),
    "r": ("▅", "busy"),
    "f": ("✕", "bad"),
    "c": ("⊘", "warn"),
    "x": ("!", "bad"),
    "k": ("·", "warn"),
    "m": ("_", "warn"),
    "n": ("▂", "dim"),
}
LEGEND = "▇ done  ▅ active  ✕ failed  ! refused  · skipped  _ missed  ▂ no work"


def phase_mark(phase: str) -> Line:
    """Return the mark of a phase."""
    mark, tone, _ = PHASES[phase]
    return (Piece(mark, tone),)


def phase_words(phase: str) -> Line:
    """Return mark and word of a phase."""
    mark, tone, word = PHASES[phase]
    return (Piece(f"{mark} {word}", tone),)


def recent_bars(letters: str) -> Line:
    """Return the last outcomes as bars, oldest first; neighbours of one tone are one piece."""
    pieces: list[Piece] = []
    for letter in letters:
        mark, tone = OUTCOMES.get(letter, ("?", "dim"))
        if pieces and pieces[-1].tone == tone:
            pieces[-1] = Piece(pieces[-1].text + mark, tone)
        else:
            pieces.append(Piece(mark, tone))
    return tuple(pieces)


def name_line(row: TriggerRow) -> Line:
    """Return a Trigger's name, strong only where it is enabled."""
    active = (Piece(f" ▸{row.active_work}", "busy"),) if row.active_work else ()
    return (Piece(row.name, "" if row.enabled else "dim"), *active)
