import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from cli import failures
from cli.__main__ import run
from cli.app import SECTIONS, triggerdeck
from core.errors import Denied, Fault, Invalid, NotFound, Precondition, StorageUnusable, TriggerdeckError, Usage

LATER = {"rehearse", "backfill", "events", "emit", "import", "export", "access", "serve"}


def every_command(group: click.Group = triggerdeck, path: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        yield f"{path}{name}", command
        if isinstance(command, click.Group):
            yield from every_command(command, f"{path}{name} ")


@pytest.mark.parametrize(("name", "command"), list(every_command()))
def test_every_command_and_every_option_has_help(name: str, command: click.Command) -> None:
    assert command.help, name
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.name}"


@pytest.mark.parametrize("name", [name for name, _ in every_command()])
def test_help_of_every_command_answers(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*name.split(), "--help"]) == 0
    assert "Usage: triggerdeck" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["", *[name for name, command in every_command() if isinstance(command, click.Group)]])
def test_no_command_is_cut_short_where_commands_are_listed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*name.split(), "--help"]) == 0
    listed = capsys.readouterr().out.splitlines()[1:]
    assert [line for line in listed if line.endswith("...")] == []


def test_every_command_stands_in_one_section() -> None:
    listed = [command.name for commands in SECTIONS.values() for command in commands]
    assert sorted(map(str, listed)) == sorted(triggerdeck.commands)
    assert not LATER & set(triggerdeck.commands)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFound("x"), 1),
        (Usage("x"), 2),
        (click.UsageError("x"), 2),
        (Invalid([Fault("definition.input", "is wrong", "mend it")]), 3),
        (Precondition("x"), 4),
        (Denied("x"), 5),
        (StorageUnusable("x"), 6),
    ],
)
def test_each_refusal_has_its_exit_status_and_one_sentence(
    error: Exception, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failures.tell(error) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1


def test_every_fault_has_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    failures.tell(Invalid([Fault("a", "is wrong", "mend it"), Fault("b", "is missing", "add it", position=3)]))
    assert capsys.readouterr().err.splitlines() == [
        "error: a: is wrong; mend it",
        "error: b: is missing (at character 4); add it",
    ]


def test_every_refusal_of_the_core_has_a_known_status() -> None:
    def below(kind: type[TriggerdeckError]) -> Iterator[type[TriggerdeckError]]:
        for child in kind.__subclasses__():
            yield child
            yield from below(child)

    assert {kind.exit_status for kind in below(TriggerdeckError)} <= {1, 2, 3, 4, 5, 6}


def test_a_fault_of_the_program_keeps_its_traceback_in_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr("platformdirs.user_log_dir", lambda *_args, **_options: str(tmp_path))
    assert failures.tell(ZeroDivisionError("1/0")) == 70
    told = capsys.readouterr().err
    assert "ZeroDivisionError" in told
    assert "Traceback" not in told
    assert f"{tmp_path}/crash.log" in told


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["demo"],
        ["nonsense"],
        ["preview"],
        ["preview", "nightly", "--cron", "0 0 9 * * ?"],
        ["preview", "--cron", "0 0 9 * * ?", "--every", "PT1H"],
        ["preview", "--jsonl", "--cron", "0 0 9 * * ?"],
        ["get", "volcano"],
        ["apply"],
        ["pause", "nightly"],
        ["occurrences", "--outcome", "splendid"],
        ["run", "nightly", "--timeout", "3"],
        ["answer", "1", "--approve", "--reject"],
        ["restore"],
        ["backup", ""],
        ["restore", "backup.sqlite3", "--in-place"],
        ["mark", "nightly", "--to", "now"],
        ["mark", "nightly", "--note", "the clock was wrong"],
    ],
)
def test_a_request_that_makes_no_sense_exits_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cron", "30 2 * * *", "--zone", "UTC"], "0 30 2"),
        (["--cron", "0 30 2 * * ?", "--zone", "Mars/Base"], "error: --zone: "),
        (["--every", "PT0S", "--start-at", "2026-01-01T00:00:00Z"], "error: --every: "),
        (["--at", "2026-01-01T00:00:00"], "error: --at: "),
        (["--cron", "0 30 2 * * ?", "--zone", "UTC", "--gap", "leap"], "error: --gap: "),
        (["--every", "P1D", "--zone", "UTC"], "error: --start-at: is missing"),
        (["--cron", "0 30 2 * * ?", "--zone", "UTC", "--after", "yesterday"], "--after: "),
    ],
)
def test_a_rule_that_says_nothing_exits_3_and_names_the_field(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["preview", *words]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err


PROGRAM = """
import sys
from cli.__main__ import run
status = run(sys.argv[1:])
heavy = {"textual", "sqlalchemy", "sqlmodel", "dbos", "pydantic", "rich", "yaml", "jinja2"} & set(sys.modules)
print(sorted(heavy), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["preview", "--help"],
        ["preview", "--cron", "0 0 9 * * ?", "--zone", "Asia/Kathmandu"],
        ["explain", "--cron", "0 0 9 * * ?", "--zone", "Asia/Kathmandu"],
        ["preview", "--jsonl"],
    ],
)
def test_help_and_rules_import_nothing_heavy(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=True, input="")
    assert done.stderr.splitlines()[-1] == "[]"


def test_a_reader_that_goes_away_leaves_silence() -> None:
    line = '{"expr": "* * * * * ?", "zone": "UTC", "count": 10000}\n'
    with subprocess.Popen(
        [sys.executable, "-m", "cli", "preview", "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(line * 20)
        process.stdin.close()
        assert process.wait(30) == 0
        assert process.stderr.read() == ""


@pytest.mark.parametrize("name", sorted(LATER))
def test_a_command_that_is_still_to_come_is_refused_as_such(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "whatever"]) == 2
    assert capsys.readouterr().err == (
        f"error: the command {name} comes in a later version; see what there is: triggerdeck --help\n"
    )


def test_calendars_are_said_to_come_later(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["get", "calendar"]) == 2
    assert "calendars come in a later version; use trigger or flow" in capsys.readouterr().err


def in_a_shell(line: str) -> "subprocess.CompletedProcess[str]":
    """Run a line of shell in which `$T` is the program."""
    return subprocess.run(  # noqa: S602 - redirections are what is tested; the line is the test's own
        line.replace("$T", f"{sys.executable} -m cli"), shell=True, text=True, capture_output=True, check=False
    )


def test_an_answer_that_finds_no_room_is_one_sentence() -> None:
    told = in_a_shell("$T preview --cron '* * * * * ?' --zone UTC --count 5000 > /dev/full")
    assert told.returncode == 1
    assert told.stderr.splitlines() == [
        "error: the answer cannot be written: No space left on device; make room, or write it elsewhere"
    ]


@pytest.mark.parametrize("closed", [">&-", "<&-", ">&- <&-"])
def test_a_closed_stream_is_like_one_that_leads_nowhere(closed: str) -> None:
    told = in_a_shell(f"$T preview --jsonl < /dev/null {closed}")
    assert (told.returncode, told.stderr) == (0, "")
    told = in_a_shell(f"$T schema trigger {closed}")
    assert (told.returncode, told.stderr) == (0, "")


INTERRUPTED_START = """
import builtins, sys
real = builtins.__import__
def interrupted(name, *rest, **more):
    if name == "cli.commands" or name.startswith("cli.commands."):
        raise KeyboardInterrupt
    return real(name, *rest, **more)
builtins.__import__ = interrupted
import cli.__main__
"""


def test_a_key_pressed_while_the_program_starts_shows_no_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_START], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
