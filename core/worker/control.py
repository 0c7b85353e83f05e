"""Start, find and stop the worker of a database from another process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

import core
from core.clock import SystemClock
from core.errors import Precondition
from core.settings import database_path
from core.storage import beats
from core.storage.opening import open_store
from core.worker.lock import Holder, holder
from core.worker.log import log_path
from core.worker.process import GRACE_S

ROOT = Path(core.__file__).parents[1]
OURS = (
    "import runpy, sys; root, module = sys.argv[1:3]; del sys.argv[1:3]; "
    "root in sys.path or sys.path.insert(0, root); runpy.run_module(module, run_name='__main__', alter_sys=True)"
)
START_TIMEOUT_S = 30.0
LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """Whether a worker holds the database, and which process it is."""

    running: bool
    pid: int | None = None
    started: float | None = None


def status(database: str | os.PathLike[str]) -> WorkerStatus:
    """Return who works on a database now; the lock tells, not what was written."""
    found = holder(database_path(database))
    alive = found is not None and found.process() is not None
    return WorkerStatus(alive, found.pid, found.started) if found is not None and alive else WorkerStatus(False)


def start_detached(database: str | os.PathLike[str], *, timeout_s: float = START_TIMEOUT_S) -> int:
    """Start a worker that outlives this process; return its pid after its first heartbeat.

    Where one runs already its pid is returned. Raise `Precondition` that names the log where none came up in time.
    """
    path = database_path(database)
    running = status(path)
    if running.pid is not None:
        return running.pid
    open_store(path).close()  # says at once, and here, what is wrong with the file
    child = _launch(path)
    pid = _wait_for_beat(path, child, timeout_s)
    if pid is None:
        raise Precondition(f"the worker did not start{_last_words(path)}", f"see {log_path(path)}")
    return pid


def stop(database: str | os.PathLike[str], *, timeout_s: float = GRACE_S + 10.0) -> bool:
    """Ask the worker to drain and wait until it has ended; return whether one ran.

    The process is found by pid and start time, so a reused pid is never touched. Raise `Precondition` where it is
    still draining after the time.
    """
    found = holder(database_path(database))
    process = found.process() if found else None
    if process is None:
        return False
    try:
        process.terminate()
        process.wait(timeout_s)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        raise Precondition(
            f"the worker (pid {process.pid}) still drains after {timeout_s:.0f} s", "wait, or look at what still runs"
        ) from None
    return True


def own_python(module: str) -> list[str]:
    """Return the beginning of a command line that runs a module of this very program.

    A folder of the same name in the user's own cannot take its place, and it need not be installed to be found.
    """
    return [sys.executable, "-P", "-c", OURS, str(ROOT), module]


def output_path(database: Path) -> Path:
    """Return where a detached worker's own output goes: nothing, unless it could not start."""
    return database.with_name(f"{database.name}.worker.out")


def _launch(path: Path) -> psutil.Process:
    """Start the child of a child, in a session of its own, with nothing open but its output file."""
    with output_path(path).open("wb") as output:
        started = subprocess.run(  # noqa: S603 - our own interpreter and module
            [*own_python("core.worker"), "--detach", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            start_new_session=True,
            close_fds=True,
            check=True,
        )
    return psutil.Process(int(started.stdout))


def _last_words(path: Path) -> str:
    """Return what a worker that ended at once said, as the rest of a sentence."""
    lines = output_path(path).read_text(errors="replace").strip().splitlines()
    return f": {lines[-1]}" if lines else ""


def _wait_for_beat(path: Path, child: psutil.Process, timeout_s: float) -> int | None:
    """Return the pid of whoever holds the file, once it beats: the child, or another that was a moment faster.

    None where the child ended and nobody holds the file, and after the time.
    """
    clock = SystemClock()
    until = clock.monotonic() + timeout_s
    while clock.monotonic() < until:
        alive, found = _alive(child), holder(path)
        if found is not None and _beats(path, found):
            return found.pid
        if found is None and not alive:
            return None
        time.sleep(LOOK_S)
    return None


def _alive(child: psutil.Process) -> bool:
    try:
        return child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _beats(path: Path, found: Holder) -> bool:
    """Say whether this process wrote a heartbeat that says it runs."""
    store = open_store(path, read_only=True)
    try:
        with store.read() as tx:
            beat = beats.beat_of_pid(tx, found.pid)
        return beat is not None and beat[0] == "running" and beat[1].timestamp() >= found.started - 1
    finally:
        store.close()
