from __future__ import annotations

from typing import Any

import pytest

from core.flows.steps import ACTION_KINDS
from core.work.actions import check_answer, decisions, form_schema, normal_decision

FORM: dict[str, Any] = {
    "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "choices": ["a", "b"],
}


def test_every_kind_has_decisions_and_the_agreeing_one_comes_first() -> None:
    assert [decisions(kind)[0] for kind in ACTION_KINDS] == ["provided", "confirmed", "chosen", "approved"]


@pytest.mark.parametrize(
    ("given", "recorded"), [("approve", "approved"), ("Rejected", "rejected"), (" confirm ", "confirmed")]
)
def test_a_decision_is_recorded_in_one_form(given: str, recorded: str) -> None:
    assert normal_decision(given) == recorded


def test_the_form_of_an_approval_holds_the_authors_fields_and_a_reason() -> None:
    assert list(form_schema("approvalRequired", FORM)["properties"]) == ["n", "reason"]
    assert form_schema("approvalRequired", FORM)["required"] == ["n"]
    assert list(form_schema("confirmationRequired", {})["properties"]) == ["reason"]


def test_the_form_of_a_choice_holds_the_choices() -> None:
    assert form_schema("choiceRequired", FORM)["properties"]["choice"]["enum"] == ["a", "b"]


def test_the_schema_of_a_choice_adds_values_and_describes_the_choice_but_never_replaces_it() -> None:
    more = {"properties": {"choice": {"description": "pick", "enum": ["z"]}, "note": {"type": "string"}}}
    schema = form_schema("choiceRequired", {"choices": ["a", "b"], "schema": {**more, "required": ["note"]}})
    assert list(schema["properties"]) == ["choice", "note"]
    assert schema["properties"]["choice"] | {"title": ""} == {
        "type": "string",
        "title": "",
        "description": "pick",
        "enum": ["a", "b"],
    }
    assert schema["required"] == ["choice", "note"]


@pytest.mark.parametrize(
    ("kind", "decision", "values", "fields"),
    [
        ("approvalRequired", "approved", {"n": 1}, []),
        ("approvalRequired", "approved", {"n": 1, "reason": "fine"}, []),
        ("approvalRequired", "approved", {"n": "x"}, ["n"]),
        ("approvalRequired", "rejected", {}, ["reason"]),
        ("approvalRequired", "rejected", {"reason": "  "}, ["reason"]),
        ("approvalRequired", "rejected", {"reason": "no"}, []),
        ("confirmationRequired", "declined", {}, []),
        ("choiceRequired", "chosen", {"choice": "c"}, ["choice"]),
        ("choiceRequired", "chosen", {}, ["choice"]),
        ("inputRequired", "provided", {}, ["n"]),
        ("inputRequired", "approved", {"n": 1}, ["decision"]),
    ],
)
def test_an_answer_fits_its_question_or_says_where_not(
    kind: str, decision: str, values: dict[str, Any], fields: list[str]
) -> None:
    form = {"choices": FORM["choices"]} if kind == "choiceRequired" else FORM
    assert [fault.field for fault in check_answer(kind, form, decision, values)] == fields
