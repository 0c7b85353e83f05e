"""Own a manifest as a person writes it: without what the server owns."""

from __future__ import annotations

from typing import Any

SERVER_OWNED = ("uid", "tenantId", "workspaceId", "generation", "eTag", "createdAt", "updatedAt")


def bare(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest without what the server owns, ETag included."""
    metadata = {key: value for key, value in (manifest.get("metadata") or {}).items() if key not in SERVER_OWNED}
    definition = {key: value for key, value in (manifest.get("definition") or {}).items() if key != "executionScope"}
    kept = {key: value for key, value in manifest.items() if key in {"apiVersion", "kind"}}
    return kept | {"metadata": metadata, "definition": definition}
