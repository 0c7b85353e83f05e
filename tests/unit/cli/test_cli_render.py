import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cli.render import ics, metrics, plain, table, times, write
from cli.render.preview import preview_text
from cli.render.timeline import timeline_text
from core.views import (
    Coalesced,
    FireView,
    Health,
    OccurrenceRow,
    SchedulePreview,
    Timeline,
    TimelineLane,
    WorkerView,
    WorkRow,
)

AT = datetime(2026, 3, 28, 13, 0, tzinfo=UTC)


def an_occurrence(**changes: Any) -> OccurrenceRow:
    values: dict[str, Any] = {
        "id": "7f3a",
        "trigger_uid": "u1",
        "trigger_name": "nightly",
        "namespace": "default",
        "generation": 3,
        "kind": "scheduled",
        "at": AT,
        "nominal_at": AT,
        "due_at": AT,
        "observed_at": AT + timedelta(milliseconds=40),
        "admitted_at": AT + timedelta(milliseconds=41),
        "dispatched_at": None,
        "outcome": "pending",
        "reason": "on_time",
        "message": "",
        "work_id": "7f3a",
        "work_status": "pending",
        "coalesced": None,
        "is_range": False,
        "count": 1,
        "first_at": None,
        "last_at": None,
        "principal": "ada",
    }
    return OccurrenceRow(**{**values, **changes})


def test_an_occurrence_has_exactly_the_promised_keys() -> None:
    assert list(plain.occurrence(an_occurrence())) == [
        "id", "triggerUid", "triggerName", "namespace", "generation", "kind", "nominalAt", "dueAt", "observedAt",
        "admittedAt", "dispatchedAt", "outcome", "reason", "message", "workId", "coalesced", "principal",
    ]  # fmt: skip
    assert plain.occurrence(an_occurrence())["observedAt"] == "2026-03-28T13:00:00.040Z"
    assert plain.occurrence(an_occurrence())["coalesced"] is None


def test_what_one_work_coalesces_is_an_object() -> None:
    row = an_occurrence(coalesced=Coalesced(3, AT - timedelta(hours=2), AT))
    assert plain.occurrence(row)["coalesced"] == {
        "count": 3,
        "firstAt": "2026-03-28T11:00:00Z",
        "lastAt": "2026-03-28T13:00:00Z",
    }


def test_a_range_says_so_with_count_first_and_last() -> None:
    row = an_occurrence(is_range=True, count=9, first_at=AT, last_at=AT + timedelta(hours=8))
    record = plain.occurrence(row)
    assert record["range"] is True
    assert (record["count"], record["firstAt"], record["lastAt"]) == (
        9,
        "2026-03-28T13:00:00Z",
        "2026-03-28T21:00:00Z",
    )


def a_work(**changes: Any) -> WorkRow:
    values: dict[str, Any] = {
        "id": "7f3a",
        "occurrence_id": "7f3a",
        "trigger_name": "nightly",
        "namespace": "default",
        "title": "Nightly",
        "flow": "imports/load",
        "flow_version": 12,
        "status": "completed",
        "result": "no_work",
        "error": None,
        "attempts": 1,
        "nominal_at": AT,
        "created_at": AT,
        "started_at": AT,
        "ended_at": AT + timedelta(seconds=67),
        "steps_done": 1,
        "steps_total": 1,
    }
    return WorkRow(**{**values, **changes})


def test_work_begins_with_the_promised_keys() -> None:
    record = plain.work(a_work())
    assert list(record)[:8] == [
        "id", "occurrenceId", "flow", "status", "result", "startedAt", "endedAt", "attempts",
    ]  # fmt: skip
    assert record["flow"] == {"name": "load", "namespace": "imports", "version": 12}


def test_rows_are_streamed_as_one_json_array(capsys: pytest.CaptureFixture[str]) -> None:
    for rows in ([], [{"a": 1}], [{"a": 1}, {"a": AT}]):
        write.records("json", rows, record=lambda row: row, titles=(), cells=lambda _: (), empty="")
        assert json.loads(capsys.readouterr().out) == [plain.plain(row) for row in rows]


def test_csv_has_dotted_columns_for_what_is_nested(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": 1, "flow": {"name": "load, slow"}, "on": True}, {"id": 2, "flow": {"name": "x"}, "on": None}]
    write.records("csv", rows, record=lambda row: row, titles=(), cells=lambda _: (), empty="")
    assert capsys.readouterr().out == 'id,flow.name,on\n1,"load, slow",true\n2,x,\n'


def test_no_rows_are_told_to_people_not_to_programs(capsys: pytest.CaptureFixture[str]) -> None:
    write.records("table", [], record=dict, titles=("A",), cells=lambda _: (), empty="nothing matches")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "nothing matches\n")


def test_columns_stay_aligned_beside_wide_characters() -> None:
    lines = table.table(("NAME", "N"), [("日次", 1), ("a", 22)]).splitlines()
    assert lines == ["NAME  N", "日次  1", "a     22"]


def test_a_cell_cannot_break_its_line_or_send_escapes() -> None:
    assert table.table(("A",), [("x\n\x1b[31my",)]).splitlines() == ["A", "x  [31my"]


