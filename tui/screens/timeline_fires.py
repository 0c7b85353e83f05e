"""The single fires behind the timeline's counts, asked of the deck in a thread, and the file made of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from core.views import Timeline
from tui.common_actions import exported, put
from tui.present.fires import TITLES, Fire, calendar, rows

if TYPE_CHECKING:
    from core.deck import Deck

MOST = 1000


@dataclass(frozen=True, slots=True)
class Fires:
    """Fires in their order; `cut` names the Triggers of which only the first `MOST` are here."""

    fires: tuple[Fire, ...]
    cut: tuple[str, ...] = ()


def fires_between(deck: Deck, timeline: Timeline, start: datetime, end: datetime, slot: int | None) -> Fires:
    """Return the fires to come in [start, end), at most `MOST` a Trigger; `slot` narrows to lanes that fire there."""
    lanes = [lane for lane in timeline.lanes if (lane.forecast[slot] if slot is not None else any(lane.forecast))]
    found: list[Fire] = []
    cut: list[str] = []
    for lane in lanes:
        preview = deck.preview_trigger(
            lane.name, after=start - timedelta(seconds=1), until=end, count=MOST + 1, namespace=lane.namespace
        )
        instants = [fire.nominal_at for fire in preview.fires if fire.nominal_at is not None]
        found += [Fire(lane.name, lane.namespace, at, lane.time_zone) for at in instants[:MOST] if start <= at < end]
        if len(instants) > MOST:
            cut.append(lane.name)
    return Fires(tuple(sorted(found, key=lambda fire: (fire.nominal_at, fire.trigger))), tuple(cut))


def write(file: str, found: Fires, now: datetime) -> str:
    """Write fires as the file's name asks (ics, csv, json) and return what was written, in a sentence."""
    fires = found.fires
    text = calendar(fires, now) if file.endswith(".ics") else exported(file, TITLES, list(rows(fires)))
    path = put(file, text)
    left_out = f"; only the first {MOST:,} of {', '.join(found.cut[:3])}" if found.cut else ""
    return f"wrote {len(fires):,} fires to {path}{left_out}"
