"""An outside monitor hears of passes; one that is slow, broken or gone never delays them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core.clock import ManualClock
from core.errors import Invalid
from core.worker.deadman import Deadman, Heartbeat, heartbeat_settings
from tests.ending import ends_within

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Monitor:
    """A small web server that counts pings and answers as told; `hold` keeps it from answering at all."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.status = 200
        self.hold = threading.Event()
        self.hold.set()
        self.asked = threading.Semaphore(0)
        monitor = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                monitor.heard.append(self.path)
                monitor.asked.release()
                monitor.hold.wait(30)
                self.send_response(monitor.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:  # the test's output stays clean
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/ping"

    def close(self) -> None:
        self.hold.set()
        self.server.shutdown()
        self.server.server_close()


class Said:
    """A log that remembers."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, object]]] = []

    def info(self, event: str, **fields: object) -> None:
        self.lines.append((event, fields))

    def warning(self, event: str, **fields: object) -> None:
        self.lines.append((event, fields))

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.lines]


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    made = Monitor()
    yield made
    made.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


def pinged(deadman: Deadman) -> bool:
    sent = deadman.after_pass()
    assert deadman.settle(20)
    return sent


def test_passes_are_told_at_most_every_thirty_seconds(monitor: Monitor, clock: ManualClock) -> None:
    deadman = Deadman(Heartbeat(url=monitor.url), clock, Said())
    sent = []
    for _ in range(13):
        sent.append(pinged(deadman))
        clock.advance(timedelta(seconds=5))
    assert [index for index, told in enumerate(sent) if told] == [0, 6, 12]
    assert monitor.heard == ["/ping"] * 3


def test_a_wall_clock_that_steps_changes_nothing(monitor: Monitor, clock: ManualClock) -> None:
    deadman = Deadman(Heartbeat(url=monitor.url), clock, Said())
    pinged(deadman)
    clock.step(START + timedelta(days=3))
    assert not pinged(deadman)
    clock.step(START - timedelta(days=3))
    clock.advance(timedelta(seconds=30))
    assert pinged(deadman)


def test_a_monitor_that_does_not_answer_delays_no_pass_and_gets_one_ping_at_a_time(
    monitor: Monitor, clock: ManualClock
) -> None:
    said = Said()
    deadman = Deadman(Heartbeat(url=monitor.url, timeout_s=60), clock, said)
    monitor.hold.clear()
    assert deadman.after_pass()
    assert monitor.asked.acquire(timeout=20)
    for _ in range(5):
        clock.advance(timedelta(seconds=31))
        assert not deadman.after_pass()
    assert not deadman.settle(0)
    monitor.hold.set()
    assert deadman.settle(20)
    assert pinged(deadman)
    assert len(monitor.heard) == 2
    assert said.lines == []


def test_a_slow_monitor_is_given_up_after_the_timeout(monitor: Monitor, clock: ManualClock) -> None:
    said = Said()
    monitor.hold.clear()
    deadman = Deadman(Heartbeat(url=monitor.url, timeout_s=0.05), clock, said)
    assert pinged(deadman)
    assert said.events == ["heartbeat_failed"]
    assert "timed out" in str(said.lines[0][1]["message"])


def test_failures_are_told_once_for_each_change(monitor: Monitor, clock: ManualClock) -> None:
    said = Said()
    deadman = Deadman(Heartbeat(url=monitor.url), clock, said)
    for status in (200, 500, 500, 500, 404, 200, 200):
        monitor.status = status
        assert pinged(deadman)
        clock.advance(timedelta(seconds=30))
    assert said.events == ["heartbeat_failed", "heartbeat_failed", "heartbeat_recovered"]
    assert [fields.get("message") for _, fields in said.lines] == ["it answered 500", "it answered 404", None]


def test_a_monitor_that_is_gone_is_a_failure_and_no_more(monitor: Monitor, clock: ManualClock) -> None:
    said = Said()
    url = monitor.url
    monitor.close()
    assert pinged(Deadman(Heartbeat(url=url), clock, said))
    assert said.events == ["heartbeat_failed"]
    assert str(said.lines[0][1]["message"]).startswith("it cannot be reached")


def test_a_command_is_run_without_a_shell(tmp_path: Path, clock: ManualClock) -> None:
    mark = tmp_path / "alive; echo $HOME"
    argv = (sys.executable, "-c", "import sys; open(sys.argv[1], 'a').write('x')", str(mark))
    said = Said()
    assert pinged(Deadman(Heartbeat(command=argv, timeout_s=20), clock, said))
    assert mark.read_text() == "x"
    assert said.lines == []


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ((sys.executable, "-c", "raise SystemExit(3)"), "it ended with status 3"),
        (("/no/such/program",), "it cannot be started"),
    ],
)
def test_a_command_that_fails_is_told(clock: ManualClock, argv: tuple[str, ...], message: str) -> None:
    said = Said()
    assert pinged(Deadman(Heartbeat(command=argv, timeout_s=20), clock, said))
    assert str(said.lines[0][1]["message"]).startswith(message)


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path: Path, clock: ManualClock) -> None:
    started = tmp_path / "pid"
    line = f"sleep 600 & echo $! > {started}; wait"
    said = Said()
    deadman = Deadman(Heartbeat(command=("sh", "-c", line), timeout_s=1), clock, said)
    assert pinged(deadman)
    assert said.lines[0][1]["message"] == "it took longer than 1 s"
    assert ends_within(int(started.read_text()), seconds=20)


def test_both_ways_are_taken_and_told_apart(monitor: Monitor, clock: ManualClock) -> None:
    said = Said()
    monitor.status = 503
    settings = Heartbeat(url=monitor.url, command=("/no/such/program",))
    assert pinged(Deadman(settings, clock, said))
    assert [fields["way"] for _, fields in said.lines] == ["url", "command"]


def test_nobody_is_told_where_nothing_is_set(clock: ManualClock) -> None:
    settings = heartbeat_settings({})
    assert not settings
    assert not Deadman(settings, clock, Said()).after_pass()


def test_settings_come_from_the_environment() -> None:
    given = {
        "TRIGGERDECK_HEARTBEAT_URL": " https://monitor.example/ping ",
        "TRIGGERDECK_HEARTBEAT_COMMAND": "notify --alive 'night shift'",
    }
    settings = heartbeat_settings(given)
    assert settings.url == "https://monitor.example/ping"
    assert settings.command == ("notify", "--alive", "night shift")


def test_all_faults_of_the_environment_are_told_at_once() -> None:
    with pytest.raises(Invalid) as refused:
        heartbeat_settings({"TRIGGERDECK_HEARTBEAT_URL": "ftp://x", "TRIGGERDECK_HEARTBEAT_COMMAND": "say 'hello"})
    assert [fault.field for fault in refused.value.faults] == [
        "TRIGGERDECK_HEARTBEAT_URL",
        "TRIGGERDECK_HEARTBEAT_COMMAND",
    ]
    assert all(fault.remedy for fault in refused.value.faults)
