"""The JSON Schema of each kind, for editors: what a file may say. `apply` checks more than a schema can."""

from __future__ import annotations

from typing import Any, Final

from core.errors import NotFound
from core.flows.steps import ACTION_KINDS, METHODS, STEP_KINDS
from core.resources.documents import API_VERSION, KINDS
from core.resources.names import ANNOTATION_LENGTH, ANNOTATION_LIMIT, NAME, NAMESPACE, TAG_LENGTH, TAG_LIMIT, near
from core.resources.trigger import LATER_FIELDS, LATER_VALUES, TriggerDefinition

Schema = dict[str, Any]
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Final[Schema] = {"type": "string"}
_DURATION: Final[Schema] = {
    "type": "string",
    "pattern": "^P",
    "description": "ISO-8601 duration",
    "examples": ["PT30S", "P1D"],
}
_INSTANT: Final[Schema] = {"type": "string", "format": "date-time"}
_SECRET: Final[Schema] = {
    "type": "object",
    "properties": {"secretRef": _TEXT},
    "required": ["secretRef"],
    "additionalProperties": False,
}
_NAMED: Final[Schema] = {"type": "object", "additionalProperties": {"anyOf": [_TEXT, _SECRET]}}


def json_schema(kind: str) -> Schema:
    """Return the JSON Schema (2020-12) of a kind's whole envelope; raises NotFound for an unknown kind."""
    known = near(kind, KINDS)
    if known not in KINDS:
        raise NotFound(f"there is no kind {kind}", f"name {' or '.join(KINDS)}")
    definition = _trigger() if known == "Trigger" else _flow()
    definitions = definition.pop("$defs", {})
    envelope = _closed(
        {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": known},
            "metadata": _metadata(),
            "definition": definition,
            "status": {"description": "set by the server, ignored in a file"},
        },
        "apiVersion",
        "kind",
        "metadata",
        "definition",
    )
    return {"$schema": DIALECT, "title": known, **envelope, "$defs": definitions}


def _closed(properties: Schema, *required: str) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _metadata() -> Schema:
    server = {"description": "set by the server, ignored in a file"}
    tag = {"type": "string", "minLength": 1, "maxLength": TAG_LENGTH}
    annotation = {"type": "string", "maxLength": ANNOTATION_LENGTH}
    return _closed(
        {
            "namespace": {"type": "string", "pattern": f"^{NAMESPACE.pattern}$"},
            "name": {"type": "string", "pattern": f"^{NAME.pattern}$"},
            "tags": {"type": "array", "items": tag, "maxItems": TAG_LIMIT, "uniqueItems": True},
            "annotations": {
                "type": "object",
                "additionalProperties": annotation,
                "maxProperties": ANNOTATION_LIMIT,
            },
            "eTag": {"type": "string", "minLength": 1, "description": "apply only if this is still the stored one"},
            **dict.fromkeys(("uid", "tenantId", "workspaceId", "generation", "createdAt", "updatedAt"), server),
        },
        "name",
    )


def _trigger() -> Schema:
    schema = TriggerDefinition.model_json_schema(by_alias=True)
    schema["properties"]["executionScope"] = {"description": "set by the server, ignored in a file"}
    schema["properties"]["misfireThreshold"] = {**_DURATION, "default": "PT1M"}
    source = schema["$defs"]["Source"]
    source["properties"]["schedule"] = {"oneOf": [_once(), _cron(), _interval()]}
    source["required"] = ["schedule"]
    _name(schema["$defs"]["FlowTarget"]["properties"])
    _leave_out_later(schema)
    for part in (schema, *schema["$defs"].values()):
        _leave_out_code(part)
    return schema


def _name(flow: Schema) -> None:
    flow["name"]["pattern"] = f"^{NAME.pattern}$"
    flow["namespace"]["pattern"] = f"^{NAMESPACE.pattern}$"
    flow["version"]["description"] = "without one: the active version"


def _leave_out_code(part: Schema) -> None:
    """Take away what only the code calls by these names."""
    for words in (part, *part["properties"].values()):
        words.pop("title", None)
    part.pop("description", None)


def _leave_out_later(schema: Schema) -> None:
    """Take away what the types know and this version refuses, so that no editor offers it."""
    for field in LATER_FIELDS:
        del schema["properties"][field]
    for path, values in LATER_VALUES.items():
        owner, _, name = path.rpartition(".")
        place = schema["$defs"][owner.capitalize()] if owner else schema
        words = place["properties"][name]
        words["enum"] = [word for word in words["enum"] if word not in values]


