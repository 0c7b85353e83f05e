"""What the world says about candidates, asked for all of them at once: may it run, what would run, what is active."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.access.service import authorise_many
from core.admission.decide import Active, Facts, Refusal
from core.admission.plan import Target
from core.admission.rows import ResolvedTarget
from core.errors import Fault
from core.flows.resolve import Resolved, resolve_many
from core.flows.schema import validate_input
from core.storage.admission import ActiveRow, active_work
from core.storage.store import Transaction

KEPT_CHECKS = 20_000


@dataclass(frozen=True, slots=True)
class Want:
    """One candidate's question: whether this principal may run this target with this input for this Trigger."""

    workspace_id: str
    principal_id: str
    trigger_uid: str
    generation: int
    target: Target
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """Facts for the decision, and the exact version where nothing refuses."""

    facts: Facts
    target: ResolvedTarget | None


class Inputs:
    """Checks of inputs by schema, remembered: neither a generation's input nor a version's schema ever changes."""

    def __init__(self, limit: int = KEPT_CHECKS) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[str, int, str, int], str] = OrderedDict()

    def fault(self, want: Want, found: Resolved) -> str:
        """Return what is wrong with the input in one sentence, nothing where it fits."""
        key = (want.trigger_uid, want.generation, found.flow_uid, found.version)
        if key not in self._kept:
            self._kept[key] = input_fault(found.input_schema, want.input)
            if len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return self._kept[key]


def input_fault(schema: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """Return every fault of an input as one sentence, nothing where it fits the schema."""
    return "; ".join(fault.under("input").sentence() for fault in validate_input(schema, values))


def given_faults(tx: Transaction, want: Want) -> list[Fault]:
    """Return every fault of an input that a person just wrote, one by one."""
    target = resolve_many(tx, {_address(want)})[_address(want)]
    faults = validate_input(target.input_schema, want.input) if isinstance(target, Resolved) else []
    return [fault.under("input") for fault in faults]


def gather(tx: Transaction, wants: Sequence[Want], inputs: Inputs) -> dict[str, Answer]:
    """Return the answers by Trigger uid, in a constant number of queries."""
    if not wants:
        return {}
    allowed = authorise_many(tx, {(want.workspace_id, want.principal_id) for want in wants})
    resolved = resolve_many(tx, {_address(want) for want in wants})
    active = active_work(tx, (want.trigger_uid for want in wants))
    found = {}
    for want in wants:
        verdict = allowed[want.workspace_id, want.principal_id]
        target = resolved[_address(want)]
        refusal = Refusal("denied", verdict.why) if not verdict else _refusal(want, target, inputs)
        facts = Facts(refusal, waiting(active.get(want.trigger_uid, ())))
        found[want.trigger_uid] = Answer(facts, None if refusal else _exact(want.target, target))
    return found


def waiting(rows: Iterable[ActiveRow]) -> tuple[Active, ...]:
    """Return active Work with what it waits for in words."""
    return tuple(Active(row.work_id, row.status, _waits(row)) for row in rows)


def _waits(row: ActiveRow) -> str:
    if row.question:
        return f'waits for an answer to "{row.question}"'
    if row.status in {"waitingForInput", "waitingForApproval"}:
        return "waits for an answer"
    return f"is still {row.status}"


def _address(want: Want) -> tuple[str, str, str, int | None]:
    return (want.workspace_id, want.target.namespace, want.target.name, want.target.version)


def _refusal(want: Want, target: Resolved | Fault, inputs: Inputs) -> Refusal | None:
    if isinstance(target, Fault):
        return Refusal("target_unresolved", f"{target.message}; {target.remedy}" if target.remedy else target.message)
    fault = inputs.fault(want, target)
    return Refusal("input_invalid", fault) if fault else None


def _exact(target: Target, found: Resolved | Fault) -> ResolvedTarget | None:
    if isinstance(found, Fault):
        return None
    return ResolvedTarget(found.flow_uid, target.namespace, target.name, found.version)
