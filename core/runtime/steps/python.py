"""The python step: a function in a Python process of its own, so that it can be timed out and cancelled."""

from __future__ import annotations

import sys
from pathlib import Path

from core.flows.canonical import canonical_json
from core.flows.expressions import render_all
from core.flows.steps import Python
from core.runtime.context import StepContext, StepResult
from core.runtime.environment import step_environment
from core.runtime.guard import Launch
from core.runtime.steps.command import finished, working_folder
from core.runtime.steps.process import run_process

_CHILD = Path(__file__).with_name("call.py")


async def run(context: StepContext, python: Python) -> StepResult:
    """Call the function: with `args` where they are written, else with the input; what it returns is the output."""
    with context.tools.folders.one() as folder:
        output, args = folder / "output.json", folder / "args.json"
        args.write_text(canonical_json(render_all(python.args, context.values)), encoding="utf-8")
        env = step_environment(context, python.env, output)
        argv = [sys.executable, "-P", "-u", str(_CHILD), python.callable, str(args)]
        cwd = working_folder(context, python.cwd)
        ended = await run_process(context, Launch(sys.executable, argv, env, str(cwd)))
        return finished(context, ended, output)
