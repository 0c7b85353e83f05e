"""Ways to break the product that the simulation has to notice; each breaks one promise through a monkeypatch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.admission import batch, control, decide, facts, identity, manual, pipeline, recovery, rows
from core.errors import StorageUnusable
from core.runtime import execution, interpreter, outbox, progress, uncertain
from core.runtime import recovery as crashes
from core.runtime.context import StepResult
from core.runtime.port import Progress
from core.storage import admission as statements
from core.storage import retention, runs
from core.storage import work as works
from core.storage.tables import Occurrence
from core.work import service

Break = Callable[[pytest.MonkeyPatch], None]


def losing_ranges(patch: pytest.MonkeyPatch) -> None:
    """Record no range."""
    patch.setattr(statements, "grow_ranges", lambda _tx, _rows: None)


def losing_occurrences(patch: pytest.MonkeyPatch) -> None:
    """Fire on time, and record nothing of it."""
    insert = statements.insert_occurrences

    def insert_others(tx: Any, found: Sequence[Any]) -> None:
        insert(tx, [row for row in found if row["reason"] != "on_time"])

    patch.setattr(statements, "insert_occurrences", insert_others)
    patch.setattr(statements, "insert_work", lambda _tx, _rows: None)


def forgetting_overlap(patch: pytest.MonkeyPatch) -> None:
    """Look at no active Work."""
    patch.setattr(facts, "active_work", lambda _tx, _uids: {})


def running_what_was_refused(patch: pytest.MonkeyPatch) -> None:
    """Let occurrences whose principal holds no right fire."""
    patch.setattr(facts, "authorise_many", lambda _tx, pairs: dict.fromkeys(pairs, _Allowed()))


class _Allowed:
    why = ""

    def __bool__(self) -> bool:
        return True


def starting_what_was_revoked(patch: pytest.MonkeyPatch) -> None:
    """Ask for no right again before a run's first step."""
    patch.setattr(progress, "_refusal", lambda _tx, _work: "")


def admitting_again_after_an_unknown_commit(patch: pytest.MonkeyPatch) -> None:
    """Take a commit that did not answer for undone: decide the same times again under other identities."""
    one_batch = pipeline.Pipeline._one_batch
    salt: list[str] = [""]
    identify = identity.occurrence_id

    def again(self: Any, tally: Any) -> bool:
        with self._store.read() as tx:
            before = statements.due_subjects(tx, self._clock.now(), 500)
        try:
            return one_batch(self, tally)
        except StorageUnusable:
            with self._store.write() as tx:
                salt[0] += "0"
                statements.save_states(tx, [it.state for it in before])
            raise

    def salted(workspace: str, uid: str, nominal: int) -> str:
        return identify(workspace + salt[0], uid, nominal)

    patch.setattr(pipeline.Pipeline, "_one_batch", again)
    patch.setattr(rows, "occurrence_id", salted)


def moving_the_mark_back(patch: pytest.MonkeyPatch) -> None:
    """Follow a clock that was set back."""
    project = rows.projected

    def follow(state: Any, plan: Any, mark: int, windows: Any, now: Any, **also: Any) -> Any:
        return project(state, plan, min(mark, int(now.timestamp())), windows, now, **also)

    patch.setattr(rows, "projected", follow)
    patch.setattr(batch, "projected", follow)


def ignoring_pauses(patch: pytest.MonkeyPatch) -> None:
    """Decide without looking at pauses."""
    patch.setattr(batch, "windows_of", lambda _tx, _states, _now: {})


def keeping_old_projections(patch: pytest.MonkeyPatch) -> None:
    """Trust next times that were made with other zone data."""
    patch.setattr(recovery, "_untrusted", lambda state, _generation: state.next_due_at is None)


def firing_a_wall_time_twice(patch: pytest.MonkeyPatch) -> None:
    """Leave a mark where it is though its wall time has another instant now."""
    patch.setattr(recovery, "moved_mark", lambda _plan, mark, _wall: mark)


def editing_retroactively(patch: pytest.MonkeyPatch) -> None:
    """Let an edit decide nothing of what was due before it."""
    withdraw = control._withdraw

    def keep(tx: Any, state: Any, previous: Any, now: Any) -> Any:
        made = withdraw(tx, state, previous, now)
        return replace(made, mark=int(state.mark_at.timestamp())) if state.mark_at and state.enabled else made

    patch.setattr(control, "_withdraw", keep)


def firing_everything_late(patch: pytest.MonkeyPatch) -> None:
    """Call a time on time however late it is."""
    judge = decide.judge

    def patient(rule: Any, due_of: Any, policy: Any, **given: Any) -> Any:
        return judge(rule, due_of, replace(policy, misfire_threshold_s=1e9), **given)

    patch.setattr(batch, "judge", patient)


