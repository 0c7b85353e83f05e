import csv
import json
import sqlite3
from pathlib import Path

import pytest
import yaml
from terminal import FLOW, WORKSPACE, Terminal, trigger


def test_applying_twice_changes_nothing_the_second_time(terminal: Terminal) -> None:
    first = terminal.done("apply", "-f", "-", stdin=WORKSPACE)
    assert "flow default/greet created, version 1 published" in first.out
    assert "trigger default/yearly created" in first.out
    second = terminal.done("apply", "-f", "-", "-o", "json", stdin=WORKSPACE)
    assert {item["action"] for item in second.data} == {"unchanged"}


def test_several_files_are_one_change(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(FLOW, encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps(yaml.safe_load(trigger("yearly", "greet"))), encoding="utf-8")
    terminal.done("apply", "-f", str(tmp_path / "a.json"), str(tmp_path / "b.yaml"))
    assert terminal.done("get", "trigger").out.count("yearly") == 1
    (tmp_path / "c.yaml").write_text(FLOW.replace("greet", "greet-two"), encoding="utf-8")
    (tmp_path / "d.yaml").write_text(FLOW.replace("greet", "Not A Name"), encoding="utf-8")
    refused = terminal("apply", "-f", str(tmp_path / "c.yaml"), "-f", str(tmp_path / "d.yaml"))
    assert refused.status == 3
    assert "metadata.name" in refused.err
    assert "greet-two" not in terminal.done("get", "flows").out


@pytest.mark.parametrize("output", ["yaml", "json"])
@pytest.mark.parametrize("kind", ["trigger", "flow"])
def test_get_piped_into_apply_changes_nothing(filled: Terminal, kind: str, output: str) -> None:
    names = {"trigger": "yearly", "flow": "greet"}
    text = filled.done("get", kind, names[kind], "-o", output).out
    again = filled.done("apply", "-f", "-", "-o", "json", stdin=text)
    assert [item["action"] for item in again.data] == ["unchanged"]


def test_all_manifests_of_a_kind_are_one_stream(filled: Terminal) -> None:
    text = filled.done("get", "triggers", "-o", "yaml").out
    assert [document["metadata"]["name"] for document in yaml.safe_load_all(text)] == ["daily", "weekly", "yearly"]
    again = filled.done("apply", "-f", "-", "-o", "json", stdin=text)
    assert {item["action"] for item in again.data} == {"unchanged"}
    assert len(filled.done("get", "triggers", "-o", "json").data) == 3
    assert filled.done("get", "triggers", "-o", "csv").out.count("\n") == 4


def test_a_dry_run_and_a_diff_store_nothing(filled: Terminal) -> None:
    changed = trigger("yearly", "greet", more="misfirePolicy: skip")
    dry = filled.done("apply", "--dry-run", "-f", "-", stdin=changed)
    assert "configured (dry run)" in dry.out
    told = filled.done("diff", "-f", "-", stdin=changed)
    assert "misfirePolicy: (none) → " in told.out
    assert "misfirePolicy" not in filled.done("get", "trigger", "yearly", "-o", "yaml").out


def test_prune_deletes_what_the_files_do_not_hold(filled: Terminal) -> None:
    filled.done("apply", "--prune", "-f", "-", stdin="\n---\n".join([FLOW, trigger("yearly", "greet")]))
    assert [row["metadata"]["name"] for row in filled.done("get", "trigger", "-o", "json").data] == ["yearly"]


def test_describe_tells_rule_fires_and_generations(filled: Terminal) -> None:
    told = filled.done("describe", "trigger", "yearly").out
    assert "default/yearly" in told
    assert "Next fires" in told
    assert "+05:45" in told
    assert "Generations" in told
    flow = filled.done("describe", "flow", "greet").out
    assert "v1" in flow
    assert "active" in flow
    assert "say  command" in flow


def test_what_is_not_there_exits_1(filled: Terminal) -> None:
    for words in (
        ["get", "trigger", "nobody"],
        ["describe", "flow", "nobody"],
        ["delete", "trigger", "nobody"],
        ["enable", "nobody"],
        ["why", "ffffffff"],
        ["work", "ffffffff"],
        ["logs", "ffffffff"],
        ["actions", "ffffffff"],
        ["apply", "-f", "nowhere.yaml"],
    ):
        answer = filled(*words)
        assert (answer.status, answer.out) == (1, ""), words
        assert answer.err.startswith("error: "), words
    assert "list them with `triggerdeck occurrences`" in filled("why", "ffffffff").err


def test_a_deleted_trigger_keeps_its_history(filled: Terminal) -> None:
    filled.fire("yearly")
    assert "deleted" in filled.done("delete", "trigger", "yearly").out
    assert filled("get", "trigger", "yearly").status == 1
    assert len(filled.done("occurrences", "--trigger", "yearly", "-o", "json").data) == 1


def test_a_stale_etag_exits_4(filled: Terminal) -> None:
    text = filled.done("get", "trigger", "yearly", "-o", "yaml").out
    filled.done("apply", "-f", "-", stdin=trigger("yearly", "greet", more="misfirePolicy: skip"))
    stale = filled("apply", "-f", "-", stdin=text.replace("enabled: true", "enabled: false"))
    assert stale.status == 4
    assert "read it again" in stale.err


def test_publishing_a_draft_makes_the_next_version(filled: Terminal) -> None:
    filled.done("apply", "-f", "-", stdin=FLOW.replace("hello", "good day"))
    assert "version 2 published and active" in filled.done("publish", "greet", "--activate").out
    assert "v2" in filled.done("get", "flow", "greet").out


def editor(folder: Path, *edits: tuple[str, str]) -> str:
    """Return a program that, each time it is called, makes the next replacement in the file."""
    program = folder / "editor.py"
    program.write_text(
        f"""
import pathlib, sys
edits = {edits!r}
count = pathlib.Path({str(folder / "count")!r})
turn = int(count.read_text()) if count.exists() else 0
count.write_text(str(turn + 1))
file = pathlib.Path(sys.argv[-1])
(pathlib.Path({str(folder)!r}) / f"seen{{turn}}").write_text(file.read_text())
old, new = edits[turn]
assert old in file.read_text(), (old, file.read_text())
file.write_text(file.read_text().replace(old, new))
import os
os.utime(file, (turn + 5, turn + 5))
""",
        encoding="utf-8",
    )
    import sys

    return f"{sys.executable} {program}"


def test_editing_saves_what_was_changed_and_nothing_else(
    filled: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, ("0 0 0 1 1 ?", "0 0 6 1 1 ?")))
    done = filled.done("edit", "trigger", "yearly")
    assert "expression" in done.out
    assert "0 0 6 1 1 ?" in done.out
    manifest = filled.done("get", "trigger", "yearly", "-o", "json").data
    assert manifest["definition"]["source"]["schedule"]["expression"] == "0 0 6 1 1 ?"
    assert "status" not in (tmp_path / "seen0").read_text()


