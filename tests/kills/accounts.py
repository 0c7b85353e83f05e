"""What has to be true of a world's past: looked at after each death, and in full when all has come to rest."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from core.runtime.recovery import CRASH_LIMIT
from core.runtime.uncertain import AGAIN, FAILED, FINISHED
from tests.kills.resources import DEED, HANGS, UNSURE

Try = tuple[str, int]


class Unsound(AssertionError):
    """Something was lost, doubled, left behind or damaged."""


def expect(holds: bool, otherwise: str) -> None:
    """Raise `Unsound` unless something holds."""
    if not holds:
        raise Unsound(otherwise)


# -- after each death ------------------------------------------------------------------------------------------------

_ASKED_AT_ONCE = "SELECT run_id FROM pending_action WHERE status = 'pending' GROUP BY run_id HAVING count(*) > 1"
_ASKED_TWICE = (
    "SELECT run_id, form ->> '$.attempt' FROM pending_action WHERE step_id = ? GROUP BY 1, 2 HAVING count(*) > 1"
)
_REPEATED_UNASKED = (
    "SELECT s.run_id, s.attempt FROM flow_step s WHERE s.step_id = ? AND s.attempt > 1 AND NOT EXISTS ("
    "SELECT 1 FROM pending_action a WHERE a.run_id = s.run_id AND a.position = s.position AND a.status = 'completed'"
    """ AND a.form ->> '$.attempt' = s.attempt - 1 AND a."values" ->> '$.choice' = ?)"""
)


def account_for_questions(connection: sqlite3.Connection) -> None:
    """Nothing is asked twice, and no step that may not be repeated is repeated without an answer that says so."""
    expect(not (found := connection.execute(_ASKED_AT_ONCE).fetchall()), f"runs ask two things at once: {found}")
    expect(not (found := connection.execute(_ASKED_TWICE, [DEED]).fetchall()), f"a try was asked about twice: {found}")
    found = connection.execute(_REPEATED_UNASKED, [DEED, AGAIN]).fetchall()
    expect(not found, f"steps were repeated without an answer: {found}")


def deeds_in_flight(connection: sqlite3.Connection) -> set[Try]:
    """Return run and number of the tries that are in flight and may not be repeated."""
    rows = connection.execute("SELECT run_id, attempt FROM flow_step WHERE step_id = ? AND status = 'running'", [DEED])
    return {(run, attempt) for run, attempt in rows}


# -- at rest ---------------------------------------------------------------------------------------------------------

_WORK = "SELECT id, trigger_name, is_test, status, error_code, cancel_requested_at IS NOT NULL FROM work"
_WORN_OUT = "SELECT r.work_id FROM flow_step s JOIN flow_run r ON r.id = s.run_id WHERE s.attempt >= ?"
_SLEEPING = "SELECT work_id FROM flow_run WHERE status = 'sleeping'"
_DONE_COMMANDS = "SELECT run_id, step_id FROM flow_step WHERE status = 'completed' AND kind = 'command'"
_ANSWERS = (
    """SELECT a.run_id, a.form ->> '$.attempt', a.status, a."values","""
    " s.status, s.attempt, s.output, r.status, r.work_id"
    " FROM pending_action a JOIN flow_run r ON r.id = a.run_id"
    " JOIN flow_step s ON s.run_id = a.run_id AND s.position = a.position WHERE a.step_id = ?"
)


def account_for_work(connection: sqlite3.Connection) -> int:
    """Every occurrence that was admitted has its one Work, and that ended as it should; return how many."""
    (admitted,) = connection.execute("SELECT count(*) FROM occurrence WHERE outcome = 'submitted'").fetchone()
    works = connection.execute(_WORK).fetchall()
    expect(admitted == len(works), f"{admitted} occurrences were submitted, and there are {len(works)} Works")
    worn = {work for (work,) in connection.execute(_WORN_OUT, [CRASH_LIMIT])}
    sleeping = {work for (work,) in connection.execute(_SLEEPING)}
    said = {one.work: one.end for one in _crash_answers(connection)}
    for work, trigger, fired_by_hand, status, code, cancelled in works:
        fine = status == "completed" or (code == "crashed" and work in worn)
        fine |= status == "running" and work in sleeping
        fine |= (trigger == HANGS or fired_by_hand) and status == "cancelled" and cancelled
        fine |= trigger == UNSURE and (status, code) in _ENDS.get(said.get(work, ""), ())
        fine |= trigger == UNSURE and status == "cancelled" and cancelled
        expect(bool(fine), f"Work {work} of {trigger or 'nobody'} ended as {status} ({code})")
    return int(admitted)


_ENDS = {FAILED: (("failed", "crashed"),), "expired": (("failed", "outcome_unknown"),)}


class _Answer:
    """What was said of one try of a step, and what became of it."""

    def __init__(self, row: tuple[str, int, str, str | None, str, int, str | None, str, str]) -> None:
        self.run, self.attempt, status, values, self.step, self.reached, output, self.ended, self.work = row
        self.values = json.loads(values or "null") or {}
        self.end = self.values.get("choice", "") if status == "completed" else status
        self.output = json.loads(output or "null")

    def is_carried_out(self) -> bool:
        """Say whether the answer had its effect and no other; a run that was cancelled has none."""
        if self.end == AGAIN:
            return self.reached > self.attempt or self.ended == "cancelled"
        if self.ended == "cancelled":
            return self.reached == self.attempt
        if self.end == FINISHED:
            return (self.step, self.reached, self.output) == ("completed", self.attempt, self.values.get("output"))
        return (self.step, self.reached, self.ended) == ("failed", self.attempt, "failed")


def _crash_answers(connection: sqlite3.Connection) -> Iterator[_Answer]:
    """Yield what was said, the latest of a run last."""
    rows = connection.execute(f"{_ANSWERS} ORDER BY r.attempt, 2", [DEED])
    return map(_Answer, rows.fetchall())


def account_for_answers(connection: sqlite3.Connection, in_flight: set[Try]) -> Counter[str]:
    """Each try that a death interrupted was asked about once, and each answer was carried out once; return how many."""
    account_for_questions(connection)
    answers = list(_crash_answers(connection))
    asked = {(one.run, one.attempt) for one in answers}
    ended = {run for (run,) in connection.execute("SELECT id FROM flow_run WHERE status = 'cancelled'")}
    expect(not (missing := {one for one in in_flight - asked if one[0] not in ended}), f"never asked about: {missing}")
    expect(not (more := asked - in_flight), f"asked about though nothing had died in it: {more}")
    for one in answers:
        told = f"{one.end!r} of try {one.attempt} of {one.run}: step {one.step} {one.reached}, run {one.ended}"
        expect(one.is_carried_out(), f"not carried out: {told}, output {one.output}")
    return Counter({f"said {one.end}": 0 for one in answers}) + Counter(f"said {one.end}" for one in answers)


def account_for_effects(connection: sqlite3.Connection, folder: Path, *, repeated: bool) -> Counter[str]:
    """Every completed step ran at least once, each try under a higher number than the one before; return how many.

    `repeated` says that the end of the file was lost: tries may have run under the same number again, or be forgotten.
    """
    tries: dict[tuple[str, str], list[int]] = {}
    for line in folder.joinpath("effects").read_text().splitlines():
        run, step, attempt = line.split()
        tries.setdefault((run, step), []).append(int(attempt))
    for (run, step), numbers in tries.items():
        fine = repeated or numbers == sorted(set(numbers))
        expect(fine, f"step {step} of run {run} ran as attempts {numbers}")
    done = connection.execute(_DONE_COMMANDS).fetchall()
    vouched = {(one.run, DEED) for one in _crash_answers(connection) if one.end == FINISHED}
    missing = [key for key in done if key not in tries and key not in vouched]
    expect(not missing, f"steps are recorded as completed that never ran: {missing[:5]}")
    if not repeated:
        _account_for_tokens(connection, folder)
    return Counter(steps=len(done), repeated=sum(len(numbers) - 1 for numbers in tries.values()))


def _account_for_tokens(connection: sqlite3.Connection, folder: Path) -> None:
    """The step after one in doubt went on with the output that is recorded, and no other."""
    rows = connection.execute("SELECT run_id, output ->> '$.token' FROM flow_step WHERE step_id = ?", [DEED])
    recorded = dict(rows.fetchall())
    told = folder.joinpath("tokens")
    for line in told.read_text().splitlines() if told.exists() else ():
        run, token = line.split()
        expect(recorded.get(run) == token, f"run {run} went on with {token}, recorded is {recorded.get(run)}")
