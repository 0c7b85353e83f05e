"""Steps, logs and lengths are drawn from values alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from core.views import LogRow, StepView
from tui.present import gantt, log_lines
from tui.present.bars import heat, share, spark
from tui.present.lines import plain, width

NOW = datetime(2026, 3, 28, 13, 0, tzinfo=UTC)


def step(position: int, status: Any, start_s: float | None = None, end_s: float | None = None, **more: Any) -> StepView:
    at = lambda seconds: None if seconds is None else NOW + timedelta(seconds=seconds)  # noqa: E731
    fields = {
        "attempt": 1,
        "resume_at": None,
        "output": None,
        "exit_code": None,
        "error": None,
        "kind": "command",
    } | more
    return StepView(position, f"step-{position}", status=status, started_at=at(start_s), ended_at=at(end_s), **fields)


def test_bars_share_one_scale_and_never_leave_it() -> None:
    steps = (step(0, "completed", 0, 60), step(1, "running", 60), step(2, "pending"))
    rows = gantt.step_lines(steps, NOW + timedelta(seconds=120), 80)
    assert {width(row) for row in rows} == {width(rows[0])}
    assert width(rows[0]) <= 80
    first, second, third = map(plain, rows)
    assert first.index("█") < second.index("▓")
    assert "█" not in third
    assert "▓" not in third


def test_a_step_too_short_to_see_still_has_a_cell() -> None:
    steps = (step(0, "completed", 0, 0), step(1, "completed", 0, 3600))
    assert "█" in plain(gantt.step_lines(steps, NOW, 60)[0])


def test_a_step_that_waits_says_for_what() -> None:
    ask = step(0, "waiting", 0, None, kind="ask")
    wait = step(1, "waiting", 0, None, kind="wait", resume_at=NOW + timedelta(minutes=5))
    assert gantt.says(ask, NOW) == "in the inbox"
    assert gantt.says(wait, NOW) == "5m left"


def test_nothing_started_draws_names_without_bars() -> None:
    (row,) = gantt.step_lines((step(0, "pending"),), NOW, 60)
    assert "step-0" in plain(row)


def log(number: int, text: str, stream: Any = "out", name: str = "load") -> LogRow:
    return LogRow(number, NOW, name, stream, text)


def test_terminal_codes_never_reach_the_screen() -> None:
    assert log_lines.clean("\x1b[31mred\x1b[0m \x1b]0;title\x07done\x1b[2J") == "red done"
    assert log_lines.clean("10%\r50%\r100%") == "100%"
    assert all(mark.isprintable() for mark in log_lines.clean("a\x00b\x08c\u202ed"))


def test_a_line_wraps_under_its_text_and_not_under_its_time() -> None:
    rows = log_lines.render(log(1, "x" * 100), UTC, cells=60, times=True, wrap=True, step_cells=0)
    assert len(rows) == 3
    assert all(width(row) <= 60 for row in rows)
    assert plain(rows[1]).startswith(" " * 12)
    assert "".join(plain(row)[12:] for row in rows) == "x" * 100


def test_a_line_is_broken_between_words_where_it_can_be() -> None:
    rows = log_lines.render(
        log(1, "batch 10 of 60 written, checksum right"), UTC, cells=32, times=True, wrap=True, step_cells=0
    )
    assert [plain(row)[12:] for row in rows] == ["batch 10 of 60", "written, checksum", "right"]


def test_stderr_is_told_apart_by_letter_and_tone() -> None:
    (row,) = log_lines.render(log(1, "slow", "err"), UTC, cells=60, times=True, wrap=False, step_cells=4)
    assert plain(row) == " 13:00:00 E load slow"
    assert row[-1].tone == "bad"


def test_finding_goes_round_in_both_directions() -> None:
    rows = [log(1, "alpha"), log(2, "BETA"), log(3, "beta two")]
    assert log_lines.find(rows, "beta", 0, -1) == 2
    assert log_lines.find(rows, "beta", 2, -1) == 1
    assert log_lines.find(rows, "beta", 2, 1) == 1
    assert log_lines.find(rows, "gamma", 0, 1) is None


def test_the_column_of_steps_goes_where_only_one_speaks() -> None:
    assert log_lines.step_column([log(1, "a"), log(2, "b")]) == 0
    assert log_lines.step_column([log(1, "a"), log(2, "b", name="validate")]) == 8


def test_bars_hold_their_bounds() -> None:
    assert heat((0, 1, 8)) == " ▁█"
    assert heat(()) == ""
    assert spark((1, 2, 4), 2) == "▄█"
    assert spark((0, 0), 5) == "▁▁"
    assert share(5, 8, 8) == "▇▇▇▇▇░░░"
    assert share(0, 0, 4) == "░░░░"
