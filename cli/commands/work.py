"""Work: list, detail, live log, cancel, retry."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import click

from cli.options import argument, common, limit, output
from cli.render import plain, write
from cli.render.times import between, utc
from cli.session import nothing, session
from core.errors import NotFound, Usage
from core.views import ACTIVE_WORK, LogRow, WorkQuery, WorkRow, WorkStatus

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
            write.work(deck.work(work_id), output, session().clock.now())
        return
    query = WorkQuery(
        trigger=trigger,
        namespace=session().namespace,
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
        empty=lambda: nothing("no Work matches", trigger),
    )


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
@output("table", "json", "jsonl")
@common
def logs(work_id: str, step: str | None, output: str, *, follow: bool) -> None:
    """Print what a Work's steps wrote; the first characters of its id are enough.

    json is one array, jsonl one object a line; with --follow lines go out as they come, so that wants jsonl.
    """
    if follow and output == "json":
        raise Usage("an array has no end while the Work runs", "use --follow with -o jsonl, one object a line")
    rows = _log_rows(work_id, step, follow=follow)
    if output == "json":
        write.records("json", rows, record=plain.plain, titles=(), cells=lambda _: (), empty="")
        return
    for row in rows:
        click.echo(_log_text(row) if output == "table" else json.dumps(plain.plain(row), ensure_ascii=False))


def _log_rows(work_id: str, step: str | None, *, follow: bool) -> Iterator[LogRow]:
    from cli.waiting import wait_for_change

    with session().deck() as deck:
        version, after = deck.data_version(), 0
        view = deck.work(work_id)
        whole_id, steps = view.row.id, [one.step_id for one in view.steps]
        if step not in {None, *steps}:
            raise NotFound(f"Work {whole_id[:8]} has no step {step}", f"its steps are {', '.join(steps)}")
        while True:
            ended = deck.work(whole_id).row.status not in ACTIVE_WORK
            rows = deck.logs(whole_id, after=after, limit=PAGE)
            yield from (row for row in rows if step in {None, row.step_id})
            after = rows[-1].id if rows else after
            if rows:
                continue
            if ended or not follow:
                return
            version = wait_for_change(deck, version, session().clock, None)


def _log_text(row: LogRow) -> str:
    mark = {"out": " ", "err": "!", "note": "·"}[row.stream]
    return f"{row.at:%H:%M:%S}.{row.at.microsecond // 1000:03} {row.step_id} {mark} {row.text}"


@click.command()
@argument("work_id", metavar="ID")
@output("table", "json", "yaml")
@common
def cancel(work_id: str, output: str) -> None:
    """Ask a Work to stop; what a step has already done outside is not undone."""
    with session().deck() as deck:
        effect = deck.cancel(work_id)
    write.effect(effect, output)


@click.command()
@argument("work_id", metavar="ID")
@output("table", "json", "yaml")
@common
def retry(work_id: str, output: str) -> None:
    """Run a Work that failed or was cancelled once more."""
    with session().deck() as deck:
        effect = deck.retry(work_id)
    write.effect(effect, output)
