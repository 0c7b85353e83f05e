"""Start the worker of one database as a process of its own: `python -m core.worker [--detach] DATABASE`."""

from __future__ import annotations

import os
import sys

from core.errors import TriggerdeckError

USAGE = "usage: python -m core.worker [--detach] DATABASE"
MISUSED = 2


def main(arguments: list[str]) -> int:
    """Run the worker; with `--detach` in a child that nobody has to wait for."""
    detach = arguments[:1] == ["--detach"]
    databases = arguments[detach:]
    if len(databases) != 1 or not databases[0] or databases[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return MISUSED
    if detach and (child := os.fork()):
        print(child, flush=True)
        return 0
    if detach:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whoever reads the pid does not wait for our end
    from core.worker.process import Options, run

    try:
        return run(databases[0], options=Options(stderr=not detach))
    except TriggerdeckError as refusal:
        print(refusal.sentence(), file=sys.stderr)
        return refusal.exit_status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
