import json
from datetime import UTC, datetime

import pytest
from terminal import FLOW, Terminal


def test_run_prints_the_work_and_the_history_shows_it(filled: Terminal) -> None:
    work_id = filled.fire("yearly")
    rows = filled.done("occurrences", "--trigger", "yearly", "-o", "json").data
    assert [(row["kind"], row["outcome"], row["reason"], row["workId"]) for row in rows] == [
        ("manual", "submitted", "manual", work_id)
    ]
    assert rows[0]["dispatchedAt"].endswith("Z")
    (work,) = filled.done("work", "-o", "json").data
    assert (work["id"], work["status"], work["result"], work["attempts"]) == (work_id, "completed", "success", 1)
    assert work["flow"] == {"name": "greet", "namespace": "default", "version": 1}
    assert "hello world" in filled.done("logs", work_id).out


def test_logs_are_an_array_or_one_object_a_line(filled: Terminal) -> None:
    work_id = filled.fire("yearly")
    rows = filled.done("logs", work_id, "-o", "json").data
    assert [(row["stepId"], row["text"]) for row in rows if row["stream"] == "out"] == [("say", "hello world")]
    lines = filled.done("logs", work_id, "-o", "jsonl", "--follow").out.splitlines()
    assert [json.loads(line) for line in lines] == rows
    refused = filled("logs", work_id, "-o", "json", "--follow")
    assert (refused.status, refused.out) == (2, "")
    assert "-o jsonl" in refused.err


def test_a_step_that_a_work_does_not_have_is_refused_with_those_it_has(filled: Terminal) -> None:
    refused = filled("logs", filled.fire("yearly"), "--step", "sya")
    assert (refused.status, refused.out) == (1, "")
    assert "has no step sya; its steps are say" in refused.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--from now --to now", "--to: the window from --from now to --to now is empty; choose a later --to"),
        ("--from 2h --to -3h", "--to: the window from --from 2h to --to -3h ends before it begins; choose a later"),
        ("--from now --to 10s", "--slots: 96 slots would be shorter than a second each; use fewer slots or a longer"),
    ],
)
def test_a_window_that_holds_nothing_is_said_to(terminal: Terminal, words: str, said: str) -> None:
    refused = terminal("timeline", *words.split())
    assert (refused.status, refused.out) == (3, "")
    assert said in refused.err


def test_input_of_a_run_is_checked_and_used(filled: Terminal) -> None:
    refused = filled("run", "yearly", "--set", "who=7")
    assert (refused.status, refused.out) == (3, "")
    assert refused.err == "error: input.who: must be text, not a number; make it what the schema says\n"
    work_id = filled.done("run", "yearly", "--input", '{"who": "Ada"}').out.strip()
    filled.work()
    assert "hello Ada" in filled.done("logs", work_id[:8]).out


def test_a_credential_in_the_input_of_a_run_is_refused_as_in_a_definition(filled: Terminal) -> None:
    works = filled.done("work", "-o", "json").out
    refused = filled("run", "yearly", "--input", '{"who": "Ada", "password": "tiger-1"}')
    assert (refused.status, refused.out) == (3, "")
    assert refused.err.startswith("error: input.password: names a credential, and credentials are not stored; ")
    assert "tiger-1" not in refused.err
    assert filled.done("work", "-o", "json").out == works


def test_every_fault_of_an_input_is_a_line_of_its_own_however_long_the_input_is(filled: Terminal) -> None:
    schema = "{type: object, properties: {who: {enum: [Ada, Bob]}, rows: {maxItems: 1}}, additionalProperties: false}"
    flow = FLOW.replace("{type: object, properties: {who: {type: string}}}", schema)
    filled.done("apply", "-f", "-", stdin=flow)
    filled.done("publish", "greet", "--activate")
    rows = json.dumps({"who": "ada", "whom": 1, "rows": ["x" * 5_000, 2]})
    refused = filled("run", "yearly", "--input", rows)
    assert refused.status == 3
    told = sorted(refused.err.splitlines())
    assert told[0].startswith("error: input.rows: ['xxxx")
    assert told[1:] == [
        "error: input.who: 'ada' is not one of its values; did you mean Ada?",
        "error: input.whom: is not a known field; did you mean who?",
    ]
    assert max(map(len, told)) < 300


