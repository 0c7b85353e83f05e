"""The Flows and Triggers of a world: what a worker has to do there each day."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HANGS, UNSURE = "hangs", "unsure"
"""Triggers whose step hangs while a file of this name is in the world's folder."""
DEED = "deed"
"""The step of which nobody knows whether it was done when its worker dies in it."""
MANY = 6

_NOTED = 'echo "$TRIGGERDECK_RUN {step} $TRIGGERDECK_ATTEMPT" >> effects; echo noted'
_HANGING = "[ ! -e {file} ] || {{ sleep 1000 & wait; }}"
_DONE = """echo '{"token": "own"}' > "$TRIGGERDECK_OUTPUT" """
_TOLD = 'echo "$TRIGGERDECK_RUN $1" >> tokens'


def manifests(folder: Path) -> str:
    """Return some Flows and some Triggers that are due once a day."""
    documents = [_document("Flow", name, {"steps": steps}) for name, steps in _flows(folder).items()]
    for name, hour in ((UNSURE, 4), (HANGS, 5)):  # in flight before anything else
        documents.append(_trigger(name, name, f"0 0 {hour} * * ?"))
    documents += [_trigger(f"two-{number}", "two", "0 0 6 * * ?") for number in range(MANY)]
    others = {"asks": "asks", "waits": "waits", "bad": "two", "paused": "two"}
    documents += [_trigger(name, flow, "0 30 6 * * ?") for name, flow in others.items()]
    documents.append(_trigger("hourly", "two", "0 0 * * * ?"))
    documents.append(_trigger("missing", "two", "0 0 7 * * ?", misfirePolicy="skip"))
    return "\n---\n".join(map(json.dumps, documents))


def _flows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    first, second = (_command(step, folder) for step in ("first", "second"))
    question = {"id": "ok", "ask": {"kind": "approvalRequired", "title": "Go on?"}}
    return {
        "two": [first, second],
        "asks": [question, first],
        "waits": [{"id": "pause", "wait": {"for": "PT1H"}}, first],
        "naps": [{"id": "nap", "wait": {"until": "{{ input.until }}"}}, first],
        HANGS: [_command("only", folder, _HANGING.format(file=HANGS))],
        UNSURE: [
            {**_command(DEED, folder, _HANGING.format(file=UNSURE), _DONE), "onCrash": "ask"},
            _command("after", folder, _TOLD, arguments=["{{ steps.deed.output.token }}"]),
        ],
    }


def _command(step: str, folder: Path, *more: str, arguments: list[str] | None = None) -> dict[str, Any]:
    """Return a step that notes each of its tries."""
    script = "; ".join([_NOTED.format(step=step), *more])
    return {"id": step, "command": {"argv": ["/bin/sh", "-c", script, "sh", *(arguments or [])], "cwd": str(folder)}}


def _trigger(name: str, flow: str, expression: str, **fields: Any) -> dict[str, Any]:
    schedule = {"type": "cron", "expression": expression, "timeZone": "UTC"}
    source = {"kind": "schedule", "schedule": schedule}
    target = {"kind": "flow", "flow": {"name": flow}}
    policies = {"misfirePolicy": "fireOnce", "concurrencyPolicy": "skip", **fields}
    return _document("Trigger", name, {"enabled": True, "source": source, "target": target, **policies})


def _document(kind: str, name: str, definition: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "agentstration.io/v1", "kind": kind, "metadata": {"name": name}, "definition": definition}
