"""Whatever a file holds: it is refused in sentences with field and remedy, or it is taken; never anything else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import Fault, Invalid
from core.resources.manifests import parse_documents
from tests.unit.resources.writing import faults_in, flow, text_of, trigger

PROPERTY = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

STEPS: tuple[object, ...] = (
    [],
    {},
    ["a"],
    [{"id": "a"}],
    [{"id": "a", "command": {"argv": []}}],
    [{"id": "a", "command": {"argv": [""]}}],
    [{"id": "a", "command": {"argv": ["x\0"]}}],
    [{"id": "a", "command": {"argv": ["x"]}, "http": {"url": "https://h"}}],
    [{"id": "a", "command": {"argv": ["x"], "shell": True}}],
    [{"id": "a", "command": {"argv": ["x"], "cwd": 5}}],
    [{"id": "a", "command": {"argv": ["x"], "env": {"A=B": "x"}}}],
    [{"id": "a", "command": {"argv": ["x"], "env": "A=B"}}],
    [{"id": "a", "command": {"argv": ["x"]}, "needs": ["b"]}, {"id": "b", "command": {"argv": ["x"]}, "needs": ["a"]}],
    [{"id": "a", "command": {"argv": ["{{ steps.b.output }}"]}}],
    [{"id": "a", "command": {"argv": ["{{ nope( }}"]}}],
    [{"id": "a", "when": "input.x ==", "command": {"argv": ["x"]}}],
    [{"id": "a", "when": True, "command": {"argv": ["x"]}}],
    [{"id": "a", "timeout": 5, "command": {"argv": ["x"]}}],
    [{"id": "a", "timeout": "P1Y", "command": {"argv": ["x"]}}],
    [{"id": "a", "timeout": "PT" + "9" * 50 + "S", "command": {"argv": ["x"]}}],
    [{"id": "a", "retry": 3, "command": {"argv": ["x"]}}],
    [{"id": "a", "retry": {"attempts": 10**30}, "command": {"argv": ["x"]}}],
    [{"id": "a", "onCrash": "explode", "command": {"argv": ["x"]}}],
    [{"id": "a", "http": {}}],
    [{"id": "a", "http": {"url": "ftp://x", "method": "FETCH", "expect": {"status": [9]}}}],
    [{"id": "a", "python": {}}],
    [{"id": "a", "wait": {}}],
    [{"id": "a", "wait": {"until": "2027-01-01T00:00:00"}}],
    [{"id": "a", "ask": {}}],
    [{"id": "a", "ask": {"kind": [], "title": "T", "choices": ["x", "y"]}}],
    [{"id": "a", "ask": {"kind": "choiceRequired", "title": "T"}}],
    [{"id": "a", "ask": {"kind": "choiceRequired", "title": "T", "choices": ["x", "x"]}}],
    [{"id": "a", "ask": {"kind": "inputRequired", "title": "T", "schema": {"properties": {"a": {"pattern": "("}}}}}],
    [{"id": "a", "ask": {"kind": "approvalRequired", "title": "T", "expiresAfter": "never"}}],
)


def refused(text: str) -> set[str]:
    """Return the fields of a file's faults, each of which is well said."""
    faults = faults_in(text)
    assert faults
    assert all(well_said(fault) for fault in faults), faults
    return {fault.field for fault in faults}


def well_said(fault: Fault) -> bool:
    """Say whether a fault is one line with what is wrong and what to do."""
    sentence = fault.sentence()
    return bool(fault.message and fault.remedy) and "\n" not in sentence and len(sentence) < 400


@pytest.mark.parametrize("steps", STEPS, ids=[json.dumps(steps)[:60] for steps in STEPS])
def test_every_fault_of_a_flow_names_its_field_and_a_remedy(steps: object) -> None:
    assert all(field.startswith("definition.steps") for field in refused(text_of(flow(steps=steps))))


@pytest.mark.parametrize("value", ["-PT1M", "PT0S", "P1M", "1:30", "", 5, [1], True, "PT" + "9" * 40 + "H"])
def test_a_wrong_misfire_threshold_names_its_field_and_a_remedy(value: object) -> None:
    assert refused(text_of(trigger(misfireThreshold=value))) == {"definition.misfireThreshold"}


@pytest.mark.parametrize("name", ["a\nb", "a\0b", "a\x1b[31mb", "a\u2028b", " "])
def test_a_display_name_is_one_line_of_printable_characters(name: str) -> None:
    for document in (trigger(displayName=name), flow(displayName=name)):
        assert refused(text_of(document)) == {"definition.displayName"}


