"""The machinery: metrics, audit, schemas, completion."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import click

from cli.options import KIND, argument, common, limit, output
from cli.render import colours, write
from cli.render.plain import plain, spelled
from cli.render.table import paint
from cli.render.times import utc
from cli.session import session

EVERYTHING = 1_000_000_000


@click.command()
@common
def metrics() -> None:
    """Print figures in the text format that Prometheus reads."""
    from cli.render.metrics import exposition

    with session().deck() as deck:
        click.echo(exposition(deck.health()), nl=False)


@click.command()
@limit(100)
@output("table", "json", "yaml", "csv")
@common
def audit(limit: int, output: str) -> None:
    """List changes and denials, newest first."""
    with session().deck() as deck:
        events = deck.audit(limit=limit or EVERYTHING)
    write.records(
        output,
        events,
        record=_event_columns if output == "csv" else spelled,
        titles=("AT (UTC)", "WHO", "ACTION", "KIND", "NAME", "OUTCOME", "CODE"),
        cells=lambda event: (
            utc(event["at"]),
            event.get("principal") or event.get("principal_id"),
            event["action"],
            event["kind"],
            event["name"],
            paint(event["outcome"]) if colours.wanted(sys.stdout) else event["outcome"],
            event.get("code"),
        ),
        empty="nothing has been audited yet",
    )


def _event_columns(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event with the same columns as every other: its detail is one of them, as JSON."""
    record = spelled(event)
    detail = record.get("detail")
    return {**record, "detail": json.dumps(plain(detail), ensure_ascii=False) if detail else None}


@click.command()
@argument("kind", type=KIND)
@output("json", "yaml")
@common
def schema(kind: str, output: str) -> None:
    """Print the JSON Schema of a kind's manifests, for editors and checks."""
    from core.resources.schema import json_schema

    write.document(output, json_schema(kind), lambda: "")


@click.command()
@argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell: eval "$(triggerdeck completion bash)"."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    root = click.get_current_context().find_root().command
    if found is not None:
        click.echo(found(root, {}, "triggerdeck", "_TRIGGERDECK_COMPLETE").source())
