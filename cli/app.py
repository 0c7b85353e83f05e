"""The command `triggerdeck`: the commands in groups, and what happens without any."""

from __future__ import annotations

import click

from cli.commands import demo, history, inbox, machine, resources, schedules, triggers, upkeep, work, worker
from cli.options import common
from cli.session import Session
from core.errors import Usage

SECTIONS: dict[str, tuple[click.Command, ...]] = {
    "Start": (demo.demo, worker.worker),
    "Resources": (
        resources.apply,
        resources.diff,
        resources.get,
        resources.describe,
        resources.edit,
        resources.delete,
        resources.publish,
    ),
    "Triggers": (triggers.enable, triggers.disable, triggers.pause, triggers.resume, triggers.run, upkeep.mark),
    "Schedules": (schedules.preview, schedules.explain, schedules.timeline),
    "History": (history.occurrences, history.why, history.why_not),
    "Work": (work.work, work.logs, work.cancel, work.retry, inbox.actions, inbox.answer),
    "Upkeep": (upkeep.doctor, upkeep.prune, upkeep.backup, upkeep.restore),
    "Machinery": (machine.metrics, machine.audit, machine.schema, machine.completion),
}


LATER = ("rehearse", "backfill", "events", "emit", "import", "export", "access", "serve")


class Sections(click.Group):
    """A group whose help shows its commands under headings."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command by its name; one that is still to come is refused as such."""
        if args and args[0] in LATER and args[0] not in self.commands:
            raise Usage(f"the command {args[0]} comes in a later version", "see what there is: triggerdeck --help")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 click's own signature
        """Write the commands of each section with the first sentence of their help."""
        for title, commands in SECTIONS.items():
            rows = [(command.name or "", command.get_short_help_str(limit=90)) for command in commands]
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(
    cls=Sections,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit status: 0 done, 1 the answer is no, 2 usage, 3 invalid, 4 precondition, 5 denied, 6 storage.",
)
@click.option("--no-worker", is_flag=True, help="Open the deck without starting a worker.")
@click.option("--read-only", is_flag=True, help="Look only; every change is refused.")
@click.version_option(package_name="triggerdeck", message="triggerdeck %(version)s")
@common
@click.pass_context
def triggerdeck(context: click.Context, *, no_worker: bool, read_only: bool) -> int | None:
    """Open the deck: work that starts by itself, seen and steered from the terminal.

    A worker process is started where none runs. Every screen has a command below that does the same without it.
    """
    session = context.ensure_object(Session)
    session.read_only = read_only
    if context.invoked_subcommand is not None:
        return None
    from cli.commands.deck import open_deck

    return open_deck(session, with_worker=not no_worker)


for _commands in SECTIONS.values():
    for _command in _commands:
        triggerdeck.add_command(_command)
