"""The real program in a real terminal: a Trigger is written by keys, fires, asks, and is answered."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pyte
import pytest

from core.deck import Deck
from core.views import WorkQuery
from core.worker import control

ROWS, COLUMNS = 40, 130
DEADLINE_S = 60.0
LOOK_S = 0.1
VALUE_COLUMN = 40
CLEAR_FIELD, RIGHT, SAVE, ENTER = "\x15", "\x1b[C", "\x13", "\r"
FLOW = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: asks}
definition:
  steps:
    - id: question
      ask: {kind: approvalRequired, title: "May it go on?"}
    - id: after
      command: {argv: [echo, "it went on"]}
"""


class Program:
    """The deck in a terminal of its own, seen as a person sees it."""

    def __init__(self, database: Path) -> None:
        told = {"TERM": "xterm-256color", "COLORTERM": "", "TZ": "UTC", "LINES": str(ROWS), "COLUMNS": str(COLUMNS)}
        environment = {**os.environ, **told}  # where tests share a machine, their runner says 80 by 24 for all
        command = ["-m", "cli", "--database", str(database)]
        self.process = pexpect.spawn(sys.executable, command, env=environment, dimensions=(ROWS, COLUMNS))
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    def press(self, keys: str) -> None:
        self.process.send(keys)

    def sees(self, pattern: str) -> None:
        """Wait until the screen shows a pattern."""
        self._until(lambda: re.search(pattern, self.text) is not None, f"{pattern!r} did not appear")

    def tab_to(self, label: str) -> None:
        """Press tab until the field with this label has the focus."""
        for _ in range(30):
            before = self._focus()
            if before == label:
                return
            self.press("\t")
            self._until(lambda was=before: self._focus() not in {was, ""}, f"the focus did not leave {before}")
        pytest.fail(f"no field {label} takes the focus:\n{self.text}")

    def ends(self) -> int:
        self._until(lambda: not self.process.isalive(), "the program did not end")
        self.process.close()
        return int(self.process.exitstatus)

    def _focus(self) -> str:
        """Return the label of the row whose field is lit: its background is not the screen's."""
        for number, row in enumerate(self._screen.display):
            lit = self._screen.buffer[number][VALUE_COLUMN].bg != self._screen.buffer[ROWS - 3][VALUE_COLUMN].bg
            label = row[1:12].strip()
            if number > 1 and lit and label:
                return label
        return ""

    def _until(self, holds: object, otherwise: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not holds():  # type: ignore[operator]
            if time.monotonic() > deadline:
                pytest.fail(f"{otherwise}:\n{self.text}")
            self.look()

    def look(self) -> None:
        """Take in what the program has drawn, or wait for it a moment."""
        try:
            self._stream.feed(self.process.read_nonblocking(65_536, timeout=LOOK_S))
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            self.process.wait()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "deck.sqlite3"
    command = [sys.executable, "-m", "cli", "--database", str(path), "apply", "-f", "-"]
    subprocess.run(command, input=FLOW, text=True, check=True, capture_output=True)
    yield path
    control.stop(path)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_trigger_is_written_by_keys_fires_asks_and_is_answered(database: Path) -> None:
    program = Program(database)
    program.sees("no Trigger (yet|matches)")
    program.sees("worker ●")
    program.press("a")
    program.sees("Triggers › new")
    program.tab_to("Name")
    program.press("every-few")
    program.sees("Name +every-few")
    program.tab_to("Cron")
    program.press(CLEAR_FIELD)
    program.sees("expression: is missing")
    program.press("0/3 * * * * ?")
    program.sees("every 3 seconds")
    program.tab_to("Flow")
    program.press("asks")
    program.sees("active v1")
    program.tab_to("Enabled")
    program.press(RIGHT)
    program.sees(r"\( \) off +\(•\) on")
    program.press(SAVE)
    program.sees("save enter")
    program.press(ENTER)
    program.sees("every-few +●")
    program.sees("inbox 1")
    program.press("5")
    program.sees("May it go on\\?")
    program.press("a")
    program.sees("approved|answered|no question")
    program.press("4")
    program.sees("completed")
    program.press("q")
    assert program.ends() == 0
    deck = Deck.open(database)
    works = [work for work in deck.works(WorkQuery(trigger="every-few"), limit=None).rows if work.status == "completed"]
    assert "it went on" in [line.text for line in deck.logs(works[-1].id)]
    (first,) = deck.actions("completed")
    assert (first.work_id, first.decision) == (works[-1].id, "approved")
    deck.close()
