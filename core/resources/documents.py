"""What a file says and what is kept: a Document, and a Document as it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from core.flows.canonical import canonical_json, fingerprint
from core.views import Kind

API_VERSION: Final = "agentstration.io/v1"
KINDS: Final[tuple[Kind, ...]] = ("Trigger", "Flow")
DEFAULT_NAMESPACE: Final = "default"


@dataclass(frozen=True, slots=True)
class Document:
    """One resource as its file says it: defaults not expanded, order and spelling kept, server-owned fields left out.

    `place` says where it stands in its file, `notes` are sentences for whoever applies it.
    """

    kind: Kind
    namespace: str
    name: str
    definition: Mapping[str, Any]
    tags: tuple[str, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    etag: str | None = None
    notes: tuple[str, ...] = ()
    place: str = field(default="", compare=False)

    @property
    def label(self) -> str:
        """Return what people call it: `Trigger nightly`."""
        return f"{self.kind} {self.name}"

    @property
    def enabled(self) -> bool:
        """Return whether the definition enables it; a Flow is never enabled."""
        return self.definition.get("enabled") is True

    @property
    def key(self) -> tuple[str, str, str]:
        """Return (kind, namespace, name)."""
        return (self.kind, self.namespace, self.name)

    def same_definition(self, other: Document) -> bool:
        """Return whether both define the same; the order of keys says nothing."""
        return canonical_json(self.definition) == canonical_json(other.definition)

    def same_metadata(self, other: Document) -> bool:
        """Return whether tags and annotations agree."""
        return self.tags == other.tags and dict(self.annotations) == dict(other.annotations)


@dataclass(frozen=True, slots=True)
class Stored:
    """A Document with what the server added; `principal` is the name of whom it fires as."""

    uid: str
    workspace_id: str
    document: Document
    generation: int
    etag: str
    principal_id: str
    principal: str
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None

    @property
    def kind(self) -> Kind:
        """Return the document's kind."""
        return self.document.kind

    @property
    def namespace(self) -> str:
        """Return the document's namespace."""
        return self.document.namespace

    @property
    def name(self) -> str:
        """Return the document's name."""
        return self.document.name

    @property
    def definition(self) -> Mapping[str, Any]:
        """Return the document's definition."""
        return self.document.definition

    @property
    def enabled(self) -> bool:
        """Return whether the definition enables it."""
        return self.document.enabled


def etag_of(uid: str, generation: int, document: Document) -> str:
    """Return the ETag of a stored document: 20 hexadecimal digits over definition and metadata."""
    content = [uid, generation, document.definition, list(document.tags), dict(document.annotations)]
    return fingerprint(content)[:20]
