"""Each bad input of a manifest: a sentence with field and remedy, exit 3, nothing stored."""

from pathlib import Path

import pytest
from terminal import FLOW, Terminal, trigger

ONCE_NAIVE = "{type: once, at: '2030-01-01T09:00:00'}"
CRON = "{{type: cron, expression: '{}', timeZone: {}}}"


def with_schedule(schedule: str) -> str:
    return "\n---\n".join([FLOW, trigger("bad", "greet", schedule=schedule)])


CASES = {
    "an unknown field of a definition": (
        "\n---\n".join([FLOW, trigger("bad", "greet", more="misfirePolcy: skip")]),
        ["definition.misfirePolcy", "did you mean misfirePolicy?"],
    ),
    "an unknown field of the envelope": (FLOW + "\nspec: {}\n", ["spec"]),
    "a wrong kind": (FLOW.replace("kind: Flow", "kind: Volcano"), ["kind", "Volcano", "Trigger"]),
    "a kind that comes later": (FLOW.replace("kind: Flow", "kind: Calendar"), ["kind", "Calendar"]),
    "a wrong version": (FLOW.replace("agentstration.io/v1", "v2"), ["apiVersion", "agentstration.io/v1"]),
    "a zone that does not exist": (
        with_schedule(CRON.format("0 30 2 * * ?", "Europe/Berlinn")),
        ["definition.source.schedule.timeZone", "Europe/Berlinn", "Europe/Berlin"],
    ),
    "five fields are Unix": (
        with_schedule(CRON.format("30 2 * * *", "UTC")),
        ["definition.source.schedule.expression", "Unix", "0 30 2 * * ?"],
    ),
    "an impossible date in cron": (
        with_schedule(CRON.format("0 0 0 30 2 ?", "UTC")),
        ["definition.source.schedule.expression"],
    ),
    "an impossible date": (
        with_schedule("{type: once, at: '2030-02-30T09:00:00Z'}"),
        ["definition.source.schedule.at", "2030-02-30"],
    ),
    "an instant without offset": (
        with_schedule(ONCE_NAIVE),
        ["definition.source.schedule.at", "has no offset", "2030-01-01T09:00:00Z"],
    ),
    "an interval of zero": (
        with_schedule("{type: interval, every: PT0S, startAt: '2030-01-01T00:00:00Z'}"),
        ["definition.source.schedule.every"],
    ),
    "a duration that overflows": (
        with_schedule("{type: interval, every: P99999999999D, startAt: '2030-01-01T00:00:00Z', timeZone: UTC}"),
        ["definition.source.schedule.every"],
    ),
    "input over 64 KiB": (
        "\n---\n".join([FLOW, trigger("bad", "greet", more=f"input: {{who: {'x' * 65_550}}}")]),
        ["definition.input", "65,"],
    ),
    "input that does not fit the Flow": (
        "\n---\n".join([FLOW, trigger("bad", "greet", more="input: {who: 7}")]),
        ["definition.input.who"],
    ),
    "YAML that is not a mapping": ("- a\n- b\n", ["a document must be a mapping"]),
    "text that is not YAML": ("kind: [Trigger\n", ["line"]),
    "a Flow that does not resolve": (
        trigger("bad", "nowhere"),
        ["definition.target.flow", "nowhere"],
    ),
    "a Flow version that does not exist": (
        "\n---\n".join([FLOW, trigger("bad", "greet, version: 9")]),
        ["definition.target.flow", "9"],
    ),
    "a raw credential": (
        "\n---\n".join([FLOW, trigger("bad", "greet", more="input: {api_key: abc}")]),
        ["definition.input.api_key"],
    ),
    "a name that is none": (FLOW.replace("greet", "Greet Me"), ["metadata.name", "Greet Me"]),
    "a policy that comes later": (
        "\n---\n".join([FLOW, trigger("bad", "greet", more="misfirePolicy: catchUp")]),
        ["definition.misfirePolicy", "catchUp", "later"],
    ),
    "a type of schedule in capitals": (with_schedule("{type: Cron}"), ["schedule.type", "did you mean cron?"]),
    "an offset instead of a zone": (
        with_schedule(CRON.format("0 30 2 * * ?", "GMT+2")),
        ["timeZone: 'GMT+2' is an offset, not a time zone", "Europe/Berlin", "Etc/GMT-2"],
    ),
    "a Flow that is nearly called so": (
        "\n---\n".join([FLOW, trigger("bad", "gret")]),
        ["standard input, document 2 (Trigger bad), definition.target.flow", "did you mean greet?"],
    ),
    "a merge of what is no mapping": (
        trigger("bad", "greet", more="input: {<<: [1]}"),
        ["line 9: << merges mappings only"],
    ),
    "an empty file": ("", ["standard input", "holds no document"]),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_with_field_and_remedy_and_nothing_is_stored(terminal: Terminal, case: str) -> None:
    text, said = CASES[case]
    refused = terminal("apply", "-f", "-", stdin=text)
    assert refused.status == 3, refused.err
    assert refused.out == ""
    assert "Traceback" not in refused.err
    for words in said:
        assert words in refused.err
    assert all(len(line) < 600 for line in refused.err.splitlines())
    assert terminal.done("get", "trigger", "-o", "json").data == []
    assert terminal.done("get", "flow", "-o", "json").data == []


def test_all_faults_of_a_file_are_told_at_once(terminal: Terminal) -> None:
    refused = terminal(
        "apply",
        "-f",
        "-",
        stdin="\n---\n".join(
            [
                FLOW.replace("argv", "args"),
                trigger("bad", "greet", schedule=CRON.format("61 * * * * ?", "Mars/Base"), more="misfirePolicy: never"),
            ]
        ),
    )
    assert refused.status == 3
    for field in ("steps[0].command.args", "schedule.expression", "schedule.timeZone", "misfirePolicy"):
        assert field in refused.err
    assert refused.err.count("error: ") >= 4


def test_what_cannot_be_read_hides_no_fault_of_the_other_documents(terminal: Terminal) -> None:
    past = trigger("past", "greet", schedule="{type: once, at: '2020-01-01T00:00:00Z'}")
    lost = trigger("lost", "gret")
    unread = trigger("unread", "greet", schedule=CRON.format("0 0 0 1 1 ?", "Mars/Base"))
    refused = terminal("apply", "-f", "-", stdin="\n---\n".join([FLOW, past, unread, lost]))
    assert (refused.status, refused.out) == (3, "")
    said = dict(line.removeprefix("error: standard input, ").split(": ", 1) for line in refused.err.splitlines())
    assert "never fire again" in said["document 2 (Trigger past), definition.source.schedule.at"]
    assert "not a time zone" in said["document 3 (Trigger unread), definition.source.schedule.timeZone"]
    assert said["document 4 (Trigger lost), definition.target.flow"] == (
        "there is no flow default/gret; did you mean greet?"
    )
    assert len(said) == 3
    assert terminal.done("get", "flow", "-o", "json").data == []


def test_a_flow_that_cannot_be_read_is_not_missed_by_its_triggers_as_well(terminal: Terminal) -> None:
    refused = terminal("apply", "-f", "-", stdin="\n---\n".join([FLOW.replace("argv", "args"), trigger("t", "greet")]))
    assert refused.status == 3
    assert "steps[0].command.args" in refused.err
    assert "there is no flow" not in refused.err


def test_each_fault_of_several_files_names_its_file_and_the_line_there(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FLOW, encoding="utf-8")
    (tmp_path / "b.yaml").write_text("# nothing yet\n", encoding="utf-8")
    (tmp_path / "c.yaml").write_text("kind: Flow\nmetadata: [\n", encoding="utf-8")
    (tmp_path / "d.yaml").write_text(trigger("lost", "nowhere"), encoding="utf-8")
    (tmp_path / "e.yaml").write_text(FLOW, encoding="utf-8")
    refused = terminal("apply", "-f", str(tmp_path))
    assert refused.status == 3
    for said in (
        f"{tmp_path / 'c.yaml'}: line 3: is not YAML",
        f"{tmp_path / 'e.yaml'}, metadata.name: Flow default/greet stands already in {tmp_path / 'a.yaml'}",
    ):
        assert f"error: {said}" in refused.err
    (tmp_path / "c.yaml").unlink()
    assert f"error: {tmp_path / 'd.yaml'}, definition.target.flow: " in terminal("apply", "-f", str(tmp_path)).err


def test_directives_before_the_first_document_are_read_over(terminal: Terminal) -> None:
    assert "flow default/greet created" in terminal.done("apply", "-f", "-", stdin=f"%YAML 1.2\n# x\n---\n{FLOW}").out
