import csv
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from terminal import Terminal


def test_doctor_finds_that_nobody_works(filled: Terminal) -> None:
    told = filled("doctor", "-o", "json")
    assert told.status == 1
    assert told.data["figures"]["zoneData"]
    assert not [key for key in told.data["figures"] if "_" in key]
    assert [found["code"] for found in told.data["findings"]] == ["no_worker"]
    assert told.data["faults"] == 1
    assert "start one: triggerdeck worker start" in filled("doctor").out


def test_an_empty_workspace_is_in_order(terminal: Terminal) -> None:
    told = terminal.done("doctor")
    assert told.out == "✓ everything is in order\n"
    assert "no fault found" in told.err


def test_audit_names_who_did_what(filled: Terminal) -> None:
    filled.done("pause", "yearly", "--note", "works on the roof")
    event = filled.done("audit", "-o", "json").data[0]
    assert (event["action"], event["kind"], event["name"]) == ("pause", "Trigger", "yearly")
    assert "works on the roof" not in str(event)
    assert "yearly" in filled.done("audit", "--limit", "1").out


def test_a_pause_for_a_while_ends_at_a_whole_second(filled: Terminal) -> None:
    told = filled.done("pause", "yearly", "--note", "works on the roof", "--until", "4h")
    assert re.search(r"paused until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ;", told.err + told.out)


def test_audit_spells_its_keys_as_everything_else_does(filled: Terminal) -> None:
    filled.done("prune", "--older-than", "P90D")
    filled.done("disable", "yearly")
    event = filled.done("audit", "-o", "json").data[0]
    assert {"workspaceId", "principalId"} <= set(event)
    assert not [key for key in event if "_" in key]
    titles, *rows = csv.reader(filled.done("audit", "-o", "csv").out.splitlines())
    assert "detail" in titles
    assert {len(row) for row in rows} == {len(titles)}
    assert any("older_than_s" in row[titles.index("detail")] for row in rows)


def test_run_says_where_no_worker_would_do_it(filled: Terminal) -> None:
    assert "no worker runs, so it waits; start one: triggerdeck worker start" in filled.done("run", "yearly").err


def test_an_empty_namespace_is_named(filled: Terminal) -> None:
    assert "no Triggers in namespace elsewhere" in filled.done("get", "trigger", "-n", "elsewhere").err


def test_metrics_schema_and_completion_print_data(filled: Terminal) -> None:
    assert 'triggerdeck_triggers{phase="scheduled"} 3' in filled.done("metrics").out
    assert filled.done("schema", "trigger").data["properties"]["kind"] == {"const": "Trigger"}
    assert filled.done("schema", "flow", "-o", "yaml").out.startswith("$schema:")
    for shell in ("bash", "zsh", "fish"):
        assert "_TRIGGERDECK_COMPLETE" in filled.done("completion", shell).out


def test_looking_only_denies_every_change(filled: Terminal) -> None:
    refused = filled("--read-only", "disable", "yearly")
    assert refused.status == 5
    assert "read-only" in refused.err
    assert filled.done("--read-only", "get", "trigger", "yearly").out


def test_options_stand_before_or_after_the_command(filled: Terminal, tmp_path: Path) -> None:
    other = str(tmp_path / "other.sqlite3")
    assert filled.done("get", "trigger", "-o", "json", "--database", other).data == []
    assert filled.done("--database", f"sqlite:///{other}", "get", "trigger", "-o", "json").data == []
    assert len(filled.done("get", "trigger", "-o", "json").data) == 3


def test_a_workspace_that_does_not_exist_is_said_to_be_missing(filled: Terminal) -> None:
    refused = filled("get", "trigger", "--workspace", "elsewhere")
    assert refused.status in {1, 5}
    assert "elsewhere" in refused.err


def test_another_namespace_has_its_own_names(filled: Terminal) -> None:
    assert filled("get", "trigger", "yearly", "-n", "finance").status == 1
    assert filled.done("get", "trigger", "-n", "finance", "-o", "json").data == []


def not_ours(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipe (id INTEGER)")
    connection.close()


def garbage(path: Path) -> None:
    path.write_bytes(b"dear diary " * 1000)


@pytest.mark.parametrize("make", [not_ours, garbage])
def test_a_file_that_is_not_ours_is_left_alone(terminal: Terminal, tmp_path: Path, make: object) -> None:
    path = tmp_path / "strange.sqlite3"
    make(path)  # type: ignore[operator]
    before = path.read_bytes()
    refused = terminal("get", "trigger", "--database", str(path))
    assert refused.status == 6
    assert refused.err.count("\n") == 1
    assert path.read_bytes() == before


def test_a_missing_folder_and_postgresql_exit_6(terminal: Terminal) -> None:
    assert terminal("get", "trigger", "--database", "/nonexistent/deck.sqlite3").status == 6
    assert terminal("get", "trigger", "--database", "postgresql://localhost/x").status == 6
    assert terminal("get", "trigger", "--database", "mysql://localhost/x").status == 2


@contextmanager
def a_worker(database: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "cli", "--database", str(database), "worker", "run"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            process.stderr.readline()
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=30)


@pytest.mark.slow
def test_a_worker_runs_what_is_waited_for_and_ends_when_asked(filled: Terminal) -> None:
    assert filled("worker", "status").status == 1
    with a_worker(filled.database) as process:
        completed = filled.done("run", "yearly", "--wait", "--timeout", "60", "-o", "json")
        assert completed.data["status"] == "completed"
        assert filled.done("worker", "status", "-o", "json").data[0]["pid"] == process.pid
        failed = filled("run", "daily", "--wait", "--timeout", "60")
        assert failed.status == 1
        followed = filled.done("logs", completed.data["id"], "--follow")
        assert "hello world" in followed.out
        late = filled("run", "weekly", "--wait", "--timeout", "0.5")
        assert late.status == 4
        second = filled("worker", "run")
        assert second.status == 4
        assert str(process.pid) in second.err
        assert "has stopped" in filled.done("worker", "stop").err
        assert process.wait(30) == 0
    assert filled("worker", "stop").status == 1
