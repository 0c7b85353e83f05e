from pathlib import Path

import pytest
from terminal import WORKSPACE, Terminal


@pytest.fixture
def terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal on a database that does not exist yet."""
    database = tmp_path / "deck.sqlite3"
    monkeypatch.setenv("TRIGGERDECK_DATABASE", str(database))
    return Terminal(database, capsys, monkeypatch)


@pytest.fixture
def filled(terminal: Terminal) -> Terminal:
    """Return a terminal on a database with three Flows and three Triggers."""
    terminal.done("apply", "-f", "-", stdin=WORKSPACE)
    return terminal
