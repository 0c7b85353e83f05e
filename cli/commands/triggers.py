"""Enable, disable, pause, resume and run Triggers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from cli.documents import read_object, read_pairs
from cli.failures import NO, say, tell
from cli.options import argument, check_note, common, output
from cli.render import write
from cli.session import session
from core.errors import Fault, Invalid, NotFound, Precondition, Usage
from core.views import Effect

if TYPE_CHECKING:
    from core.deck import Deck


def _each(names: Sequence[str], act: Callable[[Deck, str], Effect]) -> int:
    """Do something to each Trigger; one that is refused is told of and does not keep the others from it."""
    status = 0
    with session().deck() as deck:
        for name in names:
            try:
                write.effect(act(deck, name), "table")
            except (Invalid, NotFound, Precondition) as refused:
                status = max(status, tell(refused))
    return status


@click.command()
@argument("names", nargs=-1, required=True, metavar="NAME...")
@common
def enable(names: Sequence[str]) -> int:
    """Let Triggers fire from now on; nothing of the past is made up for."""
    return _each(names, lambda deck, name: deck.enable(name))


@click.command()
@argument("names", nargs=-1, required=True, metavar="NAME...")
@common
def disable(names: Sequence[str]) -> int:
    """Stop Triggers from firing; Work that is active goes on."""
    return _each(names, lambda deck, name: deck.disable(name))


@click.command()
@argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--note", required=True, metavar="TEXT", help="Why; shown with every occurrence that the pause skips.")
@click.option("--until", metavar="T", help="When it ends by itself: an instant, or a distance such as 4h.")
@common
def pause(names: Sequence[str], note: str, until: str | None) -> int:
    """Hold Triggers for a while; what falls due is recorded as paused."""
    check_note(note)
    end = session().instant(until, "--until", toward="future")
    if end is not None and end <= session().clock.now():
        raise Invalid([Fault("--until", f"{until} has passed", "name a later instant, or leave it out")])
    return _each(names, lambda deck, name: deck.pause(name, note=note, until=end))


@click.command()
@argument("names", nargs=-1, required=True, metavar="NAME...")
@common
def resume(names: Sequence[str]) -> int:
    """End the pause of Triggers now; what the pause skipped does not fire."""
    return _each(names, lambda deck, name: deck.resume(name))


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
            write.effect(effect, output)
            return 0
        return _wait_for(deck, effect, timeout, output)


def _wait_for(deck: Deck, effect: Effect, timeout_s: float | None, output: str) -> int:
    from cli.waiting import wait_for_work

    say(effect.message)
    if effect.work_id is None:
        found = effect.occurrence_id or effect.name
        raise NotFound("this run was not admitted; there is no Work to wait for", f"see: triggerdeck why {found}")
    view = wait_for_work(deck, effect.work_id, timeout_s, session().clock)
    write.work(view, output, session().clock.now())
    return NO if view.row.status != "completed" else 0
