"""The named places of the source at which a worker can be killed, and what a life has to hold to come there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

CORE = Path(__file__).parents[2] / "core"
_NAMED = re.compile(r'\breach\(\s*"([a-z_.]+)"')

Arranged = Literal["", "cancel", "crash", "pause", "poison", "run", "stale", "stop", "wait"]


@dataclass(frozen=True, slots=True)
class Need:
    """What is arranged for a place, and how often one life surely comes there.

    `hits` holds whatever the life before left; `deep` is how often where Work runs one after another. Arranged are:
    running Work that is asked to `cancel`, a step that a `crash` interrupted, a `pause` that ends, a Trigger whose row
    is `poison`, `run` now, projections that are `stale`, a `stop` by a service manager, a `wait` whose time has come.
    """

    arranged: Arranged = ""
    hits: int = 1
    deep: int = 0

    def hit(self, number: int) -> int:
        """Return at which hit to kill for the n-th time (from 1): each in turn, up to the deepest."""
        return 1 + (number - 1) % max(self.hits, self.deep)


_OFTEN = {"admission": Need(hits=10), "dispatch": Need(hits=2, deep=4), "step": Need(hits=5), "start": Need("crash")}
_OTHERWISE = {
    "admission.lifting_pauses": Need("pause"),
    "admission.manual_written": Need("run"),
    "admission.pauses_lifted": Need("pause"),
    "admission.postponed": Need("poison"),
    "admission.postponing": Need("poison"),
    "dispatch.before_resume": Need("wait"),
    "dispatch.cancel_told": Need("cancel"),
    "dispatch.resumed": Need("wait"),
    "dispatch.waking": Need("wait"),
    "dispatch.woken": Need("wait"),
    "start.repaired": Need("stale"),
    "start.repairing": Need("stale"),
    "step.logged": Need(hits=3),
    "step.logging": Need(hits=3),
    "worker.admitted": Need(hits=2, deep=4),
    "worker.drained": Need("stop"),
    "worker.engine_stopped": Need("stop"),
    "worker.turned": Need(hits=2, deep=4),
}
NAMED_HERE = frozenset(_OTHERWISE)


def named_places() -> tuple[str, ...]:
    """Return the names of all fail points in the source, sorted."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(CORE.rglob("*.py")))
    return tuple(sorted({name for text in texts for name in _NAMED.findall(text)}))


def need_of(place: str) -> Need:
    """Return what a place needs."""
    return _OTHERWISE.get(place) or _OFTEN.get(place.partition(".")[0]) or Need()
