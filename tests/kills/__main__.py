"""Kill workers: `python -m tests.kills --kills 2000`; a world that is found unsound prints its story and seed.

python -m tests.kills --kills 2000 [--first SEED]     places, hits and moments drawn from seeds
python -m tests.kills --place step.recorded           one place, at its first to its tenth hit
python -m tests.kills --every                         every place so
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed

from tests.kills.points import named_places
from tests.kills.pool import at_places, at_random, warm_pool
from tests.kills.runs import KILLS_AT_EACH

KILLS_A_WORLD = 20


def _tasks(pool: ProcessPoolExecutor, options: argparse.Namespace) -> Iterator[tuple[str, Future[Counter[str]]]]:
    places = named_places()
    if options.place or options.every:
        for place in [options.place] if options.place else places:
            yield f"--place {place}", pool.submit(at_places, [place], options.times)
        return
    for number in range(-(-options.kills // KILLS_A_WORLD)):
        seed = options.first + number
        count = min(KILLS_A_WORLD, options.kills - number * KILLS_A_WORLD)
        yield f"--first {seed} --kills {count}", pool.submit(at_random, seed, places, count)


def _tell(total: Counter[str], failed: int, worlds: int, took_s: float) -> None:
    said = {word.removeprefix("said "): count for word, count in sorted(total.items()) if word.startswith("said ")}
    rate = f"{total['kills'] / took_s:.1f} a second, {total['cpu_ms'] / 1000:.0f} s of processor time"
    print(f"{total['kills']} kills in {took_s:.0f} s ({rate}), {worlds} worlds: {failed} unsound;")
    print(f"{total['examined']} examinations, {total['occurrences']} occurrences with one Work each,", end=" ")
    print(f"{total['steps']} steps recorded once, {total['repeated']} tries repeated under a higher number,")
    print(f"{sum(said.values())} questions about interrupted steps, each asked and carried out once: {said}")


def main() -> int:
    """Run; return 1 where a world was found unsound."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=2000, help="how many workers to kill")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--place", choices=named_places(), help="kill at this place only")
    parser.add_argument("--every", action="store_true", help="kill at every place")
    parser.add_argument("--times", type=int, default=KILLS_AT_EACH, help="kills at each place")
    parser.add_argument("--processes", type=int, default=(os.cpu_count() or 1) + 1, help="worlds at once")
    options = parser.parse_args()
    total, failed, began = Counter[str](), 0, time.perf_counter()
    with warm_pool(options.processes) as pool:
        tasks = {future: replay for replay, future in _tasks(pool, options)}
        for future in as_completed(tasks):
            if error := future.exception():
                failed += 1
                print(f"{error}\nreplay: python -m tests.kills {tasks[future]}\n", file=sys.stderr)
            else:
                total += future.result()
    _tell(total, failed, len(tasks), time.perf_counter() - began)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
