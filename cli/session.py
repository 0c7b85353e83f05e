"""What one command line acts on: database, workspace, namespace; the deck is opened when first asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import click

from cli.instants import parse_instant
from core.clock import Clock, SystemClock

if TYPE_CHECKING:
    from core.deck import Deck


@dataclass(slots=True)
class Session:
    """The options that every command shares; filled while the words are read, then only read."""

    database: str | None = None
    workspace: str = "default"
    namespace: str | None = None
    read_only: bool = False

    @property
    def clock(self) -> Clock:
        """Return the clock that instants such as `now` and `7d` are read by."""
        return SystemClock()

    @property
    def place(self) -> str:
        """Return in words where names are looked for."""
        return f"namespace {self.namespace}" if self.namespace else "this workspace"

    @contextlib.contextmanager
    def deck(self) -> Iterator[Deck]:
        """Open the deck for the length of a block."""
        from core.deck import Deck

        deck = Deck.open(
            self.database,
            workspace=self.workspace,
            namespace=self.namespace or "default",
            read_only=self.read_only,
        )
        try:
            yield deck
        finally:
            deck.close()

    def instant(self, text: str | None, field: str, *, toward: Literal["past", "future"]) -> datetime | None:
        """Read the value of an option that is an instant or a distance from now."""
        return None if text is None else parse_instant(text, field, self.clock.now(), toward=toward)


def session() -> Session:
    """Return the session of the command that is running."""
    return click.get_current_context().find_root().ensure_object(Session)


def nothing(sentence: str, trigger: str | None) -> str:
    """Return the sentence for an empty history, with what is wrong with the name of the Trigger that was asked for."""
    from core.errors import NotFound

    if trigger is None:
        return sentence
    try:
        with session().deck() as deck:
            deck.trigger(trigger)
    except NotFound as missing:
        return f"{sentence}: {missing.sentence()}"
    return sentence
