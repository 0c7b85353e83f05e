"""Processes that are warm: forked from one that has imported everything and started no thread."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.kills.cuts import cut_logs, go_on_after
from tests.kills.world import kill_at, kill_at_random


def warm_pool(processes: int, *, fresh: bool = False) -> ProcessPoolExecutor:
    """Return processes without threads that have imported what a worker needs; `fresh` ones do one task each."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return ProcessPoolExecutor(processes, mp_context=context, max_tasks_per_child=1 if fresh else None)


def fast_folder() -> Path:
    """Return a fresh folder, in memory where there is some: a kill is no power cut."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a fresh folder in it
    return Path(tempfile.mkdtemp(prefix="triggerdeck-kills-", dir=place))


def at_places(places: Sequence[str], times: int) -> Counter[str]:
    """Kill at each of these places, in this process's children."""
    return kill_at(places, fast_folder(), times)


def at_random(seed: int, places: tuple[str, ...], kills: int) -> Counter[str]:
    """Kill as one seed says, in this process's children."""
    return kill_at_random(seed, places, fast_folder(), kills)


def at_places_harmed(harm: Callable[[], None], places: Sequence[str], times: int) -> Counter[str]:
    """Break something first, then kill at each of these places; for a process of its own."""
    harm()
    return at_places(places, times)


def at_cuts(seed: int, cuts: int) -> Counter[str]:
    """Cut and damage the log of a busy worker."""
    return cut_logs(fast_folder(), cuts, seed)


def at_one_cut(seed: int) -> Counter[str]:
    """Cut the log of a busy worker once, and go on."""
    return go_on_after(fast_folder(), seed)
