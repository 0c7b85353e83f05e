"""The background process: run it in the foreground, start it in the background, look at it, stop it."""

from __future__ import annotations

import click

from cli.failures import NO, say
from cli.options import common, output
from cli.render import write
from cli.render.times import span, utc
from cli.session import session
from core.views import WorkerView


@click.group(invoke_without_command=True)
@common
@click.pass_context
def worker(context: click.Context) -> None:
    """Run the background worker; without a word after it, like `worker run`."""
    if context.invoked_subcommand is None:
        context.invoke(run)


@worker.command(short_help="Run it in the foreground until SIGTERM.")
@common
def run() -> int:
    """Run the worker in the foreground until SIGTERM or Ctrl-C, which let running steps end."""
    from core.settings import database_location
    from core.worker.process import run as run_worker

    return run_worker(database_location(session().database))


@worker.command(short_help="Start it in the background.")
@common
def start() -> None:
    """Start the worker in the background, where it outlives this terminal; prints its pid."""
    from core.settings import database_location
    from core.worker.control import start_detached
    from core.worker.control import status as look

    database = database_location(session().database)
    already = look(database).running
    pid = start_detached(database)
    say("a worker runs already" if already else "the worker has started")
    click.echo(pid)


@worker.command(short_help="Show who works; exit 1 when nobody does.")
@output("table", "json", "yaml")
@common
def status(output: str) -> int:
    """Show the workers of this database; exit 1 when none runs."""
    with session().deck() as deck:
        health = deck.health()
    now = session().clock.now()
    write.records(
        output,
        health.workers,
        record=_record,
        titles=("PID", "HOST", "STATE", "SINCE (UTC)", "LAST SIGN", "LAST PASS (UTC)", "RUNNING", "VERSION"),
        cells=lambda row: (
            row.pid,
            row.host,
            row.state,
            utc(row.started_at),
            f"{span(max(0.0, (now - row.beat_at).total_seconds()))} ago",
            utc(row.last_pass_at),
            f"{row.running}/{row.slots}",
            row.version,
        ),
        empty="no worker has run on this database yet; start one: triggerdeck worker start",
    )
    return 0 if any(row.state in {"running", "draining"} for row in health.workers) else NO


def _record(row: WorkerView) -> dict[str, object]:
    from cli.render.plain import plain

    return dict(plain(row))


@worker.command(short_help="Ask it to end, and wait for that.")
@common
def stop() -> int:
    """Ask the worker to end after the steps that run; waits until it has."""
    from core.settings import database_location
    from core.worker.control import stop as stop_worker

    stopped = stop_worker(database_location(session().database))
    say("the worker has stopped" if stopped else "no worker runs")
    return 0 if stopped else NO