def test_an_invalid_edit_is_opened_again_with_its_faults(
    filled: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, ("0 0 0 1 1 ?", "0 0 99 1 1 ?"), ("0 0 99 1 1 ?", "0 0 9 1 1 ?")))
    monkeypatch.setattr("click.confirm", lambda *_args, **_options: True)
    monkeypatch.setattr("cli.commands.resources.can_ask", lambda: True)
    done = filled.done("edit", "trigger", "yearly")
    assert "0 0 9 1 1 ?" in done.out
    assert (tmp_path / "seen1").read_text().startswith("#! ")


def test_an_invalid_edit_without_anybody_there_is_kept_in_a_file(
    filled: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, ("0 0 0 1 1 ?", "0 0 99 1 1 ?")))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    refused = filled("edit", "trigger", "yearly")
    assert refused.status == 3
    assert refused.err.count("99 is out of range for hour") == 1
    kept = Path(refused.err.split("your text is kept in ")[1].split("\n")[0])
    assert "0 0 99 1 1 ?" in kept.read_text(encoding="utf-8")


def test_describe_gives_the_whole_as_data(filled: Terminal) -> None:
    told = filled.done("describe", "trigger", "yearly", "-o", "json").data
    assert told["row"]["name"] == "yearly"
    assert [revision["generation"] for revision in told["revisions"]] == [1]
    assert filled.done("describe", "flow", "greet", "-o", "json").data["revisions"]
    assert filled.done("describe", "flow", "greet", "-o", "yaml").out


