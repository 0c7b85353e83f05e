"""An event loop for one thread and one seed: its time is the simulated clock's, its pool runs at once, nothing waits.

It knows when nothing is left to do until the clock moves (`quiet`), so steps may run for simulated hours while the
world goes on around them.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from typing import Any

from core.clock import Clock


class _Idle(selectors.SelectSelector):
    """Never waits for a file: where the loop would sleep, it says so instead."""

    def __init__(self, idle: Callable[[], None]) -> None:
        super().__init__()
        self._tell = idle

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return nothing; a timeout other than 0 means that the loop has nothing to do now."""
        if timeout is None or timeout > 0:
            self._tell()
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    """The loop of one simulated machine."""

    def __init__(self, clock: Clock) -> None:
        self._simulated = clock
        self._waiting: list[asyncio.Future[None]] = []
        super().__init__(_Idle(self._idle))

    def time(self) -> float:
        """Return the simulated monotonic seconds."""
        return self._simulated.monotonic()

    async def quiet(self) -> None:
        """Wait until every task waits for the clock to move, or for good."""
        waiter = self.create_future()
        self._waiting.append(waiter)
        await waiter

    def run_in_executor(self, _pool: Any, function: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Run now; a crash comes back through the future like any other error."""
        future: asyncio.Future[Any] = self.create_future()
        try:
            future.set_result(function(*args))
        except BaseException as error:  # noqa: BLE001 - a future carries whatever was raised
            future.set_exception(error)
        return future

    def _idle(self) -> None:
        if not self._waiting:
            raise RuntimeError("the simulation waits for something that never comes")
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)
