"""Occurrences as people read them: lag, outcome, reason in words, ranges, and the chain of one decision; pure."""

from __future__ import annotations

from datetime import datetime

from core.views import ChainLink, OccurrenceRow, OccurrenceView
from core.words import duration
from tui.present.lines import Line, Piece, Tone, clean, line, width, wrap
from tui.present.times import DASH, full, localised, near, offset, short_zone, zone

OUTCOME_TONES: dict[str, Tone] = {
    "submitted": "ok", "pending": "busy", "joined": "ok", "deferred": "busy",
    "skipped": "warn", "dropped": "warn", "failed": "bad",
}  # fmt: skip
REASONS: dict[str, str] = {
    "on_time": "on time",
    "coalesced": "fired once for all that were missed",
    "caught_up": "caught up after a stop",
    "manual": "run by hand",
    "event": "an event asked for it",
    "backfill": "backfilled",
    "joined": "joined the active work",
    "buffered": "waits for the active work",
    "concurrency_skip": "overlap: earlier work still active",
    "buffer_full": "overlap: the buffer was full",
    "replaced": "replaced by a newer one",
    "missed": "missed: nobody was there to fire it",
    "paused": "paused",
    "excluded": "excluded by a calendar",
    "gap_skipped": "DST: the wall time did not exist",
    "definition_changed": "the definition changed before it was decided",
    "restored": "the database was restored",
    "deduplicated": "a duplicate",
    "superseded": "superseded by a newer decision",
    "denied": "denied: the principal may not run it",
    "target_unresolved": "the flow was not found",
    "input_invalid": "the input does not fit the flow",
    "schedule_invalid": "the schedule is not valid",
}
KINDS = {"scheduled": "sched", "manual": "manual", "event": "event", "backfill": "backfill"}
_PREFIXED = frozenset({"concurrency_skip", "paused", "denied", "missed"})
WORK_MARKS: dict[str, Piece] = {
    "completed": Piece("✓", "ok"), "failed": Piece("✕", "bad"), "cancelled": Piece("⊘", "warn"),
    "running": Piece("▶", "busy"), "queued": Piece("…", "busy"), "pending": Piece("…", "dim"),
    "waitingForInput": Piece("◇", "warn"), "waitingForApproval": Piece("◇", "warn"),
}  # fmt: skip
_LINKS: dict[str, Piece] = {"ok": Piece("✓ ", "ok"), "stop": Piece("✕ ", "bad"), "info": Piece("· ", "dim")}


def reason_words(row: OccurrenceRow) -> str:
    """Return why, in words: core's own sentence where it has one, else the reason's meaning."""
    told, known = clean(row.message), REASONS.get(row.reason, row.reason)
    short = known.partition(":")[0]
    return f"{short}: {told}" if told and row.reason in _PREFIXED else told or known


def lag(row: OccurrenceRow) -> Line:
    """Return the discovery lag (observed − due), loud from one second, louder from a minute on."""
    if row.observed_at is None or row.due_at is None or row.is_range:
        return (Piece(DASH, "faint"),)
    seconds = (row.observed_at - row.due_at).total_seconds()
    text = f"{seconds:.1f}s" if seconds < 60 else duration(seconds)
    return (Piece(text, "" if seconds < 1 else "warn" if seconds < 60 else "bad"),)


def nominal(row: OccurrenceRow, now: datetime, zone_name: str) -> Line:
    """Return the nominal time, or a range as `312 missed 01:00–03:35`."""
    if row.is_range:
        return (Piece(range_words(row, zone_name, now), "warn"),)
    at = row.nominal_at or row.at
    return line(stamp(at, now, zone_name), Piece(f" {offset(at, zone_name)}", "faint"))


def stamp(at: datetime, now: datetime, zone_name: str) -> str:
    """Return day and time to the second: `28 Mar 14:00:00`; the year where it is another one."""
    there = at.astimezone(zone(zone_name))
    year = "" if there.year == now.astimezone(zone(zone_name)).year else f" {there.year}"
    return f"{there.day:2} {there:%b}{year} {there:%H:%M:%S}"


def range_words(row: OccurrenceRow, zone_name: str, now: datetime) -> str:
    """Return `312 missed 01:00–03:35`, with days where it was not today or covers more than one."""
    word = {"definition_changed": "undecided", "gap_skipped": "in the gap"}.get(row.reason, row.reason)
    head = f"{row.count:,} {word} "
    if row.first_at is None or row.last_at is None:
        return head.strip()
    first, last = row.first_at.astimezone(zone(zone_name)), row.last_at.astimezone(zone(zone_name))
    today = first.date() == now.astimezone(zone(zone_name)).date() and last.date() == first.date()
    day = "" if today else f"{first.day} {first:%b} "
    if row.count == 1:
        return f"{head}{day}{first:%H:%M}"
    other = "" if first.date() == last.date() else f"{last.day} {last:%b} "
    return f"{head}{day}{first:%H:%M}–{other}{last:%H:%M}"


def work_cell(row: OccurrenceRow) -> Line:
    """Return the Work that came of it: the short id and how it stands."""
    if row.work_id is None:
        return (Piece(DASH, "faint"),)
    return line(short_id(row.work_id), " ", WORK_MARKS.get(row.work_status or "", Piece("")))


def short_id(identity: str) -> str:
    """Return the beginning of an identity, as one types it."""
    return identity[:8]