def moving_the_next_time_by_hand(patch: pytest.MonkeyPatch) -> None:
    """Let run now count as the next scheduled time."""
    run = control.run_now

    def run_and_move(tx: Any, scope: Any, namespace: str, name: str, **given: Any) -> Any:
        state = manual.named_state(tx, scope.workspace_id, namespace, name)
        effect = run(tx, scope, namespace, name, **given)
        if state.next_nominal_at is not None:
            statements.save_states(tx, [replace(state, mark_at=state.next_nominal_at)])
        return effect

    patch.setattr(control, "run_now", run_and_move)


def submitting_under_another_run(patch: pytest.MonkeyPatch) -> None:
    """Submit again under a new run where an acknowledgement was lost."""
    number = outbox._run_row

    def another(work: Any, newest: Any, now: Any) -> dict[str, Any]:
        row = number(work, newest, now)
        attempt = 1 if newest is None else newest.attempt + 1
        return {**row, "attempt": attempt, "id": f"{work.id}.{attempt}"}

    patch.setattr(outbox, "_run_row", another)


def delivering_twice_at_once(patch: pytest.MonkeyPatch) -> None:
    """Take every answer of the interpreter for lost, and ask for the same segment beside it."""
    advance = execution.Execution._advance

    async def twice(self: Any, segment: Any, cancel: Any) -> Any:
        asyncio.get_running_loop().create_task(advance(self, segment, asyncio.Event()))
        return await advance(self, segment, cancel)

    patch.setattr(execution.Execution, "_advance", twice)


def forgetting_results(patch: pytest.MonkeyPatch) -> None:
    """Record no result of a step that went well."""
    settle = interpreter.Interpreter._settle

    def forget(self: Any, attempt: Any, result: Any) -> Any:
        if result.error is None:
            with self._store.write() as tx:
                runs.set_step(tx, attempt.walk.run.id, attempt.position, was=("running",), status="pending")
            return Progress.MORE
        return settle(self, attempt, result)

    patch.setattr(interpreter.Interpreter, "_settle", forget)


def rerunning_without_asking(patch: pytest.MonkeyPatch) -> None:
    """Run a step in doubt again whatever `onCrash` says."""
    put_right = crashes._put_right

    def rerun(tx: Any, step: Any, now: Any, process: Any) -> None:
        runs.set_step(tx, step.run_id, step.position, was=("running",), status="pending")
        if runs.steps(tx, step.run_id)[step.position].status != "pending":
            put_right(tx, step, now, process)

    patch.setattr(crashes, "_put_right", rerun)


def answering_twice(patch: pytest.MonkeyPatch) -> None:
    """Let the last answer win."""
    end = works.end_action

    def end_again(tx: Any, action_id: str, status: str, now: Any, **values: Any) -> bool:
        return end(tx, action_id, status, now, **values) or True

    patch.setattr(works, "end_action", end_again)
    patch.setattr(service, "_refuse_ended", lambda _action, _now: None)


def losing_answers(patch: pytest.MonkeyPatch) -> None:
    """Take an answer and wake nobody."""
    patch.setattr(service, "wake_run", lambda _tx, _action, _now: None)


def misreading_answers(patch: pytest.MonkeyPatch) -> None:
    """Go on after a crash whatever a person said."""
    patch.setattr(uncertain, "outcome", lambda _action: StepResult(output=None))


def counting_into_an_earlier_range(patch: pytest.MonkeyPatch) -> None:
    """Give what is decided anew after a mark was moved back the identity that it had."""
    patch.setattr(identity, "_anew", lambda _mark_moves: "")


def forgetting_what_was_pruned(patch: pytest.MonkeyPatch) -> None:
    """Let decisions go, and not say from where on history is complete."""

    def delete(tx: Any, ids: Sequence[str]) -> dict[str, int]:
        return {"occurrence": retention._gone(tx, Occurrence, retention._occurrence.id.in_(ids))}

    patch.setattr(retention, "delete_occurrences", delete)


def pruning_what_runs(patch: pytest.MonkeyPatch) -> None:
    """Let Work go as if it had ended."""
    ended = retention.ended_work

    def any_work(tx: Any, _status: str, before: Any, after: Any, limit: int) -> Any:
        return [row for status in ("running", "queued") for row in ended(tx, status, before, after, limit)]

    patch.setattr(retention, "ended_work", any_work)


HARMS: tuple[Break, ...] = (
    losing_ranges,
    losing_occurrences,
    forgetting_overlap,
    running_what_was_refused,
    starting_what_was_revoked,
    admitting_again_after_an_unknown_commit,
    moving_the_mark_back,
    ignoring_pauses,
    keeping_old_projections,
    firing_a_wall_time_twice,
    editing_retroactively,
    firing_everything_late,
    moving_the_next_time_by_hand,
    submitting_under_another_run,
    delivering_twice_at_once,
    forgetting_results,
    rerunning_without_asking,
    answering_twice,
    losing_answers,
    misreading_answers,
    counting_into_an_earlier_range,
    forgetting_what_was_pruned,
    pruning_what_runs,
)
