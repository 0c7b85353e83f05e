"""Own what the editor says about a rule that fires faster than its Flow runs; pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from math import ceil

from core.views import FireView, Runtimes
from core.words import counted, duration
from tui.present.lines import Line, wrap


def shortest_gap_s(fires: Sequence[FireView]) -> float | None:
    """Return the seconds between the two of these fires that stand closest; None where there are not two."""
    instants: list[datetime] = [fire.nominal_at for fire in fires if fire.nominal_at is not None]
    return min(((later - at).total_seconds() for at, later in pairwise(instants)), default=None)


def overlaps(runtimes: Runtimes | None, fires: Sequence[FireView]) -> bool:
    """Tell whether a run of usual or of the greatest length would still be active at the next fire."""
    gap = shortest_gap_s(fires)
    return runtimes is not None and gap is not None and runtimes.longest_s >= gap


def overlap_lines(
    runtimes: Runtimes | None, fires: Sequence[FireView], policy: str, most: int | None, cells: int
) -> list[Line]:
    """Return how long the Flow's runs take beside what lies between two fires, and what comes of it."""
    gap = shortest_gap_s(fires)
    if runtimes is None or gap is None:
        return []
    median, longest = duration(runtimes.median_s, fine=True), duration(runtimes.longest_s, fine=True)
    head = f"median run {median}, longest {longest} of {counted(runtimes.count, 'run')}"
    if runtimes.count == 1:
        head = f"the one run so far took {median}"
    if runtimes.longest_s < gap:
        return list(wrap(f"{head}: no overlap expected", cells, "dim"))
    if runtimes.median_s < gap:
        told = f"⚠ {head}: the longest outlast the {duration(gap)} between two fires; {_then(policy, most)}"
    else:
        told = f"⚠ {head}: longer than the {duration(gap)} between two fires; {_always(runtimes, gap, policy, most)}"
    return list(wrap(told, cells, "warn", "  "))


def _then(policy: str, most: int | None) -> str:
    if policy == "skip":
        return "overlap skip leaves those fires out"
    return "overlap allow runs them side by side" + (f", at most {most}" if most else "")


def _always(runtimes: Runtimes, gap: float, policy: str, most: int | None) -> str:
    at_once = ceil((runtimes.median_s + 0.001) / gap)
    if policy == "skip":
        return f"overlap skip lets about one fire in {at_once} run"
    return f"overlap allow keeps about {at_once} runs active" + (f", at most {most}" if most else "")
