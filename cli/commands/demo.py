"""The example workspace."""

from __future__ import annotations

import click


@click.command()
@click.option("--no-ui", is_flag=True, help="Fire it for real for a while, print what happened, exit.")
@click.option("--keep", metavar="DIR", help="Keep the workspace in this folder instead of throwing it away.")
@click.option("--seconds", type=click.IntRange(5, 600), default=20, show_default=True, help="With --no-ui: how long.")
def demo(keep: str | None, seconds: int, *, no_ui: bool) -> int:
    """Open the deck on an example workspace whose Flows do real work on this machine."""
    from cli.demo.show import with_deck, without_deck

    return without_deck(keep, seconds) if no_ui else with_deck(keep)
