"""Measure the start in a real terminal: a minimal Textual app, ours, and posting where its venv is given.

    python tests/benchmarks/bench_start.py [--runs 9] [--rows 2000] [--posting /path/to/venv]

Each program runs in a pty of 120x36 of its own; the runs take turns, so that a busy machine is busy for all. Medians:
`frame` until the first whole frame stands, `keys` until a key sent at once has shown its effect, `rows` until the
first row stands, `rss` in MB two seconds after. Promises: keys <= 1.4 x minimal, rows <= 0.65 x posting, rss <= 95 MB.
"""

from __future__ import annotations

import argparse
import compileall
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyte

ROOT = Path(__file__).resolve().parents[2]
SIZE = (120, 36)
MINIMAL = """
from textual.app import App, ComposeResult
from textual.widgets import Static

class Minimal(App):
    BINDINGS = [("S", "turn", "turn")]
    def compose(self) -> ComposeResult:
        yield Static("help ?", id="line")
    def action_turn(self) -> None:
        self.query_one("#line", Static).update("sort: next ↓")

Minimal().run()
"""


@dataclass(frozen=True)
class Program:
    """What is started, and how its frame, its answer to the key and its rows look."""

    name: str
    command: tuple[str, ...]
    frame: str
    answer: str
    rows: str


@dataclass(frozen=True)
class Start:
    """Seconds until each sign, and the resident megabytes."""

    frame_s: float
    keys_s: float | None
    rows_s: float | None
    rss_mb: float


class Terminal:
    """A pty with a screen behind it."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self.screen = pyte.Screen(*SIZE)
        self.stream = pyte.ByteStream(self.screen)
        self.began = time.perf_counter()
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", COLUMNS=str(SIZE[0]), LINES=str(SIZE[1]))
            os.execvp(command[0], list(command))  # noqa: S606  the program under measure
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))

    def wait(self, sign: str, limit_s: float = 30.0) -> float:
        """Return seconds since the start until a text stands on the screen."""
        while time.perf_counter() - self.began < limit_s:
            if sign in "\n".join(self.screen.display):
                return time.perf_counter() - self.began
            self.read(0.005)
        shown = "\n".join(row for row in self.screen.display if row.strip())
        raise TimeoutError(f"{sign!r} never came:\n{shown}")

    def read(self, wait_s: float) -> None:
        """Take in what the program wrote."""
        ready, _, _ = select.select([self.file], [], [], wait_s)
        if ready:
            self.stream.feed(os.read(self.file, 65536))

    def send(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self.file, keys)

    def rss_mb(self) -> float:
        """Return resident megabytes after two more seconds."""
        end = time.perf_counter() + 2
        while time.perf_counter() < end:
            self.read(0.05)
        return float(psutil.Process(self.pid).memory_info().rss) / 1e6

    def close(self) -> None:
        """End the program."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.file)


def start(program: Program) -> Start:
    """Start a program once and note its signs."""
    terminal = Terminal(program.command)
    try:
        frame = terminal.wait(program.frame)
        keys = None
        if program.answer:
            terminal.send(b"S")
            keys = terminal.wait(program.answer)
        rows = terminal.wait(program.rows) if program.rows else None
        return Start(frame, keys, rows, terminal.rss_mb())
    finally:
        terminal.close()


def make_database(folder: Path, rows: int) -> Path:
    """Return a database with many Triggers."""
    sys.path.insert(0, str(ROOT))
    from core.deck import Deck
    from tests.tui.desk import FLOW, trigger_yaml

    file = folder / "deck.sqlite3"
    deck = Deck.open(file)
    deck.apply(FLOW.format(name="load"))
    for first in range(0, rows, 500):
        deck.apply("---".join(trigger_yaml(f"row-{number:06}") for number in range(first, min(first + 500, rows))))
    deck.close()
    return file


def make_collection(folder: Path) -> Path:
    """Return a posting collection with a few requests."""
    for number in range(20):
        (folder / f"request-{number:02}.posting.yaml").write_text(
            f"name: request-{number:02}\nmethod: GET\nurl: http://127.0.0.1:9/{number}\n", encoding="utf-8"
        )
    return folder


def programs(folder: Path, rows: int, posting: Path | None) -> Iterator[Program]:
    """Yield what is measured."""
    minimal = folder / "minimal.py"
    minimal.write_text(MINIMAL, encoding="utf-8")
    yield Program("minimal textual", (sys.executable, str(minimal)), "help ?", "sort: next ↓", "")
    database = make_database(folder, rows)
    ours = (sys.executable, "-m", "tui", "--database", str(database), "--no-worker")
    yield Program("triggerdeck", ours, "help ?", "sort: next ↓", "row-0")
    if posting is not None:
        collection = folder / "collection"
        collection.mkdir()
        command = (str(posting / "bin" / "posting"), "--collection", str(make_collection(collection)))
        yield Program("posting", command, "request-0", "", "request-0")


def middle(starts: list[Start], pick: Callable[[Start], float | None]) -> float | None:
    """Return the median of what every start has."""
    values = [value for value in map(pick, starts) if value is not None]
    return statistics.median(values) if values else None


def main() -> int:
    """Measure, print, and say whether the promises hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--posting", type=Path, help="a virtual environment in which posting is installed")
    given = parser.parse_args()
    for folder in ("core", "tui", "cli"):
        compileall.compile_dir(ROOT / folder, quiet=1)  # as an installed package is; its peers are
    with tempfile.TemporaryDirectory(prefix="bench-start-") as name:
        measured = list(programs(Path(name), given.rows, given.posting))
        starts: dict[str, list[Start]] = {program.name: [] for program in measured}
        for _ in range(given.runs + 1):
            for program in measured:
                starts[program.name].append(start(program))
    return report({name: found[1:] for name, found in starts.items()})


def report(starts: dict[str, list[Start]]) -> int:
    """Print medians and ratios; return 1 where a promise is broken."""
    for name, found in starts.items():
        cells = [middle(found, pick) for pick in (lambda s: s.frame_s, lambda s: s.keys_s, lambda s: s.rows_s)]
        told = "  ".join(f"{'—' if cell is None else f'{cell * 1000:6.0f} ms'}" for cell in cells)
        print(f"{name:16} frame/keys/rows  {told}   rss {middle(found, lambda s: s.rss_mb):5.1f} MB")
    ours, minimal = starts["triggerdeck"], starts["minimal textual"]
    promises = [
        ("keys / minimal", _ratio(middle(ours, lambda s: s.keys_s), middle(minimal, lambda s: s.keys_s)), 1.4),
        ("rss MB", middle(ours, lambda s: s.rss_mb) or 0.0, 95.0),
    ]
    if "posting" in starts:
        rows = _ratio(middle(ours, lambda s: s.rows_s), middle(starts["posting"], lambda s: s.rows_s))
        promises.append(("rows / posting", rows, 0.65))
    for name, value, limit in promises:
        print(f"{name:16} {value:7.2f}  promised {limit}  {'kept' if value <= limit else 'BROKEN'}")
    return int(any(value > limit for _, value, limit in promises))


def _ratio(ours: float | None, theirs: float | None) -> float:
    return (ours or 0.0) / (theirs or 1.0)


if __name__ == "__main__":
    raise SystemExit(main())
