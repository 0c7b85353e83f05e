"""Views of the deck as plain JSON values in the spelling of the manifests (camelCase)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from core.clock import format_instant
from core.views import Coalesced, OccurrenceRow, WorkRow


def plain(value: Any) -> Any:
    """Return any view as JSON values: objects with camelCase keys, instants as RFC 3339 in UTC."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return _plain_parts(value)


def _plain_parts(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {camel(field.name): plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


@lru_cache(maxsize=1024)
def camel(name: str) -> str:
    """Return a Python name as the manifests spell it."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def spelled(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with its own keys, not those inside it, as the manifests spell them."""
    return {camel(key): value for key, value in record.items()}


def instant(value: datetime | None) -> str | None:
    """Return an instant as RFC 3339, or None."""
    return None if value is None else format_instant(value)


def occurrence(row: OccurrenceRow) -> dict[str, Any]:
    """Return one decision, or one counted range, as `occurrences -o json` promises it."""
    record = {
        "id": row.id,
        "triggerUid": row.trigger_uid,
        "triggerName": row.trigger_name,
        "namespace": row.namespace,
        "generation": row.generation,
        "kind": row.kind,
        "nominalAt": instant(row.nominal_at),
        "dueAt": instant(row.due_at),
        "observedAt": instant(row.observed_at),
        "admittedAt": instant(row.admitted_at),
        "dispatchedAt": instant(row.dispatched_at),
        "outcome": row.outcome,
        "reason": row.reason,
        "message": row.message,
        "workId": row.work_id,
        "coalesced": _coalesced(row.coalesced),
        "principal": row.principal,
    }
    return {**record, **_range(row)} if row.is_range else record


def _coalesced(value: Coalesced | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"count": value.count, "firstAt": instant(value.first_at), "lastAt": instant(value.last_at)}


def _range(row: OccurrenceRow) -> dict[str, Any]:
    return {"range": True, "count": row.count, "firstAt": instant(row.first_at), "lastAt": instant(row.last_at)}


def work(row: WorkRow) -> dict[str, Any]:
    """Return one Work as `work -o json` promises it, with what else its row knows after that."""
    namespace, _, name = row.flow.rpartition("/")
    return {
        "id": row.id,
        "occurrenceId": row.occurrence_id,
        "flow": {"name": name, "namespace": namespace or row.namespace, "version": row.flow_version},
        "status": row.status,
        "result": row.result,
        "startedAt": instant(row.started_at),
        "endedAt": instant(row.ended_at),
        "attempts": row.attempts,
        "triggerName": row.trigger_name,
        "namespace": row.namespace,
        "nominalAt": instant(row.nominal_at),
        "createdAt": instant(row.created_at),
        "error": row.error,
        "isTest": row.is_test,
    }
