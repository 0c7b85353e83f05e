"""The questions that running Work asks, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import click

from cli.documents import read_object, read_pairs
from cli.failures import say
from cli.options import argument, common, output
from cli.render import write
from cli.render.describe import describe_action
from cli.render.plain import plain
from cli.render.times import relative, span
from cli.session import session
from core.errors import Fault, Invalid, Usage
from core.views import ActionRow, ActionStatus, ActionView

NEGATIVE = ("rejected", "declined")


@click.command()
@argument("action_id", required=False, metavar="[ID]")
@click.option(
    "--status", type=click.Choice(get_args(ActionStatus)), default="pending", show_default=True, help="State."
)
@output("table", "json", "yaml", "csv")
@common
def actions(action_id: str | None, status: Any, output: str) -> None:
    """List the questions that wait for an answer, or show one with its form."""
    now = session().clock.now()
    with session().deck() as deck:
        if action_id is not None:
            view = deck.action(action_id)
            write.document(output, view, lambda: describe_action(view, now))
            return
        rows = deck.actions(status, session().namespace)
    write.records(
        output,
        rows,
        record=plain,
        titles=("ID", "AGE", "WORK", "TRIGGER", "STEP", "KIND", "EXPIRES", "DECISION", "TITLE"),
        cells=lambda row: (
            row.id[:8],
            span((now - row.created_at).total_seconds()),
            row.work_id[:8],
            row.trigger_name,
            row.step_id,
            row.kind,
            relative(row.expires_at, now),
            row.decision,
            row.title,
        ),
        empty=f"no question is {status}",
    )


@click.command()
@argument("action_id", metavar="ID")
@click.option("--approve", is_flag=True, help="Say yes: approve, confirm or hand in.")
@click.option("--reject", is_flag=True, help="Say no.")
@click.option("--decision", metavar="WORD", help="Any other decision that the question offers.")
@click.option("--reason", metavar="TEXT", help="Why; asked for when rejecting.")
@click.option("--set", "pairs", multiple=True, metavar="K=V", help="One value of the form; JSON, else text.")
@click.option("--json", "text", metavar="F", help="All values of the form: JSON, @FILE or -.")
@output("table", "json", "yaml")
@common
def answer(
    *,
    action_id: str,
    decision: str | None,
    reason: str | None,
    pairs: Sequence[str],
    text: str | None,
    output: str,
    approve: bool,
    reject: bool,
) -> None:
    """Answer a question; the first answer wins."""
    if sum((approve, reject, decision is not None)) > 1:
        raise Usage("--approve, --reject and --decision exclude each other", "give exactly one of them")
    values = {**(_read_values(text) if text is not None else {}), **read_pairs(pairs)}
    if reason is not None:
        values["reason"] = reason
    with session().deck() as deck:
        view = deck.action(action_id)
        done = deck.answer(
            view.row.id, _decide(view, decision, approve=approve, reject=reject, filled=bool(values)), values
        )
    _write_answer(done, output)


def _write_answer(done: ActionRow, output: str) -> None:
    if output == "table":
        say(f"answered {done.title!r}: {done.decision}")
    else:
        write.document(output, done, lambda: done.id)


def _read_values(text: str) -> dict[str, Any]:
    """Return the form's values; a bare file name is read as a file."""
    is_inline = text.lstrip().startswith("{") or text.startswith(("@", "-"))
    return read_object(text if is_inline else f"@{text}", "--json")


def _decide(view: ActionView, decision: str | None, *, approve: bool, reject: bool, filled: bool) -> str:
    offered = ", ".join(view.decisions)
    if decision is not None:
        if decision not in view.decisions:
            raise Invalid([Fault("--decision", f"{decision!r} is not offered here", f"it is one of {offered}")])
        return decision
    if not approve and not reject and not filled:
        raise Usage("no answer was given", "add --approve, --reject, --decision or values with --set or --json")
    found = next((word for word in view.decisions if (word in NEGATIVE) == reject), None)
    if found is None:
        option = "--reject" if reject else "--approve"
        raise Usage(f"this question has no such answer as {option} gives", f"use --decision with one of {offered}")
    return found
