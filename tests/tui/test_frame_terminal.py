"""The real program in a real terminal: keys in as bytes, the screen out of what it draws."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyte
import pytest

from core.clock import SystemClock
from core.deck import Deck
from tests.tui.desk import FLOW

ROOT = Path(__file__).resolve().parents[2]
ASKER = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: asker}
definition:
  displayName: Asker
  inputSchema: {type: object}
  steps:
    - {id: question, ask: {kind: confirmationRequired, title: Release the rows?}}
"""


class Terminal:
    """The program in a pty of 100x30."""

    def __init__(self, *arguments: str) -> None:
        self.screen = pyte.Screen(100, 30)
        self.stream = pyte.ByteStream(self.screen)
        self.clock = SystemClock()
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.environ.update(TERM="xterm-256color", TZ="UTC", LINES="30", COLUMNS="100")
            os.execv(sys.executable, [sys.executable, "-m", "tui", *arguments])  # noqa: S606  the program under test
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

    @property
    def text(self) -> str:
        """Return what stands on the screen."""
        return "\n".join(self.screen.display)

    def wait(self, sign: str, limit_s: float = 60) -> None:
        """Read until a text stands on the screen."""
        end = self.clock.monotonic() + limit_s
        while sign not in self.text:
            assert self.clock.monotonic() < end, f"{sign!r} never came:\n{self.text}"
            ready, _, _ = select.select([self.file], [], [], 0.1)
            if ready:
                self.stream.feed(os.read(self.file, 65536))

    def send(self, keys: str) -> None:
        """Press keys, as fast as a machine can."""
        os.write(self.file, keys.encode())

    def leave(self) -> int:
        """Return the exit status once the program has ended."""
        while True:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            ready, _, _ = select.select([self.file], [], [], 0.1)
            if ready:
                try:
                    self.stream.feed(os.read(self.file, 65536))
                except OSError:  # the other end of a pty is gone: the program ended
                    return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return a database with two Flows on the machine's own clock."""
    file = tmp_path / "deck.sqlite3"
    deck = Deck.open(file)
    deck.apply(FLOW.format(name="load") + "---" + ASKER)
    deck.close()
    return file


@pytest.fixture
def workers(base: Path) -> Iterator[list[int]]:
    """End the worker that the deck started, by its pid."""
    yield []
    deck = Deck.open(base)
    pids = [worker.pid for worker in deck.health().workers]
    deck.close()
    for pid in pids:
        if psutil.pid_exists(pid):
            psutil.Process(pid).send_signal(signal.SIGTERM)
            psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=20)


@pytest.mark.slow
def test_a_trigger_is_written_by_keys_fires_and_its_question_is_answered(base: Path, workers: list[int]) -> None:
    terminal = Terminal("--database", str(base))
    terminal.wait("worker ●")
    terminal.send("a")
    terminal.wait("Triggers › new")
    terminal.send("asks-me\x1b[B\x1b[B\x1b[C")
    terminal.wait("Every")
    terminal.send("\x1b[BPT2S\t\t\t\tasker\t\t\x1b[C")
    terminal.wait("every 2 seconds")
    terminal.send("\x13")
    terminal.wait("Create asks-me")
    terminal.send("\r")
    terminal.wait("asks-me created")
    terminal.wait("inbox 1")
    terminal.send("5")
    terminal.wait("Release the rows?")
    deck = Deck.open(base)
    (action,) = deck.actions()
    terminal.send("a")
    end = terminal.clock.monotonic() + 30
    while deck.action(action.id).row.status == "pending":
        assert terminal.clock.monotonic() < end, terminal.text
        terminal.send("")
        select.select([terminal.file], [], [], 0.2)
        terminal.stream.feed(os.read(terminal.file, 65536))
    assert deck.action(action.id).row.answered_by == deck.whoami().principal
    deck.close()
    terminal.send("q")
    assert terminal.leave() == 0
    assert "worker goes on" in terminal.text


@pytest.mark.slow
def test_a_file_that_is_not_ours_is_one_sentence_and_status_6(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("dear sir")
    terminal = Terminal("--database", str(file), "--no-worker")
    assert terminal.leave() == 6
    assert "Traceback" not in terminal.text
    assert file.read_text() == "dear sir"
