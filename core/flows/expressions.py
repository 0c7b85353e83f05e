"""Sandboxed expressions: `{{ … }}` inside texts, and `when`.

An expression sees three names: `input`, `occurrence` and `steps` (steps.ID.output, steps.ID.status of earlier
steps). Only expressions exist: no blocks, no loops, no assignments, no macros. Attributes are data first, then a
short list of harmless text methods; filters and tests are short lists too; what could grow without bound
(repetition, powers, replace, join) is bounded. A text that is exactly one `{{ … }}` keeps its value's type; any
other text becomes text, with JSON for lists and mappings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.runtime import Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS

from core.words import shown

TEXT_LIMIT = 262_144
SOURCE_LIMIT = 65_536
NAMES = frozenset({"input", "occurrence", "steps"})
DEPTH_LIMIT = 60
_INT_LIMIT = 2**256
_METHODS = frozenset(
    {"lower", "upper", "title", "strip", "lstrip", "rstrip", "startswith", "endswith", "split", "splitlines", "count"}
    | {"find", "isdigit", "isalpha", "removeprefix", "removesuffix", "capitalize", "get", "keys", "values", "items"}
)
_FILTERS = (
    "abs", "capitalize", "count", "d", "default", "dictsort", "first", "float", "int", "items", "last", "length",
    "list", "lower", "max", "min", "reject", "rejectattr", "reverse", "select", "selectattr", "sort", "string",
    "sum", "title", "trim", "truncate", "unique", "upper",
)  # fmt: skip
_TESTS = (
    "boolean", "defined", "divisibleby", "eq", "equalto", "even", "false", "float", "ge", "greaterthan", "gt", "in",
    "integer", "iterable", "le", "lessthan", "lower", "lt", "mapping", "ne", "none", "number", "odd", "sequence",
    "string", "true", "undefined", "upper", "==", "!=", "<", "<=", ">", ">=",
)  # fmt: skip


class ExpressionError(ValueError):
    """An expression that cannot be read, refers to what is not there, or would do too much."""


class _Sandbox(ImmutableSandboxedEnvironment):
    """Jinja without anything but bounded expressions over plain data."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False, finalize=_as_text, keep_trailing_newline=True)
        self.globals.clear()
        self.filters = {name: FILTERS[name] for name in _FILTERS}
        self.filters |= {"replace": _replace, "join": _join, "tojson": _to_json, "round": _round}
        self.tests = {name: TESTS[name] for name in _TESTS}

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return data before methods, so that a field called `items` is that field."""
        if isinstance(obj, Mapping) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:  # noqa: ARG002 - jinja's signature
        """Allow only the listed methods, on plain data."""
        return attr in _METHODS and isinstance(obj, str | Mapping)

    def wrap_str_format(self, value: Any) -> None:  # noqa: ARG002 - jinja's signature
        """Treat str.format as any other method: its widths have no bound."""
        return

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Refuse arithmetic that could grow without bound."""
        if operator == "%" and not isinstance(left, int | float):
            raise SecurityError("% is arithmetic only here; use ~ to join texts")
        if operator == "*":
            _check_product(left, right)
        if operator == "**":
            _check_power(left, right)
        if operator == "+" and isinstance(left, Sequence) and isinstance(right, Sequence):
            _check_size(len(left) + len(right))
        return super().call_binop(context, operator, left, right)


def check_template(text: str) -> frozenset[str]:
    """Return the ids of the steps that a text's expressions refer to; raises ExpressionError."""
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return frozenset()
    return _references(_parse(text))


def check_condition(text: str) -> frozenset[str]:
    """Return the ids of the steps that a condition refers to; raises ExpressionError."""
    return _references(_parse("{{" + _bare(text) + "}}"))


def render(text: str, context: Mapping[str, Any]) -> Any:
    """Return a text with its expressions evaluated; the value itself where the text is one lone `{{ … }}`."""
    if "{{" not in text:
        return text
    try:
        lone, compiled = _compiled(text)
        value = compiled(**context) if lone else compiled.render(**context)
        _check_value(value)
    except ExpressionError:
        raise
    except (
        TemplateError,
        ArithmeticError,
        TypeError,
        ValueError,
        LookupError,
        AttributeError,
        RecursionError,
    ) as error:
        raise ExpressionError(f"{_shown(text)}: {_sentence(error)}") from None
    return value


def render_text(text: str, context: Mapping[str, Any]) -> str:
    """Return a text with its expressions evaluated, always as text."""
    return _as_text(render(text, context))


