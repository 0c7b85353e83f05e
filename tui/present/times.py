"""Own how instants and durations read: in which zone, with which offset, how long until. Zone data is tzdata's."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

import tzdata

from core.words import duration

DASH = "—"
_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?Z")
DATA = Path(tzdata.__file__).parent


@lru_cache(maxsize=700)
def zone(name: str) -> tzinfo:
    """Return a zone from the tzdata package; `UTC` for a name that it does not know."""
    if name not in _known() or name == "UTC":
        return UTC
    with (DATA / "zoneinfo" / name).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)


@lru_cache(maxsize=1)
def zone_names() -> tuple[str, ...]:
    """Return the names of all zones, as tzdata lists them."""
    return tuple((DATA / "zones").read_text("utf-8").split())


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    return frozenset(zone_names())


def my_zone() -> str:
    """Return the name of this machine's zone, from TZ or the system's link; UTC where it has none."""
    named = os.environ.get("TZ", "").lstrip(":")
    if not named:
        link = Path("/etc/localtime")
        _, found, named = str(link.resolve()).partition("zoneinfo/") if link.exists() else ("", "", "")
        named = named if found else ""
    return named if named in zone_names() and named not in {"Etc/UTC", "Etc/UCT", "Universal", "Zulu"} else "UTC"


def short_zone(name: str) -> str:
    """Return the last part of a zone's name: `Europe/Berlin` is `Berlin`."""
    return name.rsplit("/", 1)[-1]


def offset(instant: datetime, zone_name: str) -> str:
    """Return the offset at an instant: `+01`, `+0530`, `Z`."""
    if zone_name == "UTC":
        return "Z"
    return offset_text(int((instant.astimezone(zone(zone_name)).utcoffset() or timedelta()).total_seconds()))


def offset_text(seconds: int) -> str:
    """Return seconds east of UTC as `+01`, `-0330`, `+00`."""
    sign, rest = ("-" if seconds < 0 else "+"), abs(seconds)
    hours, minutes, odd = rest // 3600, rest % 3600 // 60, rest % 60
    return f"{sign}{hours:02}" + (f"{minutes:02}" if minutes or odd else "") + (f"{odd:02}" if odd else "")


def clock_text(now: datetime, zone_name: str) -> str:
    """Return the wall clock with offset: `14:03:11 +01`."""
    return f"{now.astimezone(zone(zone_name)):%H:%M:%S} {offset(now, zone_name)}"


def near(instant: datetime | None, now: datetime, zone_name: str, *, seconds: bool = False) -> str:
    """Return an instant as short as its distance allows: `14:05`, `Sun 02:30`, `30 Mar 02:30`, `2027-01-01`."""
    if instant is None:
        return DASH
    there, here = instant.astimezone(zone(zone_name)), now.astimezone(zone(zone_name))
    days = (there.date() - here.date()).days
    close = -1 <= days < 7  # farther off, the day tells enough and the column has no room
    wall = f"{there:%H:%M:%S}" if seconds or (there.second and close) else f"{there:%H:%M}"
    if days == 0:
        return wall
    if 0 < days < 7:
        return f"{there:%a} {wall}"
    if there.year == here.year or abs(days) < 180:
        return f"{there.day} {there:%b} {wall}"
    return f"{there:%Y-%m-%d}"


def past(instant: datetime, now: datetime, zone_name: str) -> str:
    """Return an instant of the past: to the second within the day, then as `near` has it."""
    there, here = instant.astimezone(zone(zone_name)), now.astimezone(zone(zone_name))
    return f"{there:%H:%M:%S}" if there.date() == here.date() else near(instant.replace(second=0), now, zone_name)


def full(instant: datetime | None, zone_name: str) -> str:
    """Return date, time and offset: `Sun 29 Mar 2026 02:30:00 +02`."""
    if instant is None:
        return DASH
    there = instant.astimezone(zone(zone_name))
    return f"{there:%a} {there.day:2} {there:%b %Y %H:%M:%S} {offset(instant, zone_name)}"


def localised(text: str, zone_name: str) -> str:
    """Return a text with each RFC 3339 instant of UTC put into the display zone."""
    return _INSTANT.sub(lambda match: _local(match[0], zone_name), text)


def _local(text: str, zone_name: str) -> str:
    at = datetime.fromisoformat(text)
    there = at.astimezone(zone(zone_name))
    return f"{there.day} {there:%b} {there:%H:%M:%S} {offset(at, zone_name)}"


def until(instant: datetime | None, now: datetime) -> str:
    """Return how long until an instant; `due` once it is there."""
    if instant is None:
        return DASH
    left = (instant - now).total_seconds()
    return duration(left) if left >= 1 else ("now" if left > -1 else f"-{duration(-left)}")


def ago(instant: datetime | None, now: datetime) -> str:
    """Return how long since an instant."""
    return DASH if instant is None else duration((now - instant).total_seconds())


def countdown(instant: datetime, now: datetime) -> str:
    """Return what is left as a clock: `12:26:49`, `3d 04:00:00`."""
    left = int(max((instant - now).total_seconds(), 0))
    days, rest = divmod(left, 86400)
    clock = f"{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"
    return f"{days}d {clock}" if days else clock


@lru_cache(maxsize=2048)
def next_transition(zone_name: str, hour: int) -> datetime | None:
    """Return when a zone's offset changes next, within 400 days of an epoch hour; None where it does not."""
    area, start = zone(zone_name), datetime.fromtimestamp(hour * 3600, UTC)
    low = start
    for day in range(1, 401):
        high = start + timedelta(days=day)
        if high.astimezone(area).utcoffset() != low.astimezone(area).utcoffset():
            return _bisect(area, low, high)
        low = high
    return None


def _bisect(area: tzinfo, low: datetime, high: datetime) -> datetime:
    before = low.astimezone(area).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        low, high = (middle, high) if middle.astimezone(area).utcoffset() == before else (low, middle)
    return high.replace(microsecond=0)
