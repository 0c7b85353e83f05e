"""Many operators at once; `python -m tests.integration.pressure.writers DATABASE THREADS RUNS` prints the errors."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

from core.deck import Deck


def write_from_threads(database: Path, threads: int, runs: int) -> list[str]:
    """Fire `busy` by hand from several threads, each on a deck of its own; return every error."""
    errors: list[str] = []

    def write() -> None:
        try:
            deck = Deck.open(database)
            for _ in range(runs):
                deck.run("busy")
            deck.close()
        except Exception as error:  # noqa: BLE001 - all of them are told
            errors.append(f"{type(error).__name__}: {error}")

    workers = [threading.Thread(target=write) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return errors


if __name__ == "__main__":
    print(json.dumps(write_from_threads(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
