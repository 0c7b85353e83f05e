"""Own the way through $EDITOR: a manifest out as YAML, the edited one back, faults told at the top of the file."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from textual.app import App

from core.errors import Usage


def editor_command() -> list[str]:
    """Return the command of $VISUAL or $EDITOR; raise Usage where neither is set."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not command:
        raise Usage("neither VISUAL nor EDITOR is set", "set one, for example EDITOR=vi")
    return shlex.split(command)


def edit_yaml(app: App[None], manifest: dict[str, Any]) -> dict[str, Any] | None:
    """Suspend the app, let the editor edit the manifest, and return it; None where nothing was changed.

    Raises Usage with one sentence where the editor cannot be run or the text is no YAML mapping.
    """
    before = to_yaml(manifest)
    with tempfile.TemporaryDirectory(prefix="triggerdeck-") as folder:
        file = Path(folder) / f"{(manifest.get('metadata') or {}).get('name') or 'trigger'}.yaml"
        file.write_text(before, encoding="utf-8")
        with app.suspend():
            _run([*editor_command(), str(file)])
        after = file.read_text(encoding="utf-8")
    return None if after == before else from_yaml(after)


def _run(command: list[str]) -> None:
    try:
        status = subprocess.run(command, check=False).returncode  # noqa: S603  the user's own editor
    except OSError as fault:
        raise Usage(
            f"the editor {command[0]!r} cannot be run: {fault.strerror}", "set EDITOR to one that is there"
        ) from fault
    if status:
        raise Usage(f"the editor ended with status {status}", "nothing was taken")


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
