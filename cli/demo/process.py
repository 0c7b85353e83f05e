"""The example's own worker: a process beside this one that ends with it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.demo.workspace import Workspace
from core.errors import StorageUnusable
from core.worker.control import own_python

DRAIN_S = 20.0
LOG_NAME = "worker.log"


@contextmanager
def working(workspace: Workspace) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker on the workspace for the length of a block; SIGTERM lets it drain."""
    command = [*own_python("cli"), "--database", workspace.database, "worker", "run"]
    with (workspace.folder / LOG_NAME).open("ab") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # noqa: S603 this program
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(DRAIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def check_alive(process: subprocess.Popen[bytes], workspace: Workspace) -> None:
    """Raise where the worker has ended by itself, with the end of its log."""
    if process.poll() is not None:
        tail = (workspace.folder / LOG_NAME).read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
        raise StorageUnusable(f"the example's worker ended with status {process.returncode}", " | ".join(tail))


def log_path(workspace: Workspace) -> Path:
    """Return where the worker writes its log."""
    return workspace.folder / LOG_NAME
