"""What a simulated workspace is furnished with: Flows of every kind of step and crash policy, and awkward schedules."""

from __future__ import annotations

import random
from typing import Any

TRIGGERS = 6
DOUBTFUL = "pay"
"""The id of every step whose Flow says `onCrash: ask`."""

_PROGRAM = {"argv": ["simulated"]}
_TRIES = {"attempts": 3, "backoff": "PT5M"}

FLOWS: dict[str, dict[str, Any]] = {
    "slow": {"steps": [{"id": "hold", "wait": {"for": "PT3H"}}, {"id": "rest", "wait": {"for": "PT40M"}}]},
    "quick": {"steps": [{"id": "skipped", "when": "false", "wait": {"for": "PT1H"}}]},
    "asks": {
        "steps": [
            {"id": "ok", "ask": {"kind": "approvalRequired", "title": "Go on?", "expiresAfter": "PT20H"}},
            {"id": "rest", "command": _PROGRAM},
        ]
    },
    "lenient": {
        "steps": [
            {
                "id": "size",
                "ask": {
                    "kind": "inputRequired",
                    "title": "How many?",
                    "expiresAfter": "PT5H",
                    "onExpiry": "continue",
                    "schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
                },
            }
        ]
    },
    "sturdy": {
        "steps": [
            {"id": "fetch", "command": _PROGRAM, "retry": _TRIES},
            {"id": "load", "command": _PROGRAM, "timeout": "PT90M"},
        ]
    },
    "careful": {
        "steps": [
            {"id": DOUBTFUL, "command": _PROGRAM, "onCrash": "ask", "retry": _TRIES},
            {"id": "tell", "command": _PROGRAM, "onCrash": "fail"},
        ]
    },
    "hurried": {
        "timeout": "PT9H",
        "steps": [
            {"id": DOUBTFUL, "command": _PROGRAM, "onCrash": "ask"},
            {"id": "rest", "wait": {"for": "PT30M"}},
            {"id": "again", "command": _PROGRAM},
        ],
    },
}

SCHEDULES: list[dict[str, Any]] = [
    {"type": "cron", "expression": "0 30 2 * * ?", "timeZone": "Europe/Berlin"},
    {"type": "cron", "expression": "0 0 * * * ?", "timeZone": "America/New_York"},
    {"type": "cron", "expression": "0 15 9 ? * MON-FRI", "timeZone": "Asia/Kathmandu", "jitter": "PT45M"},
    {"type": "cron", "expression": "0 0/5 * * * ?", "timeZone": "Australia/Lord_Howe"},
    {"type": "cron", "expression": "0 0 0 L * ?", "timeZone": "Africa/Casablanca"},
    {"type": "cron", "expression": "0 45 1 * * ?", "timeZone": "Africa/Casablanca"},
    {"type": "interval", "every": "PT7H", "startAt": "2026-03-01T00:00:00Z"},
    {"type": "interval", "every": "P1D", "startAt": "2026-02-28T02:15:00+01:00", "timeZone": "Europe/Berlin"},
    {"type": "interval", "every": "PT1S", "startAt": "2026-03-03T00:00:00Z", "endAt": "2026-03-20T00:00:00Z"},
    {"type": "cron", "expression": "0 0 6 * * ?", "timeZone": "UTC", "startAt": "2026-03-02T00:00:00Z",
     "maxOccurrences": 9},
    {"type": "once", "at": "2026-03-15T10:00:00+01:00"},
]  # fmt: skip


def flow_documents() -> list[dict[str, Any]]:
    """Return every Flow."""
    return [document("Flow", name, {"displayName": name, **body}) for name, body in FLOWS.items()]


def trigger_documents(draw: random.Random) -> list[dict[str, Any]]:
    """Return some Triggers, all enabled, of drawn schedules, targets and policies."""
    chosen = enumerate(draw.sample(SCHEDULES, TRIGGERS))
    return [document("Trigger", f"t{number}", _definition(draw, f"Trigger {number}", rule)) for number, rule in chosen]


def document(kind: str, name: str, definition: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest."""
    return {
        "apiVersion": "agentstration.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "definition": definition,
    }


def _definition(draw: random.Random, display_name: str, schedule: dict[str, Any]) -> dict[str, Any]:
    return {
        "displayName": display_name,
        "enabled": True,
        "source": {"kind": "schedule", "schedule": schedule},
        "target": {"kind": "flow", "flow": {"name": draw.choice(list(FLOWS))}},
        "misfirePolicy": draw.choice(["skip", "fireOnce"]),
        "concurrencyPolicy": draw.choice(["skip", "allow"]),
    }
