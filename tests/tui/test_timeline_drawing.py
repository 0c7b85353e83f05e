"""The timeline's grid is drawn from counts alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.views import Timeline, TimelineLane
from tui.present import fires, forecast
from tui.present.lines import plain
from tui.present.times import zone

BERLIN = zone("Europe/Berlin")
NOW = datetime(2026, 3, 28, 13, 3, 11, tzinfo=UTC)


def timeline(start: datetime, slot_s: int, total: tuple[int, ...], lanes: tuple[TimelineLane, ...] = ()) -> Timeline:
    return Timeline(start, start + timedelta(seconds=slot_s * len(total)), slot_s, NOW, lanes, total)


def lane(
    past: tuple[int, ...], coming: tuple[int, ...], *marks: tuple[int, str], name: str = "crm-pull"
) -> TimelineLane:
    return TimelineLane("uid-" + name, name, "default", "Europe/Berlin", past, coming, marks)


@pytest.mark.parametrize("columns", [30, 54, 62, 96, 180])
@pytest.mark.parametrize("span", forecast.SPANS[:2])
def test_a_window_has_no_more_slots_than_columns_and_covers_its_span_exactly(columns: int, span: timedelta) -> None:
    window = forecast.window_around(NOW, span, columns, BERLIN)
    assert window.slots <= columns
    assert timedelta(seconds=window.slots * window.slot_s) == window.to_at - window.from_at == span
    assert window.from_at <= NOW < window.to_at


def test_a_week_begins_at_local_midnight_and_has_an_hour_less_when_the_clock_goes_forward() -> None:
    window = forecast.window_around(NOW, timedelta(days=7), 80, BERLIN)
    assert window.from_at.astimezone(BERLIN).hour == 0
    assert window.to_at.astimezone(BERLIN).hour == 0
    assert window.slots == 7 * 24 - 1


def test_the_hour_that_does_not_exist_has_no_cell_in_the_calendar() -> None:
    window = forecast.window_around(NOW, timedelta(days=7), 80, BERLIN)
    days = forecast.calendar(timeline(window.from_at, 3600, (1,) * window.slots), BERLIN)
    sunday = next(day for day in days if day.label == "Sun 29 Mar")
    assert [hour for hour, cell in enumerate(sunday.hours) if cell is None] == [2]
    assert sunday.total == 23


def test_the_hour_that_happens_twice_carries_the_fires_of_both() -> None:
    start = datetime(2026, 10, 24, 22, tzinfo=UTC)
    (sunday,) = forecast.calendar(timeline(start, 3600, (1,) * 25), BERLIN)
    assert sunday.hours[2] == (2, 2)
    assert sunday.total == 25


def test_past_is_solid_forecast_is_light_and_what_went_wrong_stands_over_both() -> None:
    row = forecast.lane_row(lane((1, 1, 0, 0, 0), (0, 0, 0, 1, 0), (1, "failed"), (2, "skipped"), (4, "paused")))
    assert plain(row) == "●✕⊘○‖"


def test_a_change_of_the_clock_never_hides_a_fire() -> None:
    assert plain(forecast.lane_row(lane((0, 0), (1, 0), (0, "gap"), (1, "gap")))) == "○⟂"


def test_a_failure_wins_over_a_skip_in_the_same_slot() -> None:
    assert plain(forecast.lane_row(lane((0,), (0,), (0, "skipped"), (0, "failed")))) == "✕"


def test_the_cursor_names_what_fires_and_counts_what_does_not_fit() -> None:
    lanes = tuple(lane((0,), (1,), name=f"trigger-{number}") for number in range(7))
    shown = timeline(NOW + timedelta(hours=10), 900, (7,), lanes)
    words = forecast.cursor_words(shown, 0, BERLIN, 70)
    assert words == "cursor Sun 00:03  7 triggers fire: trigger-0 trigger-1 trigger-2 +4"


def test_the_cursor_speaks_of_the_past_in_the_past_and_of_nothing_as_nothing() -> None:
    shown = timeline(NOW - timedelta(hours=3), 900, (2, 0), (lane((2, 0), (0, 0)),))
    assert forecast.cursor_words(shown, 0, BERLIN, 70).endswith("1 trigger fired: crm-pull ×2")
    assert forecast.cursor_words(shown, 1, BERLIN, 70).endswith("nothing fires")


def test_the_axis_labels_whole_hours_of_the_display_zone() -> None:
    shown = timeline(datetime(2026, 3, 28, 13, tzinfo=UTC), 900, (0,) * 16)
    assert forecast.axis(shown, BERLIN) == "14  15  16  17  "


def test_the_axis_skips_the_missing_hour() -> None:
    shown = timeline(datetime(2026, 3, 29, 0, tzinfo=UTC), 900, (0,) * 12)
    assert forecast.axis(shown, BERLIN) == "01  03  04  "


def test_the_busiest_slot_is_the_first_of_the_greatest() -> None:
    assert forecast.busiest(timeline(NOW, 900, (1, 5, 2, 5))) == 1
    assert forecast.busiest(timeline(NOW, 900, (0, 0))) is None


def test_a_calendar_file_has_each_fire_once_and_escapes_names() -> None:
    at = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
    text = fires.calendar([fires.Fire("a,b;c", "default", at, "Europe/Berlin")], NOW)
    assert text.count("BEGIN:VEVENT") == 1
    assert "DTSTART:20260329T003000Z\r\n" in text
    assert "SUMMARY:a\\,b\\;c\r\n" in text


def test_exported_rows_show_utc_and_the_triggers_own_time() -> None:
    at = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
    rows = fires.rows([fires.Fire("x", "default", at, "Europe/Berlin")])
    assert rows == [("x", "default", "2026-03-29T00:30:00Z", "2026-03-29 01:30:00 +01", "Europe/Berlin")]


@pytest.mark.parametrize(("room", "shown"), [(8, " 1,234×"), (7, " 1,234×"), (6, ""), (2, ""), (-3, "")])
def test_how_often_a_lane_fires_is_told_whole_or_not_at_all(room: int, shown: str) -> None:
    assert plain(forecast.lane_sum(lane((1000, 0), (0, 234)), room)) == shown
