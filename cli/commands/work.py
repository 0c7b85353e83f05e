"""Work: list, detail, live log, cancel, retry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, get_args

import click

from cli.commands.triggers import write_effect
from cli.options import argument, common, limit, output
from cli.render import plain, write
from cli.render.describe import describe_work
from cli.render.times import between, utc
from cli.session import session
from core.views import ACTIVE_WORK, LogRow, WorkQuery, WorkRow, WorkStatus, WorkView

PAGE = 5000


@click.command()
@argument("work_id", required=False, metavar="[ID]")
@click.option("--trigger", metavar="NAME", help="Of this Trigger only.")
@click.option("--status", type=click.Choice(get_args(WorkStatus)), help="With this status only.")
@click.option("--active", is_flag=True, help="Only what has not ended.")
@click.option("--since", metavar="T", help="Not older than an instant, or a distance such as 7d.")
@limit(50)
@output("table", "json", "yaml", "csv")
@common
def work(
    *,
    work_id: str | None,
    trigger: str | None,
    status: Any,
    since: str | None,
    limit: int,
    output: str,
    active: bool,
) -> None:
    """List Work, newest first, or show one with its steps and questions."""
    if work_id is not None:
        with session().deck() as deck:
            write_work(deck.work(work_id), output, session().clock.now())
        return
    query = WorkQuery(
        trigger=trigger,
        status=status,
        active=True if active else None,
        since=session().instant(since, "--since", toward="past"),
    )
    write.records(
        output,
        _rows(query, limit),
        record=plain.work,
        titles=("ID", "TRIGGER", "FLOW", "STATUS", "RESULT", "STEPS", "ATTEMPTS", "STARTED (UTC)", "TOOK", "ERROR"),
        cells=_cells,
        empty="no Work matches",
    )


def write_work(view: WorkView, output: str, now: datetime) -> None:
    """Write one Work: its record with steps and questions, or a page for people."""
    record = {
        **plain.work(view.row),
        "input": view.input,
        "runs": plain.plain(view.runs),
        "steps": plain.plain(view.steps),
        "actions": plain.plain(view.actions),
    }
    if output == "csv":
        write.records("csv", [view.row], record=plain.work, titles=(), cells=_cells, empty="")
    else:
        write.document(output, record, lambda: describe_work(view, now))


def _rows(query: WorkQuery, limit: int) -> Iterator[WorkRow]:
    left, cursor = limit or None, None
    with session().deck() as deck:
        while left is None or left > 0:
            page = deck.works(query, cursor=cursor, limit=min(PAGE, left or PAGE))
            yield from page.rows
            cursor = page.cursor
            if cursor is None:
                return
            left = None if left is None else left - len(page.rows)


def _cells(row: WorkRow) -> Sequence[object]:
    return (
        row.id[:8],
        row.trigger_name or ("test" if row.is_test else None),
        f"{row.flow}@v{row.flow_version}",
        row.status,
        row.result,
        f"{row.steps_done}/{row.steps_total}",
        row.attempts,
        utc(row.started_at),
        between(row.started_at, row.ended_at),
        row.error,
    )


@click.command()
@argument("work_id", metavar="ID")
@click.option("-f", "--follow", is_flag=True, help="Go on until the Work has ended.")
@click.option("--step", metavar="STEP", help="Of this step only.")
@output("table", "json")
@common
def logs(work_id: str, step: str | None, output: str, *, follow: bool) -> None:
    """Print what a Work's steps wrote; the first characters of its id are enough."""
    for row in _log_rows(work_id, follow=follow):
        if step in {None, row.step_id}:
            click.echo(_log_text(row) if output == "table" else _log_json(row))


def _log_rows(work_id: str, *, follow: bool) -> Iterator[LogRow]:
    from cli.waiting import wait_for_change

    with session().deck() as deck:
        version, after = deck.data_version(), 0
        whole_id = deck.work(work_id).row.id
        while True:
            ended = deck.work(whole_id).row.status not in ACTIVE_WORK
            rows = deck.logs(whole_id, after=after, limit=PAGE)
            yield from rows
            after = rows[-1].id if rows else after
            if rows:
                continue
            if ended or not follow:
                return
            version = wait_for_change(deck, version, session().clock, None)


def _log_text(row: LogRow) -> str:
    mark = {"out": " ", "err": "!", "note": "·"}[row.stream]
    return f"{row.at:%H:%M:%S}.{row.at.microsecond // 1000:03} {row.step_id} {mark} {row.text}"


def _log_json(row: LogRow) -> str:
    import json

    return json.dumps(plain.plain(row), ensure_ascii=False)


@click.command()
@argument("work_id", metavar="ID")
@output("table", "json", "yaml")
@common
def cancel(work_id: str, output: str) -> None:
    """Ask a Work to stop; what a step has already done outside is not undone."""
    with session().deck() as deck:
        effect = deck.cancel(work_id)
    write_effect(effect, output)


@click.command()
@argument("work_id", metavar="ID")
@output("table", "json", "yaml")
@common
def retry(work_id: str, output: str) -> None:
    """Run a Work that failed or was cancelled once more."""
    with session().deck() as deck:
        effect = deck.retry(work_id)
    write_effect(effect, output)
