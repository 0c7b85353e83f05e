"""Own the way to core.Deck: the only caller. Thread workers in, frozen values out, answers on the asker's own pump."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from textual import events
from textual.dom import DOMNode
from textual.message import Message
from textual.worker import Worker, get_current_worker

from core.clock import Clock, SystemClock
from core.errors import StorageUnusable, TriggerdeckError

if TYPE_CHECKING:
    from core.deck import Deck
    from core.views import Page, TriggerQuery, TriggerRow

Answer = TypeVar("Answer")
SHARE_S = 0.0005
"""How long the import of the core may hold the interpreter at a time, so that keys are taken meanwhile."""
Failed = Callable[[TriggerdeckError], None]
Sooner = Callable[["Door"], Answer | None]
"""Answers a question before the deck is open, from what can be read without it; None leaves it to the deck."""


@dataclass(frozen=True, slots=True)
class Door:
    """Which deck to open, and as what."""

    database: str | Path | None = None
    workspace: str = "default"
    namespace: str = "default"
    read_only: bool = False
    start_worker: bool = True
    clock: Clock = field(default_factory=SystemClock)

    def open(self) -> Deck:
        """Import the core and open the deck; takes half a second, so never on the screen's own thread."""
        from core.deck import Deck

        return Deck.open(
            self.database,
            workspace=self.workspace,
            namespace=self.namespace,
            read_only=self.read_only,
            clock=self.clock,
        )

    def first_triggers(self, query: TriggerQuery, limit: int) -> Page[TriggerRow] | None:
        """Read the first Triggers before the deck is open; takes some 30 ms, in a thread all the same."""
        from core.first_look import first_look

        return first_look(self.database, workspace=self.workspace, query=query, limit=limit)


class Unexpected(TriggerdeckError):
    """A fault in the program itself, told in one sentence."""

    code = "unexpected"


class Gateway:
    """Asks the deck in threads; `then` and `failed` run on the asker's message pump, if it is still there."""

    def __init__(self, open_deck: Callable[[], Deck], door: Door | None = None) -> None:
        self._open_deck = open_deck
        self._door = door
        self._sooner: list[Callable[[], None]] = []
        self._opening = False
        self._deck: Future[Deck] = Future()
        self._started = False
        self.faults: list[BaseException] = []

    def start(self, app: DOMNode) -> None:
        """Open the deck in a thread; questions asked meanwhile wait for it there."""
        if not self._started:
            self._started = True
            app.run_worker(self._open, thread=True, group="gateway.open", exit_on_error=False)

    def _open(self) -> None:
        usual = sys.getswitchinterval()
        sys.setswitchinterval(SHARE_S)
        try:
            self._answer_sooner()
            deck = self._open_deck()
            if not self._deck.set_running_or_notify_cancel():
                deck.close()
                return
            self._deck.set_result(deck)
        except BaseException as fault:  # noqa: BLE001  every asker is told, whatever it was
            if not self._deck.done():
                self._deck.set_exception(fault)
        finally:
            sys.setswitchinterval(usual)
            if not gc.isenabled():
                gc.freeze()
                gc.enable()

    def _answer_sooner(self) -> None:
        """Answer what was asked before anything was opened and can be answered without the deck.

        One after another and before the imports, so that nothing holds the interpreter meanwhile.
        """
        self._opening = True
        waiting, self._sooner = self._sooner, []
        for answer in waiting:
            answer()

    @property
    def ready(self) -> bool:
        """Tell whether the deck is open."""
        return self._deck.done() and not self._deck.cancelled() and self._deck.exception() is None

    def ask(
        self,
        asker: DOMNode,
        call: Callable[[Deck], Answer],
        then: Callable[[Answer], None],
        *,
        failed: Failed | None = None,
        group: str = "ask",
        exclusive: bool = True,
        sooner: Sooner[Answer] | None = None,
    ) -> Worker[None]:
        """Run `call` with the deck in a thread; a newer question of the same asker and `group` replaces this one.

        `sooner` may answer first while the deck is not open yet; `then` is called with both answers, one by one.
        """
        early: Callable[[], None] | None = None
        if sooner is not None and self._door is not None and not self._deck.done():
            early = partial(self._reply_sooner, asker, partial(sooner, self._door), then)
            if not self._opening:
                self._sooner.append(early)
                early = None
        return asker.run_worker(
            partial(self._answer, asker, call, then, failed, early),
            thread=True,
            group=group,
            exclusive=exclusive,
            exit_on_error=False,
        )

    def _reply_sooner(
        self, asker: DOMNode, sooner: Callable[[], Answer | None], then: Callable[[Answer], None]
    ) -> None:
        try:
            answer = sooner()
        except Exception as fault:  # noqa: BLE001  the deck answers all the same; kept for whoever looks
            self.faults.append(fault)
            return
        if answer is not None:
            asker.post_message(events.Callback(callback=partial(then, answer)))

    def _answer(
        self,
        asker: DOMNode,
        call: Callable[[Deck], Answer],
        then: Callable[[Answer], None],
        failed: Failed | None,
        early: Callable[[], None] | None,
    ) -> None:
        if early is not None:
            early()
        worker = get_current_worker()
        reply: Callable[[], None]
        try:
            reply = partial(then, call(self._deck.result()))
        except CancelledError:
            return
        except TriggerdeckError as refusal:
            reply = partial(self._refuse, asker, failed, refusal)
        except Exception as fault:  # noqa: BLE001  told on the screen and kept for whoever looks
            self.faults.append(fault)
            reply = partial(self._refuse, asker, failed, Unexpected(f"{type(fault).__name__}: {fault}"))
        if not worker.is_cancelled:
            asker.post_message(events.Callback(callback=reply))

    def _refuse(self, asker: DOMNode, failed: Failed | None, refusal: TriggerdeckError) -> None:
        if isinstance(refusal, StorageUnusable) and not self.ready:
            asker.app.post_message(StorageLost(refusal))
        elif failed is not None:
            failed(refusal)
        else:
            asker.app.post_message(Refused(refusal))

    def abandon(self) -> None:
        """Let every question that still waits for the deck go: the app ends."""
        self._deck.cancel()

    def close(self) -> None:
        """Close the deck if it was opened."""
        if self.ready:
            self._deck.result().close()


class Refused(Message):
    """The deck said no to something that nobody else explains."""

    def __init__(self, refusal: TriggerdeckError) -> None:
        super().__init__()
        self.refusal = refusal


class StorageLost(Refused):
    """The database could not be opened at all; one that fails later may come back."""


def start_worker(deck: Deck) -> str:
    """Start the background worker unless one runs; return a sentence, empty where nothing had to be done."""
    from core.worker import control

    state: Any = deck.status().worker
    if state in {"running", "draining"}:
        return ""
    pid = control.start_detached(deck.database)
    return f"worker started (pid {pid}); it goes on when you leave"


def stop_worker(deck: Deck) -> str:
    """Let the background worker end its running steps and stop; return what happened in a sentence."""
    from core.worker import control

    return "the worker has stopped" if control.stop(deck.database) else "no worker ran"
