"""Waits for changes of the database without reading it: its version costs microseconds to ask for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from core.clock import Clock
from core.errors import Precondition
from core.views import ACTIVE_WORK, WorkView

if TYPE_CHECKING:
    from core.deck import Deck

POLL_S = 0.1


def wait_for_change(deck: Deck, seen: int, clock: Clock, deadline_s: float | None) -> int:
    """Block until the database's version differs from `seen` or the monotonic deadline passes; return the version."""
    while True:
        version = deck.data_version()
        if version != seen or (deadline_s is not None and clock.monotonic() >= deadline_s):
            return version
        time.sleep(POLL_S)


def wait_for_work(deck: Deck, work_id: str, timeout_s: float | None, clock: Clock) -> WorkView:
    """Block until a Work has ended; raises Precondition when `timeout_s` passes first."""
    deadline_s = None if timeout_s is None else clock.monotonic() + timeout_s
    version = deck.data_version()
    while True:
        view = deck.work(work_id)
        if view.row.status not in ACTIVE_WORK:
            return view
        if deadline_s is not None and clock.monotonic() >= deadline_s:
            raise Precondition(
                f"work {work_id} is still {view.row.status} after {timeout_s:g} s",
                "wait longer, or see whether a worker runs: triggerdeck worker status",
            )
        version = wait_for_change(deck, version, clock, deadline_s)
