"""The entry point of `triggerdeck`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

try:
    import click

    from cli import failures
    from cli.app import triggerdeck
except KeyboardInterrupt:  # a tenth of a second goes by here, and a key may be pressed in it
    sys.exit(130)

PROGRAM = "triggerdeck"
COMPLETION_VARIABLE = "_TRIGGERDECK_COMPLETE"


def main() -> None:
    """Run the command line on the process's own arguments and exit with its status."""
    hold_streams()
    sys.exit(run(sys.argv[1:]))


def hold_streams() -> None:
    """Open each standard stream that the caller closed on nothing, before any file can take its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 it stays open to the end


def run(arguments: Sequence[str]) -> int:
    """Run one command line; return its exit status, having told people on standard error what failed."""
    try:
        answer = _invoke(list(arguments))
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except BrokenPipeError:
        return failures.broken_pipe()
    except OSError as error:
        return failures.unwritable(error) if _is_of_output(error) else failures.tell(error)
    except (KeyboardInterrupt, click.Abort):
        return failures.INTERRUPTED
    except Exception as error:  # noqa: BLE001 the last door: a user never meets a traceback
        return failures.tell(error)
    return answer if isinstance(answer, int) else failures.DONE


def _is_of_output(error: OSError) -> bool:
    """Say whether writing to standard output failed: no file is named, and the device is full or gone."""
    return error.filename is None and error.errno in {errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT}


def _invoke(arguments: list[str]) -> object:
    """Call the command that the words name; click's own `main` would hide a broken pipe from us."""
    if COMPLETION_VARIABLE in os.environ:
        return triggerdeck.main(arguments, PROGRAM, COMPLETION_VARIABLE, standalone_mode=False)
    with triggerdeck.make_context(PROGRAM, arguments) as context:
        return triggerdeck.invoke(context)


if __name__ == "__main__":
    main()
