"""Waits that end by what is looked for, with a deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable

from core.clock import SystemClock

LIMIT_S = 60.0


def until(condition: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> None:
    """Look until a condition holds; fail with what was waited for."""
    clock, pause = SystemClock(), threading.Event()
    end = clock.monotonic() + limit_s
    while not condition():
        assert clock.monotonic() < end, f"waited in vain until {what}"
        pause.wait(0.05)
