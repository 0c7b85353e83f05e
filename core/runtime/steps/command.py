"""The command step: a program with its arguments, input on stdin, output in the file that it is told."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.flows.expressions import render_text
from core.flows.steps import Command
from core.runtime.context import OUTPUT_LIMIT_BYTES, StepContext, StepError, StepFailed, StepResult
from core.runtime.environment import step_environment
from core.runtime.guard import Launch
from core.runtime.secrets import mask
from core.runtime.steps.process import Exit, run_process


async def run(context: StepContext, command: Command) -> StepResult:
    """Run the command; a status other than 0 fails the step, except the one that says "nothing to do"."""
    argv = [render_text(part, context.values) for part in command.argv]
    with context.tools.folders.one() as folder:
        output = folder / "output.json"
        env = step_environment(context, command.env, output)
        cwd = working_folder(context, command.cwd)
        ended = await run_process(context, Launch(executable(argv, env, cwd), argv, env, str(cwd)))
        if ended.ending == "exited" and ended.status == command.no_work_exit_code:
            return StepResult(output=_read_output(context, output), exit_code=ended.status, no_work=True)
        return finished(context, ended, output)


def working_folder(context: StepContext, written: str) -> Path:
    """Return the folder to run in, the worker's home where none is written; raises StepFailed if there is none."""
    folder = Path(render_text(written, context.values)).expanduser() if written else Path.home()
    if not folder.is_dir():
        raise StepFailed("folder_missing", f"there is no folder {folder} to run in", retryable=False)
    return folder


def executable(argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> str:
    """Return the program's file; raises StepFailed where it cannot be found or run."""
    name = argv[0]
    place = str(cwd / name) if "/" in name else name
    found = shutil.which(place, path=env.get("PATH"))
    if found is None:
        message = f"there is no program {name!r} that the worker may run"
        raise StepFailed("command_not_found", message, retryable=False)
    return os.path.abspath(found)


def finished(context: StepContext, ended: Exit, output: Path) -> StepResult:
    """Return the result of a process that wrote (or did not write) its output file."""
    if ended.ending == "cancelled":
        return StepResult(
            exit_code=ended.status, error=StepError("cancelled", "the step was cancelled", retryable=False)
        )
    if ended.ending == "timeout":
        message = f"the step took longer than its timeout of {context.timeout_s:g} s"
        return StepResult(exit_code=ended.status, error=StepError("timeout", message))
    if ended.status != 0:
        return StepResult(exit_code=ended.status, error=StepError("exit_status", _exit_sentence(ended.status)))
    value = _read_output(context, output)
    no_work = isinstance(value, Mapping) and value.get("noWork") is True
    return StepResult(output=value, exit_code=0, no_work=no_work)


def _exit_sentence(status: int) -> str:
    if status < 0:
        try:
            return f"the program was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"the program was ended by signal {-status}"
    return f"the program ended with status {status}"


def _read_output(context: StepContext, output: Path) -> Any:
    if not output.exists():
        return None
    if output.stat().st_size > OUTPUT_LIMIT_BYTES:
        message = f"the output is larger than {OUTPUT_LIMIT_BYTES:,} bytes; write a reference to the data"
        raise StepFailed("output_too_large", message, retryable=False)
    text = output.read_text(encoding="utf-8", errors="replace")
    if not text.strip():
        return None
    try:
        return json.loads(mask(text, context.mask), parse_constant=_refuse_constant)
    except ValueError as error:
        raise StepFailed("output_invalid", f"the output is not JSON: {error}", retryable=False) from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
