"""The counts behind the timeline, a stretch of lanes at a time, asked of the deck in a thread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.views import Timeline, TriggerQuery
from tui.present.forecast import Window

if TYPE_CHECKING:
    from core.deck import Deck

LANES = 500
"""How many lanes are counted at once; `j` at the last one goes on with the lanes after."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The lanes of one stretch, and how many there are in all."""

    timeline: Timeline
    total: int


def count_lanes(window: Window, query: TriggerQuery, first: int, deck: Deck) -> Counted:
    """Count a stretch of lanes; where there are more than one stretch, by name, since that order does not move."""
    total = deck.triggers(query, limit=1).total
    if total > LANES:
        query = replace(query, sort="name")
    shown = deck.timeline(window.from_at, window.to_at, slots=window.slots, query=query, offset=first, limit=LANES)
    return Counted(shown, total)
