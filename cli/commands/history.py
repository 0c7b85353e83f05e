"""What fired, what did not, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

import click

from cli.options import argument, common, limit, output
from cli.render import plain, write
from cli.render.times import relative, span, utc
from cli.session import nothing, session
from core.errors import Fault, Invalid
from core.views import OccurrenceQuery, OccurrenceRow, OccurrenceView, Outcome, Reason, WhyNot

PAGE = 5000
RANGE_COLUMNS: dict[str, Any] = {"range": False, "count": 1, "firstAt": None, "lastAt": None}
NO_COALESCED: dict[str, Any] = {"count": None, "firstAt": None, "lastAt": None}


@click.command()
@click.option("--trigger", metavar="NAME", help="Of this Trigger only; a deleted one's history stays.")
@click.option("--outcome", type=click.Choice(get_args(Outcome)), help="With this outcome only.")
@click.option("--reason", type=click.Choice(get_args(Reason)), help="With this reason only.")
@click.option("--since", metavar="T", help="Not older than an instant, or a distance such as 7d.")
@click.option("--until", metavar="T", help="Older than an instant, or a distance such as 1d.")
@limit(50)
@output("table", "json", "yaml", "csv")
@common
def occurrences(
    *,
    trigger: str | None,
    outcome: Any,
    reason: Any,
    since: str | None,
    until: str | None,
    limit: int,
    output: str,
) -> None:
    """List decisions, newest first: fired, skipped, missed, denied."""
    start = session().instant(since, "--since", toward="past")
    end = session().instant(until, "--until", toward="past")
    if start is not None and end is not None and end <= start:
        fault = Fault("--until", f"{until} is not later than --since {since}", "choose a later --until")
        raise Invalid([fault])
    query = OccurrenceQuery(
        trigger=trigger,
        namespace=session().namespace,
        outcome=outcome,
        reason=reason,
        since=start,
        until=end,
    )
    write.records(
        output,
        _rows(query, limit),
        record=_flat if output == "csv" else plain.occurrence,
        titles=("ID", "NOMINAL (UTC)", "LAG", "TRIGGER", "KIND", "OUTCOME", "REASON", "WORK", "MESSAGE"),
        cells=_cells,
        empty=lambda: nothing("no occurrence matches", trigger),
    )


def _rows(query: OccurrenceQuery, limit: int) -> Iterator[OccurrenceRow]:
    left, cursor = limit or None, None
    with session().deck() as deck:
        while left is None or left > 0:
            page = deck.occurrences(query, cursor=cursor, limit=min(PAGE, left or PAGE))
            yield from page.rows
            cursor = page.cursor
            if cursor is None:
                return
            left = None if left is None else left - len(page.rows)


def _flat(row: OccurrenceRow) -> dict[str, Any]:
    record = {**plain.occurrence(row), **({} if row.is_range else RANGE_COLUMNS)}
    return {**record, "coalesced": record["coalesced"] or NO_COALESCED}


def _cells(row: OccurrenceRow) -> Sequence[object]:
    lag = None if row.due_at is None or row.observed_at is None else (row.observed_at - row.due_at).total_seconds()
    return (
        row.id[:8],
        _nominal(row),
        None if lag is None or row.is_range else span(lag),
        row.trigger_name,
        f"range of {row.count}" if row.is_range else row.kind,
        row.outcome,
        row.reason,
        row.work_id and f"{row.work_id[:8]} {row.work_status or ''}".strip(),
        row.message,
    )


def _nominal(row: OccurrenceRow) -> str | None:
    if row.is_range and row.count > 1:
        return f"{utc(row.first_at)} … {utc(row.last_at)}"
    return utc(row.nominal_at or row.at)


@click.command()
@argument("occurrence", metavar="OCCURRENCE")
@output("table", "json", "yaml")
@common
def why(occurrence: str, output: str) -> None:
    """Show the chain of one decision; the first characters of its id are enough."""
    with session().deck() as deck:
        view = deck.occurrence(occurrence)
    write.document(output, _why_record(view), lambda: _why_text(view))


def _why_record(view: OccurrenceView) -> dict[str, Any]:
    return {
        "occurrence": plain.occurrence(view.row),
        "sentence": view.sentence,
        "chain": plain.plain(view.chain),
        "definition": view.definition,
        "runbook": view.runbook,
    }


def _why_text(view: OccurrenceView) -> str:
    marks = {"ok": "✓", "stop": "✗", "info": "·"}
    lines = [view.sentence, ""]
    for link in view.chain:
        at = f"{utc(link.at)}  " if link.at else " " * 22
        lines.append(f"  {marks[link.state]} {at}{link.title}{': ' if link.detail else ''}{link.detail}")
    if view.runbook:
        lines += ["", f"runbook: {view.runbook}"]
    return "\n".join(lines)


@click.command("why-not")
@argument("name")
@click.option(
    "--at", required=True, metavar="T", help="The instant in question, or a distance back from now such as 2h."
)
@output("table", "json", "yaml")
@common
def why_not(name: str, at: str, output: str) -> None:
    """Say why a Trigger has no occurrence at an instant."""
    instant = session().instant(at, "--at", toward="past")
    if instant is None:
        raise Invalid([Fault("--at", "no instant was given", "write it as 2026-03-29T02:30:00+01:00")])
    with session().deck() as deck:
        answer = deck.why_not(name, instant)
    write.document(output, answer, lambda: _why_not_text(answer))


def _why_not_text(answer: WhyNot) -> str:
    lines = [answer.sentence]
    now = session().clock.now()
    for title, at in (("before", answer.previous_nominal), ("after", answer.next_nominal)):
        if at is not None:
            lines.append(f"  nominal time {title}: {utc(at)} ({relative(at, now)})")
    if answer.occurrence is not None:
        lines.append(
            f"  its decision: {answer.occurrence.outcome}, {answer.occurrence.reason} ({answer.occurrence.id})"
        )
    return "\n".join(lines)
