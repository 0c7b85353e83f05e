"""An auditor of its own: reads the rows by plain SQL after every turn and judges what the core's checker cannot know.

It knows who held which right, which pauses there were and how far a mark had come, because it looked each time. What
may have changed since the last look is not judged.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core import zones
from core.admission.plan import read_plan
from core.errors import Invalid
from core.views import ACTIVE_WORK
from tests.simulation.outside import AGAIN

THRESHOLD_US = 60 * 1_000_000
SECOND_US = 1_000_000
_DECIDED = (
    "SELECT rowid, id, trigger_uid, trigger_name, generation, kind, nominal_at, due_at, observed_at, reason, work_id,"
    " principal_id, count FROM occurrence WHERE rowid > ? ORDER BY rowid"
)
_RIGHTS = (
    "SELECT p.id, p.active AND m.state = 'active' AND m.role IN ('Owner', 'Admin', 'Member')"
    " FROM principal p JOIN membership m ON m.principal_id = p.id"
)
_DOUBTS = (
    "SELECT a.id, a.status, json_extract(a.form, '$.attempt'), json_extract(a.\"values\", '$.choice'),"
    " json_extract(a.\"values\", '$.output.rows'), s.status, s.attempt, s.error_code, json_extract(s.output, '$.rows'),"
    " r.error_code, r.status, s.step_id FROM pending_action a JOIN flow_run r ON r.id = a.run_id"
    " JOIN flow_step s ON s.run_id = a.run_id AND s.position = a.position WHERE json_extract(a.form, '$.attempt') > 0"
)
_OCCURRENCES = "SELECT id, CASE kind WHEN 'scheduled' THEN count ELSE 0 END FROM occurrence"
_OTHERS = {"works": "work", "runs": "flow_run", "questions": "pending_action"}


class Ledger:
    """Looks at one database through a connection of its own."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
        self._seen = 0
        self._counted: dict[str, int] = {}
        self._known: dict[str, set[str]] = defaultdict(set)
        self._active: set[str] = set()
        self._marks: dict[str, int] = {}
        self._pauses: dict[str, int] = {}
        self._policies: dict[tuple[str, int], tuple[str, str]] = {}
        self._walls: set[tuple[str, int, int]] = set()
        self._denied: dict[str, bool] = {}
        self._allowed: dict[str, bool] = {}

    def look(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return every row of a query."""
        return self._connection.execute(query, values).fetchall()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def note_rights(self) -> None:
        """Look who may run now; call it whenever that may have changed."""
        for principal, may in self.look(_RIGHTS):
            self._denied[principal] = self._denied.get(principal, True) and not may
            self._allowed[principal] = self._allowed.get(principal, True) and bool(may)

    def denied(self, work: str) -> bool:
        """Say whether the principal of a Work has held no right at any moment since the last judgement."""
        return self._denied.get(self.look("SELECT principal_id FROM work WHERE id = ?", work)[0][0], False)

    def judge(self) -> Iterator[str]:
        """Yield what is wrong with everything that was decided since the last time."""
        self.note_rights()
        windows = self._windows()
        for row in self.look(_DECIDED, self._seen):
            self._seen = row[0]
            yield from self._decision(row, windows)
        self._seen = self.look("SELECT coalesce(max(rowid), 0) FROM occurrence")[0][0]  # what is pruned frees its rowid
        self._remember()
        yield from self._vanished()
        yield from self._marks_moved()
        self._pauses = {window[0]: self._pauses.get(window[0], self._marks.get(window[1], 0)) for window in windows}
        self._denied.clear()
        self._allowed.clear()
        self.note_rights()

    def stale(self) -> Iterator[str]:
        """Yield the Triggers whose next time was made with other zone data though the worker has just started."""
        query = (
            "SELECT s.name, s.fingerprint, r.definition FROM trigger_state s JOIN resource r ON r.uid = s.trigger_uid"
            " WHERE s.enabled AND s.retry_at IS NULL AND r.deleted_at IS NULL"
        )
        for name, fingerprint, definition in self.look(query):
            if (fingerprint or "//").split("/")[1] != zones.data_version() and _readable(definition):
                yield f"the next time of {name} was made with other zone data ({fingerprint})"

    # -- decisions ----------------------------------------------------------------------------------------------------

    def _decision(self, row: tuple[Any, ...], windows: list[tuple[Any, ...]]) -> Iterator[str]:
        _, identity, uid, name, generation, kind, nominal, due, observed, reason, work, principal, count = row
        about = f"{name} {identity[:8]} ({reason})"
        if work and self._denied.get(principal):
            yield f"{about}: Work though its principal held no right"
        if reason == "denied" and self._allowed.get(principal):
            yield f"{about}: refused though its principal held the right"
        if kind != "scheduled":
            return
        if reason == "on_time" and observed - due > THRESHOLD_US:
            yield f"{about}: called on time, {(observed - due) // SECOND_US} s late"
        misfire, expression = self._policy(uid, generation)
        if (reason == "coalesced" or (count > 1 and work)) and misfire == "skip":
            yield f"{about}: coalesced though late times are to be skipped"
        if reason == "missed" and misfire == "fireOnce":
            yield f"{about}: missed though late times are to fire once"
        if work:
            yield from self._paused(about, uid, nominal, windows)
            yield from self._twice(about, uid, generation, expression, nominal)

    def _paused(self, about: str, uid: str, nominal: int, windows: list[tuple[Any, ...]]) -> Iterator[str]:
        for window, owner, begin, end in windows:
            known_from = self._pauses.get(window)
            covered = begin <= nominal and (end is None or nominal < end)
            if owner == uid and known_from is not None and nominal > known_from and covered:
                yield f"{about}: fired inside pause {window[-4:]}"

    def _twice(self, about: str, uid: str, generation: int, rule: str, nominal: int) -> Iterator[str]:
        """Look whether a rule that names one wall time a day fired twice at it."""
        read = json.loads(rule)
        fields = str(read.get("expression", "* * *")).split()
        if not all(field.isdigit() for field in fields[:3]):
            return
        wall = (uid, generation, zones.zone(read["timeZone"]).wall_at(nominal // SECOND_US))
        if wall in self._walls:
            yield f"{about}: fired twice at one wall time"
        self._walls.add(wall)

    def _policy(self, uid: str, generation: int) -> tuple[str, str]:
        """Return (misfire policy, rule as text) of one generation."""
        if (uid, generation) not in self._policies:
            query = "SELECT definition FROM revision WHERE uid = ? AND generation = ?"
            found = json.loads(self.look(query, uid, generation)[0][0])
            rule = json.dumps(found["source"]["schedule"])
            self._policies[uid, generation] = (found["misfirePolicy"], rule)
        return self._policies[uid, generation]

    def _windows(self) -> list[tuple[Any, ...]]:
        return self.look("SELECT id, trigger_uid, from_at, until_at FROM pause_window ORDER BY id")

    def move_mark(self, uid: str, to: int) -> None:
        """Expect a mark to be moved back by hand: with it go the wall times that it stands for."""
        self._marks[uid] = min(to, self._marks.get(uid, to))
        self._walls = {wall for wall in self._walls if wall[0] != uid}

    def _marks_moved(self) -> Iterator[str]:
        for uid, mark in self.look("SELECT trigger_uid, mark_at FROM trigger_state WHERE mark_at IS NOT NULL"):
            if mark < self._marks.get(uid, mark):
                yield f"the mark of {uid[-4:]} moved back by {(self._marks[uid] - mark) // SECOND_US} s"
            self._marks[uid] = mark

    def _vanished(self) -> Iterator[str]:
        """Yield the Work that is gone though it was active at the last look; what ends is kept for a while."""
        statuses: dict[str, str] = dict(self.look("SELECT id, status FROM work"))
        for work in sorted(self._active - statuses.keys()):
            yield f"Work {work} is gone though it had not ended"
        self._active = {work for work, status in statuses.items() if status in ACTIVE_WORK}

    def _remember(self) -> None:
        """Keep in mind what may be pruned later."""
        self._counted.update(self.look(_OCCURRENCES))
        for what, table in _OTHERS.items():
            self._known[what].update(row[0] for row in self.look(f"SELECT id FROM {table}"))  # noqa: S608 - a constant

    # -- the end ------------------------------------------------------------------------------------------------------

    def seen(self) -> Counter[str]:
        """Return how much there ever was, and how many decisions are gone from the history."""
        self._remember()
        left = self.look("SELECT count(*) FROM occurrence")[0][0]
        return Counter(
            {
                "occurrences": len(self._counted),
                "nominal times": sum(self._counted.values()),
                "pruned": len(self._counted) - left,
                **{what: len(known) for what, known in self._known.items()},
            }
        )

    def doubts(self) -> Iterator[tuple[str, str]]:
        """Yield (how it was resolved, what is wrong with that or nothing) of each question about a crash."""
        for row in self.look(_DOUBTS):
            identity, status, attempt, choice, given, step, tried, step_code, output, run_code, run, step_id = row
            word = choice if status == "completed" else status
            cut_short = run_code in {"cancelled", "deadline"} or run == "cancelled"
            holds = {
                "finished": step == "completed" and output == given,
                "failed": step == "failed" and (step_code == "crashed" or tried > attempt),
                AGAIN: tried > attempt,
                "expired": step == "failed" and step_code == "outcome_unknown",
                "cancelled": cut_short,
            }[word]
            yield word, "" if holds or cut_short else f"question {identity[-4:]} ({word}) left step {step_id} {step}"


def _readable(definition: str) -> bool:
    try:
        read_plan("", "", 0, definition)
    except Invalid:
        return False
    return True
