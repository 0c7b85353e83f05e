"""Own what `y` offers of each kind of thing: its id, its name, the link to it and the commands that tell of it."""

from __future__ import annotations

from collections.abc import Iterator

from core.views import ActionRow, OccurrenceRow, WorkRow
from tui.navigation import Location
from tui.present.history import short_id

Copies = Iterator[tuple[str, str]]


def of_trigger(namespace: str, name: str, uid: str) -> Copies:
    """Yield what can be copied of a Trigger."""
    where = f"{name} --namespace {namespace}"
    yield "name", name
    yield "uid", uid
    yield "link", _typed(Location("triggers", f"{namespace}/{name}"))
    yield "describe", f"triggerdeck describe trigger {where}"
    yield "preview", f"triggerdeck preview {where}"


def of_work(row: WorkRow, runbook: str | None) -> Copies:
    """Yield what can be copied of a Work."""
    yield "id", row.id
    yield "trigger", row.trigger_name
    yield "link", _typed(Location("work", row.id))
    yield "command", f"triggerdeck work {short_id(row.id)}"
    yield "logs", f"triggerdeck logs {short_id(row.id)} --follow"
    yield "runbook", runbook or ""


def of_occurrence(row: OccurrenceRow, runbook: str | None) -> Copies:
    """Yield what can be copied of an occurrence."""
    yield "id", row.id
    yield "trigger", row.trigger_name
    yield "link", _typed(Location("occurrences", row.id))
    yield "command", f"triggerdeck why {short_id(row.id)}"
    yield "work id", row.work_id or ""
    yield "runbook", runbook or ""


def of_question(row: ActionRow) -> Copies:
    """Yield what can be copied of a question."""
    yield "id", row.id
    yield "trigger", row.trigger_name
    yield "link", _typed(Location("inbox", row.id))
    yield "command", f"triggerdeck actions {short_id(row.id)}"
    yield "answer", f"triggerdeck answer {short_id(row.id)} --approve"
    yield "work id", row.work_id


def of_list(location: Location, command: str) -> Copies:
    """Yield what can be copied of a whole list in its present filter."""
    yield "this list", _typed(location)
    yield "its command", command


def _typed(location: Location) -> str:
    return f":{location.link()}"
