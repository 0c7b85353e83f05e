from __future__ import annotations

from typing import Any

import pytest

from core.flows.schema import check_schema, keyword_faults, validate_input

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"rows": {"type": "integer", "minimum": 1}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["rows", "name"],
    "additionalProperties": False,
}


def fields(value: Any, schema: dict[str, Any] = SCHEMA) -> list[str]:
    return [fault.field for fault in validate_input(schema, value)]


def test_an_input_that_fits_has_no_faults() -> None:
    assert fields({"rows": 3, "name": 1}, {**SCHEMA, "additionalProperties": True}) == []


def test_every_fault_names_its_field() -> None:
    assert sorted(fields({"rows": 0, "tags": ["a", 5], "more": 1})) == ["more", "name", "rows", "tags[1]"]


def test_an_input_is_a_json_object_of_bounded_size() -> None:
    assert fields([1]) == [""]
    assert fields({"x": "a" * 65_537}, {"type": "object"}) == [""]
    assert fields({"x": "ä" * 32_760}, {"type": "object"}) == []
    assert fields({"x": float("nan")}, {"type": "object"}) == [""]
    assert fields({"x": {1, 2}}, {"type": "object"}) == [""]


def test_formats_are_checked() -> None:
    schema = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}
    assert fields({"day": "2026-02-30"}, schema) == ["day"]


def test_a_schema_of_something_else_than_an_object_is_refused() -> None:
    assert [fault.field for fault in check_schema({"type": "array"}, "inputSchema")] == ["inputSchema.type"]
    assert check_schema({"properties": {"$ref": {"type": "string"}}}, "inputSchema") == []


@pytest.mark.parametrize(
    ("rule", "field", "message", "remedy"),
    [
        ({"type": "sting"}, "a.type", "'sting' is not a type of JSON Schema", "did you mean string?"),
        ({"type": "qqq"}, "a.type", "is not a type of JSON Schema", "boolean, object, array or null"),
        ({"minimum": "3"}, "a.minimum", "'3' is not what JSON Schema wants here", "write a number"),
        ({"pattern": "("}, "a.pattern", "'(' is not a regular expression", "correct it"),
        ({"required": "who"}, "a.required", "'who' is not what JSON Schema wants here", "write a list"),
        (5, "a", "5 is not what JSON Schema wants here", "write a mapping or true or false"),
    ],
)
def test_each_fault_of_a_schema_is_one_sentence_with_a_remedy(rule: Any, field: str, message: str, remedy: str) -> None:
    (fault,) = check_schema({"properties": {"a": rule}}, "")
    assert fault.field == f"properties.{field}"
    assert message in fault.message
    assert remedy in fault.remedy


def test_all_faults_of_a_schema_are_told_at_once() -> None:
    schema = {"required": "who", "properties": {"a": {"type": "sting", "minimum": "3"}, "b": {"maxLength": -1}}}
    assert [fault.field for fault in check_schema(schema, "s")] == [
        "s.properties.a.minimum", "s.properties.a.type", "s.properties.b.maxLength", "s.required",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"who": {"$ref": "#/properties/who"}}},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}},
    ],
)
def test_a_reference_that_comes_back_to_itself_is_refused(schema: dict[str, Any]) -> None:
    (fault,) = check_schema(schema, "inputSchema")
    assert "which comes back to itself" in fault.message


def test_a_schema_may_refer_to_itself_for_a_part() -> None:
    tree = {
        "type": "object",
        "properties": {"left": {"$ref": "#"}, "right": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
    }
    assert check_schema(tree, "inputSchema") == []
    assert validate_input(tree, {"left": {"right": {}}}) == []


def test_a_keyword_that_is_nearly_one_is_refused_wherever_a_schema_stands() -> None:
    schema = {
        "propertys": {},
        "properties": {"tipe": {"type": "integer", "minimun": 3}, "list": {"items": {"enums": [1]}}},
        "anyOf": [{"requird": ["a"]}],
        "x-order": 1,
        "example": {"minimun": 1},
        "default": {"titel": 1},
    }
    assert {fault.field: fault.remedy for fault in keyword_faults(schema, "s")} == {
        "s.propertys": "did you mean properties?",
        "s.properties.tipe.minimun": "did you mean minimum?",
        "s.properties.list.items.enums": "did you mean enum?",
        "s.anyOf[0].requird": "did you mean required?",
    }
