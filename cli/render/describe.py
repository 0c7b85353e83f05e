"""One thing told in full, as a page for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from cli.render.preview import fires_table
from cli.render.table import table
from cli.render.times import between, relative, utc
from core.views import ActionView, FlowView, OccurrenceRow, PauseView, RevisionView, TriggerView, WorkView
from core.words import counted


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return `name: value` lines, aligned; what is None or empty is left out."""
    known = [(name, str(value)) for name, value in pairs if value not in {None, ""}]
    width = max((len(name) for name, _ in known), default=0) + 2
    return "\n".join(f"{name + ':':<{width}}{value}" for name, value in known)


def section(title: str, body: str) -> str:
    """Return a titled block, or nothing where the body is empty."""
    return f"\n{title}\n" + "\n".join(f"  {line}" for line in body.splitlines()) if body else ""


def _page(head: str, *sections: str) -> str:
    return "\n".join(part for part in (head, *sections) if part)


def describe_trigger(view: TriggerView, revisions: Sequence[RevisionView], now: datetime) -> str:
    """Return all about a Trigger."""
    row, definition = view.row, view.manifest["definition"]
    head = facts(
        [
            ("Trigger", f"{row.namespace}/{row.name}"),
            ("Display name", row.display_name),
            ("Description", definition.get("description")),
            ("Phase", view.phase),
            ("Paused", _pause(view.pause)),
            ("Schedule", view.words),
            ("Flow", row.flow),
            ("Misfire policy", definition.get("misfirePolicy")),
            ("Overlap policy", definition.get("concurrencyPolicy")),
            ("Input", _json(definition.get("input"))),
            ("Fires as", view.scope),
            ("Next due", row.next_due_at and f"{utc(row.next_due_at)} ({relative(row.next_due_at, now)})"),
            ("Mark", utc(view.mark_at)),
            ("Last fired", utc(row.last_fired_at)),
            ("Last outcome", row.last_outcome),
            ("Last error", row.last_error),
            ("Failures in 30 days", view.failures_30d),
            ("Tags", ", ".join(row.tags)),
            ("Generation", view.generation),
            ("ETag", view.etag),
        ]
    )
    return _page(
        head,
        section("Notes", "\n".join(view.notes)),
        section("Conditions", "\n".join(_json(condition) or "" for condition in view.conditions)),
        section("Next fires", fires_table(view.fires, now) if view.fires else ""),
        section("Active Work", "\n".join(f"{work.id[:8]} {work.status} {work.title}" for work in view.active_work)),
        section("Last occurrences", _occurrences(view.last_occurrences)),
        section("Generations", _revisions(revisions)),
    )


def _pause(pause: PauseView | None) -> str | None:
    if pause is None:
        return None
    until = utc(pause.until_at) or "resumed"
    return f"since {utc(pause.from_at)} until {until} by {pause.principal}: {pause.note}"


def _occurrences(rows: Sequence[OccurrenceRow]) -> str:
    if not rows:
        return ""
    cells = [
        (
            row.id[:8],
            utc(row.nominal_at or row.at),
            row.outcome,
            row.reason,
            f"×{row.count}" if row.is_range else "",
            row.message,
        )
        for row in rows
    ]
    return table(("ID", "NOMINAL (UTC)", "OUTCOME", "REASON", "COUNT", "MESSAGE"), cells)


def _revisions(revisions: Sequence[RevisionView]) -> str:
    return "\n".join(f"{item.generation}  {utc(item.created_at)}  {item.principal}" for item in revisions)


def describe_flow(view: FlowView, revisions: Sequence[RevisionView]) -> str:
    """Return all about a Flow."""
    row, definition = view.row, view.manifest["definition"]
    head = facts(
        [
            ("Flow", f"{row.namespace}/{row.name}"),
            ("Display name", row.display_name),
            ("Description", definition.get("description")),
            ("Active version", row.active_version),
            ("Newest version", row.newest_version),
            ("Draft", "differs from the newest version" if row.draft_differs else "published"),
            ("Used by", counted(row.used_by, "Trigger")),
            ("Input schema", _json(view.input_schema)),
        ]
    )
    versions = "\n".join(f"v{number}  {utc(at)}{'  active' if active else ''}" for number, at, active in view.versions)
    steps = "\n".join(_step(step) for step in definition.get("steps", []))
    return _page(
        head, section("Steps", steps), section("Versions", versions), section("Generations", _revisions(revisions))
    )


def _step(step: dict[str, Any]) -> str:
    kind = next((kind for kind in ("command", "http", "python", "ask", "wait") if kind in step), "?")
    condition = f"  when {step['when']}" if "when" in step else ""
    return f"{step.get('id', '?')}  {kind}  {_json(step.get(kind))}{condition}"


def describe_work(view: WorkView, now: datetime) -> str:
    """Return all about a Work."""
    row = view.row
    cancelling = view.cancel_requested and row.ended_at is None
    head = facts(
        [
            ("Work", row.id),
            ("Trigger", f"{row.namespace}/{row.trigger_name}" if row.trigger_name else "none (test)"),
            ("Flow", f"{row.flow}@v{row.flow_version}"),
            ("Status", f"{row.status}{' (asked to cancel)' if cancelling else ''}"),
            ("Result", row.result),
            ("Error", row.error),
            ("Reason", view.reason),
            ("Nominal time", utc(row.nominal_at)),
            ("Created", utc(row.created_at)),
            ("Started", row.started_at and f"{utc(row.started_at)} ({relative(row.started_at, now)})"),
            ("Took", between(row.started_at, row.ended_at)),
            ("Attempts", row.attempts),
            ("Runs as", view.principal),
            ("Input", _json(view.input)),
            ("Runbook", view.runbook),
        ]
    )
    asked = "\n".join(f"{action.id[:8]}  {action.status}  {action.title}" for action in view.actions)
    return _page(head, section("Steps", _steps(view)), section("Questions", asked))


def _steps(view: WorkView) -> str:
    if not view.steps:
        return ""
    cells = [
        (
            step.step_id,
            step.kind,
            step.status,
            step.attempt,
            between(step.started_at, step.ended_at),
            step.error or _json(step.output),
        )
        for step in view.steps
    ]
    return table(("STEP", "KIND", "STATUS", "ATTEMPT", "TOOK", "OUTPUT"), cells)


def describe_action(view: ActionView, now: datetime) -> str:
    """Return a question with its form."""
    row = view.row
    head = facts(
        [
            ("Question", row.title),
            ("Id", row.id),
            ("Kind", row.kind),
            ("Status", row.status),
            ("Message", view.message),
            ("Asked by", view.asked_by),
            ("Asked", relative(row.created_at, now)),
            ("Expires", relative(row.expires_at, now) if row.status == "pending" else None),
            ("Decisions", ", ".join(view.decisions)),
            ("Decision", row.decision),
            ("Answered by", row.answered_by),
            ("Holds up", ", ".join(view.holds_up)),
            ("Values", _json(view.values)),
        ]
    )
    return _page(head, section("Form", "\n".join(_fields(view.schema))))


def _fields(schema: dict[str, Any]) -> list[str]:
    required = set(schema.get("required", []))
    return [
        f"{name}{' *' if name in required else ''}  {_json(field)}"
        for name, field in schema.get("properties", {}).items()
    ]


def _json(value: Any) -> str | None:
    if value is None or value in ({}, []):
        return None
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 160 else text[:159] + "…"
