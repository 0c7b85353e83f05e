"""The JSON Schemas agree with the reader on what a file may say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from core.errors import NotFound
from core.resources.schema import json_schema
from core.resources.trigger import TriggerDefinition
from tests.unit.resources.desk import Desk
from tests.unit.resources.writing import CRON, faults_of, flow, trigger

STEPS: list[dict[str, Any]] = [
    {"id": "a", "command": {"argv": ["x"], "env": {"T": {"secretRef": "t"}}}, "retry": {"backoff": "PT2S"}},
    {"id": "b", "http": {"url": "http://host/", "headers": {"X": "y"}, "json": [1], "expect": {"status": [200, 204]}}},
    {"id": "c", "python": {"callable": "json:dumps", "args": [1]}, "timeout": "PT5M", "onCrash": "fail"},
    {"id": "f", "command": {"argv": ["x"]}, "onCrash": "ask"},
    {"id": "d", "ask": {"kind": "approvalRequired", "title": "Go?", "expiresAfter": "P1D", "onReject": "continue"}},
    {"id": "e", "wait": {"for": "PT1S"}, "when": "true"},
]  # fmt: skip
ONCE = {"type": "once", "at": "2027-01-01T00:00:00Z", "timeZone": "UTC"}
EVERY = {"type": "interval", "every": "PT15M", "startAt": "2026-01-01T00:00:00Z", "maxOccurrences": 3, "jitter": "PT1M"}
SOUND = [
    trigger(),
    trigger(enabled=True, misfirePolicy="skip", concurrencyPolicy="allow", maxActive=3, misfireThreshold="PT30S"),
    trigger(source={"kind": "schedule", "schedule": ONCE}),
    trigger(source={"kind": "schedule", "schedule": EVERY}, input={"a": [1, {"b": None}]}),
    trigger(source={"schedule": CRON | {"daylightSaving": {"gap": "skip", "overlap": "both"}}}),
    flow(displayName="Import", description="x", inputSchema={"type": "object"}, timeout="PT1H", steps=STEPS),
]
WRONG = [
    trigger(enabled="yes"),
    trigger(colour="red"),
    trigger("Nightly"),
    trigger(target={"flow": {"name": "import", "version": 0}}),
    trigger(source={"schedule": CRON | {"every": "PT1M"}}),
    trigger(source={"schedule": {"type": "cron", "expression": "0 0 2 * * ?"}}),
    flow(steps=[]),
    flow(steps=[{"id": "a"}]),
    flow(steps=[{"id": "a", "wait": {"for": "PT1S"}, "command": {"argv": ["x"]}}]),
    flow(steps=[{"id": "a", "command": {"argv": "ls"}}]),
]


def fits(envelope: dict[str, Any]) -> bool:
    return bool(Draft202012Validator(json_schema(envelope["kind"])).is_valid(envelope))


@pytest.mark.parametrize("kind", ["Trigger", "Flow"])
def test_each_schema_is_a_schema(kind: str) -> None:
    Draft202012Validator.check_schema(json_schema(kind))


@pytest.mark.parametrize("envelope", SOUND)
def test_what_the_reader_takes_fits_the_schema(envelope: dict[str, Any]) -> None:
    assert faults_of(envelope) == {}
    assert fits(envelope)


@pytest.mark.parametrize("envelope", WRONG)
def test_what_does_not_fit_the_schema_the_reader_refuses_too(envelope: dict[str, Any]) -> None:
    assert not fits(envelope)
    assert faults_of(envelope) != {}


LATER = ("catchUp", "join", "buffer", "replace", "event")


def test_no_editor_offers_what_comes_in_a_later_version() -> None:
    text = json.dumps(json_schema("Trigger"))
    assert [word for word in LATER if f'"{word}"' in text] == []
    assert TriggerDefinition.model_fields.keys() >= {"catch_up", "buffer"}


def test_a_schema_holds_nothing_that_only_the_code_knows() -> None:
    assert "core." not in json.dumps([json_schema("Trigger"), json_schema("Flow")])


def test_what_is_read_from_the_server_fits_the_schema(desk: Desk) -> None:
    desk.apply(flow(), trigger())
    assert fits(desk.manifest("Trigger", "nightly"))
    assert fits(desk.manifest("Flow", "import"))


def test_a_kind_may_be_named_in_any_case_and_must_exist() -> None:
    assert json_schema("trigger")["title"] == "Trigger"
    assert json_schema("flows")["title"] == "Flow"
    with pytest.raises(NotFound):
        json_schema("pod")
