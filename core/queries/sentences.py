"""The reason codes in words, once for every door."""

from __future__ import annotations

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
