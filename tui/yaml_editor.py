"""Own a manifest's way through $EDITOR: out as YAML, the edited one back; a text with a fault is never lost."""

from __future__ import annotations

from typing import Any

from textual.app import App

from core.errors import Usage
from tui.external import edit_text

FAULT = "# ✗ "


class BrokenText(Usage):
    """The edited text is no manifest; `text` is what was written, to go on from."""

    def __init__(self, message: str, remedy: str, text: str) -> None:
        super().__init__(message, remedy)
        self.text = text


def edit_yaml(app: App[None], manifest: dict[str, Any], again: str = "") -> tuple[dict[str, Any], str] | None:
    """Let the person edit a manifest in the editor; return it with its text, None where nothing was changed.

    `again` is a text that was written before and not taken: the person goes on with that one. Raises Usage with one
    sentence where the editor failed, BrokenText where the text is no YAML mapping.
    """
    before = to_yaml(manifest)
    after = edit_text(app, again or before, suffix=".yaml")
    if after is None:
        raise Usage("the editor could not be started or ended with an error", "set EDITOR to one that works here")
    text = "".join(row for row in after.splitlines(keepends=True) if not row.startswith(FAULT))
    return None if text == before else (from_yaml(text), text)


def with_faults(text: str, sentences: list[str]) -> str:
    """Return a text with what is wrong about it in comments at its head."""
    told = [" ".join(sentence.split()) for sentence in sentences]
    return "".join(f"{FAULT}{sentence}\n" for sentence in told) + text


def to_yaml(manifest: dict[str, Any]) -> str:
    """Return a manifest as YAML that reads back as exactly this, its keys in their order."""
    from core.resources.text import write_documents

    return write_documents([manifest])


def from_yaml(text: str) -> dict[str, Any]:
    """Read the one mapping of a text as `apply` reads it: instants and `12:30` stay text, no key stands twice."""
    from core.resources.text import read_documents

    documents = read_documents(text)
    if fault := next((fault for document in documents for fault in document.faults), None):
        raise BrokenText(": ".join(filter(None, (fault.field, fault.message))), fault.remedy, text)
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise BrokenText("the file must hold one mapping", "begin with apiVersion, kind, metadata, definition", text)
    return documents[0].value
