from __future__ import annotations

from typing import Any

import pytest

from core.flows.expressions import (
    ExpressionError,
    check_condition,
    check_template,
    holds,
    render,
    render_all,
    render_text,
)

CONTEXT: dict[str, Any] = {
    "input": {"n": 7, "items": [1, 2], "name": "Ada", "flag": False, "nothing": None, "big": "x" * 60_000},
    "occurrence": {"nominalAt": "2026-03-28T13:00:00Z"},
    "steps": {"fetch": {"output": {"rows": 3, "list": [{"id": 1}, {"id": 2}]}, "status": "completed"}},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("{{ input.n }}", 7),
        ("{{ input.n }}!", "7!"),
        ("{{ input.items }}", [1, 2]),
        ("is {{ input.items }}", "is [1, 2]"),
        ("{{ input.flag }} {{ input.nothing }}", "false "),
        ("{{ input }}", CONTEXT["input"]),
        ("{{ steps.fetch.output.rows + 1 }}", 4),
        ("{{ steps['fetch'].status | upper }}", "COMPLETED"),
        ("{{ steps.fetch.output.list | selectattr('id', 'gt', 1) | list }}", [{"id": 2}]),
        ("{{ input.missing | default('none') }}", "none"),
        ("{{ input.name.lower() ~ '-' ~ input.n }}", "ada-7"),
        ("{{ 'yes' if input.n > 3 else 'no' }}", "yes"),
        ("{{ input.items | join(', ') }}", "1, 2"),
        ("{{- input.n -}}", 7),
        ("{{ {'a': input.n} }}", {"a": 7}),
    ],
)
def test_an_expression_yields_its_value_and_text_stays_text(text: str, value: Any) -> None:
    assert render(text, CONTEXT) == value


@pytest.mark.parametrize(
    "text",
    [
        "{{ input.missing }}",
        "{{ steps.fetch.output.missing.more }}",
        "{{ input.n.__class__ }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ input.name['__class__'] }}",
        "{{ input.name.format(1) }}",
        "{{ '{:>999999999}'.format(1) }}",
        "{{ '{0.__class__}'.format(input) }}",
        "{{ '{a}'.format_map(input) }}",
        "{{ input.name.encode }}",
        "{{ input.items.append(3) }}",
        "{{ input.get }}",
        "{{ (1).bit_length() }}",
        "{{ '%999999999d' % 1 }}",
        "{{ 'x' * 999999999 }}",
        "{{ [0] * 999999999 }}",
        "{{ 9 ** 999999999 }}",
        "{{ 10 ** 200 * 10 ** 200 }}",
        "{{ input.big | replace('', input.big) }}",
        "{{ input.big | list | join(input.big) }}",
        "{{ input.big * 10 }}",
        "{{ 1 / 0 }}",
        "{{ input.n() }}",
        "{{ input.name | attr('__class__') }}",
        "{{ input.items | map('string') | list }}",
        "{{ range(9) }}",
        "{{ self }}",
        "{{ lipsum() }}",
        "{{ cycler }}",
        "{{ 1 | round(99999999, 'ceil') }}",
    ],
)
def test_what_reaches_outside_or_grows_without_bound_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        render(text, CONTEXT)


def test_an_expression_cannot_change_what_it_sees() -> None:
    with pytest.raises(ExpressionError):
        render("{{ input.update({'n': 8}) }}", CONTEXT)
    assert CONTEXT["input"]["n"] == 7


def test_a_field_wins_over_a_method_of_the_same_name() -> None:
    assert render("{{ input.items | length }}", CONTEXT) == 2


def test_conditions_are_true_or_false() -> None:
    assert holds("input.n == 7", CONTEXT)
    assert holds("{{ input.n == 7 }}", CONTEXT)
    assert not holds("input.flag", CONTEXT)
    assert holds("steps.fetch.status == 'completed' and input.items", CONTEXT)


def test_every_text_inside_a_value_is_evaluated() -> None:
    value = {"a": ["{{ input.n }}", {"b": "n={{ input.n }}"}], "c": 5}
    assert render_all(value, CONTEXT) == {"a": [7, {"b": "n=7"}], "c": 5}


def test_text_of_a_value_is_json_where_it_is_no_text() -> None:
    assert render_text("{{ steps.fetch.output.list }}", CONTEXT) == '[{"id": 1}, {"id": 2}]'


def test_the_steps_that_an_expression_refers_to_are_known() -> None:
    assert check_template("{{ steps.a.output }} {{ steps['b'].output }}") == {"a", "b"}
    assert check_condition("steps.c.status == 'completed'") == {"c"}


@pytest.mark.parametrize(
    "text", ["{% if input %}x{% endif %}", "{{ x }}", "{{ input", "{{ steps[input.n] }}", "{% set a = 1 %}"]
)
def test_what_is_no_expression_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        check_template(text)
    assert "\n" not in str(refused.value)


def test_an_expression_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(ExpressionError):
        check_template("{{ " + "(" * 500 + "1" + ")" * 500 + " }}")
    with pytest.raises(ExpressionError):
        check_template("{{ " + "-" * 5000 + "1 }}")
