"""Answers what ran and what is asked: Work, its steps and log, the inbox."""

from __future__ import annotations

from typing import Any

from core.queries.context import Reading, only
from core.queries.cursors import decode_cursor, encode_cursor
from core.storage import read_history, read_machinery
from core.views import ActionRow, ActionView, ChainLink, LinkState, LogRow, Page, StepView, WorkQuery, WorkRow, WorkView
from core.work.actions import decisions, form_schema


def page(
    reading: Reading, query: WorkQuery, *, offset: int = 0, cursor: str | None = None, limit: int | None = 100
) -> Page[WorkRow]:
    """Return one stretch of Work, newest first."""
    after = decode_cursor(cursor) if cursor else None
    rows = read_history.list_works(reading.tx, reading.workspace_id, query, offset=offset, after=after, limit=limit)
    full = limit is not None and len(rows) == limit
    if full or after is not None or (offset and not rows):
        total = read_history.count_works(reading.tx, reading.workspace_id, query, again=after is not None)
    else:
        total = offset + len(rows)  # these are the last ones
    return Page(tuple(rows), total, offset, encode_cursor(rows[-1].created_at, rows[-1].id) if full and rows else None)


def find(reading: Reading, given: str) -> WorkRow:
    """Return the Work whose id is or begins with `given`."""
    return only(read_history.find_works(reading.tx, reading.workspace_id, given), "Work", given)


def view(reading: Reading, given: str) -> WorkView:
    """Return all about one Work; `given` is an id or its beginning."""
    row = find(reading, given)
    values, principal, cancel_at, flow_uid, version = read_history.work_extra(reading.tx, row.id)
    runs = read_machinery.runs_of(reading.tx, row.id)
    definition = read_history.version_definition(reading.tx, flow_uid, version)
    steps = _steps(definition, read_machinery.steps_of(reading.tx, runs[-1].id) if runs else [])
    occurrence = read_history.find_occurrences(reading.tx, reading.workspace_id, row.occurrence_id)
    trigger_uid = occurrence[0].trigger_uid if occurrence else ""
    return WorkView(
        row=row,
        input=values,
        runs=tuple(runs),
        steps=steps,
        actions=tuple(read_machinery.actions(reading.tx, reading.workspace_id, work_id=row.id)),
        cancel_requested=cancel_at is not None,
        principal=principal,
        reason=occurrence[0].reason if occurrence else "manual",
        events=_events(row, runs, steps),
        runbook=read_history.trigger_annotations(reading.tx, trigger_uid).get("runbook"),
    )


def logs(reading: Reading, given: str, *, after: int, limit: int) -> tuple[LogRow, ...]:
    """Return log lines after an id, oldest first."""
    return tuple(read_machinery.log_lines(reading.tx, find(reading, given).id, after=after, limit=limit))


def actions(reading: Reading, status: str | None, namespace: str | None = None) -> tuple[ActionRow, ...]:
    """Return questions, oldest first; None gives every status, and those of every namespace."""
    return tuple(read_machinery.actions(reading.tx, reading.workspace_id, status=status, namespace=namespace))


def action(reading: Reading, given: str) -> ActionView:
    """Return one question with its form; `given` is an id or its beginning."""
    row, rest = only(read_machinery.find_actions(reading.tx, reading.workspace_id, given), "question", given)
    return ActionView(
        row=row,
        message=rest["message"],
        schema=form_schema(row.kind, rest["form"] or {}),
        decisions=decisions(row.kind),
        values=rest["values"] or {},
        holds_up=(row.trigger_name,) if row.trigger_name else (),
        asked_by=f"{row.work_id[:8]} › {row.step_id}",
    )


def _steps(definition: dict[str, Any], rows: list[dict[str, Any]]) -> tuple[StepView, ...]:
    by_position = {row["position"]: row for row in rows}
    return tuple(
        _step(position, step, by_position.get(position)) for position, step in enumerate(definition.get("steps", ()))
    )


def _step(position: int, step: dict[str, Any], row: dict[str, Any] | None) -> StepView:
    kind = next((kind for kind in ("command", "http", "python", "ask", "wait") if kind in step), "")
    known = row or {}
    return StepView(
        position=position,
        step_id=str(step.get("id", position)),
        kind=kind,
        status=known.get("status", "pending"),
        attempt=known.get("attempt", 0),
        started_at=known.get("started_at"),
        ended_at=known.get("ended_at"),
        resume_at=known.get("resume_at"),
        output=known.get("output"),
        exit_code=known.get("exit_code"),
        error=known.get("error_message") or known.get("error_code"),
        summary=_summary(kind, step.get(kind)),
    )


def _summary(kind: str, body: Any) -> str:
    if not isinstance(body, dict):
        return ""
    if kind == "command":
        return " ".join(str(word) for word in body.get("argv", ()))
    if kind == "http":
        return f"{body.get('method', 'GET')} {body.get('url', '')}"
    keys = {"python": "callable", "ask": "title", "wait": "for"}
    return str(body.get(keys.get(kind, ""), body.get("until", "")))


def _events(row: WorkRow, runs: list[Any], steps: tuple[StepView, ...]) -> tuple[ChainLink, ...]:
    links = [ChainLink("admitted", row.created_at, f"flow {row.flow} v{row.flow_version}", "ok")]
    links += [
        ChainLink(f"run {run.attempt}", run.started_at, run.error or run.status, "stop" if run.error else "ok")
        for run in runs
    ]
    for step in steps:
        if step.started_at is not None:
            state: LinkState = "stop" if step.status == "failed" else "info"
            detail = step.error or step.status
            links.append(ChainLink(f"step {step.step_id}", step.ended_at or step.started_at, detail, state))
    if row.ended_at is not None:
        ended: LinkState = "ok" if row.status == "completed" else "stop"
        links.append(ChainLink(row.status, row.ended_at, row.error or row.result or "", ended))
    return tuple(links)
