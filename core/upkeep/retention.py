"""Lets old history go: by age and by count for each outcome, in short transactions, never what is active or needed.

Work goes with its occurrence, runs, steps, log and questions; a Trigger's newest decision and its mark stay for ever.
The worker makes one step whenever it is idle; `prune` makes all of them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from core.clock import Clock
from core.storage import retention as statements
from core.storage.retention import Candidate, Key
from core.storage.store import Store, Transaction
from core.views import PruneReport

ROWS_AT_ONCE = 500
WORKS_AT_ONCE = 50
LONGEST_REST_S = 0.1
EVERY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Keep:
    """How long rows are kept, and how many of the newest at most."""

    age: timedelta
    count: int

    def within(self, age: timedelta) -> Keep:
        """Return the same with at most this age."""
        return replace(self, age=min(self.age, age))


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """What is kept of each kind; Work is told apart by its end, decisions without Work by their outcome."""

    completed: Keep = Keep(timedelta(days=90), 1_000_000)
    failed: Keep = Keep(timedelta(days=365), 200_000)
    cancelled: Keep = Keep(timedelta(days=90), 200_000)
    skipped: Keep = Keep(timedelta(days=90), 500_000)
    refused: Keep = Keep(timedelta(days=365), 200_000)
    joined: Keep = Keep(timedelta(days=90), 200_000)
    log_age: timedelta = timedelta(days=30)
    notifications: Keep = Keep(timedelta(days=90), 50_000)
    audit: Keep = Keep(timedelta(days=730), 1_000_000)
    changes: int = 50_000

    def older_than(self, age: timedelta) -> RetentionPolicy:
        """Return the policy that keeps nothing older than `age`, save the audit trail, which keeps its own."""
        names = ("completed", "failed", "cancelled", "skipped", "refused", "joined", "notifications")
        kept = {name: getattr(self, name).within(age) for name in names}
        return replace(self, **kept, log_age=min(self.log_age, age))


Deleted = Counter[str]
_Batch = Callable[[Transaction], tuple[Deleted, bool]]


class RetentionTask:
    """All of retention, one short transaction a step; a round begins at most once an hour."""

    def __init__(self, store: Store, clock: Clock, policy: RetentionPolicy | None = None) -> None:
        self._store = store
        self._clock = clock
        self._policy = policy or RetentionPolicy()
        self._round: Iterator[_Batch] | None = None
        self._batch: _Batch | None = None
        self._ended_at: datetime | None = None
        self.deleted: Deleted = Counter()
        self.batches_ms: list[float] = []

    def step(self) -> bool:
        """Delete one batch, if a round is due, and keep SQLite's log short; return whether there is more to do now."""
        self._store.tidy()
        if self._round is None:
            if not self._due():
                return False
            self._round, self._batch = _batches(self._store, self._policy, self._clock.now()), None
            self.deleted, self.batches_ms = Counter(), []
        if self._batch is None:
            self._batch = next(self._round, None)
        if self._batch is None:
            self._round, self._ended_at = None, self._clock.now()
            return False
        if not self._run(self._batch):
            self._batch = None
        return True

    def _due(self) -> bool:
        """Say whether a round is due; a clock that stepped back does not hold the next one up."""
        return self._ended_at is None or abs(self._clock.now() - self._ended_at) >= EVERY

    def _run(self, batch: _Batch) -> bool:
        began = self._clock.monotonic()
        with self._store.write(durable=False) as tx:
            gone, more = batch(tx)
        self.deleted.update(gone)
        self.batches_ms.append((self._clock.monotonic() - began) * 1000)
        return more


def prune(
    store: Store,
    clock: Clock,
    policy: RetentionPolicy | None = None,
    *,
    most_batches: int | None = None,
    rest: Callable[[float], None] = time.sleep,
) -> PruneReport:
    """Make a whole round, or its first batches; rest as long after each as it took, so that others get their turn."""
    task = RetentionTask(store, clock, policy)
    more = True
    while more and (most_batches is None or len(task.batches_ms) < most_batches):
        made = len(task.batches_ms)
        more = task.step()
        if len(task.batches_ms) > made:
            rest(min(LONGEST_REST_S, task.batches_ms[-1] / 1000))
    deleted = {name: count for name, count in sorted(task.deleted.items()) if count}
    return PruneReport(deleted, len(task.batches_ms), max(task.batches_ms, default=0.0), more)


