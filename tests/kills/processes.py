"""Processes as the harness sees them: whether they ended and how, and that nobody is left when a worker is dead."""

from __future__ import annotations

import ctypes
import os
import signal
from contextlib import suppress
from pathlib import Path

from core.clock import SystemClock
from tests.ending import ends_within
from tests.kills.accounts import Unsound

GONE_WITHIN_S = 5.0
PR_SET_CHILD_SUBREAPER = 36
_CLOCK = SystemClock()


def adopt_orphans() -> None:
    """Become the parent of every process whose own parent dies, so that none can hide."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot adopt orphans")


def end_of(pid: int, within_s: float) -> int | None:
    """Wait for a child; return its status like `subprocess` does, None where it had to be killed for being late."""
    late = not ends_within(pid, within_s)
    if late:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return None if late else status


def expect_nobody() -> None:
    """Wait for what a dead worker leaves: nothing of a step may outlive it, nor what guards the steps.

    Whatever is left becomes our child when its parents have gone. So where we have none there is nobody.
    """
    until_s = _CLOCK.monotonic() + GONE_WITHIN_S
    while _reap():
        left = _children()
        waits_s = until_s - _CLOCK.monotonic()
        if left and (waits_s <= 0 or not ends_within(left[0], waits_s)):
            told = [_command(pid) for pid in left]
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            raise Unsound(f"processes outlived their worker: {told}")


def _reap() -> bool:
    """Bury the dead; return whether there is a child that lives."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def _children() -> list[int]:
    return [int(pid) for pid in Path("/proc/thread-self/children").read_text(encoding="ascii").split()]


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").replace("\0", " ")
    return str(pid)
