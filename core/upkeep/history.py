"""Cuts a Trigger's past into tenures and looks for nominal times that are not decided exactly once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core import zones
from core.admission.plan import zone_data_of
from core.clock import epoch_seconds, format_instant, from_epoch
from core.errors import Invalid
from core.storage import checks
from core.storage.checks import DecidedTimes, RevisionFacts, TriggerFacts
from core.storage.store import Transaction
from core.triggers import Schedule, parse_schedule
from core.upkeep.tiling import Decision, Flaw, Past, Tenure, flaws
from core.views import Finding

SENTENCES = {
    "undecided": "nominal times from {first} to {last} have no decision: {expected} expected, {found} found",
    "decided_twice": "nominal times from {first} to {last} are decided twice: {expected} exist, {found} counted",
    "not_in_schedule": "the decision for {first} is none of the schedule's nominal times",
    "mark_behind": "the mark stands at {first} though {last} is decided already",
}
REMEDIES = {
    "undecided": "look for lost rows: restore a backup, or accept the gap; it will not fire by itself",
    "decided_twice": "compare the Work of that time; at most one should have run",
    "not_in_schedule": "compare the row's generation with the Trigger's revisions",
    "mark_behind": "repair moves the mark up to the newest decision, so that nothing fires twice",
}


_FOR_EVER = 1 << 60


@dataclass(frozen=True, slots=True)
class _Era:
    """One generation as the past needs it; `rule` None is disabled, `known` False cannot be read any more."""

    definition: Mapping[str, Any]
    rule: Schedule | None
    known: bool


def history_findings(tx: Transaction, trigger: TriggerFacts, revisions: Sequence[RevisionFacts]) -> Iterator[Finding]:
    """Yield what is wrong with the decided past of one Trigger.

    Nothing can be said while its projection was made with other zone data: the worker's next start rebases it.
    """
    if trigger.mark_at is None or zone_data_of(trigger.fingerprint) not in {None, zones.data_version()}:
        return
    past, floor = past_of(revisions, lambda: checks.newest_decided(tx, trigger.uid))
    if floor == _FOR_EVER:
        return
    if trigger.decided_from is not None:
        floor = max(floor, epoch_seconds(trigger.decided_from))
    decisions = map(_decision, checks.decided_times(tx, trigger.uid, from_epoch(floor)))
    for flaw in flaws(past, decisions, floor=floor, mark=epoch_seconds(trigger.mark_at)):
        yield _finding(trigger, flaw)


def past_of(
    revisions: Sequence[RevisionFacts], newest_by_generation: Callable[[], Mapping[int, int]]
) -> tuple[Past, int]:
    """Return the tenures of a Trigger and the second from which they are known.

    A generation that changed the schedule or `enabled` carries the mark at which it came into force. Where it does
    not, that is the time at which it was saved, or the newest time decided by an earlier one, whichever is later.
    Under a rule that cannot be read nothing is known, neither of its own time nor before.
    """
    tenures: list[Tenure] = []
    floor = start = 0
    era: _Era | None = None
    for number, revision in enumerate(revisions):
        following = _era(revision.definition)
        if era is not None and not _changes(era, following) and revision.mark_at is None:
            continue
        at = _came_into_force(revision, revisions[:number], start, newest_by_generation)
        if era is None:
            floor = at
        else:
            tenures.append(Tenure(start, at, era.rule))
            floor = floor if era.known else at
        era, start = following, at
    if era is not None:
        tenures.append(Tenure(start, _FOR_EVER, era.rule))
        floor = floor if era.known else _FOR_EVER
    return Past(tuple(tenures)), floor


def _came_into_force(
    revision: RevisionFacts,
    earlier: Sequence[RevisionFacts],
    start: int,
    newest_by_generation: Callable[[], Mapping[int, int]],
) -> int:
    if revision.mark_at is not None:
        return max(start, epoch_seconds(revision.mark_at))
    newest = newest_by_generation() if earlier else {}
    decided = [newest.get(one.generation, 0) for one in earlier]
    return max([start, epoch_seconds(revision.created_at), *decided])


def _changes(before: _Era, after: _Era) -> bool:
    return (before.rule is None) != (after.rule is None) or before.definition.get("source") != after.definition.get(
        "source"
    )


@lru_cache(maxsize=4096)
def _era(definition: str) -> _Era:
    try:
        body = json.loads(definition)
        if not body.get("enabled"):
            return _Era(body, None, known=True)
        return _Era(body, parse_schedule(body["source"]["schedule"]), known=True)
    except (Invalid, ValueError, LookupError, TypeError, AttributeError):
        return _Era({}, None, known=False)


def _decision(row: DecidedTimes) -> Decision:
    return Decision(row.id, row.first_s, row.last_s, row.count, row.reason)


def _finding(trigger: TriggerFacts, flaw: Flaw) -> Finding:
    first, last = format_instant(from_epoch(flaw.first)), format_instant(from_epoch(flaw.last))
    message = SENTENCES[flaw.kind].format(first=first, last=last, expected=flaw.expected, found=flaw.found)
    repairable = flaw.kind == "mark_behind"
    return Finding(flaw.kind, "error", trigger.name, message, REMEDIES[flaw.kind], repairable)
