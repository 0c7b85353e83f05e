"""Short ways to write manifests in tests."""

from __future__ import annotations

import copy
from typing import Any

from core.errors import Fault, Invalid
from core.resources.documents import API_VERSION, Document
from core.resources.manifests import parse_documents
from core.resources.text import write_documents

CRON = {"type": "cron", "expression": "0 30 2 * * ?", "timeZone": "Europe/Berlin"}


def trigger(name: str = "nightly", **definition: Any) -> dict[str, Any]:
    """Return a Trigger's envelope; keywords replace fields of its definition."""
    base: dict[str, Any] = {
        "displayName": "Nightly import",
        "source": {"kind": "schedule", "schedule": copy.deepcopy(CRON)},
        "target": {"kind": "flow", "flow": {"name": "import"}},
    }
    return envelope("Trigger", name, base | definition)


def flow(name: str = "import", **definition: Any) -> dict[str, Any]:
    """Return a Flow's envelope; keywords replace fields of its definition."""
    return envelope("Flow", name, {"steps": [{"id": "say", "command": {"argv": ["true"]}}]} | definition)


def envelope(kind: str, name: str, definition: Any) -> dict[str, Any]:
    """Return a resource's envelope."""
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "definition": definition}


def text_of(*envelopes: dict[str, Any]) -> str:
    """Return envelopes as a YAML file."""
    return write_documents(list(envelopes))


def read(*envelopes: dict[str, Any]) -> tuple[Document, ...]:
    """Return envelopes as Documents, by way of their file."""
    return parse_documents(text_of(*envelopes))


def faults_in(text: str) -> tuple[Fault, ...]:
    """Return what is wrong with a file."""
    try:
        parse_documents(text)
    except Invalid as invalid:
        return invalid.faults
    return ()


def faults_of(*envelopes: dict[str, Any]) -> dict[str, str]:
    """Return what is wrong with envelopes: field to sentence without the field."""
    return {
        fault.field: fault.message + (f"; {fault.remedy}" if fault.remedy else "")
        for fault in faults_in(text_of(*envelopes))
    }
