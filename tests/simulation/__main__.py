"""Run many seeds: `python -m tests.simulation --seeds 20000`; a seed that fails prints its story and its replay.

Figures so far are printed as it goes, and at an interruption as well.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tests.simulation.world import Unsound, simulate

CHUNK = 4
HARMLESS = ("duplicate delivery", "late redelivery", "lost acknowledgement", "given up", "refused submission")


@dataclass(frozen=True, slots=True)
class Ended:
    """How one seed ended; `story` is empty where everything held."""

    seed: int
    did: Counter[str] = field(default_factory=Counter)
    digest: str = ""
    story: str = ""


@dataclass
class Tally:
    """What many seeds add up to."""

    days: int
    began: float = field(default_factory=time.perf_counter)
    did: Counter[str] = field(default_factory=Counter)
    ended: int = 0
    failed: list[int] = field(default_factory=list)

    def add(self, one: Ended) -> None:
        """Count one seed in; tell of it where it failed."""
        self.ended += 1
        self.did += one.did
        if one.story:
            self.failed.append(one.seed)
            print(f"{one.story}\nreplay: {replay(one.seed, self.days)}\n", file=sys.stderr, flush=True)

    def tell(self) -> None:
        """Print the figures so far."""
        took_s = time.perf_counter() - self.began
        failed = f"failed: {self.failed}" if self.failed else "0 failed"
        print(f"{self.ended:,} seeds of {self.days} days in {took_s:.0f} s: {failed}")
        for line in self._lines():
            print(f"  {line}")
        sys.stdout.flush()

    def _lines(self) -> Iterator[str]:
        did = self.did
        crashes = sum(count for what, count in did.items() if what.startswith("crash"))
        places = sum(what.startswith("crash") for what in did)
        yield (
            f"{did['turns']:,} turns, {did['occurrences']:,} decisions on {did['nominal times']:,} nominal times,"
            f" {did['works']:,} Works in {did['runs']:,} runs, {did['checked']:,} full checks"
        )
        yield (
            f"{did['pruned']:,} decisions pruned in {did['pruning steps']:,} steps,"
            f" {did['marks moved back']:,} marks moved back, {did['repairs']:,} times repaired with nothing to repair"
        )
        yield (
            f"{crashes:,} crashes at {places} places, {did['poison']:,} poisoned batches, {did['busy']:,} times busy,"
            f" {did['lost transaction']:,} transactions lost, {did['unknown commit']:,} commits of unknown outcome"
        )
        yield ", ".join(f"{did[what]:,} × {what}" for what in HARMLESS)
        yield (
            f"{did['renewed']:,} changes of zone data, {did['suspends']:,} suspends,"
            f" {did['clock steps back']:,} clock steps back and {did['clock steps ahead']:,} ahead,"
            f" {did['set_rights']:,} changes of rights, {did['acts between transactions']:,} acts between transactions"
        )
        doubts = {what.removeprefix("doubt "): count for what, count in sorted(did.items()) if what[:5] == "doubt"}
        told = ", ".join(f"{count:,} {what}" for what, count in doubts.items())
        yield f"{did['questions']:,} questions, of which {sum(doubts.values()):,} after a crash: {told or 'none'}"


def replay(seed: int, days: int) -> str:
    """Return the command that lives through one seed again."""
    return f"python -m tests.simulation --first {seed} --seeds 1 --days {days}"


def fast_folder() -> str | None:
    """Return a folder in memory where there is one: these databases live for a second."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - files of a throw-away folder in it


def live(seed: int, days: int) -> Ended:
    """Live through one seed in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="triggerdeck-simulation-", dir=fast_folder()) as folder:
        try:
            life = simulate(seed, Path(folder), days)
        except Unsound as unsound:
            return Ended(seed, story=str(unsound))
        except Exception:  # noqa: BLE001 - whatever it was, this seed failed and the others go on
            return Ended(seed, story=traceback.format_exc())
        return Ended(seed, life.did, life.digest)


def _live_undisturbed(seed: int, days: int) -> Ended:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent tells
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return live(seed, days)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Run the seeds; return 1 where one of them failed, 130 where it was interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=0, help="the first seed; replay one with --first N --seeds 1")
    parser.add_argument("--days", type=int, default=30, help="simulated days in each seed")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="seeds lived through at once")
    parser.add_argument("--every", type=int, default=500, help="print the figures so far after so many seeds")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _interrupt)
    tally = Tally(options.days)
    seeds = range(options.first, options.first + options.seeds)
    pool = ProcessPoolExecutor(options.processes)
    try:
        for one in pool.map(_live_undisturbed, seeds, [options.days] * len(seeds), chunksize=CHUNK):
            tally.add(one)
            if options.seeds == 1:
                print(f"digest {one.digest}")
            if tally.ended % options.every == 0 and tally.ended < options.seeds:
                tally.tell()
    except (KeyboardInterrupt, BrokenProcessPool) as stopped:
        print(f"stopped before the end ({type(stopped).__name__})")
        pool.shutdown(wait=False, cancel_futures=True)
        tally.tell()
        return 130
    pool.shutdown()
    tally.tell()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
