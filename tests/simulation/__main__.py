"""Run many seeds: `python -m tests.simulation --seeds 20000`; a seed that fails prints its story and its replay."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.simulation.world import Unsound, simulate


def _one(seed: int, days: int) -> tuple[int, Counter[str], str]:
    with tempfile.TemporaryDirectory(dir=_fast_folder()) as folder:
        try:
            return seed, simulate(seed, Path(folder), days), ""
        except Unsound as unsound:
            return seed, Counter(), str(unsound)


def _fast_folder() -> str | None:
    """Return a folder in memory where there is one: these databases live for a second."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - files of a throw-away folder in it


def main() -> int:
    """Run the seeds; return 1 where one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=0, help="the first seed; replay one with --first N --seeds 1")
    parser.add_argument("--days", type=int, default=30, help="simulated days in each seed")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="seeds lived through at once")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    failed, began = [], time.perf_counter()
    seeds = range(options.first, options.first + options.seeds)
    with ProcessPoolExecutor(options.processes) as pool:
        for seed, did, story in pool.map(_one, seeds, [options.days] * len(seeds), chunksize=4):
            total += did
            if story:
                failed.append(seed)
                print(f"{story}\nreplay: python -m tests.simulation --first {seed} --seeds 1\n", file=sys.stderr)
    crashes = sum(count for what, count in total.items() if what.startswith("crash"))
    print(f"{len(seeds)} seeds of {options.days} days in {time.perf_counter() - began:.0f} s: {len(failed)} failed")
    print(f"{crashes} crashes, {total['busy']} busy, {total['unknown commit']} unknown commits,", end=" ")
    print(f"{total['duplicate delivery']} duplicate deliveries, {total['renew_zones']} changes of zone data")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
