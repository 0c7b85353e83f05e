"""The program that steps' programs are started from, so that nothing of a step outlives its step or the worker.

`guard` runs this file as a process of its own. It forks a keeper for each step. The keeper forks the step's program and
is told what to do over a socket, whose end at the worker closes however the worker ends:

1. The program stands still until `go`, which the worker says when it has recorded the process.
2. `term` asks every process of the step to end.
3. When the program has ended, or the socket is closed, whatever is left of the step is killed, and its status is told.

On Linux keepers are subreapers: a process that leaves the group and whose parents have gone becomes the keeper's child
instead of init's, so that "what is left" is all of it. Elsewhere it is the program's process group.

Light modules only, and no state of the worker's: a fork of this costs a millisecond.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

PR_SET_CHILD_SUBREAPER = 36
HANDED_OVER = 4  # the keeper's socket, and the program's input, output and errors
LOOK_S = 0.05
MOST_LOOKS = 100
NOT_FOUND, NOT_RUN = 127, 126
_DEAF = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_RESTORED = (*_DEAF, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


def main(door: socket.socket) -> None:
    """Serve the worker until it is gone, then wait for the last keeper."""
    door.set_inheritable(False)
    for number in _DEAF:
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    woken = _wake_on_child()
    keepers: set[int] = set()
    while True:
        ready = _readable(door, woken)
        if woken in ready:
            _mind(woken, keepers)
        if door in ready and not _take(door, woken, keepers):
            break
    door.close()
    while keepers:
        _readable(woken)
        _mind(woken, keepers)


def _take(door: socket.socket, woken: int, keepers: set[int]) -> bool:
    """Fork a keeper for a step; return whether the worker is still there."""
    said, handed, _, _ = socket.recv_fds(door, 1, HANDED_OVER, _CLOEXEC)
    if len(handed) == HANDED_OVER:
        with contextlib.suppress(OSError):  # no process is to be had: the socket closes, which tells the worker
            keeper = os.fork()
            if not keeper:
                door.close()
                os.close(woken)
                _keep(socket.socket(fileno=handed[0]), handed[1:])
            keepers.add(keeper)
    for descriptor in handed:
        os.close(descriptor)
    return bool(said)


def _mind(woken: int, keepers: set[int]) -> None:
    """Forget keepers that ended; kill what one of them left that was killed itself."""
    os.read(woken, 4096)
    keepers.difference_update([pid for pid, _ in _reaped()])
    for stray in set(children(os.getpid())) - keepers:
        _signal(stray, signal.SIGKILL)


# -- one step --------------------------------------------------------------------------------------------------------


def _keep(control: socket.socket, streams: list[int]) -> NoReturn:
    """Start a program as told, see it to its end, and say how it ended and how many processes would not."""
    try:
        os.setsid()
        adopt_orphans()
        told, woken = Told(control), _wake_on_child()
        while not (wanted := told.lines()):
            if wanted is None:
                os._exit(0)
        pid, gate = _start(json.loads(wanted[0]), streams)
        control.sendall(f"{pid}\n".encode())
        status, left = _end_everything(woken, pid, _see_through(told, woken, pid, gate))
        control.sendall(f"{status} {left}\n".encode())
    finally:
        os._exit(0)  # also where nobody is there any more to hear it


class Told:
    """What the worker says, in lines."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self._rest = b""

    def lines(self) -> list[str] | None:
        """Return the lines that are complete by now; None where the worker has no more to say."""
        chunk = self.control.recv(65_536)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [line.decode() for line in lines] if chunk else None


def _see_through(told: Told, woken: int, pid: int, gate: int) -> int | None:
    """Return the program's status when it has ended, None when the worker wants it to end."""
    while True:
        ready = _readable(told.control, woken)
        if woken in ready:
            os.read(woken, 4096)
            ended = dict(_reaped())
            if pid in ended:
                return ended[pid]
        lines = told.lines() if told.control in ready else []
        if lines is None:
            return None
        for line in lines:
            if line == "go":
                os.write(gate, b"\n")
            else:
                _signal_all(pid, signal.SIGTERM)


