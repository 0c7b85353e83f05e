"""Starts the processes of steps so that nothing of them outlives its step, or the worker.

They are started by a small program of its own, `keeper`, which sees them to their end. It is told over sockets, and
these close however the worker ends, SIGKILL included: that is the sign to end everything. It starts with the first
process, so an idle worker has none.

What cannot be ended: what another service starts on a step's behalf (systemd-run, at, a container engine), what runs as
another user (sudo), and, where the system is not Linux, what left its process group. A start of the worker ends what
outlived worker and keepers too, as long as that kept its group or its environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

_PROGRAM = Path(__file__).with_name("keeper.py")
_SAME_PROCESS_S = 0.011


class NotStarted(Exception):
    """No process could be had; nothing of the program has run."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A program to start: its file, its arguments from its name on, its whole environment, its folder."""

    program: str
    argv: Sequence[str]
    env: dict[str, str]
    cwd: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended (negative: by that signal), and how many of its processes could not be ended."""

    status: int
    left: int = 0


class Child:
    """A program that was started and stands still until `go`; when it ends, all that it started has ended too."""

    def __init__(self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.pid = pid
        self.started = started_at(pid) or 0.0
        self._writer = writer
        self.ending = asyncio.create_task(self._read_end(reader))

    def go(self) -> None:
        """Let it become the program."""
        self._writer.write(b"go\n")

    def ask_to_end(self) -> None:
        """Send SIGTERM to each of its processes."""
        self._writer.write(b"term\n")

    async def end(self) -> Ended:
        """Kill what is left of it, and wait until that is gone."""
        with contextlib.suppress(OSError):  # its keeper may have gone first
            self._writer.write_eof()
        ended = await self.wait()
        self._writer.close()
        return ended

    async def wait(self) -> Ended:
        """Wait until it has ended."""
        return await asyncio.shield(self.ending)

    async def _read_end(self, reader: asyncio.StreamReader) -> Ended:
        try:
            said = (await reader.readline()).split()
        except OSError:
            said = []
        if said:
            return Ended(*map(int, said))
        if started_at(self.pid) == self.started:  # its keeper was killed
            signal_group(self.pid, signal.SIGKILL)
        return Ended(-signal.SIGKILL)


class Guard:
    """The keepers' side of a worker; all calls come from one event loop."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._door: socket.socket | None = None
        self._children: set[Child] = set()

    async def start(self, launch: Launch, streams: Sequence[int]) -> Child:
        """Start a program on descriptors for its input, output and errors; raise `NotStarted` where that fails."""
        for _ in range(2):  # the program that starts them may have been killed
            ours, theirs = socket.socketpair()
            with theirs:
                self._hand_over([theirs.fileno(), *streams])
            reader, writer = await asyncio.open_connection(sock=ours)
            try:
                writer.write(json.dumps(asdict(launch)).encode() + b"\n")
                pid = await reader.readline()
            except OSError:
                pid = b""
            except BaseException:
                writer.close()
                raise
            if pid:
                return self._known(Child(int(pid), reader, writer))
            writer.close()
        raise NotStarted("no process could be started")

    async def close(self) -> None:
        """End everything that still runs, and the program that starts them."""
        await asyncio.gather(*(child.end() for child in list(self._children)))
        process, door = self._process, self._door
        self._process = self._door = None
        if door is not None:
            door.close()
        if process is not None:
            await asyncio.to_thread(process.wait)

    def _known(self, child: Child) -> Child:
        self._children.add(child)
        child.ending.add_done_callback(lambda _: self._children.discard(child))
        return child

    def _hand_over(self, descriptors: list[int]) -> None:
        if self._door is None or self._process is None or self._process.poll() is not None:
            self._door = self._begin()
        try:
            socket.send_fds(self._door, [b"+"], descriptors)
        except OSError:
            self._door = self._begin()
            socket.send_fds(self._door, [b"+"], descriptors)

    def _begin(self) -> socket.socket:
        """Start the program that starts the others."""
        if self._door is not None:
            self._door.close()
        if self._process is not None:
            self._process.wait()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and file
                [sys.executable, "-I", "-S", str(_PROGRAM), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env={},
                cwd="/",
            )
        return ours


def started_at(pid: int) -> float | None:
    """Return when a process started, on a clock that never steps where the system has one; None if it is gone.

    Linux: seconds since boot, from the kernel's own figure, which no change of the wall clock moves.
    """
    stat = Path(f"/proc/{pid}/stat")
    if stat.parent.parent.joinpath("self").exists():
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        return int(fields[19]) / os.sysconf("SC_CLK_TCK")
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def signal_group(group: int, number: int) -> None:
    """Send a signal to a process group; one that is gone is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def end_recorded_group(pid: int, recorded_start: float, work_id: str, *, timeout_s: float = 5.0) -> bool:
    """Kill the process group that a dead worker left, if it is still that one; return whether any of it still ran.

    The leader is known by pid and start time. Where the leader has gone, a member belongs to the step if its
    environment names the Work: an id that the system gave to somebody else is never touched.
    """
    current = started_at(pid)
    if current is not None and abs(current - recorded_start) > _SAME_PROCESS_S:
        return False
    members = _members(pid)
    if not members or (current is None and not any(_names(process, work_id) for process in members)):
        return False
    signal_group(pid, signal.SIGKILL)
    for _ in range(int(timeout_s / 0.01)):
        if not _members(pid):
            return True
        time.sleep(0.01)
    return True


def end_left_behind(place: Path, *, timeout_s: float = 5.0) -> int:
    """Kill what a dead worker's steps left that left their groups too; return how many processes there were.

    They are known by where their output belongs: below `place`, which is the folder of steps of this database alone.
    """
    if not place.is_dir():
        return 0
    mine = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    left = [one for one in psutil.process_iter() if one.pid not in mine and _writes_below(one, place)]
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout_s)
    return len(left)


def _writes_below(process: psutil.Process, place: Path) -> bool:
    try:
        return Path(process.environ().get("TRIGGERDECK_OUTPUT", "/")).is_relative_to(place)
    except (psutil.Error, OSError):
        return False


def _members(group: int) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _names(process: psutil.Process, work_id: str) -> bool:
    try:
        return process.environ().get("TRIGGERDECK_WORK_ID") == work_id
    except (psutil.Error, OSError):
        return False