def test_each_note_names_its_resource(terminal: Terminal) -> None:
    notes = terminal.done("apply", "-f", "-", stdin=WORKSPACE).err.splitlines()
    assert "note: flow default/greet: published as version 1, which is active" in notes


def test_a_trigger_whose_zone_vanished_can_be_disabled_and_only_that(filled: Terminal) -> None:
    with sqlite3.connect(filled.database) as connection:
        connection.execute("UPDATE resource SET definition = replace(definition, 'Kathmandu', 'Nowhere')")
    told = filled.done("disable", "yearly").err
    assert "yearly is disabled; it does not fire any more" in told
    assert "note: its definition cannot be read" in told
    refused = filled("enable", "yearly")
    assert refused.status == 3
    assert refused.err.startswith("error: definition.source.schedule.timeZone: 'Asia/Nowhere' is not a time zone; ")
    assert filled("get", "trigger", "yearly", "-o", "json").data["status"]["phase"] == "disabled"


READERS = ("get trigger", "get flow", "occurrences", "work", "actions", "timeline")


@pytest.mark.parametrize("reader", READERS)
def test_a_list_is_of_one_namespace_an_unknown_one_is_empty_and_an_illegal_one_is_refused(
    filled: Terminal, reader: str
) -> None:
    filled.fire("weekly")
    words = [*reader.split(), "-o", "json"]
    count = 3 if "timeline" in words else None
    everything, here = (filled.done(*words, *place).data for place in ([], ["-n", "default"]))
    assert (len(here["lanes"]) == count) if count else (here == everything != [])
    nowhere = filled.done("-n", "elsewhere", *words).data
    assert (nowhere["lanes"] if count else nowhere) == []
    refused = filled(*words, "-n", "Not_Legal")
    assert (refused.status, refused.out) == (3, "")
    assert "--namespace: 'Not_Legal' is not a namespace; use " in refused.err


def test_one_name_that_is_not_there_does_not_keep_the_others_from_it(filled: Terminal) -> None:
    done = filled("disable", "yearly", "weekli", "daily")
    assert done.status == 1
    assert "there is no Trigger weekli in namespace default; did you mean weekly?" in done.err
    rows = csv.DictReader(filled.done("get", "trigger", "-o", "csv").out.splitlines())
    phases = {row["name"]: row["phase"] for row in rows}
    assert phases == {"daily": "disabled", "weekly": "scheduled", "yearly": "disabled"}


@pytest.mark.parametrize("output", ["table", "json", "csv"])
def test_a_flow_that_is_not_there_is_not_an_empty_list(filled: Terminal, output: str) -> None:
    refused = filled("get", "flow", "gret", "-o", output)
    assert (refused.status, refused.out) == (1, "")
    assert "did you mean greet?" in refused.err


ODD_TEXTS = [
    "1e3", "1E5", "-1e-3", "0644", "12:30", "yes", "~", "null", "1_000", "0x1F", "2026-01-01", "=", "<<", " ", "",
    "a\nb\n", "a\u2028b", "\x85", "tab\t", ".5", "5.", "# no", "- x", "*a", "!t", "{{ x }}",
]  # fmt: skip


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_get_piped_into_apply_keeps_every_text_a_text(filled: Terminal, output: str) -> None:
    odd = {"texts": ODD_TEXTS, "keys": dict.fromkeys(ODD_TEXTS, 1), "numbers": [1e22, -0.5, 10**19, True, None]}
    filled.done("apply", "-f", "-", stdin=trigger("odd", "greet", more=f"input: {json.dumps(odd)}"))
    text = filled.done("get", "trigger", "odd", "-o", output).out
    again = filled.done("apply", "-f", "-", "-o", "json", stdin=text)
    assert [item["action"] for item in again.data] == ["unchanged"]
    assert filled.done("get", "trigger", "odd", "-o", "json").data["definition"]["input"] == odd


