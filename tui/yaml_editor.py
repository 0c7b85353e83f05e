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
    """Return a manifest as YAML, its keys in their order, texts that look like something else in quotes."""
    import yaml

    text: str = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=120)
    return text


def _where(fault: Any) -> str:
    """Return where a text stops being YAML, and why, in the parser's few words."""
    mark, problem = getattr(fault, "problem_mark", None), getattr(fault, "problem", None)
    at = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
    return f"{at}: {' '.join(str(problem or fault).split())}"


def from_yaml(text: str) -> dict[str, Any]:
    """Read a YAML mapping; instants stay the texts that they are."""
    import yaml

    class Plain(yaml.SafeLoader):
        """A loader that leaves instants as text."""

    Plain.yaml_implicit_resolvers = {
        mark: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for mark, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        value = yaml.load(text, Loader=Plain)  # noqa: S506  a SafeLoader with one resolver less
    except yaml.YAMLError as fault:
        raise BrokenText(f"this is no YAML{_where(fault)}", "open it again and mend it", text) from fault
    if not isinstance(value, dict):
        raise BrokenText("the file must hold one mapping", "begin with apiVersion, kind, metadata, definition", text)
    return value
