"""Reads and checks the definition of a Flow; every fault at once, each with its field.

displayName, description, inputSchema, timeout
steps: [{id, one of command | http | python | ask | wait, timeout, retry, when, onCrash}]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from core.errors import Fault, Invalid
from core.flows.reading import Fields, Scope, is_one_line, kind_of, near
from core.flows.schema import check_schema
from core.flows.steps import (
    ACTION_KINDS,
    DEFAULT_BACKOFF,
    DEFAULT_EXPIRY,
    DEFAULT_MAX_BACKOFF,
    METHODS,
    STEP_KINDS,
    Action,
    Ask,
    Command,
    FlowDefinition,
    Http,
    Python,
    Retry,
    Step,
    Wait,
)
from core.words import shown

STEP_LIMIT = 100
STEP_ID = re.compile(r"^[a-z][a-z0-9_]{0,62}$")
ENV_NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
HEADER_NAME = re.compile(r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
CALLABLE = re.compile(r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")
RESERVED_ENV = "TRIGGERDECK_"


def parse_flow(definition: object) -> FlowDefinition:
    """Return the Flow that a definition (camelCase mapping) describes.

    Raises Invalid with all faults; fields are relative to the definition (`steps[0].command.argv`).
    """
    faults: list[Fault] = []
    try:
        flow = _flow(Fields(definition, "", faults))
    except RecursionError:
        raise Invalid([Fault("", "is nested too deeply", "make it flatter")]) from None
    if faults:
        raise Invalid(faults)
    return flow


def _flow(fields: Fields) -> FlowDefinition:
    display_name = fields.text("displayName", longest=120)
    if fields.has("displayName") and not display_name.strip():
        fields.fault("displayName", "must have 1 to 120 characters", "write one, or remove it")
    if not is_one_line(display_name):
        fields.fault("displayName", "holds a line end or a control character", "write one plain line")
    flow = FlowDefinition(
        display_name=display_name,
        description=fields.text("description", longest=500),
        input_schema=_schema(fields, "inputSchema"),
        steps=_steps(fields),
        timeout=fields.duration("timeout"),
    )
    fields.unread()
    return flow


def _schema(fields: Fields, name: str) -> Mapping[str, Any]:
    value = fields.take(name)
    if value is None:
        return {"type": "object"}
    faults = check_schema(value, fields.at(name))
    fields.faults.extend(faults)
    return {} if faults else value


def _steps(fields: Fields) -> tuple[Step, ...]:
    value = fields.take("steps")
    if not isinstance(value, list) or not 1 <= len(value) <= STEP_LIMIT:
        what = f"{len(value)} steps" if isinstance(value, list) else kind_of(value)
        remedy = "make two Flows of it" if isinstance(value, list) and value else "write - id: name"
        fields.fault("steps", f"must be a list of 1 to {STEP_LIMIT} steps, not {what}", remedy)
        return ()
    ids = [entry.get("id") if isinstance(entry, Mapping) else None for entry in value]
    everything = frozenset(name for name in ids if isinstance(name, str))
    steps = []
    for position, entry in enumerate(value):
        earlier = frozenset(name for name in ids[:position] if isinstance(name, str))
        inner = Fields(entry, f"steps[{position}]", fields.faults, Scope(earlier, everything))
        if isinstance(entry, Mapping) and (step := _step(inner)) is not None:
            steps.append(step)
    return tuple(steps)


def _step(fields: Fields) -> Step | None:
    step_id = _step_id(fields)
    action = _action(fields)
    common = {
        "timeout": fields.duration("timeout"),
        "retry": _retry(fields),
        "when": fields.condition("when"),
        "on_crash": fields.choice("onCrash", ("rerun", "fail", "ask"), "rerun"),
    }
    kind = next((kind for kind in STEP_KINDS if fields.has(kind)), "")
    if kind in {"ask", "wait"}:
        _refuse_on_waits(fields, kind)
    fields.unread()
    return Step(id=step_id, kind=kind, action=action, **common) if action is not None else None  # type: ignore[arg-type]


def _step_id(fields: Fields) -> str:
    step_id = fields.text("id", required=True, longest=63)
    if step_id and not STEP_ID.match(step_id):
        fields.fault("id", f"{shown(step_id)} is not a step name", "use a-z, 0-9 and _, starting with a letter")
    if step_id in fields.scope.earlier:
        fields.fault("id", f"{shown(step_id)} is used by an earlier step as well", "each step has a name of its own")
    return step_id


def _action(fields: Fields) -> Action | None:
    written = [kind for kind in STEP_KINDS if fields.has(kind)]
    fields.known.extend(STEP_KINDS)
    if len(written) != 1:
        found, remedy = (" and ".join(written), "make a step of each") if written else ("none of them", "add one")
        fields.fault("", f"must have exactly one of {', '.join(STEP_KINDS)}, not {found}", remedy)
    actions = [READERS[kind](fields.inner(kind)) for kind in written]
    return actions[0] if len(actions) == 1 else None


def _refuse_on_waits(fields: Fields, kind: str) -> None:
    other = "expiresAfter" if kind == "ask" else "for or until"
    for name in ("timeout", "retry"):
        if fields.has(name):
            fields.fault(name, f"has no meaning for a step that is a {kind}", f"it ends by its own {other}")
    if fields.values.get("onCrash") == "ask":
        fields.fault("onCrash", f"ask has no meaning for a step that is a {kind}", "a crash never interrupts it")


def _retry(fields: Fields) -> Retry:
    if not fields.has("retry"):
        fields.take("retry")
        return Retry()
    inner = fields.inner("retry")
    retry = Retry(
        attempts=inner.integer("attempts", 1, least=1, most=100),
        backoff=inner.duration("backoff") or DEFAULT_BACKOFF,
        max_backoff=inner.duration("maxBackoff") or DEFAULT_MAX_BACKOFF,
    )
    inner.unread()
    return retry


def _command(fields: Fields) -> Command:
    command = Command(
        argv=_argv(fields),
        cwd=fields.template("cwd", longest=4096),
        env=_environment(fields),
        no_work_exit_code=fields.integer("noWorkExitCode", 0, least=1, most=255) or None,
    )
    fields.unread()
    return command


def _argv(fields: Fields) -> tuple[str, ...]:
    value = fields.take("argv")
    if isinstance(value, str):
        fields.fault("argv", "must be a list, not one string", "write [program, argument, …]; no shell is involved")
        return ()
    if not isinstance(value, list) or not value:
        fields.fault("argv", "must be a list with the program and its arguments", "write [echo, hello]")
        return ()
    for position, part in enumerate(value):
        if not isinstance(part, str):
            fields.fault(f"argv[{position}]", f"must be text, not {kind_of(part)}", "put it in quotes")
        elif "\0" in part:
            fields.fault(f"argv[{position}]", "must not contain a NUL character", "remove it")
    if isinstance(value[0], str) and not value[0].strip():
        fields.fault("argv[0]", "must name a program", "write its name or path")
    fields.check("argv", value)
    return tuple(str(part) for part in value)


def _environment(fields: Fields) -> dict[str, Any]:
    values = fields.named_values("env", ENV_NAME, "environment variable")
    for name in values:
        if str(name).startswith(RESERVED_ENV):
            fields.fault(
                f"env.{name}", f"names beginning with {RESERVED_ENV} are set by the worker", "use another name"
            )
    return values


def _http(fields: Fields) -> Http:
    method = fields.choice("method", METHODS, "GET")
    url = fields.template("url", required=True)
    if url and "{{" not in url.split("/", 3)[0] and not re.match(r"^https?://[^/]", url):
        fields.fault("url", f"{shown(url)} is not an http or https address", "write it like https://host/path")
    body = fields.template("body", longest=65_536) if fields.has("body") else fields.take("body")
    content = fields.take("json")
    fields.check("json", content)
    if body is not None and content is not None:
        fields.fault("json", "cannot stand beside body", "write one of the two")
    http = Http(
        method=method,
        url=url,
        headers=fields.named_values("headers", HEADER_NAME, "header"),
        body=body,
        json=content,
        expect=_expect(fields),
    )
    fields.unread()
    return http


def _expect(fields: Fields) -> tuple[int, ...]:
    if not fields.has("expect"):
        fields.take("expect")
        return ()
    inner = fields.inner("expect")
    value = inner.take("status")
    codes = value if isinstance(value, list) else [value]
    if not codes or any(
        isinstance(code, bool) or not isinstance(code, int) or not 100 <= code <= 599 for code in codes
    ):
        inner.fault("status", "must be one or more HTTP status codes from 100 to 599", "write [200, 204]")
        codes = []
    inner.unread()
    return tuple(codes)


def _python(fields: Fields) -> Python:
    name = fields.text("callable", required=True, longest=300)
    if name and not CALLABLE.match(name):
        remedy = "write package.module:function"
        fields.fault("callable", f"{shown(name)} does not name a function of a module", remedy)
    args = fields.take("args")
    if args is not None and not isinstance(args, list | Mapping):
        fields.fault("args", f"must be a list or a mapping of arguments, not {kind_of(args)}", "write [1, two]")
    fields.check("args", args)
    python = Python(callable=name, args=args, cwd=fields.template("cwd"), env=_environment(fields))
    fields.unread()
    return python


def _ask(fields: Fields) -> Ask:
    if not fields.has("kind"):
        fields.fault("kind", f"is required: one of {', '.join(ACTION_KINDS)}", "write the one that fits")
    ask = Ask(
        kind=fields.choice("kind", ACTION_KINDS, "confirmationRequired"),  # type: ignore[arg-type]
        title=fields.template("title", required=True, longest=300),
        message=fields.template("message"),
        schema=_schema(fields, "schema") if fields.has("schema") else fields.take("schema") or {},
        choices=_choices(fields),
        expires_after=fields.duration("expiresAfter") or DEFAULT_EXPIRY,
        on_reject=fields.choice("onReject", ("fail", "continue"), "fail"),  # type: ignore[arg-type]
        on_expiry=fields.choice("onExpiry", ("fail", "continue"), "fail"),  # type: ignore[arg-type]
    )
    _check_ask(fields, ask)
    fields.unread()
    return ask


def _check_ask(fields: Fields, ask: Ask) -> None:
    kind = fields.values.get("kind")
    if kind is not None and kind not in ACTION_KINDS:
        return
    if kind == "choiceRequired" and not fields.has("choices"):
        fields.fault("choices", "is required where a choice is asked for", "write [one, two]")
    if kind not in {"choiceRequired", None} and ask.choices:
        fields.fault("choices", f"has no meaning for {kind}", "use kind: choiceRequired")
    if kind == "inputRequired" and not fields.has("schema"):
        fields.fault("schema", "is required where input is asked for", "describe the values as a JSON Schema")
    if kind in {"choiceRequired", "confirmationRequired"} and fields.has("schema"):
        fields.fault("schema", f"has no meaning for {kind}", "use inputRequired or approvalRequired")


def _choices(fields: Fields) -> tuple[str, ...]:
    value = fields.take("choices")
    if value is None:
        return ()
    if not isinstance(value, list) or not 2 <= len(value) <= 100 or not all(isinstance(one, str) for one in value):
        fields.fault("choices", "must be a list of 2 to 100 texts", "write [one, two]")
        return ()
    if len(set(value)) != len(value):
        fields.fault("choices", "must not repeat a choice", "write each once")
    fields.check("choices", value)
    return tuple(value)


def _wait(fields: Fields) -> Wait:
    if fields.has("for") == fields.has("until"):
        fields.fault("", "must have exactly one of for and until", "write for: PT5M, or until: an instant")
    length = fields.duration("for")
    until = fields.template("until") or None
    if until and "{{" not in until:
        _check_instant(fields, until)
    fields.unread()
    return Wait(for_=length, until=until)


def _check_instant(fields: Fields, text: str) -> None:
    try:
        parse_instant(text)
    except ValueError as error:
        fields.fault("until", str(error), "write it like 2026-03-29T02:30:00+01:00")


def parse_instant(text: object) -> datetime:
    """Return an aware instant from RFC 3339 text; raises ValueError with one sentence."""
    try:
        instant = datetime.fromisoformat(str(text).strip())
    except ValueError:
        raise ValueError(f"{shown(str(text))} is not an instant, nor {{{{ an expression }}}}") from None
    if instant.tzinfo is None:
        raise ValueError(f"{shown(str(text))} has no offset")
    return instant


READERS: dict[str, Callable[[Fields], Action]] = {
    "command": _command,
    "http": _http,
    "python": _python,
    "ask": _ask,
    "wait": _wait,
}

__all__ = ["FlowDefinition", "near", "parse_flow", "parse_instant"]
