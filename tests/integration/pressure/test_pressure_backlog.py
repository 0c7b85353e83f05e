"""Thousands of Triggers due at once after an outage are decided in short transactions, however many there are."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from sqlalchemy import Connection, event

from core.admission.pipeline import MOST_ROWS
from tests.integration.admission.world import HOURLY, World, definition
from tests.integration.pressure.copying import copy_trigger

TRIGGERS = 5_000


def test_an_outage_of_five_thousand_triggers_is_decided_in_batches_of_at_most_five_hundred(tmp_path: Path) -> None:
    world = World(tmp_path / "deck.sqlite3")
    world.flow()
    world.trigger("first", definition(HOURLY, misfirePolicy="fireOnce"))
    copy_trigger(world.store, "first", TRIGGERS - 1)
    world.advance(days=2, minutes=1)
    committed = [0]

    def count(connection: Connection) -> None:
        committed.append(connection.exec_driver_sql("SELECT count(*) FROM work").scalar_one())

    event.listen(world.store.engine, "commit", count)
    report = world.pass_once()
    event.remove(world.store.engine, "commit", count)
    batches = [after - before for before, after in pairwise(committed) if after != before]
    assert len(report.submitted) == sum(batches) == TRIGGERS
    assert max(batches) <= MOST_ROWS == 500
    assert report.errors == ()
    assert report.next_due_at == world.clock.now() + timedelta(minutes=59)
    assert world.rows("SELECT DISTINCT reason, count FROM occurrence") == [{"reason": "coalesced", "count": 48}]
    world.store.close()
