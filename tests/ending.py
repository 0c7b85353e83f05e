"""Whether a process ends, seen from outside: also one that is nobody's child here, and one that nobody buries."""

from __future__ import annotations

import os
import select


def ends_within(pid: int, seconds: float) -> bool:
    """Wait for a process to end; say whether it did in time."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(descriptor)
