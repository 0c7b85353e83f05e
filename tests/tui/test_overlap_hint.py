"""The editor compares how long a Flow's runs take with what lies between two fires."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.views import FireView, Runtimes
from tests.tui.conftest import OpenStage
from tests.tui.stage import Stage
from tui.present.lines import plain
from tui.present.overlap import overlap_lines
from tui.screens.editor import EditorScreen
from tui.widgets.lines_view import LinesView

START = datetime(2026, 3, 28, 12, tzinfo=UTC)


def fires(*minutes: int) -> tuple[FireView, ...]:
    instants = [START + timedelta(minutes=minute) for minute in minutes]
    return tuple(FireView(at, at, f"{at:%Y-%m-%d %H:%M:%S}", 0, "UTC", "UTC") for at in instants)


def told(runtimes: Runtimes | None, *minutes: int, policy: str = "skip", most: int | None = None) -> str:
    return " ".join(" ".join(plain(row).split()) for row in overlap_lines(runtimes, fires(*minutes), policy, most, 200))


def test_runs_that_end_long_before_the_next_fire_are_told_quietly() -> None:
    rows = overlap_lines(Runtimes(37, 150, 600), fires(0, 15, 30), "skip", None, 200)
    assert [plain(row) for row in rows] == ["median run 2m30s, longest 10m of 37 runs: no overlap expected"]
    assert {piece.tone for row in rows for piece in row} == {"dim"}


def test_a_rule_faster_than_its_usual_run_is_warned_of_with_what_the_policy_makes_of_it() -> None:
    slow = Runtimes(12, 2460, 11400)
    assert told(slow, 0, 15, 30) == (
        "⚠ median run 41m, longest 3h10m of 12 runs: longer than the 15m between two fires; "
        "overlap skip lets about one fire in 3 run"
    )
    assert told(slow, 0, 15, 30, policy="allow", most=2).endswith("keeps about 3 runs active, at most 2")


def test_a_rule_that_only_the_longest_run_outlasts_says_so() -> None:
    assert "the longest outlast the 1h between two fires" in told(Runtimes(12, 2460, 11400), 0, 60)


@pytest.mark.parametrize(("runtimes", "minutes"), [(None, (0, 15)), (Runtimes(3, 60, 60), (0,)), (None, ())])
def test_nothing_is_said_where_nothing_is_known(runtimes: Runtimes | None, minutes: tuple[int, ...]) -> None:
    assert told(runtimes, *minutes) == ""


def test_the_shortest_stretch_between_two_fires_counts() -> None:
    assert "between two fires" in told(Runtimes(5, 300, 300), 0, 60, 62)


def beside(stage: Stage) -> str:
    lines = stage.place.query_one("#fires", LinesView).lines
    return " ".join(" ".join(plain(row) for row in lines).split())


async def test_the_editor_warns_when_the_rule_becomes_faster_than_the_runs(on_stage: OpenStage) -> None:
    async with on_stage() as stage:
        await stage.press("1")
        rows = stage.table.loaded()
        stage.table.move(next(at for at, row in enumerate(rows) if row.name == "nightly-import"))
        await stage.press("e")
        editor = stage.screen(EditorScreen)
        assert editor.live is not None
        assert editor.live.runtimes is not None
        assert "no overlap expected" in beside(stage)
        editor.form.query_one("#row-expression Input").focus()
        await stage.press("end", "ctrl+u")
        await stage.type("* * * * * ?")
        assert "⚠ the one run so far took 54m30s" in beside(stage)
        assert "longer than the 1s between two fires" in beside(stage)
