"""Where a query is asked: the transaction, the workspace and the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from core.errors import NotFound, Usage
from core.storage.store import Transaction

Found = TypeVar("Found")
LISTED_BY = {"occurrence": "occurrences", "Work": "work", "question": "actions"}


@dataclass(frozen=True, slots=True)
class Reading:
    """One snapshot of one workspace at one instant."""

    tx: Transaction
    workspace_id: str
    now: datetime


def only(found: Sequence[Found], what: str, given: str) -> Found:
    """Return the single match of an id or its prefix; none and several are refused."""
    if not given:
        raise Usage(f"no {what} id was given", "name one by its id or the first characters of it")
    if not found:
        remedy = f"list them with `triggerdeck {LISTED_BY[what]}`"
        raise NotFound(f"there is no {what} {given!r} in this workspace", remedy)
    if len(found) > 1:
        raise Usage(f"{given!r} is the beginning of several {what} ids", "give more characters")
    return found[0]
