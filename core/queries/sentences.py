"""The reason codes and spans of time in words, once for every door."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

REASONS: Final[dict[str, str]] = {
    "on_time": "it was due and fired on time",
    "coalesced": "it fired once for several missed times",
    "caught_up": "it was missed and caught up",
    "manual": "it was asked for by hand",
    "event": "an event asked for it",
    "backfill": "a backfill asked for it",
    "joined": "it joined the Work that was active",
    "buffered": "it waits for the active Work to end",
    "concurrency_skip": "earlier Work was still active and the overlap policy is skip",
    "buffer_full": "the buffer of waiting occurrences was full",
    "replaced": "a newer occurrence replaced it",
    "missed": "nobody decided it in time and the misfire policy is skip",
    "paused": "the Trigger was paused",
    "excluded": "a calendar excludes it",
    "gap_skipped": "its wall time did not exist",
    "definition_changed": "it was due and undecided when the Trigger was changed",
    "restored": "it lies before the database was restored",
    "deduplicated": "the same event was admitted before",
    "superseded": "a newer revision of the event replaced it",
    "denied": "its principal may not run it",
    "target_unresolved": "its Flow could not be resolved",
    "input_invalid": "its input does not fit the Flow's schema",
    "schedule_invalid": "its schedule could not be evaluated",
}


def duration_words(span: timedelta) -> str:
    """Return a span as an operator says it: `0.3 s`, `12 s`, `3 m 05 s`, `2 h 10 m`, `4 d 3 h`."""
    seconds = abs(span.total_seconds())
    if seconds < 10:
        return f"{seconds:.3f}".rstrip("0").rstrip(".") + " s" if seconds < 1 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02d} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} m"
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"
