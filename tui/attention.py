"""Own how the deck calls a person: the terminal's title and bell when somebody waits, a summary on coming back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import TriggerdeckError

if TYPE_CHECKING:
    from core.views import Away, Status
    from tui.app import DeckApp


class Attention:
    """Rings once for each rise of the inbox and keeps the title true."""

    def __init__(self, app: DeckApp) -> None:
        self._app = app
        self._inbox: int | None = None
        self.away: Away | None = None
        self.rings = 0
        self.title = ""

    def begin(self) -> None:
        """Ask what happened since the last visit."""
        self._app.gateway.ask(
            self._app, lambda deck: deck.away(), self._came_back, failed=self._nothing, group="attention.away"
        )

    def _came_back(self, away: Away) -> None:
        from tui.present.health import away_sentence

        self.away = away
        if sentence := away_sentence(away, self._app.clock.now()):
            self._app.flash(sentence, "warn" if away.failed or away.denied or away.waiting else "")

    def _nothing(self, _: TriggerdeckError) -> None:
        """Open without a summary where none can be told."""

    def seen(self, status: Status) -> None:
        """Take in a new status."""
        if self._inbox is not None and status.inbox > self._inbox:
            self.rings += 1
            self._app.bell()
            self._app.flash("a run waits for you; 5 opens the inbox", "warn")
        if status.inbox != self._inbox:
            from tui.present.inbox import title_words

            self._inbox = status.inbox
            self._write_title(title_words(status.inbox))

    def _write_title(self, title: str) -> None:
        self.title = title
        driver = self._app._driver  # Textual has no public way to the terminal's title
        if driver is not None and not self._app.is_headless:
            driver.write(f"\x1b]2;{title}\x07")
