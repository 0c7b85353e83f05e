import io

import pytest

from cli import failures
from cli.render import colours


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def test_a_terminal_gets_colours_and_a_pipe_gets_none() -> None:
    assert colours.wanted(Screen())
    assert not colours.wanted(io.StringIO())


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_gets_none_where_the_environment_says_so(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert not colours.wanted(Screen())


def test_an_empty_no_color_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    assert colours.wanted(Screen())


@pytest.mark.parametrize(("no_color", "begins"), [("1", "error: "), ("", "\x1b[31m")])
def test_errors_follow_the_same_rule(no_color: str, begins: str, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr("sys.stderr", screen)
    failures.say_error("no")
    assert screen.getvalue().startswith(begins)
