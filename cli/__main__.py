"""The entry point of `triggerdeck`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from cli import failures
from cli.app import triggerdeck


def main() -> None:
    """Run the command line on the process's own arguments and exit with its status."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line; return its exit status, having told people on standard error what failed."""
    try:
        answer = triggerdeck.main(args=list(arguments), prog_name="triggerdeck", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except BrokenPipeError:
        return failures.broken_pipe()
    except (KeyboardInterrupt, click.Abort):
        return failures.INTERRUPTED
    except Exception as error:  # noqa: BLE001 the last door: a user never meets a traceback
        return failures.tell(error)
    return answer if isinstance(answer, int) else failures.DONE


if __name__ == "__main__":
    main()
