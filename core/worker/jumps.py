"""Notices that the wall clock and the time that passed disagree: a step of the clock, or a suspended machine."""

from __future__ import annotations

from datetime import timedelta

from core.clock import Clock

TOLERATED = timedelta(seconds=2)


class JumpWatch:
    """Compares two clocks from look to look; each jump is told once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wall, self._monotonic_s = clock.now(), clock.monotonic()

    def look(self) -> timedelta | None:
        """Return how far the wall clock jumped since the last look, ahead or (negative) back; None where it did not."""
        wall, monotonic_s = self._clock.now(), self._clock.monotonic()
        jumped = (wall - self._wall) - timedelta(seconds=monotonic_s - self._monotonic_s)
        self._wall, self._monotonic_s = wall, monotonic_s
        return jumped if abs(jumped) > TOLERATED else None
