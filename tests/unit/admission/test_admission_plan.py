"""What evaluation reads from a definition, and what it remembers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core import zones
from core.admission.decide import Policy
from core.admission.plan import Plan, Plans, Target, fingerprint, plan_of, read_plan, zone_data_of
from core.errors import Invalid

RULE = {"type": "cron", "expression": "0 0 9 * * ?", "timeZone": "Europe/Berlin", "jitter": "PT10M"}
DEFINITION: dict[str, Any] = {
    "source": {"schedule": RULE},
    "target": {"flow": {"name": "import", "namespace": "etl", "version": 3}},
    "misfirePolicy": "skip",
    "misfireThreshold": "PT5M",
    "concurrencyPolicy": "allow",
    "maxActive": 2,
}


def plan(uid: str = "t", generation: int = 1, **fields: Any) -> Plan:
    return plan_of("w", uid, generation, {**DEFINITION, **fields})


def test_a_plan_holds_policy_target_zone_and_input() -> None:
    made = plan(input={"a": 1}, displayName="Import")
    assert made.policy == Policy("skip", 300.0, "allow", 2)
    assert made.target == Target("etl", "import", 3)
    assert (made.time_zone, made.input, made.title) == ("Europe/Berlin", {"a": 1}, "Import")


def test_the_due_time_of_a_nominal_time_is_the_same_for_every_generation_and_differs_between_triggers() -> None:
    nominal = plan().schedule.next(1_772_442_000)
    assert nominal is not None
    due = plan().due_of(nominal)
    assert nominal <= due <= nominal + 600
    assert plan(generation=7).due_of(nominal) == due
    assert len({plan(uid=f"t{number}").due_of(nominal) for number in range(20)}) > 5


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("misfirePolicy", "catchUp"),
        ("concurrencyPolicy", "join"),
        ("concurrencyPolicy", "buffer"),
        ("concurrencyPolicy", "replace"),
    ],
)
def test_policies_of_a_later_version_are_refused_by_name(field: str, value: str) -> None:
    with pytest.raises(Invalid) as refused:
        plan(**{field: value, "maxActive": None})
    (fault,) = refused.value.faults
    assert fault.field == f"definition.{field}"
    assert value in fault.message
    assert "use " in fault.remedy


@pytest.mark.parametrize("text", ["", "{", "[1]", "7", "null", '{"source": 1}', '{"source": {"schedule": {}}}'])
def test_a_definition_that_says_nothing_is_invalid_and_never_another_error(text: str) -> None:
    with pytest.raises(Invalid):
        read_plan("w", "t", 1, text)


def test_a_plan_is_known_for_its_own_generation_and_zone_data_only(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = Plans()
    kept = plans.keep(read_plan("w", "t", 1, json.dumps(DEFINITION)))
    assert plans.known("t", 1) is kept
    assert plans.known("t", 2) is None
    monkeypatch.setattr(zones, "data_version", lambda: "2099z")
    assert plans.known("t", 1) is None


def test_the_plan_that_was_used_longest_ago_goes_first() -> None:
    plans = Plans(limit=2)
    for uid in ("a", "b"):
        plans.keep(plan(uid))
    plans.known("a", 1)
    plans.keep(plan("c"))
    assert [uid for uid in "abc" if plans.known(uid, 1)] == ["a", "c"]


def test_a_fingerprint_names_the_zone_data_that_it_was_made_with() -> None:
    assert zone_data_of(fingerprint(4)) == zones.data_version()
    assert zone_data_of(None) is None