def _once() -> Schema:
    return _closed({"type": {"const": "once"}, "at": _INSTANT, **_everywhere()}, "type", "at")


def _cron() -> Schema:
    expression = {"type": "string", "description": "Quartz: second minute hour day month weekday [year]"}
    own = {"type": {"const": "cron"}, "expression": expression, **_bounded(), **_everywhere()}
    return _closed(own, "type", "expression", "timeZone")


def _interval() -> Schema:
    every = {**_DURATION, "description": "ISO-8601 duration: PT15M is elapsed time, P1D calendar days"}
    own = {"type": {"const": "interval"}, "every": every, **_bounded(), **_everywhere()}
    return _closed(own, "type", "every", "startAt")


def _everywhere() -> Schema:
    zone = {"type": "string", "description": "IANA time zone", "examples": ["Europe/Berlin"]}
    return {"timeZone": zone, "jitter": _DURATION}


def _bounded() -> Schema:
    policies = {
        "gap": {"enum": ["auto", "shift", "skip"]},
        "overlap": {"enum": ["auto", "first", "second", "both"]},
    }
    return {
        "daylightSaving": _closed(policies),
        "startAt": {**_INSTANT, "description": "first nominal time, inclusive"},
        "endAt": {**_INSTANT, "description": "end of the nominal times, exclusive"},
        "maxOccurrences": {"type": "integer", "minimum": 1},
    }


def _flow() -> Schema:
    return _closed(
        {
            "displayName": {"type": "string", "minLength": 1, "maxLength": 120},
            "description": {"type": "string", "maxLength": 500},
            "inputSchema": {"type": "object", "description": "JSON Schema of the input"},
            "timeout": _DURATION,
            "steps": {"type": "array", "items": _step(), "minItems": 1, "maxItems": 100},
        },
        "steps",
    )


def _step() -> Schema:
    retry = {"attempts": {"type": "integer", "minimum": 1}, "backoff": _DURATION, "maxBackoff": _DURATION}
    shared = {
        "id": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,62}$"},
        "timeout": _DURATION,
        "retry": _closed(retry),
        "when": {"type": "string", "description": "expression over input, occurrence and earlier steps"},
        "onCrash": {"enum": ["rerun", "fail", "ask"]},
    }
    kinds = {"command": _command(), "http": _http(), "python": _python(), "ask": _ask(), "wait": _wait()}
    step = _closed(shared | {kind: kinds[kind] for kind in STEP_KINDS}, "id")
    return step | {"oneOf": [{"required": [kind]} for kind in STEP_KINDS]}


def _command() -> Schema:
    argv = {"type": "array", "items": _TEXT, "minItems": 1}
    code = {"type": "integer", "minimum": 1, "maximum": 255}
    return _closed({"argv": argv, "cwd": _TEXT, "env": _NAMED, "noWorkExitCode": code}, "argv")


def _http() -> Schema:
    code = {"type": "integer", "minimum": 100, "maximum": 599}
    status = {"anyOf": [code, {"type": "array", "items": code, "minItems": 1}]}
    return _closed(
        {
            "method": {"enum": list(METHODS)},
            "url": _TEXT,
            "headers": _NAMED,
            "body": _TEXT,
            "json": {},
            "expect": _closed({"status": status}, "status"),
        },
        "url",
    )


def _python() -> Schema:
    args = {"type": ["array", "object"]}
    name = {"type": "string", "description": "package.module:function"}
    return _closed({"callable": name, "args": args, "cwd": _TEXT, "env": _NAMED}, "callable")


def _ask() -> Schema:
    on = {"enum": ["fail", "continue"]}
    return _closed(
        {
            "kind": {"enum": list(ACTION_KINDS)},
            "title": _TEXT,
            "message": _TEXT,
            "schema": {"type": "object"},
            "choices": {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 100, "uniqueItems": True},
            "expiresAfter": _DURATION,
            "onReject": on,
            "onExpiry": on,
        },
        "kind",
        "title",
    )


def _wait() -> Schema:
    return _closed({"for": _DURATION, "until": _TEXT}) | {"minProperties": 1, "maxProperties": 1}
