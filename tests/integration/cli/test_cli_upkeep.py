import json
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from terminal import FLOW, Terminal, trigger

from core.clock import ManualClock, SystemClock, format_instant
from core.deck import Deck
from core.worker.lock import WorkerLock

EVERY_MINUTE = "{type: cron, expression: '0 * * * * ?', timeZone: UTC}"


@pytest.fixture
def aged(terminal: Terminal) -> Terminal:
    """Return a terminal on a database with three fires of more than a year ago."""
    clock = ManualClock(SystemClock().now().replace(microsecond=0) - timedelta(days=400))
    deck = Deck.open(terminal.database, clock=clock)
    deck.apply("\n---\n".join([FLOW, trigger("yearly", "greet")]))
    for _ in range(3):
        deck.run("yearly")
        clock.advance(timedelta(minutes=1))
    deck.close()
    terminal.work()
    old = int(clock.now().timestamp() * 1_000_000)
    change(terminal, "UPDATE work SET created_at = ?1, ended_at = ?1", old)
    change(terminal, "UPDATE log_line SET at = ?1", old)
    return terminal


def change(terminal: Terminal, statement: str, *values: int) -> None:
    with sqlite3.connect(terminal.database) as connection:
        connection.execute(statement, values)
    connection.close()


def count(terminal: Terminal, table: str) -> int:
    with sqlite3.connect(terminal.database) as connection:
        (found,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - a test's own names
    connection.close()
    return int(found)


def audited(terminal: Terminal, action: str) -> dict[str, object]:
    events = terminal.done("audit", "-o", "json").data
    found: dict[str, object] = next(event for event in events if event["action"] == action)
    return found


# -- doctor ------------------------------------------------------------------------------------------------------------


def test_doctor_says_what_to_do_repairs_what_is_safe_and_leaves_the_rest(filled: Terminal) -> None:
    change(filled, "UPDATE trigger_state SET next_due_at = next_due_at + 1000000 WHERE name = 'yearly'")
    told = filled("doctor")
    assert told.status == 1
    assert "✗ yearly: its next time is stored as" in told.out
    assert "repair computes it anew  [projection_drift]" in told.out
    assert "1 can be repaired: triggerdeck doctor --repair" in told.err
    assert "2 faults found" in told.err
    repaired = filled("doctor", "--repair")
    assert repaired.status == 1
    assert "✓ repaired: the next time of yearly is computed anew" in repaired.out
    assert [found["code"] for found in filled("doctor", "-o", "json").data["findings"]] == ["no_worker"]
    assert audited(filled, "doctor_repair")["outcome"] == "allowed"


def test_doctor_looks_at_a_read_only_deck_and_repairs_nothing_there(filled: Terminal) -> None:
    change(filled, "UPDATE trigger_state SET next_due_at = next_due_at + 1000000 WHERE name = 'yearly'")
    assert "projection_drift" in filled("--read-only", "doctor").out
    refused = filled("--read-only", "doctor", "--repair")
    assert (refused.status, refused.out) == (5, "")
    assert "projection_drift" in filled("doctor").out


# -- prune -------------------------------------------------------------------------------------------------------------


def test_a_dry_run_says_exactly_what_pruning_deletes(aged: Terminal) -> None:
    before = count(aged, "work")
    planned = aged.done("prune", "--older-than", "P90D", "--dry-run", "-o", "json")
    assert "would go" in planned.err
    assert count(aged, "work") == before
    assert sorted(path.name for path in aged.database.parent.iterdir() if "rehearsal" in path.name) == []
    pruned = aged.done("prune", "--older-than", "P90D", "-o", "json")
    assert pruned.data["deleted"] == planned.data["deleted"]
    assert pruned.data["total"] == sum(pruned.data["deleted"].values())
    assert "are gone" in pruned.err
    assert (count(aged, "work"), count(aged, "occurrence")) == (before - pruned.data["deleted"]["work"], 1)
    assert aged.done("prune", "--older-than", "P90D").out == ""
    assert audited(aged, "prune")["outcome"] == "allowed"


def test_pruning_shows_rows_by_table(aged: Terminal) -> None:
    assert "  work" in aged.done("prune").out


@pytest.mark.parametrize("age", ["90", "P3M", "-P1D", "P0D", "PT5M", ""])
def test_an_age_that_is_none_or_too_short_deletes_nothing(aged: Terminal, age: str) -> None:
    before = count(aged, "work")
    refused = aged("prune", "--older-than", age)
    assert (refused.status, refused.out) == (3, "")
    assert "older" in refused.err.lower()
    assert count(aged, "work") == before


# -- backup and restore ------------------------------------------------------------------------------------------------


def test_a_backup_is_restored_and_what_it_replaces_is_kept(filled: Terminal, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    filled.done("run", "yearly")
    made = filled.done("backup", str(copy))
    assert made.out == f"{copy}\n"
    assert f"triggerdeck restore {copy}" in made.err
    assert audited(filled, "backup")["outcome"] == "allowed"
    filled.done("delete", "trigger", "weekly")
    told = filled.done("restore", str(copy))
    assert told.out == f"{filled.database}\n"
    assert "1 Work had not ended and is failed as outcome_unknown" in told.err
    kept = next(path for path in tmp_path.iterdir() if ".replaced-" in path.name)
    assert f"what it was is kept aside: {kept}" in told.err
    assert len(filled.done("get", "trigger", "-o", "json").data) == 3
    (work,) = filled.done("work", "-o", "json").data
    assert (work["status"], work["result"]) == ("failed", "outcome_unknown")


def test_a_backup_overwrites_nothing(filled: Terminal, tmp_path: Path) -> None:
    (tmp_path / "copy").write_text("mine")
    refused = filled("backup", str(tmp_path / "copy"))
    assert (refused.status, refused.out) == (4, "")
    assert (tmp_path / "copy").read_text() == "mine"


def test_a_backup_makes_a_database_where_there_is_none(filled: Terminal, tmp_path: Path) -> None:
    copy, other = tmp_path / "copy.sqlite3", tmp_path / "other.sqlite3"
    filled.done("backup", str(copy))
    report = filled.done("--database", str(other), "restore", str(copy), "-o", "json").data
    assert (report["path"], report["replaced"]) == (str(other), None)
    assert len(filled.done("get", "trigger", "-o", "json", "--database", str(other)).data) == 3


def test_a_damaged_database_is_replaced_though_no_deck_can_open_it(filled: Terminal, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    filled.done("backup", str(copy))
    filled.database.write_bytes(b"dear diary " * 1000)
    assert filled("get", "trigger").status == 6
    filled.done("restore", str(copy))
    assert len(filled.done("get", "trigger", "-o", "json").data) == 3


def test_nothing_is_restored_while_a_worker_runs_or_the_deck_is_read_only(filled: Terminal, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    filled.done("backup", str(copy))
    with WorkerLock.take(filled.database):
        refused = filled("restore", str(copy))
    assert refused.status == 4
    assert "stop it first: triggerdeck worker stop" in refused.err
    assert filled("--read-only", "restore", str(copy)).status == 5
    assert filled("restore", str(tmp_path / "nothing")).status == 6
    assert not [path for path in tmp_path.iterdir() if "replaced" in path.name]


def test_an_older_copy_is_accepted_where_it_lies(filled: Terminal) -> None:
    filled.done("run", "yearly")
    told = filled.done("restore", "--in-place", "-o", "json")
    assert (told.data["path"], told.data["endedWork"]) == (str(filled.database), 1)
    assert "start a worker: triggerdeck worker start" in told.err


# -- mark --------------------------------------------------------------------------------------------------------------


def test_a_mark_that_ran_ahead_is_found_and_moved_back(terminal: Terminal) -> None:
    terminal.done("apply", "-f", "-", stdin="\n---\n".join([FLOW, trigger("tick", "greet", schedule=EVERY_MINUTE)]))
    ahead = int((SystemClock().now() + timedelta(days=365)).timestamp()) * 1_000_000
    change(terminal, "UPDATE revision SET mark_at = ?1 WHERE mark_at IS NOT NULL", ahead)
    change(terminal, "UPDATE trigger_state SET mark_at = ?1", ahead)
    found = terminal("doctor", "--repair")
    assert "where it is right: triggerdeck mark tick --to now --note WHY" in found.out
    to = format_instant(SystemClock().now().replace(microsecond=0) - timedelta(hours=1))
    told = terminal.done("mark", "tick", "--to", to, "--note", "the clock ran ahead", "-o", "json").data
    assert told["message"].startswith(f"the mark of tick stands at {to}; it is due next at ")
    assert "will be decided anew" in told["notices"][0]
    assert {one["code"] for one in terminal("doctor", "-o", "json").data["findings"]} <= {"no_worker", "overdue"}
    terminal.work()
    assert len(terminal.done("occurrences", "-o", "json").data) >= 1
    assert audited(terminal, "move_mark")["detail"]["note"] == "the clock ran ahead"  # type: ignore[index]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["tick", "--to", "+2h", "--note", "x"], 4),
        (["tick", "--to", "1h", "--note", " "], 3),
        (["tick", "--to", "yesterday", "--note", "x"], 3),
        (["tock", "--to", "1h", "--note", "x"], 1),
    ],
)
def test_a_mark_that_cannot_move_stays(terminal: Terminal, words: list[str], status: int) -> None:
    terminal.done("apply", "-f", "-", stdin="\n---\n".join([FLOW, trigger("tick", "greet")]))
    before = terminal.done("get", "trigger", "tick", "-o", "json").data["status"]
    refused = terminal("mark", *words)
    assert (refused.status, refused.out) == (status, "")
    assert terminal.done("get", "trigger", "tick", "-o", "json").data["status"] == before


@pytest.mark.slow
def test_a_worker_started_in_the_background_is_the_one_that_stops(filled: Terminal) -> None:
    started = filled.done("worker", "start")
    try:
        assert filled.done("worker", "status", "-o", "json").data[0]["pid"] == int(started.out)
        again = filled.done("worker", "start")
        assert (again.out, again.err) == (started.out, "a worker runs already\n")
        assert json.loads(filled.done("doctor", "-o", "json").out)["faults"] == 0
    finally:
        filled.done("worker", "stop")
