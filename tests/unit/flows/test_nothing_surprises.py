"""Whatever is written into a Flow, the answer is a Flow or faults: never another error, never a long wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from core.errors import Invalid
from core.flows.definition import parse_flow
from core.flows.durations import LONGEST, parse_duration
from core.flows.expressions import ExpressionError, check_template, render
from core.flows.schema import check_schema, validate_input

LEAVES = some.none() | some.booleans() | some.integers(-5, 2**70) | some.floats() | some.text(max_size=12)
WORDS = some.sampled_from(
    [
        "steps",
        "id",
        "command",
        "argv",
        "http",
        "url",
        "json",
        "python",
        "callable",
        "ask",
        "kind",
        "title",
        "schema",
        "wait",
        "for",
        "until",
        "timeout",
        "retry",
        "attempts",
        "backoff",
        "when",
        "onCrash",
        "env",
        "secretRef",
        "inputSchema",
        "type",
        "$ref",
        "properties",
        "required",
        "expect",
        "status",
        "choices",
        "approvalRequired",
        "{{input.x}}",
        "PT1S",
        "object",
        "#/nowhere",
        "#",
    ]
)
VALUES = some.recursive(
    LEAVES | WORDS,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(WORDS | some.text(max_size=4), inner, max_size=5),
    max_leaves=25,
)
TOKENS = some.sampled_from(
    [
        "input",
        "steps",
        "occurrence",
        ".",
        "a",
        "output",
        "(",
        ")",
        "[",
        "]",
        "'x'",
        "1",
        "9999999999",
        "+",
        "*",
        "**",
        "%",
        "|",
        "replace",
        "join",
        "list",
        "first",
        "~",
        ",",
        "not",
        "in",
        "is",
        "defined",
        "if",
        "else",
        "==",
        "{",
        "}",
        ":",
        "-",
        "__class__",
        "format",
        "split",
        "map",
        "sort",
        "round",
    ]
)
CONTEXT: dict[str, Any] = {
    "input": {"a": "x" * 2000, "list": list(range(50))},
    "occurrence": {},
    "steps": {"a": {"output": 3}},
}


def refusal(call: Callable[[], object]) -> Invalid | ExpressionError | ValueError | None:
    """Return how a call was refused; any other error ends the test."""
    try:
        call()
    except (Invalid, ExpressionError, ValueError) as refused:
        return refused
    return None


def says_something(refused: Exception | None) -> bool:
    """Say whether a refusal, if there is one, is a sentence or a list of them."""
    if isinstance(refused, Invalid):
        return bool(refused.faults) and all(fault.sentence() for fault in refused.faults)
    return refused is None or (bool(str(refused)) and "\n" not in str(refused))


@given(VALUES)
@settings(max_examples=150, deadline=2000)
def test_any_document_is_a_flow_or_has_faults(document: Any) -> None:
    assert says_something(refusal(lambda: parse_flow(document)))


@given(some.lists(VALUES, min_size=1, max_size=4))
@settings(max_examples=150, deadline=2000)
def test_any_list_of_steps_is_a_flow_or_has_faults(steps: list[Any]) -> None:
    named = [{"id": "a", **step} if isinstance(step, dict) else step for step in steps]
    assert says_something(refusal(lambda: parse_flow({"steps": named})))


@given(some.lists(TOKENS, max_size=14).map(" ".join) | some.lists(TOKENS, max_size=14).map("".join))
@settings(max_examples=400, deadline=2000)
def test_any_expression_yields_json_or_one_sentence(source: str) -> None:
    text = "{{ " + source + " }}"
    assert says_something(refusal(lambda: check_template(text)))
    assert says_something(refusal(lambda: render(text, CONTEXT)))


@given(VALUES, VALUES)
@settings(max_examples=150, deadline=2000)
def test_any_schema_is_refused_or_checks_any_value(schema: Any, value: Any) -> None:
    faults = check_schema(schema, "inputSchema") or validate_input(schema, value)
    assert all(fault.sentence() for fault in faults)


@given(some.text(alphabet="PT0123456789DHMSWY.,-+ ", max_size=12))
@settings(max_examples=200)
def test_any_duration_is_positive_and_bounded_or_refused(text: str) -> None:
    refused = refusal(lambda: parse_duration(text))
    assert says_something(refused)
    assert refused is not None or 0 < parse_duration(text).total_seconds() <= LONGEST.total_seconds()


@pytest.mark.parametrize("depth", [200, 5000])
def test_a_deep_document_is_refused_in_words(depth: int) -> None:
    deep: Any = {"type": "object"}
    for _ in range(depth):
        deep = {"type": "object", "properties": {"x": deep}}
    definition = {"inputSchema": deep, "steps": [{"id": "a", "command": {"argv": ["true"]}}]}
    assert isinstance(refusal(lambda: parse_flow(definition)), Invalid)


@pytest.mark.parametrize("reference", ["#/$defs/nowhere", "#nowhere", "other.json", "https://example.com/"])
def test_a_reference_that_leads_nowhere_is_refused_when_it_is_saved(reference: str) -> None:
    schema = {"type": "object", "properties": {"x": {"$ref": reference}}}
    assert [fault.field for fault in check_schema(schema, "inputSchema")] == ["inputSchema"]


def test_a_schema_that_refers_to_itself_checks_what_has_an_end() -> None:
    schema = {"type": "object", "properties": {"child": {"$ref": "#"}}}
    assert check_schema(schema, "inputSchema") == []
    assert validate_input(schema, {"child": {"child": {}}}) == []
    assert [fault.field for fault in validate_input(schema, {"child": {"child": 5}})] == ["child.child"]
    assert [fault.field for fault in validate_input({"$ref": "#"}, {})] == [""]
