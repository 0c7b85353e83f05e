"""Who acts, and what is defined."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.views.kinds import Kind


@dataclass(frozen=True, slots=True)
class Who:
    """The acting principal and where it acts."""

    principal_id: str
    principal: str
    role: str
    tenant: str
    workspace_id: str
    workspace: str
    permissions: frozenset[str]
    read_only: bool


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that a save changes; `before` or `after` is None where it is new or gone."""

    path: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying one document did, or would do under `dry_run`."""

    kind: Kind
    namespace: str
    name: str
    action: Literal["created", "configured", "unchanged", "deleted"]
    generation: int
    etag: str
    changes: tuple[FieldChange, ...] = ()
    notes: tuple[str, ...] = ()
    published_version: int | None = None


@dataclass(frozen=True, slots=True)
class RevisionView:
    """One kept generation of a definition."""

    generation: int
    created_at: datetime
    principal: str
    definition: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FlowRow:
    """A Flow in a list."""

    uid: str
    namespace: str
    name: str
    display_name: str
    generation: int
    active_version: int | None
    newest_version: int | None
    draft_differs: bool
    step_count: int
    used_by: int


@dataclass(frozen=True, slots=True)
class FlowView:
    """A Flow with its versions."""

    row: FlowRow
    manifest: dict[str, Any]
    versions: tuple[tuple[int, datetime, bool], ...]
    input_schema: dict[str, Any]
