"""A question's JSON Schema becomes fields, and what is typed becomes values or faults."""

from __future__ import annotations

from typing import Any

import pytest

from tui.present.schema_fields import fields_of, read_field, read_form

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["batch", "account"],
    "properties": {
        "batch": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 500, "title": "Batch size"},
        "ratio": {"type": "number", "exclusiveMinimum": 0},
        "account": {"enum": ["main", "backup", 7], "description": "which one pays"},
        "notify": {"type": "boolean", "default": True},
        "note": {"type": "string", "minLength": 3, "maxLength": 10},
        "extra": {"type": "object"},
        "mixed": {"type": ["string", "null"]},
    },
}


def field(name: str, values: dict[str, Any] | None = None) -> Any:
    return next(spec for spec in fields_of(SCHEMA, values or {}) if spec.name == name)


def test_fields_keep_the_order_of_the_schema_and_know_their_kinds() -> None:
    kinds = [(spec.name, spec.kind) for spec in fields_of(SCHEMA, {})]
    assert kinds == [
        ("batch", "integer"), ("ratio", "number"), ("account", "choice"), ("notify", "boolean"), ("note", "text"),
        ("extra", "json"), ("mixed", "json"),
    ]  # fmt: skip


def test_hints_say_the_range_and_what_it_means() -> None:
    assert field("batch").hint == "1–1000"
    assert field("ratio").hint == "more than 0"
    assert field("account").hint == "which one pays"


def test_values_that_are_known_win_over_defaults() -> None:
    assert field("batch").start_text == "500"
    assert field("batch", {"batch": 20}).start_text == "20"


@pytest.mark.parametrize(
    ("name", "entered", "message"),
    [
        ("batch", "12.5", "must be a whole number"),
        ("batch", "", "must be filled in"),
        ("batch", "1001", "must be 1–1000"),
        ("ratio", "0", "must be more than 0"),
        ("ratio", "nan", "must be a number"),
        ("ratio", "infinity", "must be a number"),
        ("account", None, "must be filled in"),
        ("note", "ab", "must have at least 3 characters"),
        ("note", "abcdefghijk", "must have at most 10 characters, it has 11"),
        ("extra", "{", "is not JSON: Expecting property name enclosed in double quotes"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(name: str, entered: Any, message: str) -> None:
    value, fault = read_field(field(name), entered)
    assert value is None
    assert (fault.field, fault.message) == (name, message)


@pytest.mark.parametrize(
    ("name", "entered", "value"),
    [
        ("batch", " 7 ", 7),
        ("ratio", "0.25", 0.25),
        ("account", 7, 7),
        ("notify", False, False),
        ("note", "fine", "fine"),
        ("extra", '{"a": [1]}', {"a": [1]}),
        ("ratio", "", None),
        ("note", "", None),
    ],
)
def test_what_is_right_is_read_in_its_own_type(name: str, entered: Any, value: Any) -> None:
    assert read_field(field(name), entered) == (value, None)


def test_all_faults_of_a_form_come_at_once_and_empty_fields_are_left_out() -> None:
    specs = fields_of(SCHEMA, {})
    values, faults = read_form(
        specs, {"batch": "x", "account": None, "notify": True, "note": "", "extra": "", "mixed": "null"}
    )
    assert values == {"notify": True}
    assert [fault.field for fault in faults] == ["batch", "account"]


def test_a_schema_without_properties_has_no_fields() -> None:
    assert fields_of({"type": "object"}, {}) == ()
    assert fields_of({"properties": "broken"}, {}) == ()


def test_one_of_constants_is_a_choice() -> None:
    (spec,) = fields_of({"properties": {"x": {"oneOf": [{"const": "a"}, {"const": "b"}]}}}, {})
    assert spec.choices == ("a", "b")


def test_choices_are_told_by_their_titles_and_else_as_json_spells_them() -> None:
    one_of = {"oneOf": [{"const": "a1", "title": "Main account"}, {"const": "b2"}]}
    (spec,) = fields_of({"properties": {"x": one_of}}, {})
    assert spec.labels == ("Main account", "b2")
    (spec,) = fields_of({"properties": {"x": {"enum": ["a", 2, True, None]}}}, {})
    assert spec.labels == ("a", "2", "true", "null")


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ({"type": "array", "items": {"type": "string"}}, "JSON, a list, each a text"),
        ({"type": "object", "properties": {"a": {}, "b": {}}}, "JSON, an object with a, b"),
        ({"type": ["string", "null"], "description": "who"}, "JSON, a text or null · who"),
        ({}, "JSON, any value"),
    ],
)
def test_a_field_of_json_says_what_it_holds(rule: dict[str, Any], hint: str) -> None:
    (spec,) = fields_of({"properties": {"x": rule}}, {})
    assert (spec.kind, spec.hint) == ("json", hint)


def test_a_range_from_below_zero_is_not_read_as_two_signs() -> None:
    (spec,) = fields_of({"properties": {"x": {"type": "integer", "minimum": -20, "maximum": 50}}}, {})
    assert spec.hint == "-20 to 50"
