"""Shows the example: in the deck, or as a story on standard output."""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from cli.demo.process import working
from cli.demo.server import serving
from cli.demo.workspace import Workspace, lay
from cli.failures import say
from core.clock import Clock, SystemClock

SOON = timedelta(seconds=12)
ANCHOR_BEFORE = timedelta(hours=2, minutes=13)


def with_deck(keep: str | None) -> int:
    """Open the deck on the example, with a worker behind it; both end together."""
    from cli.commands.deck import need_terminal
    from tui.__main__ import run

    need_terminal()
    with prepared(keep, SystemClock()) as workspace, working(workspace):
        return run(workspace.database, start_worker=False, worker_kept=False)


def without_deck(keep: str | None, seconds: int) -> int:
    """Fire the example for real for a while and tell what happened."""
    from cli.demo.story import tell

    clock = SystemClock()
    with prepared(keep, clock) as workspace:
        tell(workspace, seconds, clock)
    return 0


@contextmanager
def prepared(keep: str | None, clock: Clock) -> Iterator[Workspace]:
    """Lay the example with its past and serve what its Flows ask; afterwards it is thrown away unless kept."""
    folder = Path(keep) if keep else Path(tempfile.mkdtemp(prefix="triggerdeck-demo-"))
    try:
        with _ended_by_sigterm(), serving() as address:
            say(f"laying the example workspace in {folder}, with two days of history")
            yield _with_past(folder, address, clock)
    finally:
        if keep:
            say(f"kept in {folder}; open it with: triggerdeck --database {folder / 'triggerdeck.sqlite3'}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end this process like Ctrl-C does, so that worker, server and folder go with it."""

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _with_past(folder: Path, address: str, clock: Clock) -> Workspace:
    from cli.demo import history

    now = clock.now().replace(microsecond=0)
    anchor = now - history.PAST - ANCHOR_BEFORE
    workspace = lay(folder, server=address, anchor=anchor, soon=now + SOON)
    history.happen(workspace, now, clock)
    return workspace
