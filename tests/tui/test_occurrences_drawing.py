"""Filters are read, and decisions are told, without any screen."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.views import OccurrenceQuery, OccurrenceRow, WorkQuery
from tui.present import history
from tui.present.filters import instant, later, occurrence_query, work_query
from tui.present.lines import plain

NOW = datetime(2026, 3, 28, 13, 3, 11, tzinfo=UTC)
ROW = OccurrenceRow(
    id="0f3a", trigger_uid="u", trigger_name="crm-pull", namespace="default", generation=1, kind="scheduled",
    at=NOW, nominal_at=NOW, due_at=NOW, observed_at=NOW + timedelta(seconds=0.31), admitted_at=NOW, dispatched_at=None,
    outcome="submitted", reason="on_time", message="", work_id="7f3a0000-1", work_status="completed", coalesced=None,
    is_range=False, count=1, first_at=None, last_at=None, principal="ana",
)  # fmt: skip


def test_a_filter_is_words_and_pairs() -> None:
    query, faults = occurrence_query("state:skipped since:30d trigger~nightly reason:concurrency-skip", NOW)
    assert not faults
    assert query == OccurrenceQuery(
        trigger_like="nightly", outcome="skipped", reason="concurrency_skip", since=NOW - timedelta(days=30)
    )


def test_bare_words_are_parts_of_a_trigger_and_a_pair_names_it_whole() -> None:
    assert occurrence_query("slow import", NOW)[0] == OccurrenceQuery(trigger_like="slow import")
    assert occurrence_query("trigger:slow-import", NOW)[0] == OccurrenceQuery(trigger="slow-import")
    assert work_query("import active", NOW)[0] == WorkQuery(trigger_like="import", active=True)


def test_a_clear_beginning_of_a_state_is_enough() -> None:
    assert occurrence_query("crm-pull state:sk", NOW)[0] == OccurrenceQuery(trigger_like="crm-pull", outcome="skipped")


@pytest.mark.parametrize(
    ("text", "field"),
    [("colour:red", "colour"), ("state:purple", "outcome"), ("since:soon", "since"), ("state:", "outcome")],
)
def test_what_a_filter_cannot_mean_is_said_with_its_field(text: str, field: str) -> None:
    _, faults = occurrence_query(text, NOW)
    assert [fault.field for fault in faults] == [field]
    assert faults[0].remedy


def test_work_is_filtered_by_status_and_activity() -> None:
    assert work_query("active", NOW)[0] == WorkQuery(active=True)
    assert work_query("status:waitingforapproval since:12h", NOW)[0] == WorkQuery(
        status="waitingForApproval", since=NOW - timedelta(hours=12)
    )
    assert work_query("status:w", NOW)[1][0].field == "status"


def test_instants_are_read_in_the_display_zone() -> None:
    assert instant("02:30", NOW, "Europe/Berlin") == datetime(2026, 3, 28, 1, 30, tzinfo=UTC)
    assert instant("2026-03-30 02:30", NOW, "Europe/Berlin") == datetime(2026, 3, 30, 0, 30, tzinfo=UTC)
    assert instant("2026-03-28T01:30Z", NOW, "Europe/Berlin") == datetime(2026, 3, 28, 1, 30, tzinfo=UTC)
    assert instant("half past", NOW, "Europe/Berlin") is None


def test_a_time_of_day_that_has_passed_means_tomorrow_when_one_snoozes() -> None:
    assert later("09:00", NOW, "UTC") == datetime(2026, 3, 29, 9, tzinfo=UTC)
    assert later("90m", NOW, "UTC") == NOW + timedelta(minutes=90)


def test_a_range_says_how_many_and_from_when_to_when() -> None:
    first = datetime(2026, 3, 28, 0, 0, tzinfo=UTC)
    row = replace(
        ROW, is_range=True, reason="missed", count=312, first_at=first, last_at=first + timedelta(hours=2, minutes=35)
    )
    assert plain(history.nominal(row, NOW, "Europe/Berlin")) == "312 missed 01:00–03:35"


def test_a_range_over_midnight_names_both_days() -> None:
    first = datetime(2026, 3, 27, 22, 0, tzinfo=UTC)
    row = replace(ROW, is_range=True, reason="paused", count=5, first_at=first, last_at=first + timedelta(hours=4))
    assert history.range_words(row, "UTC", NOW) == "5 paused 27 Mar 22:00–28 Mar 02:00"


def test_lag_is_loud_when_it_is_long() -> None:
    assert history.lag(ROW) == (("0.3s", ""),)
    late = replace(ROW, observed_at=NOW + timedelta(minutes=12))
    assert history.lag(late) == (("12m", "bad"),)
    assert plain(history.lag(replace(ROW, observed_at=None))) == "—"


def test_cores_own_sentence_wins_and_every_reason_has_words() -> None:
    assert (
        history.reason_words(replace(ROW, reason="concurrency_skip", message="Work 61c2 runs"))
        == "overlap: Work 61c2 runs"
    )
    assert history.reason_words(ROW) == "on time"


def test_foreign_text_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in history.reason_words(replace(ROW, message="\x1b[2Jgone"))