def test_colour_adds_nothing_but_escapes() -> None:
    plain_text = table.table(("STATE",), [("failed",)])
    coloured = table.table(("STATE",), [("failed",)], colour=True)
    assert "\x1b[31mfailed\x1b[0m" in coloured
    assert coloured.replace("\x1b[31m", "").replace("\x1b[0m", "") == plain_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "0.25s"), (4, "4s"), (59, "59s"), (60, "1m"), (2467, "41m 7s"), (7500, "2h 5m"), (180_000, "2d 2h")],
)
def test_a_duration_has_at_most_two_units(seconds: float, text: str) -> None:
    assert times.span(seconds) == text


def test_distances_point_both_ways() -> None:
    assert times.relative(AT + timedelta(hours=2, minutes=5), AT) == "in 2h 5m"
    assert times.relative(AT - timedelta(days=3), AT) == "3d ago"


@pytest.mark.parametrize(("seconds", "text"), [(20_700, "+05:45"), (-12_600, "-03:30"), (0, "+00:00")])
def test_an_offset_is_written_with_its_sign(seconds: int, text: str) -> None:
    assert times.offset(seconds) == text


def test_a_calendar_has_an_event_for_each_fire_and_no_long_line() -> None:
    text = ics.calendar([AT, AT + timedelta(days=1)], name="nightly", words="every day, " * 20, now=AT)
    assert text.count("BEGIN:VEVENT") == 2
    assert "DTSTART:20260328T130000Z\r\n" in text
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    unfolded = text.replace("\r\n ", "")
    assert "DESCRIPTION:" + "every day\\, " * 20 in unfolded


def a_fire(**changes: Any) -> FireView:
    values: dict[str, Any] = {
        "nominal_at": AT,
        "due_at": AT,
        "wall": "2026-03-28 14:00:00",
        "offset_s": 3600,
        "abbreviation": "CET",
        "zone": "Europe/Berlin",
    }
    return FireView(**{**values, **changes})


def test_a_preview_shows_zone_offset_utc_distance_and_notes() -> None:
    fires = (a_fire(), a_fire(nominal_at=None, due_at=None, skipped=True, notes=("02:30 does not exist",)))
    text = preview_text(SchedulePreview(fires, exhausted=True, words="every day"), AT - timedelta(hours=1))
    assert "2026-03-28 14:00:00  +01:00  Europe/Berlin CET  2026-03-28 13:00:00Z  in 1h" in text
    assert "does not fire  02:30 does not exist" in text
    assert "there are no more after that" in text
    assert "DUE" not in text


def test_the_due_column_appears_with_jitter() -> None:
    fires = (a_fire(due_at=AT + timedelta(seconds=7)),)
    assert "2026-03-28 13:00:07Z" in preview_text(SchedulePreview(fires, exhausted=False, words="x"), AT)


def test_the_timeline_tells_past_from_forecast() -> None:
    lane = TimelineLane("u", "nightly", "default", None, past=(1, 0, 0), forecast=(0, 0, 2))
    text = timeline_text(Timeline(AT, AT + timedelta(hours=3), 3600, AT, (lane,), (1, 0, 2)))
    assert "nightly  ●·○" in text
    assert "13:00" in text


def a_worker(**changes: Any) -> WorkerView:
    values: dict[str, Any] = {
        "worker_id": "w",
        "pid": 42,
        "host": "here",
        "state": "running",
        "version": "0.1.0",
        "zone_data": "2026f",
        "started_at": AT,
        "beat_at": AT,
        "last_pass_at": AT,
        "pass_ms": 1.0,
        "lags_ms": (),
        "slots": 4,
        "running": 0,
    }
    return WorkerView(**{**values, **changes})


def a_health(**changes: Any) -> Health:
    values: dict[str, Any] = {
        "at": AT + timedelta(seconds=1),
        "workers": (a_worker(),),
        "lag_p50_ms": 12.0,
        "lag_p95_ms": None,
        "lag_max_ms": 80.0,
        "queue": {"running": 1},
        "triggers": {"scheduled": 2},
        "inbox": 0,
        "drifts": (),
        "database": "/data/deck.sqlite3",
        "database_bytes": 1 << 20,
        "wal_bytes": 0,
        "free_bytes": 1 << 40,
        "schema_version": "0001",
        "zone_data": "2026f",
        "zone_data_stored": "2026f",
        "overdue": (),
    }
    return Health(**{**values, **changes})


def test_metrics_are_in_the_exposition_format() -> None:
    text = metrics.exposition(a_health())
    assert 'triggerdeck_triggers{phase="scheduled"} 2\n' in text
    assert 'triggerdeck_lag_seconds{quantile="0.5"} 0.012\n' in text
    assert 'quantile="0.95"' not in text


def test_metrics_tell_how_far_the_clock_lies_behind() -> None:
    assert "triggerdeck_clock_behind_seconds 600\n" in metrics.exposition(a_health(clock_behind_s=600.0))


def test_metrics_keep_every_digit() -> None:
    text = metrics.exposition(replace(a_health(), free_bytes=82_399_123_456))
    assert "triggerdeck_disk_free_bytes 82399123456\n" in text
