"""Ways to break the product that the harness has to notice; each is called in a process of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from core.admission import batch
from core.runtime import guard, interpreter, progress, recovery
from core.storage import runs
from core.work.statuses import OUTCOME_UNKNOWN


def letting_steps_live() -> None:
    """Start steps by a program that ends none of them."""
    guard._PROGRAM = Path(__file__).with_name("careless_keeper.py")


def repeating_unasked() -> None:
    """Begin the next try of a step that nobody was asked about, whatever its Flow says."""
    recovery._goes_on = lambda _walk: False
    put_right = runs.set_step

    def set_pending(tx: Any, run_id: str, position: int, *, was: Any, **values: Any) -> Any:
        if values.get("error_code") == OUTCOME_UNKNOWN:
            values = {**values, "status": "pending", "ended_at": None}
        return put_right(tx, run_id, position, was=was, **values)

    runs.set_step = set_pending


def forgetting_tries() -> None:
    """Begin to count the tries of a step anew each time."""
    start = progress._start_try

    def start_first(tx: Any, walk: Any, position: int, row: Any) -> Any:
        return start(tx, walk, position, row and replace(row, attempt=0))

    progress._start_try = start_first
    assert interpreter.progress is progress


def forgetting_work() -> None:
    """Admit occurrences without writing their Work."""
    batch.statements.insert_work = lambda _tx, _rows: None