def test_an_editor_that_does_not_start_is_named_with_what_to_do(
    filled: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "/nowhere/vi")
    refused = filled("edit", "trigger", "yearly")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith("error: the text could not be edited: /nowhere/vi: ")
    assert refused.err.endswith("; set EDITOR to an editor that starts and ends well\n")


@pytest.mark.parametrize("damaged", ['{"source":', "[1, 2]", "7", '{"source": {"schedule": 5}, "target": 1}'])
def test_one_damaged_definition_hides_no_other_and_can_be_disabled_and_applied_anew(
    filled: Terminal, damaged: str
) -> None:
    with sqlite3.connect(filled.database) as connection:
        connection.execute("UPDATE resource SET definition = ? WHERE name = 'yearly'", (damaged,))
    for words in (
        ["get", "trigger"],
        ["get", "trigger", "-o", "yaml"],
        ["timeline"],
        ["describe", "trigger", "yearly"],
    ):
        assert "yearly" in filled.done(*words).out
    assert "cannot be evaluated" in filled.done("why-not", "yearly", "--at", "1h").out
    assert filled("preview", "yearly").status == 3
    assert "its definition cannot be read" in filled.done("disable", "yearly").err
    refused = filled("enable", "yearly")
    assert refused.status == 3
    assert "definition.target" in refused.err
    filled.done("apply", "-f", "-", stdin=trigger("yearly", "greet"))
    assert filled.done("get", "trigger", "yearly", "-o", "json").data["status"]["phase"] == "scheduled"


def test_deleting_a_flow_names_the_triggers_that_lose_it(filled: Terminal) -> None:
    told = filled.done("delete", "flow", "greet")
    assert told.out == "flow default/greet deleted\n"
    assert "note: flow default/greet: no longer resolved by yearly: " in told.err


@pytest.mark.parametrize(
    ("note", "said"),
    [(" ", "is empty; say why"), ("a\nb", "must be one plain line"), ("\x1b[2J", "must be one"), ("x" * 501, "500")],
)
def test_a_reason_is_one_plain_line(filled: Terminal, note: str, said: str) -> None:
    for words in (["pause", "yearly"], ["mark", "yearly", "--to", "1h"]):
        refused = filled(*words, "--note", note)
        assert (refused.status, refused.out) == (3, "")
        assert refused.err.startswith("error: --note: ")
        assert said in refused.err
        assert len(refused.err.splitlines()) == 1


def test_a_pause_that_ends_before_it_begins_names_its_option(filled: Terminal) -> None:
    refused = filled("pause", "yearly", "weekly", "--note", "x", "--until", "2020-01-01T00:00:00Z")
    assert refused.status == 3
    assert refused.err == "error: --until: 2020-01-01T00:00:00Z has passed; name a later instant, or leave it out\n"


def test_a_text_of_somebody_never_steers_the_terminal(filled: Terminal) -> None:
    filled.done("apply", "-f", "-", stdin=FLOW.replace("definition:", 'definition:\n  description: "a\\e[2Jb\\tc"'))
    told = filled.done("describe", "flow", "greet").out
    assert "\x1b" not in told
    assert r"a\x1b[2Jb" in told


def test_a_file_without_an_end_is_refused(filled: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.documents.LIMIT_BYTES", 1 << 20)
    refused = filled("apply", "-f", "/dev/zero")
    assert refused.status == 3
    assert "/dev/zero: holds more than 1 MiB; split it into several files" in refused.err
