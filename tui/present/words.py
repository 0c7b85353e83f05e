"""Own sentences that several screens say."""

from __future__ import annotations

from datetime import datetime

from core.views import Away
from tui.present.times import ago


def away_words(away: Away, now: datetime) -> str:
    """Return what happened since the last visit; nothing where nothing did, or at the first one."""
    if away.since is None:
        return ""
    counts = (
        (away.fired, "fired"), (away.coalesced, "coalesced"), (away.skipped, "skipped"),
        (away.denied, "denied"), (away.failed, "failed"), (away.waiting, "waiting for you"),
    )  # fmt: skip
    told = ", ".join(f"{count} {word}" for count, word in counts if count)
    return f"since your last visit {ago(away.since, now)} ago: {told}" if told else ""


def plural(count: int, one: str, many: str = "") -> str:
    """Return `1 row`, `2 rows`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
