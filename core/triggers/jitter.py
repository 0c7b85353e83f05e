"""Jitter: a due time a little after the nominal time, the same one whenever it is asked for."""

from __future__ import annotations


def due_at(occurrence_key: str, nominal: int, jitter_s: int, next_nominal: int | None) -> int:
    """Return the due time in [nominal, nominal + jitter_s], never as late as the next nominal time.

    `occurrence_key` identifies the occurrence (Trigger and nominal time); equal keys give equal due times.
    """
    from hashlib import blake2b

    span = jitter_s if next_nominal is None else min(jitter_s, next_nominal - nominal - 1)
    if span <= 0:
        return nominal
    digest = blake2b(occurrence_key.encode(), digest_size=8, person=b"jitter").digest()
    return nominal + int.from_bytes(digest, "big") % (span + 1)
