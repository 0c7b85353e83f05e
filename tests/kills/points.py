"""The named places of the source at which a worker can be killed, and what has to be arranged to come there."""

from __future__ import annotations

import re
from pathlib import Path

CORE = Path(__file__).parents[2] / "core"
_NAMED = re.compile(r'\breach\(\s*"([a-z_.]+)"')

ONCE_A_LIFE = frozenset(
    {
        "admission.lifting_pauses",
        "admission.manual_written",
        "admission.pauses_lifted",
        "admission.postponed",
        "admission.postponing",
        "dispatch.cancel_told",
        "dispatch.waking",
        "dispatch.woken",
        "worker.drained",
        "worker.engine_stopped",
        "worker.locked",
        "worker.seen",
        "worker.started",
    }
)
"""Places that one worker process reaches once; so does it those named `start.…`."""

ARRANGED = {
    "admission.lifting_pauses": "pause",
    "admission.manual_written": "run",
    "admission.pauses_lifted": "pause",
    "admission.postponed": "poison",
    "admission.postponing": "poison",
    "dispatch.cancel_told": "cancel",
    "dispatch.waking": "wait",
    "dispatch.woken": "wait",
    "start.repairing": "stale",
    "start.repaired": "stale",
    "worker.drained": "rest",
    "worker.engine_stopped": "rest",
}
"""What a world has to hold for a place to be reached; `rest` is that nothing keeps the worker from its end."""


def named_places() -> tuple[str, ...]:
    """Return the names of all fail points in the source, sorted."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(CORE.rglob("*.py")))
    return tuple(sorted({name for text in texts for name in _NAMED.findall(text)}))


def is_reached_once(name: str) -> bool:
    """Say whether one process reaches a place at most once."""
    return name in ONCE_A_LIFE or name.startswith("start.")
