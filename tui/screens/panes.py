"""Own the room of a screen's second pane: a share in percent that a person chose, laid anew at each size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from textual.widget import Widget

from tui.config import LEAST_PANE, MOST_PANE

if TYPE_CHECKING:
    from tui.screens.place import Place

STEP = 10


class Panes(NamedTuple):
    """The second pane, what shares the room with it, and along which side."""

    pane: Widget
    rest: Widget
    side: Literal["width", "height"]


def resize(place: Place, by: int) -> str:
    """Give the second pane more or less room, in steps of ten percent; return why not, empty where it was done."""
    panes = place.panes()
    if panes is None:
        return "nothing stands beside what is shown"
    whole = getattr(panes.pane.outer_size, panes.side) + getattr(panes.rest.outer_size, panes.side)
    share = round(getattr(panes.pane.outer_size, panes.side) * 100 / max(whole, 1) / STEP) * STEP
    wanted = share + by * STEP
    if not LEAST_PANE <= wanted <= MOST_PANE:
        return "the pane is as large as it gets" if by > 0 else "the pane is as small as it gets; w hides it"
    place.pane_share = wanted
    lay(place)
    return ""


def lay(place: Place) -> None:
    """Lay the panes by the share that was chosen; without one they stay as they are styled."""
    panes = place.panes()
    if panes is None or not place.pane_share:
        return
    for widget in (panes.pane, panes.rest):
        for rule in ("width", "height", "max_width", "max_height", "min_height"):
            widget.styles.clear_rule(rule)
    if panes.side == "width":
        panes.pane.styles.max_width = "100%"
        panes.pane.styles.width = f"{place.pane_share}%"
        panes.rest.styles.width = "1fr"
    else:
        panes.pane.styles.max_height = "100%"
        panes.pane.styles.height = f"{place.pane_share}%"
        panes.rest.styles.max_height = "100%"
        panes.rest.styles.height = "1fr"