def outcome(row: OccurrenceRow) -> Line:
    """Return the outcome in its colour."""
    return (Piece(row.outcome, OUTCOME_TONES.get(row.outcome, "")),)


def coalesced_words(row: OccurrenceRow, zone_name: str) -> str:
    """Return what a fireOnce stands for, empty where it stands for itself alone."""
    if row.coalesced is None or row.coalesced.count <= 1:
        return ""
    first, last = (at.astimezone(zone(zone_name)) for at in (row.coalesced.first_at, row.coalesced.last_at))
    return f"stands for {row.coalesced.count:,} nominal times, {first:%d %b %H:%M} to {last:%d %b %H:%M}"


def why_lines(view: OccurrenceView, now: datetime, zone_name: str, cells: int) -> tuple[Line, ...]:
    """Return the sentence, then every link of the chain with its time, then what it stands for."""
    rows: list[Line] = [*indented(sentence(view, zone_name), cells, "strong"), ()]
    titles = max((len(link.title) for link in view.chain), default=0)
    for link in view.chain:
        rows.extend(_link_lines(link, zone_name, cells, titles))
    if more := coalesced_words(view.row, zone_name):
        rows.extend(((), *indented(more, cells, "dim")))
    rows.extend(_facts(view, now, zone_name, cells))
    return tuple(rows)


def _link_lines(link: ChainLink, zone_name: str, cells: int, titles: int) -> tuple[Line, ...]:
    at = "            " if link.at is None else f"{link.at.astimezone(zone(zone_name)):%H:%M:%S.%f}"[:12]
    head = line(" ", Piece(at, "faint"), " ", _LINKS[link.state], Piece(f"{clean(link.title):{titles}}  ", "strong"))
    indent = 1 + 12 + 1 + 2 + titles + 2
    detail = wrap(localised(link.detail, zone_name), max(12, cells - indent), "bad" if link.state == "stop" else "")
    return (line(head, detail[0]), *(line(" " * indent, row) for row in detail[1:]))


def _facts(view: OccurrenceView, now: datetime, zone_name: str, cells: int) -> tuple[Line, ...]:
    row = view.row
    facts = [
        ("nominal", _in_zones(row.nominal_at, zone_name) if row.nominal_at and not row.is_range else ""),
        ("trigger", f"{row.namespace}/{row.trigger_name} · generation {row.generation}"),
        ("by", row.principal),
        ("decided", f"{near(row.admitted_at, now, zone_name, seconds=True)} {offset(row.admitted_at, zone_name)}"),
        ("work", f"{short_id(row.work_id)} {row.work_status or ''}" if row.work_id else ""),
        ("runbook", view.runbook or ""),
    ]
    lines = [line(Piece(f" {name:9}", "dim"), part) for name, text in facts if text
             for part in wrap(text, max(10, cells - 10))]  # fmt: skip
    return ((), *lines)


def _in_zones(at: datetime, zone_name: str) -> str:
    """Return an instant in full, in the zone that the chain is told in and in UTC."""
    told = f"{full(at, zone_name)} {short_zone(zone_name)}"
    return told if zone_name == "UTC" else f"{told} · {full(at, 'UTC')}"


def chain_words(view: OccurrenceView, zone_name: str, cells: int) -> tuple[Line, ...]:
    """Return the chain in a line or two: `nominal 14:00:00.000 +01 › seen 14:00:00.310 › authorised ✓ › …`."""
    timed = next((link for link in view.chain if link.at and link.state == "info"), None)
    words = [_link_words(link, zone_name, offset_told=link is timed) for link in view.chain]
    return tuple(_in_lines(words, cells))


def chain_table(view: OccurrenceView) -> list[tuple[str, ...]]:
    """Return the links of a decision as text, with instants in UTC, for a file."""
    return [(link.title, link.at.isoformat() if link.at else "", link.state, link.detail) for link in view.chain]


def _link_words(link: ChainLink, zone_name: str, *, offset_told: bool) -> Line:
    title = clean(link.title)
    if link.state == "info" and link.at:
        there = f"{link.at.astimezone(zone(zone_name)):%H:%M:%S.%f}"[:12]
        return line(
            f"{title} ", Piece(there, "dim"), Piece(f" {offset(link.at, zone_name)}" if offset_told else "", "faint")
        )
    if link.state == "stop":
        return (Piece(f"{title} ✕", "bad"),)
    return line(title, Piece(" ✓", "ok")) if link.state == "ok" else (Piece(title),)


def _in_lines(parts: list[Line], cells: int) -> list[Line]:
    rows: list[Line] = [line(" ")]
    for index, part in enumerate(parts):
        joint = (Piece(" › ", "faint"),) if index else ()
        if width(rows[-1]) + width(joint) + width(part) > cells:
            rows.append(line("  ", joint, part))
        else:
            rows[-1] = line(rows[-1], joint, part)
    return rows


def sentence(view: OccurrenceView, zone_name: str) -> str:
    """Return core's sentence, its instants in the display zone, as a sentence begins."""
    text = localised(view.sentence, zone_name)
    return text[:1].upper() + text[1:]


def indented(text: str, cells: int, tone: Tone = "") -> tuple[Line, ...]:
    """Return a text broken to the width, one blank before each line."""
    return tuple(line(" ", row) for row in wrap(text, cells - 1, tone))
