"""The engine's own file cannot be written while ours can: what was claimed is neither lost nor held for ever."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from core.errors import StorageUnusable
from core.runtime import engine, execution
from core.runtime.memory import MemoryRuntime
from core.storage.enginefile import engine_path
from tests.integration.runtime.rig import Rig, sh

ENOUGH = 1_000_000


def rig_in(folder: Path) -> Rig:
    rig = Rig(folder, MemoryRuntime())
    rig.use(engine.DbosRuntime(rig.store))
    return rig


async def fire_for_ever(rig: Rig, fired: list[str]) -> None:
    while True:
        fired.append(rig.fire(name="import"))
        await rig.execution.pass_once()


async def test_work_that_the_engine_could_not_take_for_want_of_space_runs_once_when_there_is_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, opened = [ENOUGH], engine.open_engine_file

    def limit(connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {room[0]}")

    def open_limited(path: Path) -> object:
        made = opened(path)
        event.listen(made, "begin", limit)
        return made

    monkeypatch.setattr(engine, "open_engine_file", open_limited)
    async with rig_in(tmp_path) as rig:
        done = [rig.fire(sh(f"echo $TRIGGERDECK_WORK_ID >> {tmp_path}/ran"))]
        room[0] = 1  # SQLite takes the present size instead: nothing may grow
        with pytest.raises(StorageUnusable, match="disk is full"):
            await fire_for_ever(rig, done)
        room[0] = ENOUGH
        for work_id in done:
            assert (await rig.until(work_id)).status == "completed"
        assert rig.execution.running == 0
    ran = tmp_path.joinpath("ran").read_text().split()
    assert sorted(ran) == sorted(set(done))


async def test_a_run_whose_checkpoint_failed_goes_on_where_our_rows_say_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "RETRY_AFTER", timedelta(seconds=0))
    async with rig_in(tmp_path) as rig:
        await rig.until(rig.fire(sh("true", step_id="zero"), name="before"))
        with closing(sqlite3.connect(engine_path(rig.store.path))) as file, file:
            file.execute(
                "CREATE TRIGGER broken BEFORE INSERT ON operation_outputs BEGIN SELECT RAISE(ABORT, 'no more'); END"
            )
        steps = [sh(f"echo {name} >> {tmp_path}/ran", step_id=name) for name in ("one", "two", "three")]
        work_id = rig.fire(*steps)
        assert (await rig.until(work_id)).status == "completed"
        assert rig.execution.running == 0
    assert tmp_path.joinpath("ran").read_text().split() == ["one", "two", "three"]
