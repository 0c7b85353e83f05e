"""Own the way to the person's own editor: a text goes out, what was saved comes back."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from core.errors import Usage


def editor_command() -> list[str]:
    """Return the editor of $VISUAL or $EDITOR, `vi` where neither is set."""
    return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi") or ["vi"]


def edit_text(app: App[Any], text: str, *, suffix: str) -> str | None:
    """Let the person edit a text in the editor; None where no editor could be started or it ended with an error.

    Raise Usage where what was saved is no text.
    """
    with tempfile.TemporaryDirectory(prefix="triggerdeck-") as folder:
        file = Path(folder) / f"edit{suffix}"
        file.write_text(text, encoding="utf-8")
        file.chmod(0o600)
        try:
            with app.suspend():
                done = subprocess.run([*editor_command(), str(file)], check=False)  # noqa: S603  the person's own editor
            return file.read_text(encoding="utf-8") if done.returncode == 0 else None
        except UnicodeDecodeError as fault:
            raise Usage("what the editor saved is not UTF-8", "save it as UTF-8; nothing was taken") from fault
        except (SuspendNotSupported, OSError, ValueError):
            return None
