"""Own a manifest's way through $EDITOR: out as YAML, the edited one back."""

from __future__ import annotations

from typing import Any

from textual.app import App

from core.errors import Usage
from tui.external import edit_text


def edit_yaml(app: App[None], manifest: dict[str, Any]) -> dict[str, Any] | None:
    """Let the person edit a manifest in the editor and return it; None where nothing was changed.

    Raises Usage with one sentence where the editor failed or the text is no YAML mapping.
    """
    before = to_yaml(manifest)
    after = edit_text(app, before, suffix=".yaml")
    if after is None:
        raise Usage("the editor could not be started or ended with an error", "set EDITOR to one that works here")
    return None if after == before else from_yaml(after)


def to_yaml(manifest: dict[str, Any]) -> str:
    """Return a manifest as YAML, its keys in their order, texts that look like something else in quotes."""
    import yaml

    text: str = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=120)
    return text


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
        raise Usage(f"this is no YAML: {' '.join(str(fault).split())}", "open it again and mend it") from fault
    if not isinstance(value, dict):
        raise Usage("the file must hold one mapping", "begin with apiVersion, kind, metadata, definition")
    return value
