"""The one place where an error becomes an exit status and sentences on standard error.

0 done, 1 the answer is no, 2 usage, 3 invalid, 4 precondition, 5 denied, 6 storage not usable; 70 is a fault of the
program itself, 130 an interruption by the keyboard.
"""

from __future__ import annotations

import os
import sys

import click

from cli.render import colours
from core.errors import Invalid, TriggerdeckError, one_line

DONE = 0
NO = 1
USAGE = 2
INTERNAL = 70
INTERRUPTED = 130


def tell(error: Exception) -> int:
    """Tell people about an error in sentences; return its exit status."""
    if isinstance(error, click.ClickException):
        return _tell_usage(error)
    if isinstance(error, TriggerdeckError):
        return _tell_refusal(error)
    return _tell_internal(error)


def broken_pipe() -> int:
    """Fall silent after the reader of our output has gone."""
    _drop_output()
    return DONE


def unwritable(error: OSError) -> int:
    """Tell that the answer could not be written out."""
    _drop_output()
    say_error(f"the answer cannot be written: {error.strerror}; make room, or write it elsewhere")
    return NO


def _drop_output() -> None:
    """Send what is still to be written nowhere, so that the interpreter's last flush does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell_usage(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    say_error(error.format_message())
    if context is not None:
        say(f"see: {context.command_path} --help")
    return USAGE


def _tell_refusal(error: TriggerdeckError) -> int:
    if isinstance(error, Invalid):
        for fault in error.faults:
            say_error(fault.sentence())
    else:
        say_error(error.sentence())
    return error.exit_status


def _tell_internal(error: Exception) -> int:
    import traceback
    from pathlib import Path

    import platformdirs

    path = Path(platformdirs.user_log_dir("triggerdeck", appauthor=False)) / "crash.log"
    kept = f"the details are in {path}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    except OSError as unwritable:
        kept = f"the details could not be kept: {unwritable}"
    say_error(f"triggerdeck failed unexpectedly: {type(error).__name__}: {str(error)[:300]}; {kept}")
    return INTERNAL


def say(text: str) -> None:
    """Write one line for people; what a text of somebody brought along is shown, not obeyed by the terminal."""
    click.echo(one_line(text), err=True)


def say_error(text: str) -> None:
    """Write one line that names an error."""
    word = click.style("error:", fg="red", bold=True) if colours.wanted(sys.stderr) else "error:"
    click.echo(f"{word} {one_line(text)}", err=True)
