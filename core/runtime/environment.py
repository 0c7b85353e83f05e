"""The environment of a step's process: little of the worker's, all of the step's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.flows.expressions import render_text
from core.runtime.context import StepContext

INHERITED = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR"}
    | {"PYTHONPATH", "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK"}
)
FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin"


def step_environment(context: StepContext, written: Mapping[str, Any], output: Path) -> dict[str, str]:
    """Return the whole environment of a step's process.

    From the worker: only INHERITED and LC_*; never its secrets. Over that what the Flow's `env` says, and over
    everything the TRIGGERDECK_ variables.
    """
    base = {name: value for name, value in os.environ.items() if name in INHERITED or name.startswith("LC_")}
    base.setdefault("PATH", FALLBACK_PATH)
    return {**base, **named_values(context, written), **context.environment(output)}


def named_values(context: StepContext, written: Mapping[str, Any]) -> dict[str, str]:
    """Return environment variables or headers with their templates evaluated and their secrets read."""
    return {name: _value(context, value) for name, value in written.items()}


def _value(context: StepContext, value: Any) -> str:
    if isinstance(value, Mapping):
        return context.secret(str(value["secretRef"]))
    return render_text(str(value), context.values)
