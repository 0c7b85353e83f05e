"""What may be done with a Work, the same in the list and in a run's detail."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.views import ACTIVE_WORK, ActionRow, Effect, LogRow, WorkRow
from tui.actions import Action
from tui.navigation import Location
from tui.present.history import short_id
from tui.present.works import STATUS_WORDS, name
from tui.screens.place import Place
from tui.widgets.dialog import Confirm

if TYPE_CHECKING:
    from core.deck import Deck

LOG_PART = 1000
ACTIONS = (
    Action("cancel", ("c",), "cancel", "End the Work; what steps did outside stays done", "do",
           writes=True, danger=True, foot=10),
    Action("retry", ("R",), "retry", "Run failed or cancelled Work once more", "do", writes=True, foot=15),
    Action("open_inbox", ("i",), "answer", "Go to the question that the Work waits for", "go", foot=25),
    Action("open_trigger", ("T",), "trigger", "Go to the Trigger", "go", foot=30),
    Action("open_occurrence", ("O",), "why", "Go to the decision that made it", "go", foot=32),
)  # fmt: skip
_IDS = frozenset(action.id for action in ACTIONS)


def why_closed(action: Action, row: WorkRow | None) -> str:
    """Return why an action cannot work on this Work; empty where it can."""
    if action.id not in _IDS:
        return ""
    if row is None:
        return f"{action.title}: no work is under the cursor"
    reasons = {
        "cancel": "" if row.status in ACTIVE_WORK else f"cancel: it is {row.status} already",
        "retry": ""
        if row.status in {"failed", "cancelled"}
        else f"retry: it is {row.status}, only failed or cancelled work runs again",
        "open_inbox": "" if row.status.startswith("waiting") else "answer: it asks nothing",
        "open_trigger": "" if row.trigger_name else "trigger: this is a test, no trigger fired it",
    }
    return reasons.get(action.id, "")


def _is(status: str) -> str:
    return STATUS_WORDS.get(status, f"is {status}")


def cancel(place: Place, row: WorkRow, done: Callable[[Effect], None]) -> None:
    """Ask once, then ask the deck to cancel."""
    effects = (
        f"{name(row)} {short_id(row.id)} {_is(row.status)}, {row.steps_done} of {row.steps_total} steps done.",
        "The running step's processes are ended.",
        "What its steps did outside (files, requests, mails) is not undone.",
    )

    def answered(yes: bool | None) -> None:
        if yes:
            place.ask(lambda deck: deck.cancel(row.id), done, group="work.cancel")

    place.app.push_screen(Confirm("Cancel this work?", effects, do="cancel it", danger=True), answered)


def retry(place: Place, row: WorkRow, done: Callable[[Effect], None]) -> None:
    """Ask the deck to run a Work again."""
    place.ask(lambda deck: deck.retry(row.id), done, group="work.retry")


def whole_log(deck: Deck, work_id: str) -> list[LogRow]:
    """Return every line of a Work's log; runs in a thread."""
    rows: list[LogRow] = []
    while found := deck.logs(work_id, after=rows[-1].id if rows else 0, limit=LOG_PART):
        rows += found
    return rows


def open_question(place: Place, work_id: str) -> None:
    """Go to the question of a Work."""

    def found(actions: tuple[ActionRow, ...]) -> None:
        mine = next((action for action in actions if action.work_id == work_id), None)
        if mine is None:
            place.flash("its question has been answered", "ok")
        else:
            place.deck_app.go(Location("inbox", mine.id))

    place.ask(lambda deck: deck.actions(), found, group="work.question")
