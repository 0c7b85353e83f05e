"""The forms of the four kinds of question, and whether an answer fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.errors import Fault
from core.flows.schema import validate_input

REASON = {"type": "string", "title": "Reason", "maxLength": 2000, "description": "required when rejecting"}
_DECISIONS: dict[str, tuple[str, ...]] = {
    "approvalRequired": ("approved", "rejected"),
    "confirmationRequired": ("confirmed", "declined"),
    "choiceRequired": ("chosen",),
    "inputRequired": ("provided",),
}
_VERBS = {
    "approve": "approved",
    "reject": "rejected",
    "confirm": "confirmed",
    "decline": "declined",
    "choose": "chosen",
    "provide": "provided",
}
NEGATIVE: frozenset[str] = frozenset({"rejected", "declined"})


def decisions(kind: str) -> tuple[str, ...]:
    """Return the decisions that a question of this kind takes, the agreeing one first."""
    return _DECISIONS[kind]


def normal_decision(decision: str) -> str:
    """Return a decision as it is recorded; `approve` and `approved` are the same."""
    word = decision.strip().lower()
    return _VERBS.get(word, word)


def form_schema(kind: str, form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of the values that go with an agreeing answer, for drawing a form.

    `form` is the question's own part: {schema, choices}. The schema of a choice may describe `choice` further and
    add values that go with it.
    """
    author = dict(form.get("schema") or {})
    if kind == "choiceRequired":
        more = dict(author.get("properties") or {})
        choice = {"type": "string", "title": "Choice", **more.pop("choice", {})}
        choice["enum"] = list(form.get("choices") or ())
        required = ["choice", *author.get("required", ())]
        return {"type": "object", **author, "properties": {"choice": choice, **more}, "required": required}
    if kind == "inputRequired":
        return {"type": "object", **author}
    properties = {**author.get("properties", {})}
    properties.setdefault("reason", REASON)
    return {"type": "object", **author, "properties": properties}


def check_answer(kind: str, form: Mapping[str, Any], decision: str, values: Mapping[str, Any]) -> list[Fault]:
    """Return what is wrong with an answer; fields are `decision` or paths into the values."""
    allowed = decisions(kind)
    if decision not in allowed:
        return [Fault("decision", f"must be {' or '.join(allowed)}, not {decision!r}")]
    if decision not in NEGATIVE:
        return validate_input(form_schema(kind, form), values)
    reason = values.get("reason")
    if kind == "approvalRequired" and not (isinstance(reason, str) and reason.strip()):
        return [Fault("reason", "is required when rejecting", "say why", code="input_invalid")]
    return validate_input({"type": "object", "properties": {"reason": REASON}}, values)
