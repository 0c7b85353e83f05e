"""A rule's fires as a table, as records, as a calendar."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from cli.render.plain import instant
from cli.render.table import table
from cli.render.times import offset, relative, utc
from core.views import FireView, SchedulePreview

TITLES = ("WALL TIME", "OFFSET", "ZONE", "UTC", "DUE", "IN", "NOTES")


def fires_table(fires: Sequence[FireView], now: datetime, *, colour: bool = False) -> str:
    """Return fires with zone, offset, UTC, distance and notes; the due column only where there is jitter."""
    jitter = any(fire.due_at != fire.nominal_at for fire in fires)
    titles = [title for title in TITLES if jitter or title != "DUE"]
    rows = [_cells(fire, now, jitter=jitter) for fire in fires]
    return table(titles, rows, colour=colour)


def _cells(fire: FireView, now: datetime, *, jitter: bool) -> list[object]:
    zone = f"{fire.zone} {fire.abbreviation}".strip() if fire.abbreviation != fire.zone else fire.zone
    due = [utc(fire.due_at)] if jitter else []
    when = "does not fire" if fire.skipped else relative(fire.nominal_at, now)
    return [fire.wall, offset(fire.offset_s), zone, utc(fire.nominal_at), *due, when, "; ".join(fire.notes) or " "]


def preview_text(preview: SchedulePreview, now: datetime, *, colour: bool = False) -> str:
    """Return words, notes and fires for people."""
    lines = [preview.words, *(f"note: {note}" for note in preview.notes), ""]
    lines.append(fires_table(preview.fires, now, colour=colour) if preview.fires else _silence(preview))
    if preview.exhausted:
        lines.append("there are no more after that" if preview.fires else "")
    if preview.next_transition is not None:
        lines.append(f"the clocks change next at {utc(preview.next_transition)}")
    return "\n".join(line for line in lines if line is not None).rstrip()


def _silence(preview: SchedulePreview) -> str:
    return "it does not fire" if preview.exhausted else "it does not fire in that time"


def fire_record(fire: FireView) -> dict[str, Any]:
    """Return one fire as JSON values."""
    return {
        "nominalAt": instant(fire.nominal_at),
        "dueAt": instant(fire.due_at),
        "wall": fire.wall,
        "offset": offset(fire.offset_s),
        "abbreviation": fire.abbreviation,
        "zone": fire.zone,
        "skipped": fire.skipped,
        "notes": list(fire.notes),
    }


def preview_record(preview: SchedulePreview) -> dict[str, Any]:
    """Return a whole preview as JSON values."""
    return {
        "fires": [fire_record(fire) for fire in preview.fires],
        "exhausted": preview.exhausted,
        "words": preview.words,
        "notes": list(preview.notes),
        "nextTransition": instant(preview.next_transition),
    }