def test_a_version_that_no_flow_can_have_is_refused() -> None:
    target = {"flow": {"name": "import", "version": 10**20}}
    assert refused(text_of(trigger(target=target))) == {"definition.target.flow.version"}


def test_an_alias_without_its_anchor_says_what_to_do() -> None:
    assert refused("a: *nowhere") == {""}
    assert refused("a: &a [*a]") == {""}


def test_the_namespace_that_the_request_names_is_checked_like_one_in_a_file() -> None:
    with pytest.raises(Invalid) as caught:
        parse_documents(text_of(flow()), namespace="Not One")
    assert [fault.field for fault in caught.value.faults] == ["namespace"]


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 10**25), st.floats(allow_nan=False), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value inside a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in inner for place in places(child, (*path, key)))]


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return the document with another value at a path."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


WHOLE = (
    {
        "apiVersion": "agentstration.io/v1",
        "kind": "Trigger",
        "metadata": {"name": "t", "namespace": "n", "tags": ["a"], "annotations": {"a": "b"}, "eTag": "x"},
        "definition": {
            "displayName": "T",
            "description": "d",
            "enabled": True,
            "source": {
                "kind": "schedule",
                "schedule": {
                    "type": "cron",
                    "expression": "0 30 2 * * ?",
                    "timeZone": "Europe/Berlin",
                    "daylightSaving": {"gap": "shift", "overlap": "first"},
                    "startAt": "2027-01-01T00:00:00Z",
                    "endAt": "2028-01-01T00:00:00Z",
                    "maxOccurrences": 3,
                    "jitter": "PT1M",
                },
            },
            "target": {"kind": "flow", "flow": {"name": "import", "namespace": "n", "version": 1}},
            "input": {"a": 1},
            "misfirePolicy": "skip",
            "misfireThreshold": "PT1M",
            "concurrencyPolicy": "allow",
            "maxActive": 2,
        },
    },
    {
        "apiVersion": "agentstration.io/v1",
        "kind": "Trigger",
        "metadata": {"name": "t"},
        "definition": {
            "source": {
                "schedule": {
                    "type": "interval",
                    "every": "PT1H",
                    "timeZone": "UTC",
                    "startAt": "2027-01-01T00:00:00Z",
                    "daylightSaving": {"gap": "auto"},
                }
            },
            "target": {"flow": {"name": "import"}},
        },
    },
    {
        "apiVersion": "agentstration.io/v1",
        "kind": "Flow",
        "metadata": {"name": "f"},
        "definition": {
            "displayName": "F",
            "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
            "timeout": "PT5M",
            "steps": [
                {
                    "id": "a",
                    "command": {"argv": ["x"], "cwd": "/", "env": {"A": {"secretRef": "B"}}},
                    "timeout": "PT1M",
                    "retry": {"attempts": 2, "backoff": "PT1S"},
                    "onCrash": "fail",
                },
                {"id": "b", "http": {"method": "POST", "url": "https://h", "headers": {"X": "y"}, "json": {"a": 1}}},
                {"id": "c", "python": {"callable": "json:dumps", "args": [1]}},
                {"id": "d", "wait": {"for": "PT5M"}, "when": "steps.a.exitCode == 0"},
                {"id": "e", "ask": {"kind": "choiceRequired", "title": "T", "choices": ["x", "y"]}},
            ],
        },
    },
)


@PROPERTY
@given(st.data())
def test_any_value_at_any_place_is_taken_or_refused_in_sentences(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(WHOLE))
    place = data.draw(st.sampled_from(places(document)))
    text = json.dumps(put(document, place, data.draw(json_values)))
    faults = faults_in(text)
    assert all(well_said(fault) for fault in faults), faults


def test_what_an_input_brings_along_cannot_break_a_sentence() -> None:
    (fault,) = faults_in(text_of(trigger(**{"a\nb\x1b[2J\u2028": 1})))
    assert fault.field == "definition.a\nb\x1b[2J\u2028"
    assert fault.sentence().startswith(r"definition.a\nb\x1b[2J\u2028: is not a field here")


LONG = ("x" * 3_000, "{{ " + "y" * 900 + " }}", ["x" * 3_000], {"x" * 3_000: 1}, 10**25, "\0", "\u202e")


@pytest.mark.parametrize("document", WHOLE, ids=[document["kind"] for document in WHOLE])
def test_no_sentence_repeats_a_long_value(document: dict[str, Any]) -> None:
    for place in places(document):
        for value in LONG:
            for fault in faults_in(json.dumps(put(document, place, value))):
                assert well_said(fault), (place, str(value)[:40])
