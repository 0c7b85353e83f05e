"""Own the list of Triggers: what fires next, how the last ones went, and what may be done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.views import Page, TriggerQuery, TriggerRow
from tui.present.columns import Column
from tui.present.lines import Line, Piece, line
from tui.present.times import near, until
from tui.screens.table_place import TablePlace

if TYPE_CHECKING:
    from core.deck import Deck


class TriggersPlace(TablePlace[TriggerRow]):
    """Every Trigger of the workspace."""

    place_id = "triggers"
    heading = "Triggers"
    live_kinds = frozenset({"trigger", "occurrence", "work", "flow"})
    COLUMNS = (
        Column("name", "name", 18, grow=2, most=36, sort="name"),
        Column("state", "st", 2),
        Column("schedule", "schedule", 20, drop=2, grow=2, most=44),
        Column("next", "next", 12, sort="next"),
        Column("in", "in", 7, drop=1, align="right"),
        Column("recent", "last 20", 20, drop=3),
    )
    SORTS = ("next", "name", "last", "phase")

    def fetch(self, deck: Deck, offset: int, limit: int) -> Page[TriggerRow]:
        """Return rows in the present filter and order."""
        return deck.triggers(TriggerQuery(text=self.filter_text), offset=offset, limit=limit)

    def row_key(self, row: TriggerRow) -> str:
        """Return the Trigger's uid."""
        return row.uid

    def cells(self, row: TriggerRow) -> tuple[Line, ...]:
        """Return one line per column."""
        zone = self.zone_for(row.time_zone)
        return (
            line(row.name), line("●"), line(row.words), line(near(row.next_due_at, self.now, zone)),
            line(until(row.next_due_at, self.now)), line(Piece(row.recent)),
        )  # fmt: skip
