"""Write a stored resource as the full envelope that people read and may apply again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.access.scope import Scope
from core.clock import format_instant
from core.resources.documents import API_VERSION, Document, Stored

_STATUS = {
    "observedGeneration": "observed_generation",
    "phase": "phase",
    "nextNominalAt": "next_nominal_at",
    "nextDueAt": "next_due_at",
    "lastScheduledAt": "last_scheduled_at",
    "lastFiredAt": "last_fired_at",
    "lastOutcome": "last_outcome",
    "lastErrorCode": "last_error_code",
    "conditions": "conditions",
}


def manifest(
    stored: Stored, scope: Scope, state: Mapping[str, Any] | None, versions: tuple[int | None, int | None] | None
) -> dict[str, Any]:
    """Return the envelope with server-owned fields; `state` is a Trigger's, `versions` a Flow's (active, newest)."""
    definition = dict(stored.definition)
    if stored.kind == "Trigger":
        definition["executionScope"] = _execution_scope(stored, scope)
        status = _trigger_status(state) if state else {}
    else:
        active, newest = versions or (None, None)
        status = {"observedGeneration": stored.generation, "activeVersion": active, "newestVersion": newest}
    return {
        "apiVersion": API_VERSION,
        "kind": stored.kind,
        "metadata": _metadata(stored, scope),
        "definition": definition,
        "status": status,
    }


def plain(document: Document) -> dict[str, Any]:
    """Return the envelope that a file would hold: nothing of the server in it."""
    return {
        "apiVersion": API_VERSION,
        "kind": document.kind,
        "metadata": {
            "namespace": document.namespace,
            "name": document.name,
            "tags": list(document.tags),
            "annotations": dict(document.annotations),
        },
        "definition": dict(document.definition),
    }


def _metadata(stored: Stored, scope: Scope) -> dict[str, Any]:
    return {
        **plain(stored.document)["metadata"],
        "uid": stored.uid,
        "tenantId": scope.tenant_id,
        "workspaceId": stored.workspace_id,
        "generation": stored.generation,
        "eTag": stored.etag,
        "createdAt": format_instant(stored.created_at),
        "updatedAt": format_instant(stored.updated_at),
    }


def _execution_scope(stored: Stored, scope: Scope) -> dict[str, Any]:
    return {
        "tenantId": scope.tenant_id,
        "workspaceId": stored.workspace_id,
        "principalId": stored.principal_id,
        "principal": stored.principal,
    }


def _trigger_status(state: Mapping[str, Any]) -> dict[str, Any]:
    status = {name: state.get(column) for name, column in _STATUS.items()}
    status["conditions"] = status["conditions"] or []
    return {name: format_instant(value) if isinstance(value, datetime) else value for name, value in status.items()}
