"""The dead-man's switch: tells an outside monitor, from the admission loop itself, that passes are made.

A monitor that hears nothing for a while raises the alarm; a worker that is dead, stuck or cannot use its database is
silent. A ping never delays admission: it goes out on a thread of its own, one at a time, with a short timeout.

    TRIGGERDECK_HEARTBEAT_URL=https://monitor.example/ping/nightly     a GET that answers 2xx
    TRIGGERDECK_HEARTBEAT_COMMAND="notify --alive"                     argv, never a shell; exit status 0
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from core.clock import Clock
from core.errors import Fault, Invalid

URL_VARIABLE = "TRIGGERDECK_HEARTBEAT_URL"
COMMAND_VARIABLE = "TRIGGERDECK_HEARTBEAT_COMMAND"
EVERY_S = 30.0
TIMEOUT_S = 5.0


class Tells(Protocol):
    """What the switch needs of the worker's log."""

    def info(self, event: str, **fields: object) -> None:
        """Tell that something went as it should."""
        ...

    def warning(self, event: str, **fields: object) -> None:
        """Tell that something did not."""
        ...


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Whom to tell: a URL, a command, both or nobody; at most every `every_s` seconds."""

    url: str | None = None
    command: tuple[str, ...] = ()
    every_s: float = EVERY_S
    timeout_s: float = TIMEOUT_S

    def __bool__(self) -> bool:
        """Say whether anybody is to be told."""
        return bool(self.url or self.command)


def heartbeat_settings(environ: Mapping[str, str] | None = None) -> Heartbeat:
    """Return what the environment says; raise `Invalid` with every fault of it."""
    given = os.environ if environ is None else environ
    url, line = given.get(URL_VARIABLE, "").strip(), given.get(COMMAND_VARIABLE, "").strip()
    faults = [fault for fault in (_url_fault(url), _command_fault(line)) if fault is not None]
    if faults:
        raise Invalid(faults)
    return Heartbeat(url or None, tuple(shlex.split(line)))


class Deadman:
    """Pings after passes; tells of failures once for each change."""

    def __init__(self, settings: Heartbeat, clock: Clock, log: Tells) -> None:
        self._settings = settings
        self._clock = clock
        self._log = log
        self._next_s = 0.0
        self._thread: threading.Thread | None = None
        self._said: dict[str, str | None] = {}

    def after_pass(self) -> bool:
        """Send a ping if one is due and none is on its way; return at once whether one was sent."""
        if not self._settings or (self._thread is not None and self._thread.is_alive()):
            return False
        now_s = self._clock.monotonic()
        if now_s < self._next_s:
            return False
        self._next_s = now_s + self._settings.every_s
        self._thread = threading.Thread(target=self._ping, name="heartbeat", daemon=True)
        self._thread.start()
        return True

    def settle(self, timeout_s: float) -> bool:
        """Wait for a ping that is on its way; return whether it is done."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._thread is None or not self._thread.is_alive()

    def _ping(self) -> None:
        settings = self._settings
        if settings.url:
            self._tell("url", lambda: get(settings.url or "", settings.timeout_s))
        if settings.command:
            self._tell("command", lambda: run(settings.command, settings.timeout_s))

    def _tell(self, way: str, attempt: Callable[[], str | None]) -> None:
        """Make one attempt; say so in the log where it ends otherwise than the one before."""
        trouble = attempt()
        if way in self._said and self._said[way] == trouble:
            return
        if trouble is not None:
            self._log.warning("heartbeat_failed", way=way, message=trouble)
        elif self._said.get(way) is not None:
            self._log.info("heartbeat_recovered", way=way)
        self._said[way] = trouble


def get(url: str, timeout_s: float) -> str | None:
    """Ask for a URL; return what went wrong, None where it answered 2xx."""
    import http.client
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(url, timeout=timeout_s) as answer:  # noqa: S310 - only http and https are taken
            return None if 200 <= answer.status < 300 else f"it answered {answer.status}"
    except urllib.error.HTTPError as error:
        return f"it answered {error.code}"
    except urllib.error.URLError as error:
        return f"it cannot be reached: {error.reason}"
    except (OSError, http.client.HTTPException, ValueError) as error:
        return f"it cannot be reached: {error or type(error).__name__}"


def run(argv: tuple[str, ...], timeout_s: float) -> str | None:
    """Run a command; return what went wrong, None where it ended with status 0 in time."""
    none = subprocess.DEVNULL
    try:
        process = subprocess.Popen(argv, stdin=none, stdout=none, stderr=none, start_new_session=True)  # noqa: S603 - the operator's own command
    except (OSError, ValueError) as error:
        return f"it cannot be started: {error}"
    try:
        status = process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"it took longer than {timeout_s:g} s"
    return None if status == 0 else f"it ended with status {status}"


def _url_fault(url: str) -> Fault | None:
    if not url:
        return None
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    return None if sound else Fault(URL_VARIABLE, f"{url!r} is not a web address", "write http(s)://host/path")


def _command_fault(line: str) -> Fault | None:
    try:
        shlex.split(line)
    except ValueError as error:
        return Fault(COMMAND_VARIABLE, f"cannot be split into words: {error}", "close every quote")
    return None