def test_an_empty_history_of_a_name_that_is_not_there_says_so(filled: Terminal) -> None:
    for command in ("occurrences", "work"):
        assert filled.done(command, "--trigger", "yearly").err.count("there is no Trigger") == 0
        told = filled.done(command, "--trigger", "yearli")
        assert told.out == ""
        assert "there is no Trigger yearli in namespace default; did you mean yearly?" in told.err
    backwards = filled("occurrences", "--since", "2h", "--until", "3h")
    assert backwards.status == 3
    assert "--until: 3h is not later than --since 2h; choose a later --until" in backwards.err


def test_a_preview_that_ends_before_the_next_fire_does_not_call_the_rule_silent(filled: Terminal) -> None:
    told = filled.done("preview", "yearly", "--after", "2026-01-02T00:00:00Z", "--until", "2026-01-03T00:00:00Z").out
    assert "it does not fire in that time" in told


def test_why_tells_the_chain_from_the_beginning_of_an_id(filled: Terminal) -> None:
    work_id = filled.fire("yearly")
    told = filled.done("why", work_id[:8]).out
    assert "✓" in told
    record = filled.done("why", work_id, "-o", "json").data
    assert record["occurrence"]["id"] == work_id
    assert record["chain"]
    assert record["definition"]["target"]["flow"]["name"] == "greet"


def test_why_not_explains_an_instant_without_a_row(filled: Terminal) -> None:
    told = filled.done("why-not", "yearly", "--at", "2026-06-01T00:00:00Z", "-o", "json").data
    assert told["triggerName"] == "yearly"
    assert told["sentence"]
    assert filled("why-not", "yearly", "--at", "noon").status == 3


def test_filters_and_limits_choose_rows(filled: Terminal) -> None:
    for _ in range(3):
        filled.fire("yearly")
    assert len(filled.done("occurrences", "-o", "json", "--limit", "2").data) == 2
    assert len(filled.done("occurrences", "-o", "json", "--limit", "0").data) == 3
    assert filled.done("occurrences", "-o", "json", "--outcome", "failed").data == []
    assert filled.done("occurrences", "-o", "json", "--since", "1h", "--reason", "manual").data
    assert filled.done("occurrences", "-o", "json", "--until", "1h").data == []
    table = filled.done("occurrences").out
    assert table.splitlines()[0].startswith("ID")
    assert table.count("yearly") == 3
    assert filled.done("occurrences", "-o", "csv").out.startswith("id,triggerUid,")
    assert filled.done("work", "-o", "json", "--active").data == []
    assert len(filled.done("work", "--status", "completed", "--since", "1h", "-o", "csv").out.splitlines()) == 4


def test_the_timeline_covers_all_triggers(filled: Terminal) -> None:
    start = datetime(2026, 12, 31, tzinfo=UTC).isoformat()
    told = filled.done("timeline", "--from", start, "--to", "2027-01-01T00:00:00Z", "--slots", "24", "-o", "json").data
    assert sum(told["total"]) == 3
    assert "yearly" in filled.done("timeline", "--from", start, "--to", "2027-01-01T00:00:00Z").out
    backwards = filled("timeline", "--from", "now", "--to", "2020-01-01T00:00:00Z")
    assert backwards.status == 3