def _start(wanted: dict[str, Any], streams: list[int]) -> tuple[int, int]:
    """Fork the process that becomes the program; return its pid, and where to write a line for it to begin."""
    gate_out, gate_in = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(gate_in)
        _become(wanted, streams, gate_out)
    for descriptor in (gate_out, *streams):
        os.close(descriptor)
    return pid, gate_in


def _become(wanted: dict[str, Any], streams: list[int], gate: int) -> NoReturn:
    """Become the program when the gate opens, as the leader of a session and process group."""
    status = NOT_RUN
    try:
        os.setsid()
        for number in _RESTORED:
            signal.signal(number, signal.SIG_DFL)
        for target, descriptor in enumerate(streams):
            os.dup2(descriptor, target)
        if os.read(gate, 1):
            os.chdir(wanted["cwd"])
            _execute(wanted["program"], wanted["argv"], wanted["env"])
    except OSError as error:
        status = NOT_FOUND if error.errno == errno.ENOENT else NOT_RUN
        os.write(2, f"{wanted['argv'][0]} cannot be run: {(error.strerror or str(error)).lower()}\n".encode())
    finally:
        os._exit(status)


def _execute(program: str, argv: list[str], env: dict[str, str]) -> None:
    try:
        os.execve(program, argv, env)  # noqa: S606 - there is no shell on purpose
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        os.execve("/bin/sh", ["/bin/sh", program, *argv[1:]], env)  # noqa: S606 - a script that names no interpreter


def _end_everything(woken: int, pid: int, status: int | None) -> tuple[int, int]:
    """Kill whatever is left of a step; return the program's status, and how many processes could not be killed."""
    for _ in range(MOST_LOOKS):
        _signal_all(pid, signal.SIGKILL)
        try:
            status = dict(_reaped(strict=True)).get(pid, status)
        except ChildProcessError:
            return -signal.SIGKILL if status is None else status, 0
        if select.select([woken], [], [], LOOK_S)[0]:
            os.read(woken, 4096)
    return -signal.SIGKILL if status is None else status, max(1, len(list(_below(os.getpid()))))


def _signal_all(pid: int, number: int) -> None:
    """Signal the program's process group, and every process of the step that left it."""
    outside = [one for one in _below(os.getpid()) if _group(one) != pid]
    with contextlib.suppress(OSError):
        os.killpg(pid, number)
    for one in outside:
        _signal(one, number)


# -- processes -------------------------------------------------------------------------------------------------------


def adopt_orphans() -> None:
    """Become the parent of every process below this one whose own parent dies, where the system can do that."""
    if sys.platform == "linux":
        with contextlib.suppress(ImportError):
            import ctypes

            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(pid: int) -> Iterable[int]:
    """Return the children of a process, of all its threads; none where the system does not list them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as listed:
                found += map(int, listed.read().split())
    return found


def _below(pid: int) -> Iterator[int]:
    for child in children(pid):
        yield child
        yield from _below(child)


def _reaped(*, strict: bool = False) -> list[tuple[int, int]]:
    """Return pid and status of children that ended; with `strict` raise ChildProcessError where none is left at all."""
    ended: list[tuple[int, int]] = []
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended.append((found[0], os.waitstatus_to_exitcode(found[1])))
    except ChildProcessError:
        if strict and not ended:
            raise
    return ended


def _group(pid: int) -> int | None:
    with contextlib.suppress(OSError):
        return os.getpgid(pid)
    return None


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def _readable(*sources: Any) -> list[Any]:
    """Wait until something can be read; return what."""
    return select.select(sources, [], [])[0]


def _wake_on_child() -> int:
    """Return a descriptor that can be read whenever a child has ended."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return woken


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
