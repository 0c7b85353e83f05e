"""Own what makes the screen live: the change feed made into coalesced messages, and the one beat of a second."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from textual.app import App
from textual.message import Message

from core.clock import Clock
from core.errors import TriggerdeckError
from tui.gateway import Gateway, Refused

if TYPE_CHECKING:
    from core.deck import Deck
    from core.views import Changes, Status

POLL_S = 0.25
BEAT_S = 1.0


class Beat(Message):
    """A second has passed; `now` is the core clock's."""

    def __init__(self, now: datetime) -> None:
        super().__init__()
        self.now = now


class Changed(Message):
    """Rows changed in the database, by kind; everything since the last message in one."""

    def __init__(self, changes: Changes) -> None:
        super().__init__()
        self.changes = changes


class StatusSeen(Message):
    """The frame's first line has news."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the database saw."""

    version: int
    status: Status | None
    changes: Changes | None


class Live:
    """Looks at the database from a thread, at most one look at a time, and tells the app."""

    def __init__(self, app: App[None], gateway: Gateway, clock: Clock) -> None:
        self._app, self._gateway, self._clock = app, gateway, clock
        self._version = -1
        self._seq = -1
        self._looking = False
        self._told = ""
        self._status_due = True

    def start(self) -> None:
        """Begin to look and to beat."""
        self._app.set_interval(POLL_S, self.look)
        self._app.set_interval(BEAT_S, self.beat)

    def beat(self) -> None:
        """Tell the app that a second has passed."""
        self._status_due = True
        self._app.post_message(Beat(self._clock.now()))

    def look(self) -> None:
        """Look once, unless a look is under way."""
        if not self._looking:
            self._looking = True
            self._gateway.ask(self._app, self._see, self._saw, failed=self._lost, group="live.look")

    def _see(self, deck: Deck) -> Look:
        version = deck.data_version()
        moved = version != self._version
        due, self._status_due = self._status_due or moved, False
        status = deck.status() if due else None
        changes = deck.changes(self._seq) if moved and self._seq >= 0 else None
        return Look(version, status, changes)

    def _saw(self, look: Look) -> None:
        self._looking, self._told = False, ""
        self._version = look.version
        if look.status is not None:
            self._app.post_message(StatusSeen(look.status))
            if self._seq < 0:
                self._seq = look.status.seq
        if look.changes is not None:
            self._seq = look.changes.seq
            if look.changes:
                self._app.post_message(Changed(look.changes))

    def _lost(self, refusal: TriggerdeckError) -> None:
        self._looking = False
        if refusal.sentence() != self._told:
            self._told = refusal.sentence()
            self._app.post_message(Refused(refusal))
