"""The write-ahead log of a busy worker, cut at any byte or damaged: what opens is a sound database, a prefix of it all.

A worker is killed in the middle of its work, and the file with its log is copied before anybody else opens it. Each
cut is a copy whose log ends at a random byte, each damage one with some bytes of a frame changed.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

from core.storage.opening import open_store
from core.upkeep.checker import check
from tests.kills.accounts import expect
from tests.kills.runs import new_world
from tests.kills.world import World

FRAME_BYTES = 24 + 4096
HEADER_BYTES = 32
Facts = frozenset[tuple[str, ...]]


def cut_logs(cuts: int, seed: int) -> Counter[str]:
    """Make a busy log, cut and damage copies of it; return what was done. Raises `Unsound`."""
    with new_world(seed) as world:
        world.die_unexamined("worker.turned", 5)
        _cut_and_damage(world, cuts)
    return world.did


def _cut_and_damage(world: World, cuts: int) -> None:
    log, copies = _log_of(world.path).read_bytes(), world.folder.with_name("copies")
    everything = _opened(_copied(world.path, log, copies / "all"), world)
    seen: list[tuple[int, Facts]] = []
    for number in range(cuts):
        end = world.draw.randrange(len(log) + 1)
        facts = _opened(_copied(world.path, log[:end], copies / f"cut-{number}"), world)
        expect(facts <= everything, f"a log cut at {end} tells what never was")
        seen.append((end, facts))
        world.did["cuts"] += 1
    seen.sort(key=lambda pair: pair[0])
    for (_, less), (end, more) in pairwise(seen):
        expect(less <= more, f"a log cut at {end} tells less than one that was cut before")
    for damage in (_last_frame, _any_frame):
        for number in range(cuts // 4):
            harmed = damage(log, world.draw)
            facts = _opened(_copied(world.path, harmed, copies / f"{damage.__name__}-{number}"), world)
            expect(facts <= everything, "a damaged log tells what never was")
            world.did["damages"] += 1


def go_on_after(seed: int) -> Counter[str]:
    """Cut the log of a busy worker and let the next one come to rest on what is left. Raises `Unsound`."""
    with new_world(seed) as world:
        world.die_unexamined("worker.turned", 5)
        log = _log_of(world.path)
        content = log.read_bytes()
        log.write_bytes(content[: world.draw.randrange(len(content))])
        world.path.with_name(f"{world.path.name}-shm").unlink(missing_ok=True)
        world.come_to_rest(repeated=True)
    return world.did


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _copied(whole: Path, log: bytes, folder: Path) -> Path:
    """Put a database with this log into a folder; return its path."""
    folder.mkdir(parents=True)
    path = folder / whole.name
    shutil.copyfile(whole, path)
    _log_of(path).write_bytes(log)
    return path


def _opened(path: Path, world: World) -> Facts:
    """Open a database as anybody would, expect it to be sound, and return what it tells of the past."""
    store = open_store(path, clock=world.clock)
    try:
        expect(store.faults() == (), f"{path.parent.name} is damaged: {store.faults()}")
        with store.read() as tx:
            found = check(tx, now=world.clock.now())
            rows = tx.connection.exec_driver_sql(_FACTS).all()
    finally:
        store.close()
    expect(not found, f"{path.parent.name}: {[f'{one.code} {one.subject}: {one.message}' for one in found]}")
    shutil.rmtree(path.parent)
    world.did["opened"] += 1
    return frozenset(tuple(map(str, row)) for row in rows)


_FACTS = (
    "SELECT 'occurrence', id, reason, at FROM occurrence WHERE NOT is_range"
    " UNION ALL SELECT 'work', id, flow_version, created_at FROM work"
    " UNION ALL SELECT 'audit', id, action, at FROM audit_event"
)


def _last_frame(log: bytes, draw: random.Random) -> bytes:
    return _harmed(log, (len(log) - HEADER_BYTES) // FRAME_BYTES - 1, draw)


def _any_frame(log: bytes, draw: random.Random) -> bytes:
    return _harmed(log, draw.randrange((len(log) - HEADER_BYTES) // FRAME_BYTES), draw)


def _harmed(log: bytes, frame: int, draw: random.Random) -> bytes:
    """Return a log with one byte of a frame changed."""
    place = HEADER_BYTES + frame * FRAME_BYTES + draw.randrange(FRAME_BYTES)
    return log[:place] + bytes([log[place] ^ draw.randrange(1, 256)]) + log[place + 1 :]
