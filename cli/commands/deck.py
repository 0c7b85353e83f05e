"""Opening the terminal app."""

from __future__ import annotations

from cli.session import Session


def open_deck(session: Session, *, with_worker: bool) -> int:
    """Open the deck; it starts a detached worker where none runs and one may."""
    from tui.__main__ import run

    return run(
        session.database,
        session.workspace,
        session.namespace or "default",
        session.read_only,
        start_worker=with_worker,
    )
