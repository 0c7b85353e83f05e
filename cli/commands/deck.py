"""Opening the terminal app, with a worker behind it."""

from __future__ import annotations

from cli.failures import say
from cli.session import Session


def open_deck(session: Session, *, with_worker: bool) -> int:
    """Open the deck; start a detached worker first where none runs and one may."""
    from core.settings import database_location

    database = database_location(session.database)
    if with_worker and not session.read_only:
        start_worker(database)
    from tui.__main__ import run_app

    return run_app(
        database=database,
        workspace=session.workspace,
        namespace=session.namespace or "default",
        read_only=session.read_only,
    )


def start_worker(database: str) -> int | None:
    """Start a detached worker unless one runs; return the pid of a new one."""
    from core.worker import control

    pid = control.start_detached(database)
    if pid is not None:
        say(f"started a worker, pid {pid}; it outlives the deck, stop it with: triggerdeck worker stop")
    return pid
