"""Named places where a test may end the process; nothing happens unless TRIGGERDECK_FAILPOINT names one.

`TRIGGERDECK_FAILPOINT=dispatch.claimed` kills at the first hit, `dispatch.claimed:3` at the third. Inside one process a
simulation watches the places instead and unwinds the stack where it wants a crash.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

VARIABLE = "TRIGGERDECK_FAILPOINT"
_hits: dict[str, int] = {}
_watchers: list[Callable[[str], None]] = []


def watch(watcher: Callable[[str], None] | None) -> None:
    """Call `watcher` at each place from now on; None calls nobody."""
    _watchers[:] = [watcher] if watcher else []


def reach(name: str) -> None:
    """Kill this process with SIGKILL where the environment asks for it; otherwise do nothing."""
    for watcher in _watchers:
        watcher(name)
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    target, _, nth = wanted.partition(":")
    if target != name:
        return
    _hits[name] = _hits.get(name, 0) + 1
    if _hits[name] >= int(nth or "1"):
        os.kill(os.getpid(), signal.SIGKILL)
