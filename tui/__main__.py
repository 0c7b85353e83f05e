"""Own the arguments of `python -m tui`; the app is imported when they are known to be right."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Sequence
from pathlib import Path


def run(
    database: str | Path | None = None,
    workspace: str = "default",
    namespace: str = "default",
    read_only: bool = False,
    *,
    start_worker: bool = True,
    worker_kept: bool = True,
) -> int:
    """Open the deck in this terminal; return the exit status (6: the database cannot be used).

    `worker_kept` False says that whoever opens the deck ends the worker with it.
    """
    gc.disable()  # the imports of the start leave no garbage; the gateway enables it once the deck is open
    from tui.app import DeckApp
    from tui.config import default_path
    from tui.gateway import Door

    door = Door(database, workspace, namespace, read_only, start_worker)
    app = DeckApp(door, config_file=default_path(), worker_kept=worker_kept)
    app.run()
    app.gateway.close()
    return app.return_code or 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments and open the deck."""
    parser = argparse.ArgumentParser(prog="python -m tui", description="Open the deck in this terminal.")
    parser.add_argument("--database", help="file of the database (default: in your data folder)")
    parser.add_argument("--workspace", default="default")
    parser.add_argument("--namespace", default="default")
    parser.add_argument("--read-only", action="store_true", help="change nothing")
    parser.add_argument("--no-worker", action="store_true", help="do not start the background worker")
    given = parser.parse_args(arguments)
    return run(given.database, given.workspace, given.namespace, given.read_only, start_worker=not given.no_worker)


if __name__ == "__main__":
    raise SystemExit(main())
