"""The door that opens before `core.Deck`: the first page of Triggers, some 300 ms earlier, and nothing else.

    page = first_look("triggerdeck.sqlite3", limit=40)   # None: ask the deck

It answers what `Deck.triggers` answers under the same authority, or nothing; it never raises and never writes.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from core.access.standing import refusal, system_user
from core.errors import TriggerdeckError
from core.queries.trigger_rows import row_of
from core.settings import database_path
from core.storage.first_look import FirstLook
from core.storage.first_look import first_look as look_at
from core.views.paging import Page
from core.views.triggers import TriggerQuery, TriggerRow


def first_look(
    database: str | Path | None = None,
    *,
    workspace: str = "default",
    query: TriggerQuery | None = None,
    limit: int = 100,
    user: str | None = None,
) -> Page[TriggerRow] | None:
    """Return the first Triggers in a query's order; None where it has a filter, or anything is unusual."""
    query = query or TriggerQuery()
    if replace(query, sort="next", descending=False) != TriggerQuery():
        return None
    with suppress(sqlite3.Error, TriggerdeckError), look_at(database_path(database)) as looking:
        return _page(looking, workspace, user or system_user(), query, limit) if looking is not None else None
    return None


def _page(looking: FirstLook, workspace: str, user: str, query: TriggerQuery, limit: int) -> Page[TriggerRow] | None:
    place = looking.place(workspace)
    member = looking.member(place, user) if place is not None else None
    if place is None or member is None or refusal(place, member):
        return None
    records, total = looking.triggers(place.workspace_id, query, limit)
    rows = tuple(replace(row_of(record), recent=looking.letters(record.uid)) for record in records)
    return Page(rows, total, 0)
