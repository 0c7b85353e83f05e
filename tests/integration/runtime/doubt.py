"""Work whose worker died in the middle of a step, and short ways to say what became of the step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.runtime.engine import DbosRuntime
from core.runtime.memory import MemoryRuntime
from core.upkeep.checker import check
from tests.integration.runtime.rig import Rig, sh

SLEEPS_ONCE = 'echo "try $TRIGGERDECK_ATTEMPT"; [ "$TRIGGERDECK_ATTEMPT" -gt {crashes} ] || exec sleep 300; {then}'
SHOWS = sh("echo {{ steps.one.output.rows }}", step_id="after")


def fragile(then: str = "true", *, crashes: int = 1, **rest: Any) -> dict[str, Any]:
    """Return a step that hangs in its first tries, so that a crash finds it in flight."""
    return sh(SLEEPS_ONCE.format(then=then, crashes=crashes), onCrash="ask", **rest)


async def crash(rig: Rig) -> None:
    """Let go of what runs as a killed worker does, and start the next worker on what is left."""
    await rig.execution.stop()
    await next_worker(rig)


async def next_worker(rig: Rig) -> None:
    """Start a worker over the same kind of engine."""
    rig.use(MemoryRuntime() if isinstance(rig.runtime, MemoryRuntime) else DbosRuntime(rig.store))
    await rig.execution.start()


async def interrupted(rig: Rig, *steps: Mapping[str, Any], **rest: Any) -> str:
    """Crash in the middle of the first step; return the Work, which asks."""
    work_id = rig.fire(*steps, **rest)
    await begun(rig, work_id, 1)
    await crash(rig)
    await rig.until(work_id, "waitingForInput")
    sound(rig)
    return work_id


async def begun(rig: Rig, work_id: str, attempt: int) -> None:
    """Return when a try of the first step runs and has written its line."""
    while f"try {attempt}" not in rig.log(work_id, "out"):
        await rig.until_step(work_id, 0, "running")
        await rig.next_event()


def choose(rig: Rig, work_id: str, choice: str, **values: Any) -> None:
    rig.answer(rig.action(work_id).id, "chosen", {"choice": choice, **values})


def sound(rig: Rig) -> None:
    """Fail the test unless the checker finds nothing."""
    with rig.store.read() as tx:
        assert check(tx, now=rig.clock.now()) == ()


def message_of(rig: Rig, work_id: str) -> str:
    return next(row.message for row in rig.actions() if row.work_id == work_id and row.status == "pending")
