"""Health by keys over the real core, and its sentences from values alone."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.views import Away, Drift, Health, WorkerView
from tests.tui import world
from tests.tui.conftest import OpenStage
from tui.present import health as present
from tui.present.lines import plain, width
from tui.widgets.dialog import Confirm

EMPTY = Health(
    at=world.NOW, workers=(), lag_p50_ms=None, lag_p95_ms=None, lag_max_ms=None, queue={}, triggers={}, inbox=0,
    drifts=(), database="deck.sqlite3", database_bytes=0, wal_bytes=0, free_bytes=10**10, schema_version="1",
    zone_data="2026a", zone_data_stored="2026a", overdue=(),
)  # fmt: skip


def text(health: Health) -> str:
    return "\n".join(map(plain, present.health_lines(health, world.NOW, "Europe/Berlin", 100, tall=True)))


async def test_health_shows_worker_lag_projection_queue_and_zone_data(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("6")
        for words in ("All is well", "pid 4711", "p95", "agrees with every schedule", "tzdata 2026a", "schema"):
            assert words in stage.text


async def test_everything_fits_a_small_terminal(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24)) as stage:
        await stage.press("6")
        assert "none since the worker started" in stage.text
        assert all(len(line) <= 80 for line in stage.lines)


async def test_stopping_the_worker_asks_once(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("6", "X")
        stage.screen(Confirm)
        assert "Nothing fires until one is started again" in stage.prose
        await stage.press("escape")


async def test_a_worker_that_runs_is_not_started_twice(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("6", "S")
        assert stage.flash == "! start worker: one runs already"


async def test_without_a_worker_the_first_line_says_what_to_do(on_stage: OpenStage) -> None:
    async with on_stage(empty=True) as stage:
        await stage.press("6")
        assert "No worker runs: nothing fires; S starts one" in stage.text
        await stage.press("X")
        assert stage.flash == "! stop worker: none runs"


async def test_a_silent_worker_is_told_by_its_heartbeat(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        stage.clock.advance(timedelta(minutes=3))
        await stage.press("6")
        await stage.press("ctrl+r")
        assert "! silent" in stage.text
        assert "3m ago" in stage.text


async def test_a_clock_that_agrees_with_the_database_is_said_to(on_stage: OpenStage) -> None:
    async with on_stage(size=(80, 24)) as stage:
        await stage.press("6")
        assert "clock        agrees with what was written last" in stage.text


async def test_a_clock_that_was_set_back_is_the_first_thing_told(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        stage.clock.step(stage.clock.now() - timedelta(days=1))
        await stage.press("6")
        await stage.press("ctrl+r")
        assert "The clock is 1d behind what was written last: set it" in stage.prose
        assert "set it, nothing fires twice meanwhile" in stage.prose
        assert "the mark lies ahead of the clock; `triggerdeck doctor` says what to do" in stage.prose


def test_a_drift_shows_both_times() -> None:
    drift = Drift("nightly-import", world.NOW, world.NOW + timedelta(hours=1))
    shown = " ".join(text(replace(EMPTY, drifts=(drift,))).split())
    assert "the schedule says Sat 28 Mar 2026 15:03:11 +01" in shown
    assert "the stored row Sat 28 Mar 2026 14:03:11 +01" in shown


def test_zone_data_that_differs_and_disk_that_runs_out_are_told() -> None:
    shown = text(replace(EMPTY, zone_data_stored="2025b", free_bytes=10_000_000))
    assert "tzdata 2026a, projected with 2025b" in shown
    assert "free 10.0 MB" in shown


def test_errors_stand_with_time_and_trigger() -> None:
    error = {"at": "2026-03-28T12:00:00Z", "code": "schedule_invalid", "message": "no such zone", "trigger": "geo"}
    assert "12:00:00Z  geo no such zone" in text(replace(EMPTY, errors=(error,)))


@pytest.mark.parametrize("cells", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_screen(cells: int) -> None:
    long = replace(EMPTY, database="/srv/" + "very-long-folder/" * 12, overdue=("a-very-long-trigger-name",) * 9)
    assert all(width(row) <= cells for row in present.health_lines(long, world.NOW, "UTC", cells, tall=False))


@pytest.mark.parametrize(
    ("octets", "words"),
    [(0, "0 B"), (999, "999 B"), (4_120_000, "4.1 MB"), (81_400_000_000, "81.4 GB"), (10**16, "10000 TB")],
)
def test_sizes_read_in_the_unit_that_suits(octets: int, words: str) -> None:
    assert present.size(octets) == words


def test_the_summary_on_coming_back_counts_what_happened_and_leaves_out_what_did_not() -> None:
    away = Away(world.NOW - timedelta(hours=9), 312, 1, 0, 0, 2, 3)
    assert present.away_sentence(away, world.NOW) == (
        "while you were away (9h): 312 fired · 1 coalesced · 2 failed · 3 wait for you"
    )
    assert present.away_sentence(Away(None, 0, 0, 0, 0, 0, 0), world.NOW) == ""
    assert "nothing fired" in present.away_sentence(Away(world.NOW, 0, 0, 0, 0, 0, 0), world.NOW)


async def test_the_second_visit_tells_what_happened_since_the_first(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        stage.deck.away()
        stage.clock.advance(timedelta(hours=2))
        stage.app.attention.begin()
        await stage.settle()
        assert stage.flash.startswith("! while you were away (2h): nothing fired · 4 wait for you")


async def test_a_worker_that_falls_silent_is_told_as_soon_as_the_first_line_knows(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("6")
        assert "All is well" in stage.text
        stage.clock.advance(timedelta(seconds=12))
        await stage.beat()
        await stage.look()
        await stage.beat()
        assert "worker ! silent 12s" in stage.text
        assert "No worker runs: nothing fires; S starts one" in stage.text
        assert "! silent  pid 4711" in stage.text
        assert not stage.place.why_closed(next(a for a in stage.place.all_actions() if a.id == "start_worker"))


@pytest.mark.parametrize(
    ("health", "told"),
    [
        (replace(EMPTY, inbox=1, queue={"waitingForApproval": 1}), ("1 waits for approval", "1 waits for an answer")),
        (replace(EMPTY, inbox=2, queue={"waitingForInput": 2}), ("2 wait for input", "2 wait for an answer")),
        (EMPTY, ("nothing is active", "nobody waits for an answer")),
    ],
)
def test_one_is_told_as_one_and_many_as_many(health: Health, told: tuple[str, ...]) -> None:
    assert all(words in text(health) for words in told)


async def test_every_fact_of_the_machinery_can_be_exported(
    on_stage: OpenStage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with on_stage() as stage:
        await stage.press("6", "x")
        await stage.type("json")
        await stage.press("enter")
        (file,) = tmp_path.glob("health-*.json")
        assert {"zone_data", "workers", "lag_p95_ms"} <= {row["fact"] for row in json.loads(file.read_text())}


async def test_a_worker_that_was_stopped_is_none_in_the_first_line(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        with sqlite3.connect(stage.deck.database) as connection:
            connection.execute("UPDATE worker_beat SET state = 'stopped'")
        connection.close()
        assert stage.deck.status().worker == "none"
        await stage.press("6", "ctrl+r")
        await stage.beat()
        await stage.look()
        assert "worker ○ none runs" in stage.text
        assert "○ stopped" in stage.text
        await stage.press("X")
        assert stage.flash == "! stop worker: none runs"


def test_workers_that_stopped_give_way_to_the_one_that_runs() -> None:
    ran = WorkerView(
        worker_id="1", zone_data="2026a", pid=1, host="ops-1", version="0.1.0", state="running",
        started_at=world.NOW, beat_at=world.NOW,
        last_pass_at=None, pass_ms=0.0, running=0, slots=8, lags_ms=(), errors=(),
    )  # fmt: skip
    stopped = replace(ran, worker_id="2", pid=2, state="stopped")
    told = text(replace(EMPTY, workers=(ran, stopped, stopped)))
    assert "pid 1 on ops-1" in told
    assert "pid 2" not in told
    assert "and 2 others, before or beside" in told
    assert "○ stopped  pid 2" in text(replace(EMPTY, workers=(stopped,)))
