"""The identity of a decision: the same instant of the same Trigger always has the same one.

Identities of nominal times are UUIDs of version 5 (RFC 9562) under the namespace

    927b2d9c-77b2-56f0-9127-c0150d364480

over the exact UTF-8 text `<workspace id>/<Trigger uid>/<nominal instant>`, where the instant is RFC 3339 in UTC to the
second, with `Z`. The generation is no part of it, so no edit fires an instant twice. Test vector:

    default/0190f2a4-7c1e-4b7a-9a51-3d0a6f1c2b3d/2026-03-29T01:30:00Z
    ba3a742a-779f-5a66-9e49-df284c1d71c4

A counted range has the text `<workspace id>/<Trigger uid>/<reason>/<first nominal instant>`, a range that grows with a
pause `<workspace id>/<Trigger uid>/paused/<window id>`. Once the mark was moved back by hand, `/<how often>` stands at
the end of both: what is decided anew is counted anew. Manual occurrences have random identities from the clock.
"""

from __future__ import annotations

from hashlib import sha1
from uuid import UUID

from core.clock import format_instant, from_epoch
from core.triggers import Schedule, due_at

NAMESPACE = UUID("927b2d9c-77b2-56f0-9127-c0150d364480")
_PREFIX = NAMESPACE.bytes


def occurrence_id(workspace_id: str, trigger_uid: str, nominal_s: int) -> str:
    """Return the identity of one nominal time, given in epoch seconds."""
    return _uuid5(f"{workspace_id}/{trigger_uid}/{_instant(nominal_s)}")


def due_time(schedule: Schedule, workspace_id: str, trigger_uid: str, nominal_s: int) -> int:
    """Return when one nominal time is due: jitter is drawn from the occurrence's identity, so it never changes."""
    if not schedule.jitter_s:
        return nominal_s
    key = occurrence_id(workspace_id, trigger_uid, nominal_s)
    return due_at(key, nominal_s, schedule.jitter_s, schedule.next(nominal_s))


def range_id(workspace_id: str, trigger_uid: str, reason: str, first_s: int, mark_moves: int = 0) -> str:
    """Return the identity of a range of nominal times that were decided together, first one in epoch seconds."""
    return _uuid5(f"{workspace_id}/{trigger_uid}/{reason}/{_instant(first_s)}{_anew(mark_moves)}")


def pause_range_id(workspace_id: str, trigger_uid: str, window_id: str, mark_moves: int = 0) -> str:
    """Return the identity of the range that counts the nominal times of one pause."""
    return _uuid5(f"{workspace_id}/{trigger_uid}/paused/{window_id}{_anew(mark_moves)}")


def _anew(mark_moves: int) -> str:
    return f"/{mark_moves}" if mark_moves else ""


def _instant(seconds: int) -> str:
    return format_instant(from_epoch(seconds))


def _uuid5(text: str) -> str:
    """Return `str(uuid.uuid5(NAMESPACE, text))`; written out because admission makes thousands at a time."""
    digest = bytearray(sha1(_PREFIX + text.encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
