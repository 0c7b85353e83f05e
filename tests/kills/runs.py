"""What is run: kills at named places, and kills as a seed says; each in a world of its own, told with its seed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.kills import warm
from tests.kills.accounts import Unsound
from tests.kills.points import need_of
from tests.kills.world import World

KILLS_AT_EACH = 10


def kill_at(places: Sequence[str], times: int = KILLS_AT_EACH, seed: int = 0) -> Counter[str]:
    """Kill workers so often at each place; return what was done, kills by place. Raises `Unsound`."""
    with new_world(seed, poisoned=any(need_of(place).arranged == "poison" for place in places)) as world:
        for place in places:
            for number in range(1, times + 1):
                world.die_at(place, number)
        world.come_to_rest()
    return world.did


def kill_at_random(seed: int, places: Sequence[str], kills: int) -> Counter[str]:
    """Kill workers at places, hits and moments drawn from a seed; return what was done. Raises `Unsound`."""
    poisoned = seed % 2 == 0
    reached = [place for place in places if poisoned or need_of(place).arranged != "poison"]
    with new_world(seed, poisoned=poisoned) as world:
        while world.did["kills"] < kills:
            if world.draw.random() < 0.5:
                world.die_some_time()
            else:
                world.die_at(world.draw.choice(reached), world.draw.randint(1, KILLS_AT_EACH))
        world.come_to_rest()
    return world.did


def kill_in_doubt(seed: int, words: Sequence[str]) -> Counter[str]:
    """Kill workers in a step that may not be repeated, and say each of these words of it. Raises `Unsound`."""
    with new_world(seed) as world:
        for word in words:
            world.die_in_doubt(word)
        world.come_to_rest()
    return world.did


@contextmanager
def new_world(seed: int, *, poisoned: bool = False) -> Iterator[World]:
    """Make a world and remove it; where it is found unsound, tell seed and story, and keep its files."""
    world = World(warm.world_database(), seed, poisoned=poisoned)
    began_s = _cpu_s()
    try:
        world.begin()
        yield world
    except Unsound as error:
        story = "\n  ".join(world.told[-30:])
        raise Unsound(f"seed {seed}: {error}\n  {story}\n  kept in {_kept(world.folder)}") from error
    finally:
        world.did["cpu_ms"] = int((_cpu_s() - began_s) * 1000)
        warm.clean()


def be_warm() -> None:
    """Live one life in this very process, so that those that are forked from it find everything prepared."""
    warm.keep_engines()
    world = World(warm.world_database(), 0)
    try:
        world.begin()
        world.die_unexamined("step.recorded", 3)
        world.live_here()
    finally:
        warm.clean()
    warm.freeze()


def _kept(folder: Path) -> Path:
    """Put an unsound world where no other one will be."""
    number = sum(1 for _ in folder.parent.parent.glob("triggerdeck-unsound-*"))
    kept = folder.parent.with_name(f"triggerdeck-unsound-{os.getpid()}-{number}")
    return folder.rename(kept)


def _cpu_s() -> float:
    """Return the processor seconds of this process and of all its children that have ended."""
    return sum(os.times()[:4])
