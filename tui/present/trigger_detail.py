"""Own the detail of one Trigger as lines: rule, countdown, notes, next fires, what runs, what happened."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from core.views import FireView, OccurrenceRow, TriggerView, WorkRow
from tui.present.history import WORK_MARKS, reason_words, short_id
from tui.present.lines import Line, Piece, Tone, clean, clip, line, spread, wrap
from tui.present.states import phase_words
from tui.present.times import ago, countdown, full, near, offset, offset_text, short_zone, until
from tui.present.times import zone as zone_of
from tui.present.works import STATUS_WORDS

OUTCOME: dict[str, Piece] = {
    "submitted": Piece("✓", "ok"), "skipped": Piece("·", "warn"), "failed": Piece("✕", "bad"),
    "pending": Piece("…", "busy"), "joined": Piece("∪", "ok"), "deferred": Piece("…", "busy"),
    "dropped": Piece("·", "warn"),
}  # fmt: skip


def detail_lines(view: TriggerView, now: datetime, zone: str, mine: str, cells: int) -> list[Line]:
    """Return the detail for a width; the next time is told in the display zone, in `mine` and in UTC."""
    head = [
        spread(
            line(Piece(clean(view.row.name), "strong")),
            line(Piece(f"gen {view.generation} · ", "dim"), phase_words(view.phase)),
            cells,
        ),
        *_called(view, cells),
        *wrap(view.words, cells),
        line(),
        *_next(view, now, (zone, mine), cells),
        *_pause(view, now, zone, cells),
        *_notes(view, cells),
    ]
    parts = [
        head,
        _fires(view.fires, now, zone if view.row.time_zone is None else None, cells),
        _facts(view, cells),
        _active(view.active_work, now),
        _history(view, now, zone),
    ]
    return [row for part in parts if part for row in (*part, line())]


def _called(view: TriggerView, cells: int) -> list[Line]:
    """Return what people call it and say of it, as far as its name does not tell that already."""
    definition: dict[str, Any] = view.manifest.get("definition") or {}
    told = [str(definition.get(name) or "") for name in ("displayName", "description")]
    return [row for text in told if text and text != view.row.name for row in wrap(text, cells, "dim")]


def _next(view: TriggerView, now: datetime, zones: tuple[str, str], cells: int) -> list[Line]:
    at = view.row.next_due_at
    if at is None:
        words = {"disabled": "off: nothing fires until it is enabled (t)", "completed": "its last time has passed"}
        return [line(Piece(words.get(view.phase, "no next time"), "dim"))]
    held = view.pause is not None and (view.pause.until_at is None or at < view.pause.until_at)
    rows = [
        line(
            "     ",
            Piece(countdown(at, now), "dim" if held else "strong"),
            Piece("   until a time that is only recorded as paused" if held else "   until next", "dim"),
        ),
    ]
    for name in dict.fromkeys((*zones, "UTC")):
        tone: Tone = "dim" if name == zones[0] else "faint"
        rows.append(line(Piece(f"     {full(at, name):30}  {short_zone(name)}", tone)))
    if view.row.next_note:
        rows += [
            (Piece("⚠ ", "warn"), *row) if at == 0 else line("  ", row)
            for at, row in enumerate(wrap(view.row.next_note, cells - 2, "warn"))
        ]
    return rows


def _pause(view: TriggerView, now: datetime, zone: str, cells: int) -> list[Line]:
    if view.pause is None:
        return []
    pause = view.pause
    end = f"until {near(pause.until_at, now, zone)}" if pause.until_at else "until it is resumed"
    text = f"‖ paused {end} by {pause.principal}: {pause.note}"
    return [line(), *wrap(text, cells, "warn", "  ")]


def _notes(view: TriggerView, cells: int) -> list[Line]:
    rows = [row for note in view.notes for row in wrap(f"· {note}", cells, "dim", "  ")]
    if view.row.last_error:
        rows += wrap(f"✕ {view.row.last_error}", cells, "bad", "  ")
    for condition in view.conditions:
        if message := str(condition.get("message") or ""):
            rows += wrap(f"! {message}", cells, "warn", "  ")
    return [line(), *rows] if rows else []


def _fires(fires: tuple[FireView, ...], now: datetime, zone: str | None, cells: int) -> list[Line]:
    if not fires:
        return []
    rows = [_head("next")]
    for fire in fires[:5]:
        rows.append(fire_line(fire, now, zone))
        rows += [line("    ", row) for note in fire.notes for row in wrap(note, max(cells - 4, 10), "warn")]
    return rows


def fire_line(fire: FireView, now: datetime, zone: str | None = None) -> Line:
    """Return one coming fire: wall time with offset and how far it is; marked where something is special about it.

    A rule that follows no zone is told in `zone`.
    """
    if fire.skipped or fire.nominal_at is None:
        return line(Piece(f"✕ {_wall(fire.wall)} —", "warn"))
    wall, offset_told = fire.wall, offset_text(fire.offset_s) if fire.zone != "UTC" else "Z"
    if zone is not None:
        wall = f"{fire.nominal_at.astimezone(zone_of(zone)):%Y-%m-%d %H:%M:%S}"
        offset_told = offset(fire.nominal_at, zone)
    return line(
        Piece("! " if fire.notes else "  ", "warn"),
        f"{_wall(wall)} ",
        Piece(offset_told, "dim"),
        Piece(f"{until(fire.nominal_at, now):>9}", "dim"),
    )


def _wall(wall: str) -> str:
    at = datetime.fromisoformat(wall)
    return f"{at:%a} {at.day:2} {at:%b} {at:%H:%M:%S}"


def _facts(view: TriggerView, cells: int) -> list[Line]:
    definition: dict[str, Any] = view.manifest.get("definition") or {}
    flow = f"{view.row.flow}" + ("" if "@" in view.row.flow else "@active")
    missed, overlap = definition.get("misfirePolicy", "fireOnce"), definition.get("concurrencyPolicy", "skip")
    rows = [
        _fact("flow", flow, cells),
        _fact("policies", f"missed {missed} · overlap {overlap}", cells),
        _fact("fires as", view.scope, cells),
    ]
    if view.row.tags:
        rows.append(_fact("tags", " ".join(view.row.tags), cells))
    if view.failures_30d:
        rows.append(line(Piece("failed    ", "head"), Piece(f"{view.failures_30d} in 30 days", "bad")))
    runbook = ((view.manifest.get("metadata") or {}).get("annotations") or {}).get("runbook")
    if runbook:
        rows.append(_fact("runbook", str(runbook), cells))
    return rows


def _fact(label: str, text: str, cells: int) -> Line:
    return line(Piece(f"{label:<10}", "head"), clip(line(clean(text)), max(cells - 10, 1)))


def _active(works: tuple[WorkRow, ...], now: datetime) -> list[Line]:
    if not works:
        return []
    rows = [
        line(
            Piece(f"  {short_id(work.id)} ", "accent"),
            Piece(f"{STATUS_WORDS.get(work.status, work.status)} ", "busy"),
            f"{work.steps_done}/{work.steps_total} ",
            Piece(ago(work.started_at or work.created_at, now), "dim"),
        )
        for work in works[:4]
    ]
    return [_head("active work"), *rows]


def _history(view: TriggerView, now: datetime, zone: str) -> list[Line]:
    if not view.last_occurrences:
        return []
    return [_head("last"), *(_past(row, now, zone) for row in view.last_occurrences[:12])]


def _past(row: OccurrenceRow, now: datetime, zone: str) -> Line:
    at = row.nominal_at or row.last_at or row.at
    mark = OUTCOME.get(row.outcome, Piece("?", "dim"))
    if row.outcome == "submitted" and row.work_status is not None:
        mark = WORK_MARKS.get(row.work_status, mark)
    count = f"{row.count}× " if row.is_range else ""
    when = f"{near(at, now, zone, seconds=True):>15} {offset(at, zone):<5}"
    return line("  ", mark, f" {when} ", Piece(count + reason_words(row), "dim"))


def _head(title: str) -> Line:
    return line(Piece(title.upper(), "head"))


def why_dead(view: TriggerView) -> str:
    """Return why a Trigger will not fire again, empty where it will."""
    return {"disabled": "it is off", "completed": "its last time has passed"}.get(view.phase, "")
