"""Ways to break the product that the harness has to notice; each is called in a process of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.admission import batch
from core.runtime import interpreter, progress
from core.runtime.guard import Guard


def letting_steps_live() -> None:
    """Tell nobody of the steps' process groups."""

    def add(_guard: Guard, _group: int) -> None:
        return None

    Guard.add = add  # type: ignore[method-assign]


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
