"""One pass: what is due is decided, batch by batch, until nothing is due.

A batch is one transaction of at most 500 Triggers; it shrinks where it takes longer than aimed for. Where a batch
fails for a reason that is not the storage's, its Triggers are taken one by one, so that only the poisonous one waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.admission import recovery
from core.admission.batch import Memory, Trouble, Writing, admit, admit_due, warm
from core.admission.recovery import Reconciled
from core.admission.rows import LONGEST_BACKOFF_S, ailing, backed_off
from core.clock import Clock
from core.errors import StorageUnusable
from core.failpoints import reach
from core.storage import admission as statements
from core.storage.admission import StateRow
from core.storage.store import Store

MOST_ROWS = 500
FEWEST_ROWS = 100
AIM_MS = 50.0


@dataclass(frozen=True, slots=True)
class PassReport:
    """What one pass did; `next_due_at` is when the next one has something to do, at or before now where it was cut off.

    `admitted` counts decided occurrences, `ranges` counted ranges, `submitted` names the Work that is now pending,
    `lags_ms` are the discovery lags of fires on time.
    """

    admitted: int = 0
    submitted: tuple[str, ...] = ()
    ranges: int = 0
    errors: tuple[Trouble, ...] = ()
    next_due_at: datetime | None = None
    duration_ms: float = 0.0
    lags_ms: tuple[float, ...] = ()
    batches_ms: tuple[float, ...] = ()


@dataclass(slots=True)
class _Tally:
    """What the batches of one pass add up to."""

    admitted: int = 0
    ranges: int = 0
    submitted: list[str] = field(default_factory=list)
    errors: list[Trouble] = field(default_factory=list)
    lags_ms: list[float] = field(default_factory=list)
    batches_ms: list[float] = field(default_factory=list)

    def add(self, writing: Writing) -> None:
        """Count one committed batch in."""
        self.admitted += len(writing.occurrences)
        self.ranges += len(writing.ranges)
        self.submitted += [row["id"] for row in writing.work]
        self.errors += writing.troubles
        self.lags_ms += writing.lags_ms


class Pipeline:
    """Decides what is due; one at a time for each database."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._memory = Memory()
        self._limit = MOST_ROWS
        self._looked_at: datetime | None = None

    def reconcile(self) -> Reconciled:
        """Compute every projection again that does not follow from definition and mark; at start and on request."""
        return recovery.reconcile(self._store, self._memory.plans)

    def pass_once(self, budget_s: float | None = None) -> PassReport:
        """Decide everything that is due, or as much as fits into the budget.

        Raise `StorageUnusable` where nothing can be written; what was committed before stays committed.
        """
        began = self._clock.monotonic()
        tally = _Tally()
        self._hasten_retries()
        self._lift_pauses()
        while self._anything_due() and self._one_batch(tally):
            if budget_s is not None and self._clock.monotonic() - began >= budget_s:
                break
        with self._store.read() as tx:
            wake = statements.next_wake(tx, self._clock.now())
        return PassReport(
            admitted=tally.admitted,
            submitted=tuple(tally.submitted),
            ranges=tally.ranges,
            errors=tuple(tally.errors),
            next_due_at=wake,
            duration_ms=(self._clock.monotonic() - began) * 1000,
            lags_ms=tuple(tally.lags_ms),
            batches_ms=tuple(tally.batches_ms),
        )

    def _anything_due(self) -> bool:
        """Look without taking the write lock, since most looks find nothing; read what the next batch needs."""
        with self._store.read() as tx:
            return warm(tx, self._memory, self._clock.now(), self._limit)

    def _one_batch(self, tally: _Tally) -> bool:
        """Decide one batch; return whether there was anything in it."""
        try:
            with self._store.write() as tx:
                began = self._clock.monotonic()  # waiting for other writers makes nobody else wait
                writing = admit_due(tx, self._memory, self._clock, self._limit)
        except StorageUnusable:
            raise
        except Exception:  # noqa: BLE001 - one of them is poisonous: found by taking them one by one
            return self._one_by_one(tally)
        reach("admission.after_commit")
        tally.add(writing)
        took_ms = (self._clock.monotonic() - began) * 1000
        tally.batches_ms.append(took_ms)
        self._adapt(took_ms, writing.seen)
        return writing.seen > 0

    def _adapt(self, took_ms: float, seen: int) -> None:
        """Aim at short transactions: shrink after a long one, grow again after a full quick one."""
        if took_ms > AIM_MS and seen > FEWEST_ROWS:
            self._limit = max(FEWEST_ROWS, int(seen * AIM_MS / took_ms))
        elif seen == self._limit and took_ms < AIM_MS * 0.75:
            self._limit = min(MOST_ROWS, self._limit * 2)

    def _one_by_one(self, tally: _Tally) -> bool:
        """Decide the Triggers of a failed batch each in a transaction of its own."""
        now = self._clock.now()
        with self._store.read() as tx:
            due = statements.due_subjects(tx, now, self._limit)
        for state in (it.state for it in due):
            try:
                with self._store.write() as tx:
                    found = statements.subjects_of(tx, [state.trigger_uid])
                    current = [it for it in found.values() if it.state == state]
                    writing = admit(tx, self._memory, current, now, self._clock)
            except StorageUnusable:
                raise
            except Exception as error:  # noqa: BLE001 - whatever this one does to us, the others fire
                self._postpone(state, error, now, tally)
            else:
                tally.add(writing)
        return bool(due)

    def _postpone(self, state: StateRow, error: Exception, now: datetime, tally: _Tally) -> None:
        """Let a poisonous Trigger wait; its mark stays, so nothing of it is lost.

        One that somebody changed meanwhile is not as it was seen: it keeps the change, and the next pass looks again.
        """
        message = f"{type(error).__name__}: {error}".splitlines()[0][:500]
        with self._store.write() as tx:
            if statements.states_of(tx, [state.trigger_uid]).get(state.trigger_uid) != state:
                return
            statements.save_states(tx, [backed_off(ailing(state, "internal_error", message, now), now)])
            tx.changed(state.workspace_id, "trigger", state.trigger_uid)
            reach("admission.postponing")
        reach("admission.postponed")
        tally.errors.append(Trouble(state.trigger_uid, state.name, "internal_error", message))

    def _hasten_retries(self) -> None:
        """Look at ailing Triggers at once where a clock that was set back would make them wait beyond the longest."""
        now = self._clock.now()
        if self._looked_at is not None and now >= self._looked_at:
            return
        with self._store.read() as tx:
            stretched = statements.retried_after(tx, now + timedelta(seconds=LONGEST_BACKOFF_S))
        if stretched:
            with self._store.write() as tx:
                statements.retry_at(tx, stretched, now)

    def _lift_pauses(self) -> None:
        """Give Triggers whose pause has ended their phase back; what it covered is judged by the batches."""
        now = self._clock.now()
        with self._store.read() as tx:
            ended: Sequence[str] = statements.ended_pauses(tx, self._looked_at, now)
        if ended:
            with self._store.write() as tx:
                recovery.repair(tx, self._memory.plans, ended)
                reach("admission.lifting_pauses")
            reach("admission.pauses_lifted")
        self._looked_at = now
