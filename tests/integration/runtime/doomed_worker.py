"""A worker process for tests that kill it: `doomed_worker.py DATABASE memory|engine`; drives passes until killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from core.clock import SystemClock
from core.runtime.execution import Execution
from core.runtime.memory import MemoryRuntime
from core.runtime.port import Runtime
from core.storage.store import Store


async def main(database: str, kind: str) -> None:
    store = Store.open(Path(database))
    runtime: Runtime = MemoryRuntime()
    if kind == "engine":
        from core.runtime.engine import DbosRuntime

        runtime = DbosRuntime(store)
    execution = Execution(store, SystemClock(), runtime, 4)
    await execution.start()
    while True:
        await execution.pass_once()
        try:
            async with asyncio.timeout(0.05):
                await execution.woken.wait()
        except TimeoutError:
            continue


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
