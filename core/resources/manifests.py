"""Read files of resources: every fault of every document at once, or Documents that keep what was written.

Server-owned fields are left out with a note. Nothing here looks into the database: whether a target exists, whether
a time has passed and whether somebody else saved first is for `core.resources.service`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from core.errors import Fault, Invalid
from core.flows.schema import keyword_faults
from core.resources.credentials import credential_faults
from core.resources.documents import API_VERSION, DEFAULT_NAMESPACE, KINDS, Document
from core.resources.names import (
    annotations_faults,
    did_you_mean,
    kind_of,
    name_faults,
    namespace_faults,
    tags_faults,
)
from core.resources.text import Raw, decode, read_documents, write_documents
from core.resources.trigger import trigger_faults
from core.words import shown

__all__ = ["Document", "File", "decode", "parse_document", "parse_documents", "parse_file", "write_documents"]

Texts = str | Mapping[str, str]
"""One text, or several by the name of their file."""

_ENVELOPE: Final = ("apiVersion", "kind", "metadata", "definition")
_METADATA: Final = ("namespace", "name", "tags", "annotations", "eTag")
_SERVER_METADATA: Final = ("uid", "tenantId", "workspaceId", "generation", "createdAt", "updatedAt")
_SERVER_ENVELOPE: Final = ("status",)
_SERVER_DEFINITION: Final = ("executionScope",)


@dataclass(frozen=True, slots=True)
class File:
    """The sound Documents of a file and every fault of the others; `hides_flows` where one of those may be a Flow."""

    documents: tuple[Document, ...]
    faults: tuple[Fault, ...] = ()
    hides_flows: bool = False


def parse_documents(text: Texts, *, namespace: str = DEFAULT_NAMESPACE) -> tuple[Document, ...]:
    """Return the Documents of YAML or JSON text; `namespace` is for those that name none.

    Raises Invalid with all faults; where there is more than one file or document each field says which it stands in.
    """
    file = parse_file(text, namespace=namespace)
    if file.faults:
        raise Invalid(file.faults)
    return file.documents


def parse_file(text: Texts, *, namespace: str = DEFAULT_NAMESPACE) -> File:
    """Return what a text, or several, hold; raises Invalid where nothing of it is sound."""
    texts = {"": text} if isinstance(text, str) else text
    documents: list[Document] = []
    faults: list[Fault] = []
    hides_flows = False
    for place, raw in _places(texts):
        document, found = _read(raw, namespace)
        faults += [fault.at_place(place) for fault in found]
        hides_flows |= bool(found) and _kind(raw) != "Trigger"
        documents += [replace(document, place=place)] if document else []
    faults += namespace_faults("namespace", namespace)
    if not documents and not faults:
        faults.append(Fault(", ".join(texts), "holds no document", "write apiVersion, kind, metadata and definition"))
    faults += _doubles(documents)
    if faults and not documents:
        raise Invalid(faults)
    return File(tuple(documents), tuple(faults), hides_flows=hides_flows)


def _places(texts: Mapping[str, str]) -> Iterator[tuple[str, Raw]]:
    """Yield every document with where it stands: its file's name, and its number where the file holds several."""
    for filename, text in texts.items():
        raws = read_documents(text)
        for raw in raws:
            yield ", ".join(filter(None, [filename, _label(raw) if len(raws) > 1 else ""])), raw


def parse_document(value: Mapping[str, Any], *, namespace: str = DEFAULT_NAMESPACE) -> Document:
    """Return the Document of an envelope that is a mapping already; raises Invalid with all faults."""
    document, faults = _read(Raw(1, 1, value), namespace)
    if faults or document is None:
        raise Invalid(faults)
    return document


def _kind(raw: Raw) -> object:
    return raw.value.get("kind") if isinstance(raw.value, Mapping) else None


def _label(raw: Raw) -> str:
    value = raw.value if isinstance(raw.value, Mapping) else {}
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    words = [str(word)[:63] for word in (value.get("kind"), name) if isinstance(word, str)]
    return f"document {raw.number}" + (f" ({' '.join(words)})" if words else f" (line {raw.line})")


def _doubles(documents: Sequence[Document]) -> Iterator[Fault]:
    """Yield a fault for each Document whose resource stands in an earlier one."""
    first: dict[tuple[str, str, str], Document] = {}
    for document in documents:
        known = first.setdefault(document.key, document)
        if known is not document:
            what = f"{document.kind} {document.namespace}/{document.name}"
            fault = Fault("metadata.name", f"{what} stands already in {known.place}", "keep one of them")
            yield fault.at_place(document.place)


# -- one document -------------------------------------------------------------------------------------------------


def _read(raw: Raw, namespace: str) -> tuple[Document | None, list[Fault]]:
    if raw.faults:
        return None, list(raw.faults)
    value = raw.value
    if not isinstance(value, Mapping):
        remedy = "write apiVersion, kind, metadata and definition"
        return None, [Fault("", f"a document must be a mapping, not {kind_of(value)}", remedy)]
    metadata, definition = value.get("metadata"), value.get("definition")
    faults = [
        *_envelope_faults(value),
        *(_metadata_faults(metadata) if isinstance(metadata, Mapping) else []),
        *(_definition_faults(value.get("kind"), definition) if isinstance(definition, Mapping) else []),
    ]
    if faults or not isinstance(metadata, Mapping) or not isinstance(definition, Mapping):
        return None, faults
    return _document(value, metadata, definition, namespace), []


