"""What statements answer, as named tuples; nothing here needs a database library."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A workspace with its tenant."""

    tenant_id: str
    tenant: str
    tenant_active: bool
    workspace_id: str
    workspace: str
    workspace_active: bool


class Member(NamedTuple):
    """A principal as a workspace knows it; `role` None means it is no member."""

    workspace_id: str
    principal_id: str
    principal: str
    principal_active: bool
    principal_tenant_id: str
    role: str | None
    state: str | None


class TriggerRecord(NamedTuple):
    """A Trigger's resource and state in one row."""

    uid: str
    namespace: str
    name: str
    tags: list[str] | None
    definition: dict[str, Any]
    generation: int
    enabled: bool
    phase: str
    words: str
    time_zone: str | None
    mark_at: datetime | None
    next_nominal_at: datetime | None
    next_due_at: datetime | None
    last_fired_at: datetime | None
    last_outcome: str | None
    last_error_code: str | None
    last_error_message: str | None
    flow_namespace: str
    flow_name: str
    conditions: list[dict[str, Any]] | None
    scope: str
    active_work: int
