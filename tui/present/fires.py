"""Single fires of many Triggers as rows and as a calendar file; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from core.views import SchedulePreview
from tui.present.times import offset, short_zone, zone


@dataclass(frozen=True, slots=True)
class Fire:
    """One nominal time of one Trigger."""

    trigger: str
    namespace: str
    nominal_at: datetime
    time_zone: str | None


TITLES = ("trigger", "namespace", "nominalAt", "local", "timeZone")


def rows(fires: Iterable[Fire]) -> list[tuple[str, ...]]:
    """Return fires as text, the earliest first."""
    ordered = sorted(fires, key=lambda fire: (fire.nominal_at, fire.trigger))
    return [
        (fire.trigger, fire.namespace, _utc(fire.nominal_at), _local(fire), fire.time_zone or "UTC") for fire in ordered
    ]


FIRE_TITLES = ("nominalAt", "dueAt", "wall", "zone", "notes")


def fire_table(preview: SchedulePreview) -> list[tuple[str, ...]]:
    """Return previewed fires as text, for a file; a wall time that yields none has no instant."""
    return [
        (
            _utc(fire.nominal_at) if fire.nominal_at else "",
            _utc(fire.due_at) if fire.due_at else "",
            fire.wall,
            fire.zone,
            "; ".join(fire.notes),
        )
        for fire in preview.fires
    ]


def _utc(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _local(fire: Fire) -> str:
    name = fire.time_zone or "UTC"
    return f"{fire.nominal_at.astimezone(zone(name)):%Y-%m-%d %H:%M:%S} {offset(fire.nominal_at, name)}"


def own_time(fire: Fire) -> str:
    """Return the wall time in the Trigger's own zone, empty where it has none."""
    if fire.time_zone is None:
        return ""
    return f"{fire.nominal_at.astimezone(zone(fire.time_zone)):%H:%M} {short_zone(fire.time_zone)}"


def calendar(fires: Iterable[Fire], now: datetime) -> str:
    """Return fires as an iCalendar file (RFC 5545), one event without length each."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//triggerdeck//timeline//EN"]
    for fire in sorted(fires, key=lambda fire: (fire.nominal_at, fire.trigger)):
        at = f"{fire.nominal_at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
        lines += [
            "BEGIN:VEVENT",
            f"UID:{at}-{fire.namespace}-{fire.trigger}@triggerdeck",
            f"DTSTAMP:{now.astimezone(UTC):%Y%m%dT%H%M%SZ}",
            f"DTSTART:{at}",
            f"SUMMARY:{_escaped(fire.trigger)}",
            "TRANSP:TRANSPARENT",
            "END:VEVENT",
        ]
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")
