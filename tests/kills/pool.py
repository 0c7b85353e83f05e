"""Processes that are warm: forked from one that has imported everything, lived one life and has no thread."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor

from tests.kills import warm
from tests.kills.cuts import cut_logs, go_on_after
from tests.kills.runs import kill_at, kill_at_random, kill_in_doubt


def warm_pool(processes: int, *, fresh: bool = False) -> ProcessPoolExecutor:
    """Return processes without threads that know what a worker needs; `fresh` ones do one task each."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.kills.warmed"])
    once = 1 if fresh else None
    return ProcessPoolExecutor(processes, mp_context=context, initializer=warm.move_in, max_tasks_per_child=once)


def at_places(places: Sequence[str], times: int) -> Counter[str]:
    """Kill at each of these places, in this process's children."""
    return kill_at(places, times)


def at_random(seed: int, places: tuple[str, ...], kills: int) -> Counter[str]:
    """Kill as one seed says, in this process's children."""
    return kill_at_random(seed, places, kills)


def in_doubt(seed: int, words: Sequence[str]) -> Counter[str]:
    """Kill in steps of which a person then says these words, in this process's children."""
    return kill_in_doubt(seed, words)


def at_places_harmed(harm: Callable[[], None], places: Sequence[str], times: int) -> Counter[str]:
    """Break something first, then kill at each of these places; for a process of its own."""
    harm()
    return at_places(places, times)


def at_cuts(seed: int, cuts: int) -> Counter[str]:
    """Cut and damage the log of a busy worker."""
    return cut_logs(cuts, seed)


def at_one_cut(seed: int) -> Counter[str]:
    """Cut the log of a busy worker once, and go on."""
    return go_on_after(seed)
