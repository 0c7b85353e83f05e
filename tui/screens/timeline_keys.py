"""The timeline's own keys."""

from __future__ import annotations

from tui.actions import Action

KEYS: tuple[Action, ...] = (
    Action("slot_left", ("h", "left"), "earlier", "Move the cursor to the slot before", "move"),
    Action("slot_right", ("l", "right"), "later", "Move the cursor to the next slot", "move"),
    Action("lane_down", ("j", "down"), "lane down", "Move the cursor to the next lane or day", "move"),
    Action("lane_up", ("k", "up"), "lane up", "Move the cursor to the lane or day before", "move"),
    Action("lane_first", ("g", "home"), "first lane", "To the first lane", "move"),
    Action("lane_last", ("G", "end"), "last lane", "To the last lane", "move"),
    Action("page_left", ("H", "ctrl+u", "pageup"), "window before", "Show the window before", "move"),
    Action("page_right", ("L", "ctrl+d", "pagedown"), "next window", "Show the next window", "move"),
    Action("closer", ("plus", "equals_sign"), "closer", "Show a shorter time", "view", foot=20,
           overrides="larger"),
    Action("farther", ("minus",), "farther", "Show a longer time", "view", foot=21,
           overrides="last"),
    Action("now", ("n",), "now", "Back to the present", "view", foot=22),
    Action("busiest", ("full_stop",), "busiest", "Go to the slot with the most fires", "view", foot=24),
    Action("list_slot", ("enter",), "list", "List what fires in the slot under the cursor", "go", foot=10),
    Action("open_trigger", ("T",), "trigger", "Go to the Trigger of the lane", "go", foot=30),
    Action("lanes", ("slash",), "filter", "Show only lanes that match words", "view", foot=50),
)  # fmt: skip