def _document(
    value: Mapping[str, Any], metadata: Mapping[str, Any], definition: Mapping[str, Any], namespace: str
) -> Document:
    return Document(
        kind=value["kind"],
        namespace=metadata.get("namespace") or namespace,
        name=metadata["name"],
        definition={key: inner for key, inner in definition.items() if key not in _SERVER_DEFINITION},
        tags=tuple(metadata.get("tags") or ()),
        annotations=dict(metadata.get("annotations") or {}),
        etag=metadata.get("eTag"),
        notes=_notes(value, metadata, definition),
    )


def _notes(value: Mapping[str, Any], metadata: Mapping[str, Any], definition: Mapping[str, Any]) -> tuple[str, ...]:
    owned = [
        *(f"metadata.{key}" for key in _SERVER_METADATA if key in metadata),
        *(f"definition.{key}" for key in _SERVER_DEFINITION if key in definition),
        *(key for key in _SERVER_ENVELOPE if key in value),
    ]
    return (f"set by the server and ignored: {', '.join(owned)}",) if owned else ()


def _envelope_faults(value: Mapping[str, Any]) -> list[Fault]:
    known = (*_ENVELOPE, *_SERVER_ENVELOPE)
    faults = _unknown(value, known, "", "a resource")
    version = value.get("apiVersion")
    if version != API_VERSION:
        what = "is missing" if version is None else f"{shown(str(version))} is not known"
        faults.append(Fault("apiVersion", what, f"write {API_VERSION}"))
    faults += _kind_faults(value.get("kind"))
    for field in ("metadata", "definition"):
        part = value.get(field)
        if not isinstance(part, Mapping):
            what = "is missing" if part is None else f"must be a mapping, not {kind_of(part)}"
            faults.append(Fault(field, what, "write name: value"))
    return faults


def _kind_faults(kind: object) -> list[Fault]:
    if kind in KINDS:
        return []
    if kind == "Calendar":
        return [Fault("kind", "Calendar comes in a later version", f"use {' or '.join(KINDS)}", code="not_yet")]
    choose = f"write {' or '.join(KINDS)}"
    if not isinstance(kind, str):
        return [Fault("kind", "is missing" if kind is None else f"must be text, not {kind_of(kind)}", choose)]
    return [Fault("kind", f"{shown(kind)} is not a kind", did_you_mean(kind, KINDS, choose))]


def _metadata_faults(metadata: Mapping[str, Any]) -> list[Fault]:
    faults = _unknown(metadata, (*_METADATA, *_SERVER_METADATA), "metadata.", "metadata")
    if metadata.get("name") is None:
        faults.append(Fault("metadata.name", "is missing", "add it"))
    checks = {
        "name": name_faults,
        "namespace": namespace_faults,
        "tags": tags_faults,
        "annotations": annotations_faults,
        "eTag": _etag_faults,
    }
    for field, faults_of in checks.items():
        if metadata.get(field) is not None:
            faults += faults_of(f"metadata.{field}", metadata[field])
    for field in ("tags", "annotations"):
        faults += credential_faults(metadata.get(field), f"metadata.{field}")
    return faults


def _etag_faults(field: str, value: object) -> list[Fault]:
    if isinstance(value, str) and value:
        return []
    return [Fault(field, f"must be text, not {kind_of(value)}", "copy it from what was read, in quotes")]


def _definition_faults(kind: object, definition: Mapping[str, Any]) -> list[Fault]:
    content = {key: inner for key, inner in definition.items() if key not in _SERVER_DEFINITION}
    faults: list[Fault] = []
    if kind == "Trigger":
        faults = trigger_faults(content)
    elif kind == "Flow":
        faults = _flow_faults(content)
    refused = credential_faults(content, "", flow=kind == "Flow")
    return [fault.under("definition") for fault in (*faults, *refused)]


def _flow_faults(definition: Mapping[str, Any]) -> list[Fault]:
    from core.flows.definition import parse_flow

    faults = [fault for field, schema in _schemas(definition) for fault in keyword_faults(schema, field)]
    try:
        parse_flow(definition)
    except Invalid as invalid:
        return [*invalid.faults, *faults]
    return faults


def _schemas(definition: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the JSON Schemas of a Flow, each with its field."""
    yield "inputSchema", definition.get("inputSchema")
    steps = definition.get("steps")
    for place, step in enumerate(steps if isinstance(steps, list) else ()):
        ask = step.get("ask") if isinstance(step, Mapping) else None
        if isinstance(ask, Mapping):
            yield f"steps[{place}].ask.schema", ask.get("schema")


def _unknown(value: Mapping[str, Any], known: tuple[str, ...], prefix: str, what: str) -> list[Fault]:
    return [
        Fault(f"{prefix}{key[:60]}", f"is not a field of {what}", did_you_mean(key, known))
        for key in value
        if key not in known
    ]
