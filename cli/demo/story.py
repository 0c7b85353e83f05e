"""Tells, while the example fires for real, what fired, what did not and why, what was asked, what came out."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

import click

from cli.demo.process import check_alive, working
from cli.demo.workspace import Workspace
from cli.render.table import paint, table
from cli.render.times import between, span, utc
from cli.waiting import wait_for_change
from core.clock import Clock
from core.deck import Deck
from core.views import ACTIVE_WORK, ActionRow, OccurrenceQuery, OccurrenceRow, WorkQuery, WorkRow

EXCERPT_LINES = 6
EXCERPTS = ("rates", "checksums", "partner-call-now", "report-once")
WAITING = ("waitingForInput", "waitingForApproval")


@dataclass(slots=True)
class Story:
    """What has been told already."""

    deck: Deck
    since: datetime
    told: set[str] = field(default_factory=set)
    statuses: dict[str, str] = field(default_factory=dict)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def tell_news(self) -> None:
        """Tell every decision, question and result that is new."""
        for row in reversed(self.deck.occurrences(OccurrenceQuery(), limit=500).rows):
            if row.admitted_at >= self.since and row.id not in self.told and row.outcome != "pending":
                self._tell_occurrence(row)
        for action in self.deck.actions():
            self._answer(action)
        for work in reversed(self.deck.works(WorkQuery(since=self.since), limit=500).rows):
            if self.statuses.get(work.id) != work.status:
                self.statuses[work.id] = work.status
                self._tell_work(work)

    def _tell_occurrence(self, row: OccurrenceRow) -> None:
        self.told.add(row.id)
        word = _word(row)
        self.counts[row.trigger_name, word] += row.count if row.is_range else 1
        self._line(word, row.trigger_name, _why(row))

    def _tell_work(self, row: WorkRow) -> None:
        if row.status in ACTIVE_WORK:
            return
        result = "no work" if row.result == "no_work" else row.status
        self.counts[row.trigger_name, result] += 1
        took = between(row.started_at, row.ended_at)
        self._line(result, row.trigger_name, row.error or (f"in {took}" if took else ""))

    def _answer(self, action: ActionRow) -> None:
        is_new = action.created_at >= self.since
        self._line("asks", action.trigger_name, action.title)
        decision = "approved" if is_new else "rejected"
        values = {"note": "looks good"} if is_new else {"reason": "a newer report is on its way"}
        self.deck.answer(action.id, decision, values)
        self._line("answered", action.trigger_name, f"{decision}: {' '.join(values.values())}")

    def _line(self, word: str, trigger: str, text: str) -> None:
        passed_s = (self.deck.clock.now() - self.since).total_seconds()
        click.echo(f"{passed_s:5.1f} s  {paint(f'{word:<10}')} {trigger:<22} {text}".rstrip())


def _word(row: OccurrenceRow) -> str:
    if row.reason in {"coalesced", "missed", "paused", "definition_changed"}:
        return str(row.reason)
    return "fired" if row.outcome == "submitted" else row.outcome


def _why(row: OccurrenceRow) -> str:
    if row.is_range:
        told = f"{row.count} nominal times, {utc(row.first_at)} to {utc(row.last_at)}"
        return f"{told}: {row.message}" if row.message else f"{told}, while no worker ran"
    if row.coalesced is not None:
        return f"one Work for {row.coalesced.count} nominal times since {utc(row.coalesced.first_at)}"
    if row.outcome != "submitted":
        return f"{row.reason}: {row.message}"
    begun = row.dispatched_at or row.admitted_at
    lag = "" if row.due_at is None else f", handed over {span((begun - row.due_at).total_seconds())} after its time"
    return f"{row.reason}{lag}"


def tell(workspace: Workspace, seconds: int, clock: Clock) -> None:
    """Run the example's worker for so many seconds and tell what it does, then sum up."""
    deck = Deck.open(workspace.database, clock=clock)
    try:
        click.echo(f"{deck.occurrences(limit=1).total} decisions are in the history already; now for real:\n")
        story = Story(deck, clock.now())
        with working(workspace) as process:
            _watch(story, process, workspace, clock, seconds)
        story.tell_news()
        _sum_up(story)
    finally:
        deck.close()


def _watch(story: Story, process: subprocess.Popen[bytes], workspace: Workspace, clock: Clock, seconds: int) -> None:
    deadline_s = clock.monotonic() + seconds
    version = -1
    while clock.monotonic() < deadline_s:
        version = wait_for_change(story.deck, version, clock, deadline_s)
        check_alive(process, workspace)
        story.tell_news()


def _sum_up(story: Story) -> None:
    words = sorted({word for _, word in story.counts}, key=_order)
    names = sorted({name for name, _ in story.counts})
    rows = [(name, *(story.counts[name, word] or "" for word in words)) for name in names]
    click.echo("\nwhat happened\n" + table(("TRIGGER", *map(str.upper, words)), rows))
    for name in EXCERPTS:
        _excerpt(story.deck, name)


def _order(word: str) -> int:
    known = ("fired", "coalesced", "skipped", "missed", "paused", "failed", "completed", "no work")
    return known.index(word) if word in known else len(known)


def _excerpt(deck: Deck, trigger: str) -> None:
    """Print the end of the log of a Trigger's newest Work that has ended."""
    ended = [row for row in deck.works(WorkQuery(trigger=trigger), limit=20).rows if row.status not in ACTIVE_WORK]
    if ended:
        click.echo(f"\nfrom the log of {trigger}, {ended[0].status}")
        for line in deck.logs(ended[0].id)[-EXCERPT_LINES:]:
            click.echo(f"  {line.step_id} {'!' if line.stream == 'err' else '|'} {line.text}")
