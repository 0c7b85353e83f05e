"""Enable, disable, pause, resume and run Triggers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from cli.documents import read_object, read_pairs
from cli.failures import NO, say
from cli.options import argument, common, output
from cli.render import write
from cli.render.plain import plain
from cli.render.times import relative, utc
from cli.session import session
from core.errors import NotFound, Usage
from core.views import Effect, TriggerQuery, TriggerRow

if TYPE_CHECKING:
    from core.deck import Deck

PAGE = 500


def write_triggers(deck: Deck, output: str, name: str | None) -> None:
    """Write the list of Triggers, or the one that is named."""
    now = session().clock.now()
    rows = [deck.trigger(name).row] if name else _all_triggers(deck)
    write.records(
        output,
        rows,
        record=plain,
        titles=("NAMESPACE", "NAME", "PHASE", "SCHEDULE", "NEXT (UTC)", "IN", "LAST", "FLOW"),
        cells=lambda row: (
            row.namespace,
            row.name,
            row.phase,
            row.words,
            utc(row.next_due_at),
            relative(row.next_due_at, now),
            row.last_outcome,
            row.flow,
        ),
        empty=f"there are no Triggers in {session().place}; see: triggerdeck apply --help",
    )


def _all_triggers(deck: Deck) -> list[TriggerRow]:
    rows: list[TriggerRow] = []
    while True:
        page = deck.triggers(TriggerQuery(sort="name", namespace=session().namespace), offset=len(rows), limit=PAGE)
        rows += page.rows
        if not page.rows or len(rows) >= page.total:
            return rows


def _each(names: Sequence[str], act: Callable[[Deck, str], Effect]) -> None:
    with session().deck() as deck:
        for name in names:
            tell_effect(act(deck, name))


def tell_effect(effect: Effect) -> None:
    """Tell people what a command did; the identity of what it made is data."""
    say(effect.message)
    for notice in effect.notices:
        say(f"note: {notice}")
    if effect.work_id:
        click.echo(effect.work_id)


@click.command()
@argument("names", nargs=-1, required=True, metavar="NAME...")
@common
def enable(names: Sequence[str]) -> None:
    """Let Triggers fire from now on; nothing of the past is made up for."""
    _each(names, lambda deck, name: deck.enable(name))


@click.command()
@argument("names", nargs=-1, required=True, metavar="NAME...")
@common
def disable(names: Sequence[str]) -> None:
    """Stop Triggers from firing; Work that is active goes on."""
    _each(names, lambda deck, name: deck.disable(name))


@click.command()
@argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--note", required=True, metavar="TEXT", help="Why; shown with every occurrence that the pause skips.")
@click.option("--until", metavar="T", help="When it ends by itself: an instant, or a distance such as 4h.")
@common
def pause(names: Sequence[str], note: str, until: str | None) -> None:
    """Hold Triggers for a while; what falls due is recorded as paused."""
    end = session().instant(until, "--until", toward="future")
    _each(names, lambda deck, name: deck.pause(name, note=note, until=end))


@click.command()
@argument("names", nargs=-1, required=True, metavar="NAME...")
@common
def resume(names: Sequence[str]) -> None:
    """End the pause of Triggers now; what the pause skipped does not fire."""
    _each(names, lambda deck, name: deck.resume(name))


@click.command()
@argument("name")
@click.option("--input", "text", metavar="JSON", help="Input instead of the Trigger's own: JSON, @FILE or -.")
@click.option("--set", "pairs", multiple=True, metavar="K=V", help="One value of the input, over the Trigger's own.")
@click.option("--wait", is_flag=True, help="Wait until the Work has ended; exit 1 when it failed.")
@click.option("--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="With --wait: wait at most so long.")
@output("table", "json", "yaml")
@common
def run(name: str, text: str | None, pairs: Sequence[str], timeout: float | None, output: str, *, wait: bool) -> int:
    """Fire a Trigger once, now, whatever its schedule; prints the Work's id."""
    if timeout is not None and not wait:
        raise Usage("--timeout means nothing without --wait", "add --wait")
    with session().deck() as deck:
        given = read_object(text, "--input") if text is not None else None
        if pairs:
            base = given if given is not None else deck.manifest("Trigger", name)["definition"].get("input") or {}
            given = {**base, **read_pairs(pairs)}
        effect = deck.run(name, input=given)
        if effect.work_id and deck.status().worker not in {"running", "draining"}:
            say("note: no worker runs, so it waits; start one: triggerdeck worker start")
        if not wait:
            write_effect(effect, output)
            return 0
        return _wait_for(deck, effect, timeout, output)


def write_effect(effect: Effect, output: str) -> None:
    """Write what a command did: sentences for people, or the whole as data."""
    if output == "table":
        tell_effect(effect)
    else:
        write.document(output, effect, lambda: effect.message)


def _wait_for(deck: Deck, effect: Effect, timeout_s: float | None, output: str) -> int:
    from cli.commands.work import write_work
    from cli.waiting import wait_for_work

    say(effect.message)
    if effect.work_id is None:
        found = effect.occurrence_id or effect.name
        raise NotFound("this run was not admitted; there is no Work to wait for", f"see: triggerdeck why {found}")
    view = wait_for_work(deck, effect.work_id, timeout_s, session().clock)
    write_work(view, output, session().clock.now())
    return NO if view.row.status != "completed" else 0
