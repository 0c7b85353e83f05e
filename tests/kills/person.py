"""The person in the harness: answers what is asked, cancels, retries; as a seed says, and never twice the same way."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from core.clock import Clock
from core.deck import Deck
from core.errors import Precondition
from core.runtime.uncertain import AGAIN, FAILED, FINISHED
from core.storage.files import connect
from tests.kills.resources import UNSURE
from tests.kills.warm import acting_as

NAPS = 12
MOST_UNSURE = 2
_QUESTIONS = "SELECT id, kind, work_id, form ->> '$.choices' FROM pending_action WHERE status = 'pending'"
_RUNNING = (
    "SELECT w.id, w.is_test FROM work w JOIN flow_run r ON r.work_id = w.id JOIN flow_step s ON s.run_id = r.id"
    " WHERE (w.is_test OR w.trigger_name = ?) AND s.status = 'running' AND s.pid IS NOT NULL"
    " AND w.cancel_requested_at IS NULL"
)
_ENDED_BADLY = "SELECT id FROM work WHERE trigger_name = ? AND status IN ('failed', 'cancelled') AND attempts = 1"
_STILL_ACTIVE = (
    "SELECT count(*) FROM work WHERE trigger_name = ? AND status NOT IN ('completed', 'failed', 'cancelled')"
)
LEAVE, CANCEL = "leave", "cancel"
_DRAWN = (LEAVE, LEAVE, FINISHED, FINISHED, AGAIN, AGAIN, AGAIN, FAILED, CANCEL)


class Operator:
    """Acts through a Deck of its own; who is `patient` may leave a question for another day; `word` is all it says."""

    def __init__(
        self, path: Path, clock: Clock, draw: random.Random, *, patient: bool = True, word: str | None = None
    ) -> None:
        self._path = path
        self._clock = clock
        self._draw = draw
        self._words = [word] if word else [word for word in _DRAWN if patient or word != LEAVE]
        self._deck: Deck | None = None
        self._left: set[str] = set()

    @property
    def deck(self) -> Deck:
        """Return the door, opened when it is first used."""
        if self._deck is None:
            with acting_as("operator"):
                self._deck = Deck.open(self._path, clock=self._clock)
        return self._deck

    def close(self) -> None:
        """Leave."""
        if self._deck is not None:
            self._deck.close()
            self._deck = None

    def answer_all(self, connection: sqlite3.Connection) -> None:
        """Answer the questions that wait, or leave some of them."""
        for question, kind, work, choices in connection.execute(_QUESTIONS).fetchall():
            if question in self._left:
                continue
            with suppress(Precondition):  # its run may have ended meanwhile
                if kind == "approvalRequired":
                    self.deck.answer(question, "approved")
                else:
                    self._say(question, work, choices)

    def _say(self, question: str, work: str, choices: str) -> None:
        """Say of a step that a crash interrupted what became of it."""
        word = self._draw.choice([word for word in self._words if word in choices or word in {LEAVE, CANCEL}])
        if word == LEAVE:
            self._left.add(question)
        elif word == CANCEL:
            self.deck.cancel(work)
        else:
            self.deck.answer(question, "chosen", {"choice": word, **_more(word, question)})
            self._expect_refused(question)

    def _expect_refused(self, question: str) -> None:
        """Answer again: the first answer counts."""
        try:
            self.deck.answer(question, "chosen", {"choice": FAILED})
        except Precondition:
            return
        raise AssertionError(f"question {question} took a second answer")

    def cancel_some(self, connection: sqlite3.Connection) -> None:
        """Cancel what was fired by hand and hangs, and now and then what may not be repeated and runs."""
        for work, by_hand in connection.execute(_RUNNING, [UNSURE]).fetchall():
            if by_hand or self._draw.random() < 0.05:
                with suppress(Precondition):
                    self.deck.cancel(work)

    def retry_one(self, connection: sqlite3.Connection) -> None:
        """Retry, now and then and once at most, Work that ended badly after a question, also beside that of today."""
        (active,) = connection.execute(_STILL_ACTIVE, [UNSURE]).fetchone()
        ended = connection.execute(_ENDED_BADLY, [UNSURE]).fetchall()
        if ended and active < MOST_UNSURE and self._draw.random() < 0.5:
            self.deck.retry(self._draw.choice(ended)[0])

    def fire_naps(self) -> None:
        """Fire Work that wakes up on the coming days, one a day."""
        midnight = self._clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
        for day in range(1, NAPS + 1):
            self.deck.test_fire("naps", {"until": (midnight + timedelta(days=day)).isoformat()})


def _more(word: str, question: str) -> dict[str, Any]:
    """Return what goes with an answer; the output names the question, so that it is seen which one was taken."""
    if word == FINISHED:
        return {"output": {"token": question}}
    return {"reason": "seen by eye"} if word == FAILED else {}


@contextmanager
def acting(path: Path, clock: Clock, draw: random.Random) -> Iterator[tuple[Operator, sqlite3.Connection]]:
    """Act between two lives, while no worker is there."""
    operator = Operator(path, clock, draw)
    try:
        with closing(connect(path, read_only=True)) as connection:
            yield operator, connection
    finally:
        operator.close()
