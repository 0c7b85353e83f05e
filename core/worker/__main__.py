"""Start the worker of one database as a process of its own: `python -m core.worker [--detach] DATABASE`."""

from __future__ import annotations

import os
import sys

from core.errors import TriggerdeckError


def main(arguments: list[str]) -> int:
    """Run the worker; with `--detach` in a child that nobody has to wait for."""
    detach = arguments[:1] == ["--detach"]
    if detach and os.fork():
        return 0
    from core.worker.process import Options, run

    try:
        return run(arguments[-1], options=Options(stderr=not detach))
    except TriggerdeckError as refusal:
        print(refusal.sentence(), file=sys.stderr)
        return refusal.exit_status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