def test_a_saved_trigger_is_previewed_and_explained(filled: Terminal) -> None:
    told = filled.done("preview", "yearly", "--after", "2026-01-01T00:00:00Z", "--count", "2", "-o", "json").data
    assert [fire["nominalAt"] for fire in told["fires"]] == ["2026-12-31T18:15:00Z", "2027-12-31T18:15:00Z"]
    assert told["fires"][0]["offset"] == "+05:45"
    assert "Asia/Kathmandu" in filled.done("explain", "yearly").out
    assert filled.done("preview", "yearly", "-o", "ics", "--count", "3").out.count("BEGIN:VEVENT") == 3
    assert filled.done("preview", "yearly", "-o", "csv", "--count", "3").out.count("\n") == 4


def test_pause_resume_enable_and_disable_say_what_they_did(filled: Terminal) -> None:
    filled.done("pause", "yearly", "--note", "works on the roof", "--until", "2h")
    assert filled.done("get", "trigger", "yearly", "-o", "json").data["status"]["phase"] == "paused"
    assert "works on the roof" in filled.done("describe", "trigger", "yearly").out
    assert "note: " in filled.done("run", "yearly").err
    filled.done("resume", "yearly")
    assert filled.done("get", "trigger", "yearly", "-o", "json").data["status"]["phase"] == "scheduled"
    filled.done("disable", "yearly", "weekly")
    refused = filled("run", "yearly")
    assert refused.status == 4
    assert "disabled" in refused.err
    filled.done("enable", "yearly")


def test_failed_work_is_retried_and_a_completed_one_is_not(filled: Terminal) -> None:
    work_id = filled.fire("daily")
    assert filled.done("work", work_id, "-o", "json").data["status"] == "failed"
    filled.done("retry", work_id)
    filled.work()
    assert filled.done("work", work_id, "-o", "json").data["attempts"] == 2
    assert "fall" in filled.done("work", work_id).out
    assert filled("retry", filled.fire("yearly")).status == 4


def test_waiting_work_is_cancelled(filled: Terminal) -> None:
    work_id = filled.fire("weekly")
    filled.done("cancel", work_id[:8])
    filled.work()
    assert filled.done("work", work_id, "-o", "json").data["status"] == "cancelled"
    assert filled.done("actions", "-o", "json").data == []


def test_a_question_is_listed_shown_and_answered_once(filled: Terminal) -> None:
    work_id = filled.fire("weekly")
    (question,) = filled.done("actions", "-o", "json").data
    assert (question["title"], question["workId"]) == ("Release it?", work_id)
    assert "approved, rejected" in filled.done("actions", question["id"]).out
    too_large = filled("answer", question["id"], "--approve", "--set", "size=11")
    assert too_large.status == 3
    assert "size" in too_large.err
    filled.done("answer", question["id"][:8], "--approve", "--set", "size=7")
    second = filled("answer", question["id"], "--reject", "--reason", "too late")
    assert second.status == 4
    filled.work()
    assert "size 7" in filled.done("logs", work_id).out
    assert filled.done("actions", "--status", "completed", "-o", "json").data[0]["decision"] == "approved"


def test_a_rejection_needs_a_reason_and_fails_the_work(filled: Terminal) -> None:
    work_id = filled.fire("weekly")
    (question,) = filled.done("actions", "-o", "json").data
    assert filled("answer", question["id"], "--reject").status == 3
    assert filled("answer", question["id"]).status == 2
    assert filled("answer", question["id"], "--decision", "perhaps").status == 3
    filled.done("answer", question["id"], "--reject", "--reason", "the numbers look wrong")
    filled.work()
    assert filled.done("work", work_id, "-o", "json").data["status"] == "failed"


def test_values_come_from_a_file_as_well(filled: Terminal) -> None:
    work_id = filled.fire("weekly")
    (question,) = filled.done("actions", "-o", "json").data
    values = filled.database.with_name("values.json")
    values.write_text('{"size": 3}', encoding="utf-8")
    filled.done("answer", question["id"], "--approve", "--json", str(values))
    filled.work()
    assert "size 3" in filled.done("logs", work_id, "--step", "done").out
