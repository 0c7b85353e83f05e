from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core import failpoints
from core.runtime.memory import MemoryRuntime
from tests.integration.runtime.rig import Rig

MakeRig = Callable[..., Awaitable[Rig]]
Doomed = Callable[..., subprocess.Popen[bytes]]
ROOT = Path(__file__).parents[3]


@pytest.fixture(params=["memory", "engine"])
def engine_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def make_rig(tmp_path: Path) -> AsyncIterator[MakeRig]:
    """Start a rig over the named engine; whatever was started is stopped in the end."""
    started: list[Rig] = []

    async def make(kind: str = "memory", **options: Any) -> Rig:
        rig = Rig(tmp_path, MemoryRuntime(), **options)
        if kind == "engine":
            from core.runtime.engine import DbosRuntime

            rig.use(DbosRuntime(rig.store))
        await rig.__aenter__()
        started.append(rig)
        return rig

    yield make
    for rig in started:
        if not rig.closed:
            await rig.__aexit__()


@pytest.fixture
async def rig(make_rig: MakeRig) -> Rig:
    """A rig over the engine of memory: what is tested is ours."""
    return await make_rig()


@pytest.fixture
async def each_rig(make_rig: MakeRig, engine_kind: str) -> Rig:
    """A rig over each engine in turn: what is tested is the port."""
    return await make_rig(engine_kind)


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[Doomed]:
    """Start workers over the rigs' database that are killed, at a named place or by the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str = "memory", failpoint: str = "") -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), failpoints.VARIABLE: failpoint}
        argv = [sys.executable, "-m", "tests.integration.runtime.doomed_worker", str(tmp_path / "deck.sqlite3"), kind]
        process = subprocess.Popen(argv, env=environment, cwd=ROOT)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
