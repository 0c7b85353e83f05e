"""Opening the terminal app."""

from __future__ import annotations

import sys

from cli.session import Session
from core.errors import Usage


def open_deck(session: Session, *, with_worker: bool) -> int:
    """Open the deck; it starts a detached worker where none runs and one may."""
    need_terminal()
    from tui.__main__ import run

    return run(
        session.database,
        session.workspace,
        session.namespace or "default",
        session.read_only,
        start_worker=with_worker,
    )


def need_terminal() -> None:
    """Refuse to draw where nobody can see it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Usage("the deck needs a terminal", "each screen has a command that needs none: triggerdeck --help")