def render_all(value: Any, context: Mapping[str, Any]) -> Any:
    """Return a JSON value with the expressions in all of its texts evaluated."""
    if isinstance(value, str):
        return render(value, context)
    if isinstance(value, Mapping):
        return {key: render_all(child, context) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [render_all(child, context) for child in value]
    return value


def holds(condition: str, context: Mapping[str, Any]) -> bool:
    """Return whether a condition is true."""
    return bool(render("{{" + _bare(condition) + "}}", context))


# -- reading -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _environment() -> _Sandbox:
    return _Sandbox()


@lru_cache(maxsize=2048)
def _compiled(text: str) -> tuple[bool, Any]:
    tree = _parse(text)
    _references(tree)
    if _is_lone(tree):
        expression = text[2:-2].strip().removeprefix("-").removesuffix("-").removeprefix("+").removesuffix("+")
        return True, _environment().compile_expression(expression, undefined_to_none=False)
    return False, _environment().from_string(text)


def _parse(text: str) -> nodes.Template:
    if len(text) > SOURCE_LIMIT:
        raise ExpressionError(f"is longer than {SOURCE_LIMIT:,} characters")
    try:
        tree = _environment().parse(text)
        _refuse_statements(tree)
        _environment().compile(tree)
    except (TemplateError, RecursionError) as error:
        raise ExpressionError(f"{_shown(text)} is not an expression: {_sentence(error)}") from None
    return _environment().parse(text)


def _refuse_statements(tree: nodes.Template) -> None:
    for node in tree.body:
        if not isinstance(node, nodes.Output):
            raise ExpressionError("{% … %} is not available; use {{ … }} and the step's when")
    if _depth(tree) > DEPTH_LIMIT:
        raise ExpressionError("is nested too deeply")


def _depth(node: nodes.Node, limit: int = DEPTH_LIMIT + 1) -> int:
    if limit == 0:
        return 1
    return 1 + max((_depth(child, limit - 1) for child in node.iter_child_nodes()), default=0)


def _references(tree: nodes.Template) -> frozenset[str]:
    for name in tree.find_all(nodes.Name):
        if name.name not in NAMES:
            raise ExpressionError(f"{shown(name.name)} is not known here; there are input, occurrence and steps")
    found = set()
    for node in tree.find_all((nodes.Getattr, nodes.Getitem)):
        if (
            isinstance(node, nodes.Getattr | nodes.Getitem)
            and isinstance(node.node, nodes.Name)
            and node.node.name == "steps"
        ):
            found.add(_step_of(node))
    return frozenset(found)


def _step_of(node: nodes.Expr) -> str:
    if isinstance(node, nodes.Getattr):
        return str(node.attr)
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
        return node.arg.value
    raise ExpressionError("a step is named by a plain word: steps.fetch or steps['fetch']")


def _is_lone(tree: nodes.Template) -> bool:
    outputs = [part for node in tree.body if isinstance(node, nodes.Output) for part in node.nodes]
    return len(outputs) == 1 and not isinstance(outputs[0], nodes.TemplateData)


def _bare(condition: str) -> str:
    text = condition.strip()
    if text.startswith("{{") and text.endswith("}}"):
        text = text[2:-2]
    return f" {text.strip()} "


def _shown(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _sentence(error: Exception) -> str:
    return str(error).split("\n", maxsplit=1)[0].rstrip(".") or type(error).__name__


# -- bounds --------------------------------------------------------------------------------------------------------


def _check_size(size: int) -> None:
    if size > TEXT_LIMIT:
        raise SecurityError(f"would make more than {TEXT_LIMIT:,} characters or entries")


def _check_product(left: Any, right: Any) -> None:
    for sequence, factor in ((left, right), (right, left)):
        if isinstance(sequence, Sequence) and isinstance(factor, int):
            _check_size(len(sequence) * max(factor, 0))
    if isinstance(left, int) and isinstance(right, int) and max(abs(left), abs(right)) > _INT_LIMIT:
        raise SecurityError("the numbers are too large")


def _check_power(left: Any, right: Any) -> None:
    if not isinstance(left, int | float) or not isinstance(right, int | float) or abs(right) > 256 or abs(left) > 2**64:
        raise SecurityError("the power is too large")


def _check_value(value: Any) -> None:
    """Refuse what is not JSON data or too large to be passed on."""
    if isinstance(value, Undefined):
        value._fail_with_undefined_error()
    if isinstance(value, str):
        _check_size(len(value))
        return
    try:
        _check_size(len(json.dumps(value, allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise ExpressionError(f"yields no JSON value: {_sentence(error)}") from None


def _as_text(value: Any) -> str:
    if isinstance(value, Undefined):
        return str(value)  # StrictUndefined raises the right sentence
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, default=_refuse)


def _refuse(value: Any) -> Any:
    raise ExpressionError(f"yields no JSON value but {type(value).__name__}")


def _replace(value: Any, old: str, new: str, count: int | None = None) -> str:
    text, new = _as_text(value), str(new)
    _check_size(len(text) + (text.count(str(old)) if count is None else count) * len(new))
    return text.replace(str(old), new, -1 if count is None else count)


def _join(value: Sequence[Any], separator: str = "") -> str:
    parts = [_as_text(part) for part in value]
    _check_size(sum(map(len, parts)) + len(parts) * len(separator))
    return separator.join(parts)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_refuse)


def _round(value: float, digits: int = 0) -> float:
    return round(float(value), max(-300, min(300, digits))) if digits else round(float(value))
