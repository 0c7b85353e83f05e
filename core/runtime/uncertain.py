"""Asks whether a step finished that a crash interrupted (`onCrash: ask`), and reads the answer.

It is a choiceRequired: decision `chosen`, values {choice, output, reason}. `finished` goes on with the output that the
person gives (a JSON object, or none), `run it again` makes the next try, `failed` fails the Work. Where nobody answers
in time, or the question was withdrawn, the Work fails with code and result `outcome_unknown`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.flows.canonical import canonical_json
from core.flows.steps import DEFAULT_EXPIRY
from core.runtime.context import StepError, StepResult
from core.storage.logs import LastLine
from core.storage.runs import StepFacts
from core.storage.work import ActionFacts, WorkFacts
from core.work.statuses import OUTCOME_UNKNOWN

FINISHED = "finished"
AGAIN = "run it again"
FAILED = "failed"
UNKNOWN = "the worker died while this step ran; whether it finished is not known"
TAIL_LINES = 20
_LINE_LIMIT = 200
_OUTPUT_LIMIT = 1_000

Process = Literal["none", "gone", "ended"]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a step that was in flight when its worker died; `tail` are its last log lines."""

    step: StepFacts
    process: Process
    worker_seen_at: datetime | None
    tail: Sequence[LastLine]
    may_run_again: bool


def question(known: Known, work: WorkFacts, now: datetime) -> dict[str, Any]:
    """Return the question's row, without its id."""
    step, name = known.step, work.title or work.trigger_name or work.flow_name
    return {
        "workspace_id": work.workspace_id,
        "work_id": work.id,
        "run_id": step.run_id,
        "position": step.position,
        "step_id": step.step_id,
        "trigger_uid": work.trigger_uid,
        "kind": "choiceRequired",
        "title": f"Did step {step.step_id} of {name} finish?"[:300],
        "message": "\n".join(_message(known)),
        "form": _form(known),
        "status": "pending",
        "created_at": now,
        "expires_at": now + DEFAULT_EXPIRY,
    }


def is_about(action: ActionFacts, step: StepFacts) -> bool:
    """Tell whether a question is about the try that a step is at; an earlier crash may have asked before."""
    return bool(action.form.get("attempt") == step.attempt)


def wants_another_try(action: ActionFacts) -> bool:
    """Tell whether a question was answered with `run it again`."""
    return _choice(action) == AGAIN


def outcome(action: ActionFacts | None) -> StepResult:
    """Return how a step ended by what a person said of it."""
    choice = _choice(action) if action is not None else ""
    if action is None or choice not in {FINISHED, FAILED}:
        why = "nobody said in time whether it finished" if choice == "expired" else UNKNOWN
        return StepResult(error=StepError(OUTCOME_UNKNOWN, why, retryable=False))
    if choice == FINISHED:
        output = action.values.get("output")
        return StepResult(output=output, no_work=isinstance(output, Mapping) and output.get("noWork") is True)
    reason = action.values.get("reason")
    message = f"{action.answered_by} said that it failed when the worker died" + (f": {reason}" if reason else "")
    return StepResult(error=StepError("crashed", message, retryable=False))


def _choice(action: ActionFacts) -> str:
    """Return what was chosen, else how the question ended."""
    if action.status != "completed" or not isinstance(action.values, Mapping):
        return action.status
    return str(action.values.get("choice"))


# -- the question ----------------------------------------------------------------------------------------------------


def _form(known: Known) -> dict[str, Any]:
    effects = f"{FINISHED}: goes on with this output · {AGAIN}: try {known.step.attempt + 1} · {FAILED}: the work fails"
    if not known.may_run_again:
        effects = f"{FINISHED}: goes on with this output · {FAILED}: the work fails · it died too often to run again"
    only_finished = {"properties": {"choice": {"const": FINISHED}}}
    output = {"type": "object", "title": "Output", "description": f"of a step that is {FINISHED}, as a JSON object"}
    reason = {"type": "string", "title": "Reason", "maxLength": 2000, "description": "kept with the answer"}
    schema = {
        "properties": {"choice": {"description": effects}, "output": output, "reason": reason},
        "dependentSchemas": {"output": only_finished},
        "additionalProperties": False,
    }
    choices = [FINISHED, AGAIN, FAILED] if known.may_run_again else [FINISHED, FAILED]
    return {"choices": choices, "schema": schema, "attempt": known.step.attempt}


def _message(known: Known) -> list[str]:
    step = known.step
    lines = [
        f"The worker died during try {step.attempt}: whether it finished is not known.",
        f"Began {_at(step.started_at)}; worker last alive {_at(known.worker_seen_at)}.",
        _process_line(known),
    ]
    if step.output is not None:
        lines.append(f"An earlier try gave {_cut(canonical_json(step.output), _OUTPUT_LIMIT)}")
    if not known.tail:
        return [*lines, "It wrote nothing to its log."]
    lines.append(f"Its log ends at {_at(known.tail[-1].at)}:")
    return [*lines, *(_log_line(line, step.attempt) for line in known.tail)]


def _process_line(known: Known) -> str:
    if known.process == "ended":
        return f"Process {known.step.pid} still ran when the worker came back, and was ended."
    if known.process == "gone":
        return f"Process {known.step.pid} is gone: it ended by itself or with the worker."
    return "No process of it was recorded."


def _log_line(line: LastLine, attempt: int) -> str:
    before = f" of try {line.attempt}" if line.attempt != attempt else ""
    return f"{line.stream}{before}> {_cut(line.text, _LINE_LIMIT)}"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _at(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%SZ}" if instant is not None else "at an unknown time"
