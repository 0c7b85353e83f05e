"""The only place that reads the time or draws random identities.

Everything else takes a `Clock`; a lint rule bans the wall clock and `uuid4` elsewhere. Instants are aware UTC
datetimes; inside the schedule evaluator they are integer epoch seconds.
"""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Protocol

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Clock(Protocol):
    """Tells the time and makes identities."""

    def now(self) -> datetime:
        """Return the wall clock as an aware UTC datetime."""
        ...

    def monotonic(self) -> float:
        """Return seconds on a clock that never steps."""
        ...

    def new_id(self) -> str:
        """Return a fresh random identity."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the machine's time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds."""
        return time.monotonic()

    def new_id(self) -> str:
        """Return a random UUID as text."""
        return str(uuid.uuid4())


class ManualClock:
    """A clock that moves only when told; identities are numbered, so runs repeat exactly."""

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)
        self._monotonic_s = 0.0
        self._ids = 0

    def now(self) -> datetime:
        """Return the set time."""
        return self._now

    def monotonic(self) -> float:
        """Return seconds advanced so far."""
        return self._monotonic_s

    def new_id(self) -> str:
        """Return the next numbered UUID."""
        self._ids += 1
        return str(uuid.UUID(int=self._ids))

    def advance(self, by: timedelta) -> None:
        """Let `by` pass on both clocks."""
        self._now += by
        self._monotonic_s += by.total_seconds()

    def step(self, to: datetime) -> None:
        """Set the wall clock without any time passing, as an administrator would."""
        self._now = to.astimezone(UTC)


def epoch_seconds(instant: datetime) -> int:
    """Return the whole epoch seconds of an aware instant, cut toward the past."""
    return int(instant.timestamp() // 1)


def from_epoch(seconds: float) -> datetime:
    """Return the aware UTC instant of epoch seconds."""
    return datetime.fromtimestamp(seconds, UTC)


def epoch_us(instant: datetime) -> int:
    """Return whole microseconds since 1970 of an aware instant."""
    return (instant - _EPOCH) // _MICROSECOND


def from_epoch_us(microseconds: int) -> datetime:
    """Return the aware UTC instant of microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=microseconds)


def format_instant(instant: datetime) -> str:
    """Return RFC 3339 in UTC, with milliseconds only where there are any."""
    text = instant.astimezone(UTC).isoformat(timespec="milliseconds" if instant.microsecond else "seconds")
    return text.replace("+00:00", "Z")
