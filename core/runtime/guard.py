"""Keeps step processes from outliving the worker: one small shell that ends their groups when the worker is gone.

The worker tells it each process group over a pipe. However the worker ends, SIGKILL included, the pipe closes, and
the guard kills every group that is still noted. It needs no signal of the parent's death, which would reach the
direct child only, and it works wherever there is a shell. It starts with the first process, so an idle worker has none.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil

_SCRIPT = """
trap '' TERM INT HUP QUIT
groups=' '
while read -r verb group; do
  case "$verb" in
    add) groups="$groups$group " ;;
    end) groups="${groups%% "$group" *} ${groups#* "$group" }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
"""
_SAME_PROCESS_S = 0.011


class Guard:
    """The notes that the guarding shell holds; all calls come from one thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()

    def add(self, group: int) -> None:
        """Have a process group ended when this process dies."""
        self._groups.add(group)
        self._tell(f"add {group}")

    def end(self, group: int) -> None:
        """Forget a process group that has ended."""
        if group in self._groups:
            self._groups.discard(group)
            self._tell(f"end {group}")

    def close(self) -> None:
        """End every group that is still noted, and the shell."""
        process, self._process = self._process, None
        self._groups.clear()
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
            process.wait()

    def _tell(self, line: str) -> None:
        if self._process is None or self._process.poll() is not None or not self._write(line):
            self._start()

    def _start(self) -> None:
        """Start the shell and tell it everything that is noted now."""
        self.abandon()
        self._process = subprocess.Popen(  # noqa: S603 - a constant script, nothing from outside
            ["/bin/sh", "-c", _SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={},
            cwd="/",
        )
        for group in sorted(self._groups):
            self._write(f"add {group}")

    def abandon(self) -> None:
        """Let go of a shell that has died."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
            process.wait()

    def _write(self, line: str) -> bool:
        if self._process is None or self._process.stdin is None:
            return False
        try:
            os.write(self._process.stdin.fileno(), f"{line}\n".encode())
        except OSError:
            return False
        return True


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
