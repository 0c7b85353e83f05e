"""Named places where a test may kill the process; nothing happens unless TRIGGERDECK_FAILPOINT names one.

`TRIGGERDECK_FAILPOINT=dispatch.claimed` kills at the first hit, `dispatch.claimed:3` at the third.
"""

from __future__ import annotations

import os
import signal

VARIABLE = "TRIGGERDECK_FAILPOINT"
_hits: dict[str, int] = {}


def reach(name: str) -> None:
    """Kill this process with SIGKILL where the environment asks for it; otherwise do nothing."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    target, _, nth = wanted.partition(":")
    if target != name:
        return
    _hits[name] = _hits.get(name, 0) + 1
    if _hits[name] >= int(nth or "1"):
        os.kill(os.getpid(), signal.SIGKILL)
