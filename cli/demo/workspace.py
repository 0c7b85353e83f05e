"""Lays the example workspace: scripts, manifests, data to work on."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from string import Template

from core.clock import format_instant
from core.errors import Precondition

DATA_FOLDERS = ("files/photos", "files/letters", "reports", "backups", "logs", "incoming", "processed")
MANIFESTS = ("flows.yaml", "calm.yaml", "busy.yaml")
README = """This is Triggerdeck's example workspace.

  triggerdeck --database {database}          opens the deck on it
  scripts/    the programs that its Flows run
  manifests/  its Flows and Triggers, for: triggerdeck apply -f
  data/       what they work on, and what they wrote
"""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where everything of the example is."""

    folder: Path

    @property
    def database(self) -> str:
        """Return the location of the database."""
        return str(self.folder / "triggerdeck.sqlite3")

    @property
    def data(self) -> Path:
        """Return the folder that the Flows work on."""
        return self.folder / "data"

    @property
    def scripts(self) -> Path:
        """Return the folder of the Flows' programs."""
        return self.folder / "scripts"

    def manifest(self, name: str) -> str:
        """Return the text of one of the example's manifests."""
        return (self.folder / "manifests" / name).read_text(encoding="utf-8")


def lay(folder: Path, *, server: str, anchor: datetime, soon: datetime) -> Workspace:
    """Fill an empty folder with the example; `server` is the address that one Flow asks.

    `anchor` is where its intervals begin, `soon` when its single fires come.
    """
    if folder.exists() and any(folder.iterdir()):
        raise Precondition(f"{folder} is not empty", "name a new folder, or leave out --keep")
    workspace = Workspace(folder.absolute())
    for name in DATA_FOLDERS:
        (workspace.data / name).mkdir(parents=True, exist_ok=True)
    _write_data(workspace.data)
    with as_file(files("cli.demo")) as packaged:
        _copy_scripts(packaged / "scripts", workspace.scripts)
        _fill_manifests(packaged / "manifests", workspace, server=server, anchor=anchor, soon=soon)
    (workspace.folder / "README.txt").write_text(README.format(database=workspace.database), encoding="utf-8")
    return workspace


def _write_data(data: Path) -> None:
    for number in range(12):
        (data / "files/photos" / f"photo-{number:02}.raw").write_bytes(bytes(range(256)) * (40 + number))
        (data / "files/letters" / f"letter-{number:02}.txt").write_text(f"Dear {number},\n" * 30, encoding="utf-8")
    (data / "incoming" / "order-4711.txt").write_text("3 boxes\n", encoding="utf-8")


def _copy_scripts(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for script in source.glob("*.py"):
        if script.name != "__init__.py":
            shutil.copy(script, target / script.name)


def _fill_manifests(source: Path, workspace: Workspace, *, server: str, anchor: datetime, soon: datetime) -> None:
    target = workspace.folder / "manifests"
    target.mkdir()
    words = {
        "python": sys.executable,
        "scripts": str(workspace.scripts),
        "data": str(workspace.data),
        "server": server,
        "anchor": format_instant(anchor),
        "soon": format_instant(soon),
    }
    for name in MANIFESTS:
        text = Template((source / name).read_text(encoding="utf-8")).substitute(words)
        (target / name).write_text(text, encoding="utf-8")
