"""The port: what Triggerdeck asks of an engine, and what the engine asks of Triggerdeck.

An engine executes segments. A segment is a stretch of one run between two waits; it is executed by calling
`advance` until that says ENDED. All state that matters is in our own tables, which `advance` reads and writes, so an
engine may call it again after a crash, and may lose everything it ever knew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Segment:
    """One stretch of a run; `input_hash` is the hash of what the run runs with."""

    run_id: str
    number: int
    input_hash: str

    @property
    def id(self) -> str:
        """Return the identity under which an engine runs this stretch at most once."""
        return f"{self.run_id}:{self.number}"


class Submission(StrEnum):
    """What became of a submitted segment."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"


class Progress(StrEnum):
    """Whether a segment goes on after one step."""

    MORE = "more"
    ENDED = "ended"


Advance = Callable[[Segment, asyncio.Event], Awaitable[Progress]]
Abandoned = Callable[[Segment], None]


class Runtime(Protocol):
    """An engine. No signal, no resume, no status: those are rows of ours."""

    async def start(self, advance: Advance, abandoned: Abandoned | None = None) -> None:
        """Begin to execute; segments that the engine itself remembers as unfinished go on.

        `abandoned` is told of a segment that the engine gave up before its end, for a fault of the engine's own.
        """
        ...

    async def submit(self, segment: Segment) -> Submission:
        """Take a segment once: the same id again is a duplicate, with another hash a conflict."""
        ...

    async def cancel(self, run_id: str) -> None:
        """Ask a run's segment to end; that it has is observed in our rows."""
        ...

    async def reconcile(self, unfinished: Iterable[Segment]) -> dict[str, Submission]:
        """Make sure that each segment executes, whatever the engine remembers of it; return what was done by id."""
        ...

    async def drain(self, timeout_s: float) -> bool:
        """Wait until no segment executes; return whether that came within the time."""
        ...

    async def stop(self) -> None:
        """Abandon what still executes and let go of everything; our rows stay as they are."""
        ...


class Executing:
    """The segments that this process executes now, with each one's cancel event."""

    def __init__(self) -> None:
        self._cancels: dict[str, tuple[str, asyncio.Event]] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    def __contains__(self, segment_id: str) -> bool:
        return segment_id in self._cancels

    def __len__(self) -> int:
        return len(self._cancels)

    def enter(self, segment: Segment) -> asyncio.Event:
        """Note that a segment begins; return its cancel event."""
        known = self._cancels.get(segment.id)
        event = known[1] if known else asyncio.Event()
        self._cancels[segment.id] = (segment.run_id, event)
        self._idle.clear()
        return event

    def leave(self, segment: Segment) -> None:
        """Note that a segment no longer executes."""
        self._cancels.pop(segment.id, None)
        if not self._cancels:
            self._idle.set()

    def cancel(self, run_id: str) -> None:
        """Set the cancel events of a run."""
        for owner, event in list(self._cancels.values()):
            if owner == run_id:
                event.set()

    async def idle(self, timeout_s: float) -> bool:
        """Wait until nothing executes."""
        try:
            await asyncio.wait_for(self._idle.wait(), timeout_s)
        except TimeoutError:
            return False
        return True
