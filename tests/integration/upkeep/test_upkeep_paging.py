"""A long history is paged by index and counted without being read for each page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from core.queries import occurrences, work
from core.queries.context import Reading
from core.storage import counting, read_history
from core.storage.backup import copy_database
from core.views import ACTIVE_WORK, OccurrenceQuery, OccurrenceRow, Page, WorkQuery
from tests.integration.upkeep.ward import Ward, definition


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ward]:
    """Return a ward with 120 decisions of three Triggers, one of which was deleted and made again."""
    ward = Ward(Path(tmp_path_factory.mktemp("paging")) / "triggerdeck.sqlite3")
    ward.flow()
    ward.trigger("one")
    ward.trigger("two", definition(concurrencyPolicy="skip"))
    for turn in range(40):
        ward.advance(minutes=1)
        ward.pass_once()
        if turn == 19:
            ward.delete("one")
            ward.trigger("one")
    ward.run("one")
    yield ward
    ward.store.close()


@pytest.fixture
def own(lived: Ward, tmp_path: Path) -> Iterator[Ward]:
    """Return a copy that a test may change."""
    lived.store.tidy()
    copy = tmp_path / "triggerdeck.sqlite3"
    copy_database(lived.path, copy)
    ward = Ward(copy, start=lived.clock.now())
    for _ in range(500):
        ward.clock.new_id()  # past the identities that are used
    yield ward
    ward.store.close()


def page(ward: Ward, query: OccurrenceQuery | None = None, **more: Any) -> Page[OccurrenceRow]:
    with ward.store.read() as tx:
        reading = Reading(tx, ward.scope.workspace_id, ward.clock.now())
        return occurrences.page(reading, query or OccurrenceQuery(), **more)


def walked(ward: Ward, query: OccurrenceQuery, size: int) -> list[str]:
    found, cursor = [], None
    while True:
        rows = page(ward, query, cursor=cursor, limit=size)
        found += [row.id for row in rows.rows]
        cursor = rows.cursor
        if cursor is None:
            return found


@pytest.mark.parametrize(
    "query",
    [
        OccurrenceQuery(),
        OccurrenceQuery(trigger="one"),
        OccurrenceQuery(trigger="two", outcome="skipped"),
        OccurrenceQuery(reason="concurrency_skip"),
        OccurrenceQuery(kind="manual"),
        OccurrenceQuery(trigger="nobody"),
    ],
    ids=str,
)
def test_walking_by_cursor_by_offset_and_at_once_gives_the_same_rows(lived: Ward, query: OccurrenceQuery) -> None:
    at_once = page(lived, query, limit=None)
    ids = [row.id for row in at_once.rows]
    assert at_once.total == len(ids) == len(set(ids))
    assert [row.at for row in at_once.rows] == sorted((row.at for row in at_once.rows), reverse=True)
    assert walked(lived, query, 7) == ids
    assert [row.id for start in range(0, len(ids), 7) for row in page(lived, query, offset=start, limit=7).rows] == ids


def asked_for(ward: Ward) -> list[OccurrenceQuery]:
    """Return every combination of filters, each also with values that nothing has."""
    now = ward.clock.now()
    values: dict[str, list[Any]] = {
        "trigger": [None, "one", "nobody"],
        "trigger_like": [None, "O"],
        "namespace": [None, "default", "other"],
        "outcome": [None, "pending", "skipped", "failed"],
        "reason": [None, "on_time", "concurrency_skip", "manual"],
        "kind": [None, "scheduled", "manual"],
        "since": [None, now - timedelta(minutes=20)],
        "until": [None, now - timedelta(minutes=10)],
    }
    return [OccurrenceQuery(**dict(zip(values, chosen, strict=True))) for chosen in product(*values.values())]


def matches(row: OccurrenceRow, query: OccurrenceQuery) -> bool:
    exact = {"trigger": row.trigger_name, "namespace": row.namespace, "outcome": row.outcome, "reason": row.reason}
    exact["kind"] = row.kind
    same = all(getattr(query, name) in {None, value} for name, value in exact.items())
    same = same and (query.trigger_like or "").lower() in row.trigger_name
    return same and not (query.since and row.at < query.since) and not (query.until and row.at >= query.until)


@pytest.mark.parametrize("few", [0, 20], ids=["by namespace", "by trigger"])
def test_every_combination_of_filters_gives_the_rows_that_match(
    lived: Ward, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_history, "FEW_TRIGGERS", few)
    every = page(lived, limit=None).rows
    cursor = page(lived, limit=30).cursor
    for query in asked_for(lived):
        wanted = [row.id for row in every if matches(row, query)]
        found = page(lived, query, limit=25)
        assert [row.id for row in found.rows] == wanted[:25], query
        assert found.total == len(wanted), query
        later = [row.id for row in every[30:] if matches(row, query)]
        assert [row.id for row in page(lived, query, cursor=cursor, limit=25).rows] == later[:25], query


def test_every_combination_of_filters_of_work_gives_the_work_that_matches(lived: Ward) -> None:
    since = lived.clock.now() - timedelta(minutes=20)
    filters = product([None, "one", "nobody"], [None, "pending", "completed"], [None, True, False], [None, since])
    with lived.store.read() as tx:
        reading = Reading(tx, lived.scope.workspace_id, lived.clock.now())
        every = work.page(reading, WorkQuery(), limit=None).rows
        for trigger, status, active, after in filters:
            query = WorkQuery(trigger=trigger, status=status, active=active, since=after)
            wanted = [
                row.id
                for row in every
                if trigger in {None, row.trigger_name}
                and status in {None, row.status}
                and active in {None, row.status in ACTIVE_WORK}
                and (after is None or row.created_at >= after)
            ]
            found = work.page(reading, query, limit=15)
            assert [row.id for row in found.rows] == wanted[:15], query
            assert found.total == len(wanted), query


def test_a_name_finds_the_history_of_every_trigger_that_had_it(lived: Ward) -> None:
    rows = page(lived, OccurrenceQuery(trigger="one"), limit=None).rows
    assert len({row.trigger_uid for row in rows}) == 2
    assert len(rows) == 41


def test_work_is_paged_like_its_occurrences(lived: Ward) -> None:
    with lived.store.read() as tx:
        reading = Reading(tx, lived.scope.workspace_id, lived.clock.now())
        every = work.page(reading, WorkQuery(trigger="one"), limit=None)
        first = work.page(reading, WorkQuery(trigger="one"), limit=10)
        second = work.page(reading, WorkQuery(trigger="one"), limit=10, cursor=first.cursor)
        active = work.page(reading, WorkQuery(active=True), limit=None)
        ended = work.page(reading, WorkQuery(active=False), limit=None)
    assert every.total == 41
    assert [row.id for row in (*first.rows, *second.rows)] == [row.id for row in every.rows[:20]]
    assert (active.total, ended.total) == (42, 0)


def statements_of(ward: Ward, ask: Any) -> list[str]:
    """Return the query plan of every statement that a question makes, one text each."""
    seen: list[str] = []

    def trace(connection: Any) -> None:
        connection.connection.dbapi_connection.set_trace_callback(seen.append)

    event.listen(ward.store.engine, "begin", trace)
    try:
        ask()
    finally:
        event.remove(ward.store.engine, "begin", trace)
        ward.store.engine.dispose()
    with ward.store.engine.connect() as connection:
        asked = [statement for statement in seen if statement.lstrip().startswith("SELECT")]
        plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}").all() for statement in asked]
    return [" | ".join(str(row[3]) for row in rows) for rows in plans]


@pytest.mark.parametrize(
    "query",
    [
        OccurrenceQuery(),
        OccurrenceQuery(trigger="two"),
        OccurrenceQuery(outcome="failed"),
        OccurrenceQuery(reason="denied"),
    ],
    ids=str,
)
def test_no_page_sorts_or_scans_the_history(lived: Ward, query: OccurrenceQuery) -> None:
    plans = statements_of(lived, lambda: page(lived, query))
    assert any("COVERING INDEX occurrence_" in plan for plan in plans)
    for plan in plans:
        assert "SCAN occurrence" not in plan
        if " occurrence " in plan and "sqlite_autoindex_occurrence_1" not in plan:  # the page's own rows may be ordered
            assert "TEMP B-TREE" not in plan


def test_no_combination_of_filters_sorts_or_scans_the_history(lived: Ward) -> None:
    for query in asked_for(lived):
        for plan in statements_of(lived, lambda query=query: page(lived, query, limit=5)):  # type: ignore[misc]
            assert "SCAN occurrence" not in plan, query
            if " occurrence " in plan and "sqlite_autoindex_occurrence_1" not in plan:  # as above
                assert "TEMP B-TREE" not in plan, query


def test_overlap_asks_an_index_that_holds_active_work_only(own: Ward) -> None:
    own.advance(minutes=1)
    plans = statements_of(own, own.pass_once)
    assert any("work_active" in plan for plan in plans)
    assert not any("SCAN work" in plan or "SCAN occurrence" in plan for plan in plans)


def test_a_total_beyond_the_exact_ones_is_kept_for_a_minute(own: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "EXACT", 10)
    full: list[str] = []
    original = counting._all
    monkeypatch.setattr(counting, "_all", lambda *given: full.append("") or original(*given))  # type: ignore[func-returns-value]
    before = page(own, limit=5).total
    assert before == len(page(own, limit=None).rows)
    assert len(full) == 1
    own.run("one")
    assert page(own, limit=5).total == before
    own.clock.advance(timedelta(seconds=61))
    assert page(own, limit=5).total == before + 1
    assert len(full) == 2
    assert page(own, OccurrenceQuery(kind="manual"), limit=5).total == 2
    assert len(full) == 2
