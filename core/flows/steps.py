"""The parts of a Flow as frozen values: five kinds of step and what they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

ActionKind = Literal["inputRequired", "confirmationRequired", "choiceRequired", "approvalRequired"]
ACTION_KINDS: tuple[str, ...] = ("inputRequired", "confirmationRequired", "choiceRequired", "approvalRequired")
STEP_KINDS: tuple[str, ...] = ("command", "http", "python", "ask", "wait")
METHODS: tuple[str, ...] = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
DEFAULT_EXPIRY = timedelta(days=7)
DEFAULT_BACKOFF = timedelta(seconds=1)
DEFAULT_MAX_BACKOFF = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a step is tried in all, and how long between: doubling from `backoff` up to `max_backoff`."""

    attempts: int = 1
    backoff: timedelta = DEFAULT_BACKOFF
    max_backoff: timedelta = DEFAULT_MAX_BACKOFF

    def pause_after(self, attempt: int) -> timedelta:
        """Return the wait after the `attempt`-th try (1-based) has failed."""
        factor: int = 2 ** min(attempt - 1, 24)
        return min(self.backoff * factor, self.max_backoff)


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments; no shell is involved. Exit status `no_work_exit_code` says "nothing to do"."""

    argv: tuple[str, ...]
    cwd: str = ""
    env: Mapping[str, Any] = field(default_factory=dict)
    no_work_exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Http:
    """One HTTP request; any status in `expect` is success (default: every 2xx)."""

    method: str
    url: str
    headers: Mapping[str, Any] = field(default_factory=dict)
    body: str | None = None
    json: Any = None
    expect: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Python:
    """A call of `module:function` in a Python process of its own; what it returns is the output."""

    callable: str
    args: Any = None
    cwd: str = ""
    env: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a person; the step's output is {decision, values, by, at}."""

    kind: ActionKind
    title: str
    message: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    expires_after: timedelta = DEFAULT_EXPIRY
    on_reject: Literal["fail", "continue"] = "fail"
    on_expiry: Literal["fail", "continue"] = "fail"


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause of a length, or until an instant (a literal one or an expression that yields one)."""

    for_: timedelta | None = None
    until: str | None = None


Action = Command | Http | Python | Ask | Wait


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what it does, and when, how long, how often, and what a crash in the middle means."""

    id: str
    kind: Literal["command", "http", "python", "ask", "wait"]
    action: Action
    timeout: timedelta | None = None
    retry: Retry = Retry()
    when: str | None = None
    on_crash: Literal["rerun", "fail", "ask"] = "rerun"


@dataclass(frozen=True, slots=True)
class FlowDefinition:
    """A checked Flow: its input's schema and its steps in sequence; `timeout` bounds a whole run with its waits."""

    display_name: str
    description: str
    input_schema: Mapping[str, Any]
    steps: tuple[Step, ...]
    timeout: timedelta | None = None
