from __future__ import annotations

from typing import Any

from core.flows.schema import check_schema, validate_input

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
