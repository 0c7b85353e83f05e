"""Own the one registry of actions: id, keys, words, danger. Palette, help, go-to and footer read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from textual.binding import Binding

Group = Literal["do", "mark", "view", "move", "go", "file", "app"]
GROUPS: tuple[Group, ...] = ("do", "mark", "view", "move", "go", "file", "app")
PRINTED = {
    "ctrl": "^", "question_mark": "?", "slash": "/", "colon": ":", "left_square_bracket": "[", "minus": "-",
    "right_square_bracket": "]", "space": "space", "asterisk": "*", "plus": "+", "underscore": "_", "full_stop": ".",
    "escape": "esc", "equals_sign": "=", "comma": ",", "pagedown": "pgdn", "pageup": "pgup",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a key does in a place.

    `id` names the method `do_<id>` of the place or the app; `writes` actions are closed in read-only mode;
    `foot` orders the footer (0: not shown there); `widget` actions are bound by the widget that has the focus.
    """

    id: str
    keys: tuple[str, ...]
    title: str
    help: str
    group: Group = "do"
    writes: bool = False
    danger: bool = False
    foot: int = 0
    widget: bool = False
    overrides: str = ""
    hidden: bool = False

    def bindings(self) -> Iterable[Binding]:
        """Return the key bindings, one per key."""
        if not self.widget:
            for key in self.keys:
                yield Binding(key, f"do('{self.id}')", self.title, show=False)

    @property
    def typed_key(self) -> str:
        """Return the first key that works while a text field has the keys; empty where none does."""
        return next((printed(key) for key in self.keys if "+" in key or key[1:].isdigit() or key == "escape"), "")

    @property
    def shown_key(self) -> str:
        """Return the first key as a person writes it."""
        return printed(self.keys[0]) if self.keys else ""


def printed(key: str) -> str:
    """Return a key's name as a person writes it: `ctrl+s` is `^s`."""
    *holds, last = key.split("+") if key != "+" else ["+"]
    return "".join(PRINTED.get(hold, f"{hold}+") for hold in holds) + PRINTED.get(last, last)


COMMON: tuple[Action, ...] = (
    Action("help", ("question_mark", "f1"), "help", "Search every key and run it", "app", foot=90),
    Action("palette", ("ctrl+p",), "palette", "Search every action and run it", "app"),
    Action("go_to", ("colon",), "go to", "Go to a place by name or alias, with a filter", "go"),
    Action("notifications", ("N", "f2"), "notifications", "Show the log of notifications", "app"),
    Action("back", ("left_square_bracket",), "back", "Go back to where you were", "go"),
    Action("forward", ("right_square_bracket",), "forward", "Go forward again", "go"),
    Action("last", ("minus",), "last view", "Change between the last two views", "go"),
    Action("down_up", ("escape",), "up", "Close what is open, one level up", "go"),
    Action("zone", ("z",), "zone", "Times in the Trigger's zone, in mine, in UTC", "view", foot=60),
    Action("zone_pick", ("Z",), "pick zone", "Pick the zone in which times are shown", "view"),
    Action("copy", ("y",), "copy", "Copy a name, an id or a command", "file"),
    Action("export", ("x",), "export", "Write what is shown to a file", "file"),
    Action("wide", ("w",), "wide", "Show the list alone, or the detail beside it", "view"),
    Action("larger", ("plus",), "larger pane", "Give the second pane more room", "view"),
    Action("smaller", ("underscore",), "smaller pane", "Give the second pane less room", "view"),
    Action("undo", ("u",), "undo", "Undo the last change", "do", writes=True, foot=3),
    Action("reload", ("ctrl+r",), "reload", "Read everything again", "view"),
    Action("theme", ("ctrl+t",), "dark/light", "Change between the dark and the light theme", "view"),
    Action("lock", ("ctrl+l",), "read-only", "Close or open everything that changes something", "app"),
    Action("quit", ("q", "ctrl+q"), "quit", "Leave the deck; the worker goes on", "app"),
    Action("place_1", ("1",), "Triggers", "Go to the Triggers", "go"),
    Action("place_2", ("2",), "Timeline", "Go to the Timeline", "go"),
    Action("place_3", ("3",), "Occurrences", "Go to the occurrences", "go"),
    Action("place_4", ("4",), "Work", "Go to the Work", "go"),
    Action("place_5", ("5",), "Inbox", "Go to the inbox", "go"),
    Action("place_6", ("6",), "Health", "Go to the health of the machinery", "go"),
)

TABLE: tuple[Action, ...] = (
    Action("row_down", ("j", "down"), "down", "One row down", "move", widget=True),
    Action("row_up", ("k", "up"), "up", "One row up", "move", widget=True),
    Action("row_first", ("g", "home"), "first", "To the first row", "move", widget=True),
    Action("row_last", ("G", "end"), "last", "To the last row", "move", widget=True),
    Action("half_down", ("ctrl+d", "pagedown"), "half page down", "Half a page down", "move", widget=True),
    Action("half_up", ("ctrl+u", "pageup"), "half page up", "Half a page up", "move", widget=True),
    Action("enter_row", ("enter",), "open", "Open the row under the cursor", "go", widget=True, foot=9),
    Action("mark", ("space",), "mark", "Mark the row, or take its mark away", "mark", widget=True, foot=55),
    Action("mark_range", ("V",), "mark range", "Mark from the last marked row to this one", "mark", widget=True),
    Action("mark_all", ("asterisk",), "mark all", "Mark every row of the filter, or none", "mark", widget=True),
    Action("filter", ("slash",), "filter", "Show only rows that match words or pairs", "view", foot=6),
    Action("match_next", ("n",), "next match", "To the next row with the last filter's words", "move"),
    Action("match_previous", ("N",), "match before", "To the row before; else to the notifications",
           "move", overrides="notifications"),
    Action("sort", ("s",), "sort", "Sort by the next column", "view"),
    Action("sort_reverse", ("S",), "reverse", "Reverse the order", "view"),
)  # fmt: skip


SCROLL: tuple[Action, ...] = (
    Action("scroll_1_down", ("j", "down"), "down", "Scroll one line down", "move"),
    Action("scroll_1_up", ("k", "up"), "up", "Scroll one line up", "move"),
    Action("scroll_page_down", ("ctrl+d", "pagedown"), "page down", "Scroll a page down", "move"),
    Action("scroll_page_up", ("ctrl+u", "pageup"), "page up", "Scroll a page up", "move"),
    Action("scroll_first", ("g", "home"), "first", "To the first line", "move"),
    Action("scroll_last", ("G", "end"), "last", "To the last line", "move"),
)


@lru_cache(maxsize=64)
def settled(actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Return the actions of one place, each without the keys that a later one overrides."""
    taken = {(action.overrides, key) for action in actions if action.overrides for key in action.keys}
    return tuple(
        replace(action, keys=tuple(key for key in action.keys if (action.id, key) not in taken))
        if any((action.id, key) in taken for key in action.keys)
        else action
        for action in actions
    )


def clashes(actions: Iterable[Action]) -> tuple[str, ...]:
    """Return each key that two actions of one place claim, unless the later one says that it overrides the earlier."""
    held: dict[str, Action] = {}
    found: list[str] = []
    for action in actions:
        for key in action.keys:
            other = held.get(key)
            if other is not None and action.overrides != other.id:
                found.append(f"{key}: {other.id} and {action.id}")
            held[key] = action
    return tuple(found)
