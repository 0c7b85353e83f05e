"""Every fault of every document at once, each with field and remedy; what is sound is kept as it was written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid
from core.resources.manifests import parse_document, parse_documents
from tests.unit.resources.writing import CRON, envelope, faults_in, faults_of, flow, read, text_of, trigger


def test_a_document_keeps_what_was_written_and_expands_no_default() -> None:
    (document,) = read(trigger(misfireThreshold="PT30S", target={"flow": {"version": 3, "name": "import"}}))
    assert list(document.definition) == ["displayName", "source", "target", "misfireThreshold"]
    assert document.definition["misfireThreshold"] == "PT30S"
    assert document.definition["target"] == {"flow": {"version": 3, "name": "import"}}


def test_a_document_without_a_namespace_is_in_the_one_that_is_meant() -> None:
    assert parse_documents(text_of(trigger()), namespace="ops")[0].namespace == "ops"
    named = trigger()
    named["metadata"]["namespace"] = "imports"
    assert parse_documents(text_of(named), namespace="ops")[0].namespace == "imports"


def test_server_owned_fields_are_left_out_with_a_note() -> None:
    written = trigger(executionScope={"principal": "root"})
    written["metadata"] |= {"uid": "u", "generation": 7, "tenantId": "t", "workspaceId": "w"}
    written["status"] = {"phase": "scheduled", "anything": [1]}
    (document,) = read(written)
    (note,) = document.notes
    for field in ("metadata.uid", "metadata.generation", "definition.executionScope", "status"):
        assert field in note
    assert "executionScope" not in document.definition


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no document"),
        ("# nothing\n---\n", "holds no document"),
        ("just text", "must be a mapping, not text"),
        ("- a\n- b", "must be a mapping, not a list"),
        ("42", "must be a mapping, not a number"),
        ("[1]", "must be a mapping, not a number"),
    ],
)
def test_what_is_no_mapping_says_what_it_is(text: str, says: str) -> None:
    (fault,) = faults_in(text)
    assert says in fault.message
    assert "apiVersion" in fault.remedy


def test_a_missing_part_is_named() -> None:
    assert {fault.field for fault in faults_in("a: 1")} == {"a", "apiVersion", "kind", "metadata", "definition"}


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("trigger", "did you mean Trigger?"),
        ("Flows", "did you mean Flow?"),
        ("Calendar", "comes in a later version"),
        ("Pod", "write Trigger or Flow"),
        (True, "write Trigger or Flow"),
        (["Trigger"], "write Trigger or Flow"),
    ],
)
def test_a_kind_that_is_none_says_which_there_are(kind: Any, says: str) -> None:
    assert says in faults_of(envelope(kind, "a", {}))["kind"]


@pytest.mark.parametrize("name", ["a", "0", "a-b", "a" * 63, "1-2-3"])
def test_names_are_dns_labels(name: str) -> None:
    assert faults_of(trigger(name)) == {}


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a-", "a" * 64, "a.b", "ä", "a b", "a\n", 5, True, ["a"]])
def test_other_names_are_refused(name: Any) -> None:
    assert list(faults_of(trigger(name))) == ["metadata.name"]


@pytest.mark.parametrize(("namespace", "sound"), [("a.b-c", True), ("a" * 128, True), ("a" * 129, False), ("A", False)])
def test_namespaces_have_their_own_letters(namespace: str, sound: bool) -> None:
    written = trigger()
    written["metadata"]["namespace"] = namespace
    assert (faults_of(written) == {}) is sound


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"labels": {}}, "metadata.labels"),
        ({"tags": "nightly"}, "metadata.tags"),
        ({"tags": ["a", 5]}, "metadata.tags[1]"),
        ({"tags": ["a", "a"]}, "metadata.tags"),
        ({"tags": [" a"]}, "metadata.tags[0]"),
        ({"tags": [str(n) for n in range(40)]}, "metadata.tags"),
        ({"annotations": ["a"]}, "metadata.annotations"),
        ({"annotations": {"a": True}}, "metadata.annotations.a"),
        ({"annotations": {"a": "x" * 5_000}}, "metadata.annotations.a"),
        ({"eTag": 12}, "metadata.eTag"),
    ],
)
def test_metadata_is_checked_field_by_field(metadata: dict[str, Any], field: str) -> None:
    written = trigger()
    written["metadata"] |= metadata
    assert list(faults_of(written)) == [field]


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"displayName": True}, "displayName", "must be text, not true or false; put it in quotes"),
    ({"displayName": 5}, "displayName", "must be text, not a number; put it in quotes"),
    ({"displayName": ""}, "displayName", "too short"),
    ({"displayName": "  "}, "displayName", "blank"),
    ({"displayName": "x" * 121}, "displayName", "121 characters; keep at most 120"),
    ({"description": "x" * 501}, "description", "501 characters; keep at most 500"),
    ({"enabled": "yes"}, "enabled", "must be true or false, not text"),
    ({"enabled": 1}, "enabled", "must be true or false, not a number"),
    ({"enabled": None}, "enabled", "must be true or false, not nothing"),
    ({"enabld": True}, "enabld", "is not a field here; did you mean enabled?"),
    ({"max_active": 2}, "max_active", "did you mean maxActive?"),
    ({"source": "cron"}, "source", "must be a mapping, not text"),
    ({"source": {"kind": "schedule"}}, "source.schedule", "is missing"),
    ({"source": {"schedule": []}}, "source.schedule", "must be a mapping, not a list"),
    ({"source": {"kind": "event"}}, "source.kind", "event comes in a later version; use schedule"),
    ({"source": {"kind": "webhook", "schedule": CRON}}, "source.kind", "write schedule"),
    ({"target": {"flow": {}}}, "target.flow.name", "is missing"),
    ({"target": {"flow": "import"}}, "target.flow", "must be a mapping, not text"),
    ({"target": {"flow": {"name": "Import"}}}, "target.flow.name", "is not a name"),
    ({"target": {"flow": {"name": "a", "namespace": "A"}}}, "target.flow.namespace", "is not a namespace"),
    ({"target": {"flow": {"name": "a", "version": "3"}}}, "target.flow.version", "must be a whole number, not text"),
    ({"target": {"flow": {"name": "a", "version": True}}}, "target.flow.version", "must be a whole number"),
    ({"target": {"flow": {"name": "a", "version": 0}}}, "target.flow.version", "write 1 or more"),
    ({"target": {"flow": {"name": "a", "verion": 1}}}, "target.flow.verion", "did you mean version?"),
    ({"target": {"kind": "job", "flow": {"name": "a"}}}, "target.kind", "write flow"),
    ({"input": [1]}, "input", "must be a mapping, not a list"),
    ({"misfirePolicy": "fireonce"}, "misfirePolicy", "did you mean fireOnce?"),
    ({"misfirePolicy": "nope"}, "misfirePolicy", "is not one of its values; write skip or fireOnce"),
    ({"misfirePolicy": "catchup"}, "misfirePolicy", "is not one of its values; write skip or fireOnce"),
    ({"concurrencyPolicy": "buffered"}, "concurrencyPolicy", "is not one of its values; write skip or allow"),
    ({"misfirePolicy": False}, "misfirePolicy", "true or false is not one of its values; write skip or fireOnce"),
    ({"misfirePolicy": "catchUp"}, "misfirePolicy", "catchUp comes in a later version; use skip or fireOnce"),
    ({"catchUp": {"limit": 3}}, "catchUp", "comes in a later version"),
    ({"misfireThreshold": 60}, "misfireThreshold", "must be an ISO-8601 duration such as PT1M, not a number"),
    ({"misfireThreshold": "1m"}, "misfireThreshold", "is not an ISO-8601 duration"),
    ({"misfireThreshold": "P1Y"}, "misfireThreshold", "no fixed length"),
    ({"misfireThreshold": "PT0S"}, "misfireThreshold", "longer than zero"),
    ({"misfireThreshold": "P99999999999D"}, "misfireThreshold", ""),
    ({"misfireThreshold": "P40D"}, "misfireThreshold", "out of range"),
    ({"concurrencyPolicy": "join"}, "concurrencyPolicy", "join comes in a later version; use skip or allow"),
    ({"concurrencyPolicy": "buffer"}, "concurrencyPolicy", "comes in a later version"),
    ({"concurrencyPolicy": "replace"}, "concurrencyPolicy", "comes in a later version"),
    ({"maxActive": 2}, "maxActive", "has no meaning where concurrencyPolicy is skip"),
    ({"concurrencyPolicy": "allow", "maxActive": 0}, "maxActive", "write 1 or more"),
    ({"concurrencyPolicy": "allow", "maxActive": True}, "maxActive", "must be a whole number, not true or false"),
    ({"concurrencyPolicy": "allow", "maxActive": 2.5}, "maxActive", "must be a whole number"),
]


@pytest.mark.parametrize(("definition", "field", "says"), WRONG, ids=[json.dumps(case[0])[:50] for case in WRONG])
def test_a_wrong_field_of_a_trigger_gets_its_sentence(definition: dict[str, Any], field: str, says: str) -> None:
    faults = faults_of(trigger(**definition))
    assert list(faults) == [f"definition.{field}"]
    assert says in faults[f"definition.{field}"]


SCHEDULES: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "cron", "expression": "30 2 * * *", "timeZone": "UTC"}, "expression", "0 30 2 * * ?"),
    ({"type": "cron", "expression": "0 0 2 * * ?", "timeZone": "Europe/Berln"}, "timeZone", "Europe/Berlin"),
    ({"type": "cron", "expression": "0 0 2 * * ?"}, "timeZone", ""),
    ({"type": "cron", "expression": "0 0 2 * * ?", "timeZone": "UTC", "excludes": ["holidays"]}, "excludes", ""),
    ({"type": "once", "at": "2027-02-30T09:00:00Z"}, "at", ""),
    ({"type": "once", "at": "2027-02-03T09:00:00"}, "at", "offset"),
    ({"type": "interval", "every": "PT0S", "startAt": "2026-01-01T00:00:00Z"}, "every", ""),
    ({"type": "interval", "every": "P99999999999D", "startAt": "2026-01-01T00:00:00Z", "timeZone": "UTC"}, "every", ""),
]


@pytest.mark.parametrize(("schedule", "field", "says"), SCHEDULES)
def test_a_schedules_faults_stand_below_its_path(schedule: dict[str, Any], field: str, says: str) -> None:
    faults = faults_of(trigger(source={"kind": "schedule", "schedule": schedule}))
    assert list(faults) == [f"definition.source.schedule.{field}"]
    assert says in faults[f"definition.source.schedule.{field}"]


def test_a_flows_faults_stand_below_definition() -> None:
    assert list(faults_of(flow(steps=[{"id": "a", "command": {"argv": "ls -l"}}]))) == [
        "definition.steps[0].command.argv"
    ]


@pytest.mark.parametrize(("letters", "sound"), [(65_536 - 8, True), (65_536 - 7, False)])
def test_input_may_have_65536_bytes_and_not_one_more(letters: int, sound: bool) -> None:
    faults = faults_of(trigger(input={"a": "x" * letters}))
    assert (faults == {}) is sound
    assert sound or "65,537 bytes" in faults["definition.input"]


def test_input_is_measured_in_bytes_and_not_in_letters() -> None:
    assert "bytes" in faults_of(trigger(input={"a": "ü" * 40_000}))["definition.input"]


def test_all_faults_of_all_documents_come_at_once_and_say_where() -> None:
    text = text_of(trigger("one", enabled=5, colour="red"), flow("two", steps=[]), trigger("three")) + "---\n[oops\n"
    fields = [fault.field for fault in faults_in(text)]
    assert fields == [
        "document 1 (Trigger one), definition.enabled",
        "document 1 (Trigger one), definition.colour",
        "document 2 (Flow two), definition.steps",
        f"document 4 (line {text[: text.index('---' + chr(10) + '[oops')].count(chr(10)) + 1})",
    ]


def test_a_file_says_its_name_where_it_has_one() -> None:
    with pytest.raises(Invalid) as caught:
        parse_documents({"nightly.yaml": text_of(trigger(enabled=5))})
    assert caught.value.faults[0].field == "nightly.yaml, definition.enabled"


def test_one_name_twice_in_a_file_is_refused() -> None:
    (fault,) = faults_in(text_of(trigger(), trigger(enabled=True)))
    assert fault.sentence() == (
        "document 2 (Trigger nightly), metadata.name: Trigger default/nightly stands already in"
        " document 1 (Trigger nightly); keep one of them"
    )
    assert faults_in(text_of(trigger("import"), flow("import"))) == ()


def test_a_mapping_is_read_like_a_file() -> None:
    assert parse_document(trigger()) == read(trigger())[0]
    with pytest.raises(Invalid):
        parse_document(trigger(enabled=5))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["displayName", "description", "enabled", "source", "target", "input", "misfirePolicy", "misfireThreshold",
     "concurrencyPolicy", "maxActive", "catchUp", "steps", "inputSchema", "timeout"]
)  # fmt: skip


@given(st.text("abkT:-[]{}&*!|>'\"#\n\t ,0", max_size=120))
def test_no_text_gets_past_as_anything_but_documents_or_faults(text: str) -> None:
    assert all(fault.message for fault in faults_in(text))


@given(st.sampled_from([trigger, flow]), st.dictionaries(FIELDS, JSON, max_size=4), JSON)
def test_no_definition_gets_past_as_anything_but_a_document_or_faults(make: Any, fields: Any, name: Any) -> None:
    found = faults_in(json.dumps(make(name, **fields)))
    assert all(fault.message and "\n" not in fault.sentence() for fault in found)


@given(st.dictionaries(st.sampled_from(["apiVersion", "kind", "metadata", "definition", "status", "x"]), JSON))
def test_no_envelope_gets_past_as_anything_but_a_document_or_faults(content: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        parse_documents(json.dumps(content | {"kind": content.get("kind", "Trigger")}))


ONE_LINE = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])
SOUND = st.fixed_dictionaries(
    {},
    optional={
        "displayName": st.text(ONE_LINE, min_size=1).map("x{:.20}".format),
        "description": st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
        "enabled": st.booleans(),
        "input": st.dictionaries(st.sampled_from("abc"), st.integers() | st.text("xyz 01:-\n") | st.none(), max_size=3),
        "misfirePolicy": st.sampled_from(["skip", "fireOnce"]),
        "misfireThreshold": st.sampled_from(["PT30S", "PT1M", "PT90S", "P1D"]),
    },
)  # fmt: skip


@given(SOUND)
def test_a_sound_manifest_reads_back_as_it_was_written(fields: dict[str, Any]) -> None:
    written = trigger(**fields)
    (document,) = read(written)
    assert json.dumps(document.definition) == json.dumps(written["definition"])