def _batches(store: Store, policy: RetentionPolicy, now: datetime) -> Iterator[_Batch]:
    """Yield what there is to do, in order; each is repeated until it says that nothing is left."""
    works = {"completed": policy.completed, "failed": policy.failed, "cancelled": policy.cancelled}
    yield _Logs(now - policy.log_age)
    for status, keep in works.items():
        with store.read() as tx:
            nth = statements.nth_newest_work(tx, status, keep.count + 1)
        yield _Works(status, _cut(keep, now, nth))
    outcomes = {"skipped": policy.skipped, "failed": policy.refused, "joined": policy.joined}
    with store.read() as tx:
        workspaces = statements.workspaces(tx)
    for workspace_id in workspaces:
        for outcome, keep in outcomes.items():
            with store.read() as tx:
                nth = statements.nth_newest_occurrence(tx, workspace_id, outcome, keep.count + 1)
            yield _Occurrences(workspace_id, outcome, _cut(keep, now, nth))
    for table, keep in {"notification": policy.notifications, "audit_event": policy.audit}.items():
        delete = partial(statements.delete_aged, table=table, before=now - keep.age, keep=keep.count)
        yield partial(_rows, table, delete)
    yield partial(_rows, "change", partial(statements.delete_changes, keep=policy.changes))


def _cut(keep: Keep, now: datetime, nth_newest: datetime | None) -> datetime:
    """Return the instant before which rows go; the one that exceeds the count goes with its instant."""
    by_age = now - keep.age
    return by_age if nth_newest is None else max(by_age, nth_newest + timedelta(microseconds=1))


def _rows(table: str, delete: Callable[..., int], tx: Transaction) -> tuple[Deleted, bool]:
    gone = delete(tx, limit=ROWS_AT_ONCE)
    return Counter({table: gone}), gone == ROWS_AT_ONCE


@dataclass(slots=True)
class _Works:
    """Ended Work of one status with everything that belongs to it."""

    status: str
    before: datetime
    after: Key | None = field(default=None)

    def __call__(self, tx: Transaction) -> tuple[Deleted, bool]:
        found = statements.ended_work(tx, self.status, self.before, self.after, WORKS_AT_ONCE)
        ids = [row.id for row in found if not row.needed]
        logs = statements.delete_logs(tx, ids, ROWS_AT_ONCE)
        gone: Deleted = Counter({"log_line": logs})
        if logs == ROWS_AT_ONCE:
            return gone, True  # the same Work again, until its log is gone
        if ids:
            gone.update(statements.delete_work(tx, ids))
        self.after = _last(found, self.after)
        return gone, len(found) == WORKS_AT_ONCE


@dataclass(slots=True)
class _Logs:
    """Log lines of ended Work that itself may be kept longer."""

    before: datetime
    after: int = 0

    def __call__(self, tx: Transaction) -> tuple[Deleted, bool]:
        gone, self.after, more = statements.delete_old_logs(tx, self.before, self.after, ROWS_AT_ONCE)
        return Counter({"log_line": gone}), more


@dataclass(slots=True)
class _Occurrences:
    """Decisions of one outcome that made no Work."""

    workspace_id: str
    outcome: str
    before: datetime
    after: Key | None = field(default=None)

    def __call__(self, tx: Transaction) -> tuple[Deleted, bool]:
        found = statements.old_occurrences(
            tx, self.workspace_id, self.outcome, self.before, after=self.after, limit=ROWS_AT_ONCE
        )
        ids = [row.id for row in found if not row.needed]
        gone: Deleted = Counter(statements.delete_occurrences(tx, ids) if ids else {})
        self.after = _last(found, self.after)
        return gone, len(found) == ROWS_AT_ONCE


def _last(found: list[Candidate], before: Key | None) -> Key | None:
    return found[-1].key if found else before
