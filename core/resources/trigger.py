"""The definition of a Trigger: when, what it starts, and by which policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, StringConstraints, field_validator

from core.errors import Fault, Invalid
from core.flows.canonical import canonical_json
from core.flows.durations import parse_duration
from core.flows.reading import is_one_line
from core.resources.checking import Part, check
from core.resources.documents import DEFAULT_NAMESPACE
from core.resources.names import kind_of, name_faults, namespace_faults

INPUT_LIMIT_BYTES: Final = 65_536
MAX_ACTIVE_LIMIT: Final = 1_000
LARGEST_VERSION: Final = 2**31 - 1
SHORTEST_THRESHOLD: Final = timedelta(seconds=1)
LONGEST_THRESHOLD: Final = timedelta(days=31)
_AS_TEXT: Final = "write it as text, such as PT1M"

#: What the types know and this version does not take yet, by field.
LATER_VALUES: Final[dict[str, tuple[str, ...]]] = {
    "misfirePolicy": ("catchUp",),
    "concurrencyPolicy": ("join", "buffer", "replace"),
    "source.kind": ("event",),
}
LATER_FIELDS: Final = ("catchUp", "buffer")

MisfirePolicy = Literal["skip", "fireOnce", "catchUp"]
ConcurrencyPolicy = Literal["skip", "allow", "join", "buffer", "replace"]


def _threshold(value: object) -> timedelta:
    if not isinstance(value, str):
        raise ValueError(f"must be an ISO-8601 duration such as PT1M, not {kind_of(value)}; {_AS_TEXT}")  # noqa: TRY004 - pydantic
    try:
        length = parse_duration(value)
    except ValueError as error:
        raise ValueError(f"{error}; write a duration such as PT1M") from None
    if not SHORTEST_THRESHOLD <= length <= LONGEST_THRESHOLD:
        raise ValueError(f"{value} is out of range; write PT1S to P31D")
    return length


class FlowTarget(Part):
    """Names a Flow; without a version it is the active one at each firing."""

    name: str
    namespace: str = DEFAULT_NAMESPACE
    version: Annotated[int, Field(ge=1, le=LARGEST_VERSION)] | None = None

    @field_validator("name")
    @classmethod
    def _is_name(cls, value: str) -> str:
        return _raised(value, name_faults("", value))

    @field_validator("namespace")
    @classmethod
    def _is_namespace(cls, value: str) -> str:
        return _raised(value, namespace_faults("", value))


def _raised(value: str, faults: list[Fault]) -> str:
    if faults:
        raise ValueError(faults[0].sentence())
    return value


class Target(Part):
    """What a Trigger starts."""

    kind: Literal["flow"] = "flow"
    flow: FlowTarget


class Source(Part):
    """What makes a Trigger fire; `schedule` is read by `core.triggers.parse_schedule`."""

    kind: Literal["schedule", "event"] = "schedule"
    schedule: dict[str, Any] | None = None


class TriggerDefinition(Part):
    """A Trigger's definition with its defaults filled in; read it with `parse_trigger`."""

    display_name: Annotated[str, StringConstraints(min_length=1, max_length=120)] | None = None
    description: Annotated[str, StringConstraints(max_length=500)] = ""
    enabled: bool = False
    source: Source
    target: Target
    input: dict[str, Any] = Field(default_factory=dict)
    misfire_policy: MisfirePolicy = "fireOnce"
    misfire_threshold: Annotated[timedelta, BeforeValidator(_threshold)] = timedelta(minutes=1)
    catch_up: dict[str, Any] | None = None
    concurrency_policy: ConcurrencyPolicy = "skip"
    max_active: Annotated[int, Field(ge=1, le=MAX_ACTIVE_LIMIT)] | None = None
    buffer: dict[str, Any] | None = None

    @field_validator("display_name")
    @classmethod
    def _is_not_blank(cls, value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise ValueError("is blank; write 1 to 120 characters")
        if value is not None and not is_one_line(value):
            raise ValueError("holds a line end or a control character; write one plain line")
        return value

    @property
    def schedule(self) -> dict[str, Any]:
        """Return the mapping that `core.triggers.parse_schedule` reads."""
        return self.source.schedule or {}


def parse_trigger(definition: object) -> TriggerDefinition:
    """Return the definition as a value; raises Invalid with every fault but the schedule's own.

    Fields are relative to the definition.
    """
    faults = list(_later(definition)) if isinstance(definition, Mapping) else []
    try:
        trigger = check(TriggerDefinition, definition, later=LATER_VALUES)
    except Invalid as invalid:
        raise Invalid([*invalid.faults, *faults]) from None
    faults += _whole(trigger)
    if faults:
        raise Invalid(faults)
    return trigger


def trigger_faults(definition: Mapping[str, Any]) -> list[Fault]:
    """Return every fault of a definition, its schedule's included; nothing here depends on the time."""
    faults: list[Fault] = []
    try:
        parse_trigger(definition)
    except Invalid as invalid:
        faults += invalid.faults
    return faults + _schedule_faults(definition)


def schedule_faults(schedule: Mapping[str, Any], now: datetime | None = None) -> list[Fault]:
    """Return the faults of a schedule; with `now` also that it can never fire again."""
    from core.triggers import parse_schedule

    try:
        parse_schedule(schedule, now=now, prefix="source.schedule")
    except Invalid as invalid:
        return list(invalid.faults)
    return []


def _schedule_faults(definition: Mapping[str, Any]) -> list[Fault]:
    source = definition.get("source")
    schedule = source.get("schedule") if isinstance(source, Mapping) else None
    return schedule_faults(schedule) if isinstance(schedule, Mapping) else []


def _later(definition: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what the types know and this version does not do yet."""
    source = definition.get("source")
    given = {**definition, "source.kind": source.get("kind") if isinstance(source, Mapping) else None}
    instead = {"misfirePolicy": "skip or fireOnce", "concurrencyPolicy": "skip or allow", "source.kind": "schedule"}
    for field, values in LATER_VALUES.items():
        if given.get(field) in values:
            yield Fault(field, f"{given[field]} comes in a later version", f"use {instead[field]}", code="not_yet")
    for field in LATER_FIELDS:
        if isinstance(definition.get(field), Mapping):
            yield Fault(field, "comes in a later version", "remove it", code="not_yet")


def _whole(trigger: TriggerDefinition) -> Iterator[Fault]:
    """Yield what no single field can see."""
    if trigger.max_active is not None and trigger.concurrency_policy != "allow":
        remedy = "set concurrencyPolicy: allow, or remove it"
        yield Fault("maxActive", f"has no meaning where concurrencyPolicy is {trigger.concurrency_policy}", remedy)
    if trigger.source.kind == "schedule" and trigger.source.schedule is None:
        yield Fault("source.schedule", "is missing", "write {type: cron, expression: …, timeZone: …}")
    size = len(canonical_json(trigger.input).encode())
    if size > INPUT_LIMIT_BYTES:
        remedy = f"keep it under {INPUT_LIMIT_BYTES:,}, or pass a reference to the data"
        yield Fault("input", f"has {size:,} bytes", remedy)
