"""A Trigger's definition, read once per generation and zone data: what evaluation needs of it."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from core import zones
from core.admission.decide import Policy
from core.admission.identity import due_time
from core.errors import Fault, Invalid
from core.resources.trigger import TriggerDefinition, parse_trigger
from core.triggers import EVALUATOR_VERSION, Schedule, known_schedule

KEPT_PLANS = 20_000


@dataclass(frozen=True, slots=True)
class Target:
    """The Flow that a Trigger points at; `version` None is the active one."""

    namespace: str
    name: str
    version: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """One generation of a Trigger, ready to be evaluated."""

    workspace_id: str
    uid: str
    generation: int
    schedule: Schedule
    policy: Policy
    target: Target
    input: Mapping[str, Any]
    title: str

    @property
    def time_zone(self) -> str | None:
        """Return the zone whose wall times the rule follows, if it follows any."""
        return self.schedule.zone.name if self.schedule.zone else None

    def due_of(self, nominal: int) -> int:
        """Return when a nominal time is due."""
        return due_time(self.schedule, self.workspace_id, self.uid, nominal)


class Plans:
    """Plans by Trigger, kept while generation and zone data stay the same; bounded, and for any thread."""

    def __init__(self, limit: int = KEPT_PLANS) -> None:
        self._limit = limit
        self._kept: OrderedDict[str, tuple[str, Plan]] = OrderedDict()
        self._lock = Lock()

    def known(self, uid: str, generation: int) -> Plan | None:
        """Return the plan of exactly this generation under the present zone data, if it is kept."""
        with self._lock:
            kept = self._kept.get(uid)
            if kept is None or kept[0] != fingerprint(generation):
                return None
            self._kept.move_to_end(uid)
            return kept[1]

    def keep(self, plan: Plan) -> Plan:
        """Keep a plan, letting go of the one that was used longest ago where there are too many."""
        with self._lock:
            self._kept[plan.uid] = (fingerprint(plan.generation), plan)
            if len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return plan


def fingerprint(generation: int) -> str:
    """Return what a projection was computed with; another text means that it wants computing again."""
    return f"{generation}/{zones.data_version()}/{EVALUATOR_VERSION}"


def zone_data_of(fingerprint_text: str | None) -> str | None:
    """Return the zone data release that a stored fingerprint names."""
    parts = (fingerprint_text or "").split("/")
    return parts[1] if len(parts) == 3 else None


def unprojected(fingerprint_text: str | None) -> str | None:
    """Return the fingerprint of a Trigger without a next time: no projection has it, the mark's zone data is in it."""
    data = zone_data_of(fingerprint_text)
    return None if data is None else f"0/{data}/0"


def read_plan(workspace_id: str, uid: str, generation: int, definition: str) -> Plan:
    """Return the plan that a definition's JSON text says; raise `Invalid` with every fault found."""
    try:
        read = json.loads(definition)
    except ValueError as error:
        raise Invalid([Fault("definition", "is not readable JSON", "save the Trigger again")]) from error
    return plan_of(workspace_id, uid, generation, read)


def plan_of(workspace_id: str, uid: str, generation: int, definition: Mapping[str, Any]) -> Plan:
    """Return the plan that a definition says; raise `Invalid` with every fault found."""
    trigger = _read(definition)
    flow = trigger.target.flow
    return Plan(
        workspace_id=workspace_id,
        uid=uid,
        generation=generation,
        schedule=_schedule(trigger.schedule),
        policy=Policy(
            misfire=trigger.misfire_policy,
            misfire_threshold_s=trigger.misfire_threshold.total_seconds(),
            overlap=trigger.concurrency_policy,
            max_active=trigger.max_active,
        ),
        target=Target(flow.namespace, flow.name, flow.version),
        input=trigger.input,
        title=trigger.display_name or "",
    )


def _read(definition: Mapping[str, Any]) -> TriggerDefinition:
    try:
        return parse_trigger(definition)
    except Invalid as broken:
        raise broken.under("definition") from None


def _schedule(rule: Mapping[str, Any]) -> Schedule:
    try:
        return known_schedule(rule)
    except Invalid as broken:
        raise broken.under("definition.source.schedule") from None
