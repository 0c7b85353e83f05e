"""Own where things are: the places, their numbers and aliases, deep links, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.screen import Screen


@dataclass(frozen=True, slots=True)
class PlaceInfo:
    """One of the six places; its module is imported on the first visit."""

    mode: str
    number: int
    title: str
    module: str
    screen: str
    aliases: tuple[str, ...]

    def load(self) -> type[Screen[Any]]:
        """Import the place's class."""
        found: type[Screen[Any]] = getattr(import_module(self.module), self.screen)
        return found


PLACES: tuple[PlaceInfo, ...] = (
    PlaceInfo("triggers", 1, "Triggers", "tui.screens.triggers", "TriggersPlace", ("t", "tr", "trigger")),
    PlaceInfo("timeline", 2, "Timeline", "tui.screens.timeline", "TimelinePlace", ("tl", "time")),
    PlaceInfo("occurrences", 3, "Occ", "tui.screens.occurrences", "OccurrencesPlace", ("occ", "o", "occurrence")),
    PlaceInfo("work", 4, "Work", "tui.screens.work", "WorkPlace", ("w", "works", "task")),
    PlaceInfo("inbox", 5, "Inbox", "tui.screens.inbox", "InboxPlace", ("in", "i", "actions")),
    PlaceInfo("health", 6, "Health", "tui.screens.health", "HealthPlace", ("h", "doctor")),
)
BY_MODE = {place.mode: place for place in PLACES}


@dataclass(frozen=True, slots=True)
class Location:
    """A deep link: a place, what is open there (`key`), and its filter; None leaves the filter as it is."""

    place: str
    key: str = ""
    filter: str | None = None

    def link(self) -> str:
        """Return the link as one types it after `:`."""
        return " ".join(part for part in (self.place, f"#{self.key}" if self.key else "", self.filter or "") if part)


def parse_link(text: str) -> Location | None:
    """Read `occ state:skipped since:7d`, `work #7f3a` or `3`; None where no place has that name."""
    head, _, rest = text.strip().lstrip(":").partition(" ")
    for place in PLACES:
        if head.lower() in {place.mode, place.title.lower(), str(place.number), *place.aliases}:
            words = rest.split()
            key = next((word[1:] for word in words if word.startswith("#")), "")
            kept = " ".join(word for word in words if not word.startswith("#"))
            return Location(place.mode, key, kept if kept or not key else None)
    return None


class History:
    """The way back and forward through locations, as in a browser."""

    def __init__(self) -> None:
        self._past: list[Location] = []
        self._ahead: list[Location] = []
        self.here: Location | None = None
        self._last: Location | None = None

    def visit(self, location: Location) -> None:
        """Note that the app went to `location`."""
        if location == self.here:
            return
        if self.here is not None:
            self._past.append(self.here)
            self._last = self.here
        self.here = location
        self._ahead.clear()

    def back(self) -> Location | None:
        """Step back; None at the beginning."""
        return self._step(self._past, self._ahead)

    def forward(self) -> Location | None:
        """Step forward; None at the end."""
        return self._step(self._ahead, self._past)

    def last(self) -> Location | None:
        """Return where the app was before this, which becomes the way back to here."""
        target = self._last
        if target is not None:
            self.visit(target)
        return target

    def _step(self, source: list[Location], target: list[Location]) -> Location | None:
        if not source or self.here is None:
            return None
        target.append(self.here)
        self._last = self.here
        self.here = source.pop()
        return self.here
