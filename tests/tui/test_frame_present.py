"""What the frame, the list and the editor draw, without a terminal."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Fault
from core.views import FireChange, FireView, Status, TriggerQuery
from tui.navigation import PLACES
from tui.present.columns import Column, layout, row_line
from tui.present.cron_fields import FIELDS, cron_hint, field_at
from tui.present.diff import fire_counts, flat, three_way
from tui.present.draft import SPECS, Draft, fresh, look, ordered_like, placed
from tui.present.fire_preview import fire_lines
from tui.present.lines import Piece, clean, clip, fit, line, mark_hits, plain, spread, width, wrap
from tui.present.states import OUTCOMES, recent_bars
from tui.present.status import FrameFacts, status_line
from tui.present.times import (
    countdown,
    duration,
    near,
    next_transition,
    offset,
    offset_text,
    until,
    zone,
    zone_names,
)
from tui.present.trigger_filter import parse_filter
from tui.widgets.schedule_fields import field_of

NOW = datetime(2026, 3, 28, 13, 3, 11, tzinfo=UTC)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=30)


@given(st.lists(WORDS, max_size=4), st.integers(0, 40))
def test_a_fitted_line_has_exactly_its_cells(texts: list[str], cells: int) -> None:
    assert width(fit(line(*texts), cells)) == cells


def test_a_cut_line_shows_that_it_is_cut() -> None:
    assert plain(clip(line("abcdef"), 4)) == "abc…"
    assert plain(clip(line("abcd"), 4)) == "abcd"


def test_the_right_end_wins_over_the_left_where_both_do_not_fit() -> None:
    assert plain(spread(line("a long left side"), line("right"), 12)) == "a lon… right"


def test_control_characters_cannot_reach_the_terminal() -> None:
    assert clean("a\x1b[31mb\n") == "a [31mb "


def test_each_hit_is_lit_whatever_its_case() -> None:
    assert mark_hits((Piece("Load, reload", "dim"),), "load") == (
        Piece("Load", "hit"),
        Piece(", re", "dim"),
        Piece("load", "hit"),
    )


def test_wrapped_text_loses_no_word() -> None:
    rows = wrap("one two three four five", 9)
    assert " ".join(plain(row) for row in rows).split() == ["one", "two", "three", "four", "five"]
    assert all(width(row) <= 9 for row in rows)


@given(st.integers(1, 200))
def test_columns_never_need_more_than_there_is_once_the_optional_ones_are_gone(cells: int) -> None:
    columns = (Column("a", "a", 8), Column("b", "b", 10, drop=1, grow=1), Column("c", "c", 12, drop=2, grow=2, most=20))
    widths = layout(columns, cells)
    shown = [size for size in widths if size]
    assert sum(shown) + 2 * (len(shown) - 1) <= max(cells, 8)
    assert widths[0] == 8
    assert width(row_line([line("x")] * 3, columns, widths)) == sum(shown) + 2 * (len(shown) - 1)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0s"),
        (59, "59s"),
        (109, "1m49s"),
        (44_809, "12h26m"),
        (136_800, "1d14h"),
        (86_400, "1d"),
        (40_000_000, "1y97d"),
    ],
)
def test_a_duration_shows_its_two_largest_units(seconds: int, told: str) -> None:
    assert duration(seconds) == told


def test_near_times_are_as_short_as_their_distance_allows() -> None:
    told = [near(NOW + timedelta(**gap), NOW, "Europe/Berlin") for gap in ({"seconds": 49}, {"days": 1}, {"days": 20})]
    assert told == ["14:04", "Sun 15:03:11", "17 Apr 15:03"]
    assert near(datetime(2031, 1, 1, tzinfo=UTC), NOW, "UTC") == "2031-01-01"
    assert near(None, NOW, "UTC") == "—"


def test_the_countdown_ends_at_zero_and_what_is_late_says_so() -> None:
    assert countdown(NOW - timedelta(hours=1), NOW) == "00:00:00"
    assert until(NOW - timedelta(seconds=90), NOW) == "-1m30s"


@pytest.mark.parametrize(
    ("seconds", "told"), [(3600, "+01"), (-12_600, "-0330"), (0, "+00"), (20_700, "+0545"), (-1, "-000001")]
)
def test_offsets_are_shown_to_what_they_need(seconds: int, told: str) -> None:
    assert offset_text(seconds) == told


def test_every_zone_opens_and_an_unknown_one_is_utc() -> None:
    assert all(zone(name) is not None for name in zone_names())
    assert zone("Nowhere/Here") is UTC
    assert offset(NOW, "Asia/Kathmandu") == "+0545"


def test_the_next_change_of_the_clocks_is_found_to_the_second() -> None:
    hour = int(NOW.timestamp() // 3600)
    assert next_transition("Europe/Berlin", hour) == datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert next_transition("Australia/Lord_Howe", hour) == datetime(2026, 4, 4, 15, tzinfo=UTC)
    assert next_transition("Asia/Tokyo", hour) is None


@pytest.mark.parametrize(
    ("cursor", "name"),
    [
        (0, "second"),
        (1, "second"),
        (2, "minute"),
        (4, "minute"),
        (5, "hour"),
        (11, "day of week"),
        (12, "day of week"),
        (13, "year"),
    ],
)
def test_the_field_under_the_cursor_is_named(cursor: int, name: str) -> None:
    assert FIELDS[field_at("0 30 2 * * ? ", cursor)][1] == name


def test_the_hint_shows_what_stands_in_the_field() -> None:
    assert "hour: 2" in plain(cron_hint("0 30 2 * * ?", 5))
    assert "at most seven" in plain(cron_hint("0 0 0 1 1 ? 2026 x", 18))


def test_a_filter_is_read_into_the_decks_query() -> None:
    query, faults = parse_filter("enabled flow~import tag:nightly Phase:degraded some words", sort="name")
    assert faults == ()
    assert query == TriggerQuery("some words", "degraded", True, "import", None, "nightly", "name")


def test_every_fault_of_a_filter_is_told_and_the_rest_holds() -> None:
    query, faults = parse_filter("colour:red phase:blue tag:x")
    assert [fault.field for fault in faults] == ["colour", "phase"]
    assert query.tag == "x"


def test_every_outcome_letter_of_the_deck_has_a_bar() -> None:
    assert set("srfxkmnc") <= set(OUTCOMES)
    assert plain(recent_bars("ssf")) == "▇▇✕"


# -- the draft ------------------------------------------------------------------------------------------------------

MANIFEST: dict[str, Any] = {
    "apiVersion": "agentstration.io/v1",
    "kind": "Trigger",
    "metadata": {"namespace": "default", "name": "x", "eTag": "abc", "tags": ["b", "a"]},
    "definition": {
        "misfireThreshold": "PT30S",
        "source": {
            "kind": "schedule",
            "schedule": {"timeZone": "Europe/Berlin", "type": "cron", "expression": "0 0 1 * * ?"},
        },
        "target": {"kind": "flow", "flow": {"version": None, "name": "load"}},
        "input": {"n": 1.0},
    },
}


@pytest.mark.parametrize("key", [spec.key for spec in SPECS])
def test_a_field_that_is_left_as_it_was_shown_changes_nothing(key: str) -> None:
    draft = Draft.of(MANIFEST)
    assert draft.put(key, draft.text(key)) == draft


@pytest.mark.parametrize("key", ["expression", "misfireThreshold", "tags", "input", "flow", "timeZone", "jitter"])
def test_typing_something_and_typing_it_back_leaves_the_manifest_as_it_was(key: str) -> None:
    draft = Draft.of(MANIFEST)
    before = draft.text(key)
    other = {"input": '{"m": 2}', "flow": "imports/other@3"}.get(key, "P1D")
    edited = draft.put(key, other)
    assert edited.changed
    back = edited.put(key, before)
    assert not back.changed
    assert list(back.manifest["definition"]) == list(MANIFEST["definition"])


def test_a_pinned_flow_is_read_and_written_with_its_version() -> None:
    draft = Draft.of(MANIFEST).put("flow", "imports/other@v3")
    assert look(draft.manifest, "definition.target.flow") == {"version": 3, "name": "other", "namespace": "imports"}
    assert draft.text("flow") == "imports/other@3"


def test_a_number_that_is_none_is_kept_as_typed_and_told() -> None:
    draft = Draft.of(MANIFEST).put("maxOccurrences", "many")
    assert draft.text("maxOccurrences") == "many"
    assert draft.faults() == {"maxOccurrences": "must be a whole number"}
    assert look(draft.manifest, "definition.source.schedule.maxOccurrences") is None


def test_another_kind_of_schedule_takes_only_its_own_fields_along() -> None:
    draft = Draft.of(MANIFEST).put("type", "once")
    assert draft.schedule == {"type": "once", "timeZone": "Europe/Berlin"}
    assert not draft.put("type", "cron").changed


def test_placing_none_takes_the_key_away_and_an_empty_daylight_saving_with_it() -> None:
    manifest = placed(MANIFEST, "definition.source.schedule.daylightSaving.gap", "skip")
    gone = placed(manifest, "definition.source.schedule.daylightSaving.gap", None)
    assert gone == MANIFEST


def test_order_follows_the_model_and_new_keys_stand_last() -> None:
    assert list(ordered_like({"z": 1, "b": 2, "a": 3}, {"a": 0, "b": 0})) == ["a", "b", "z"]


def test_a_new_trigger_is_off() -> None:
    assert fresh("default", "UTC")["definition"]["enabled"] is False


# -- differences ----------------------------------------------------------------------------------------------------


def test_three_sides_are_compared_without_what_the_server_owns() -> None:
    theirs = placed(placed(MANIFEST, "metadata.eTag", "other"), "definition.displayName", "Theirs")
    mine = placed(placed(MANIFEST, "definition.displayName", "Mine"), "definition.misfireThreshold", "PT1M")
    rows = {row.path: row for row in three_way(MANIFEST, theirs, mine)}
    assert set(rows) == {"definition.displayName", "definition.misfireThreshold"}
    assert rows["definition.displayName"].conflict
    assert not rows["definition.misfireThreshold"].conflict


def test_an_empty_mapping_is_a_value_of_its_own() -> None:
    assert flat({"definition": {"input": {}}}) == {"definition.input": {}}


def test_counts_of_fires_are_loud_only_where_something_changes() -> None:
    tones = [piece.tone for piece in fire_counts(FireChange((NOW,), (), 3))]
    assert tones == ["ok", "dim", "dim", "dim"]


def test_a_fire_that_does_not_happen_is_marked_and_its_note_stands_below() -> None:
    gap = FireView(
        None, None, "2026-03-29 02:30:00", 3600, "CET", "Europe/Berlin", ("02:30 does not exist; skipped",), True
    )
    rows = [plain(row) for row in fire_lines([gap], NOW, "America/New_York", 70)]
    assert rows[1].startswith("✕ Sun 29 Mar 02:30 —")
    assert rows[2].strip() == "02:30 does not exist; skipped"


def test_times_with_seconds_years_and_odd_offsets_keep_a_gap_between_them() -> None:
    at = datetime(2027, 12, 1, 15, 0, 7, tzinfo=UTC)
    fire = FireView(at, at, "2027-12-01 11:30:07", -12600, "NST", "America/St_Johns")
    (_, row) = (plain(row) for row in fire_lines([fire], NOW, "Asia/Kathmandu", 80))
    assert row.split("  ")[1:] == [
        "Wed", "1 Dec 2027 11:30:07 -0330", "Wed 20:45:07 +0545",
        "Wed 15:00:07Z", "1y248d",
    ]  # fmt: skip


def test_zones_give_way_from_the_right_where_it_gets_narrow() -> None:
    fire = FireView(NOW, NOW, "2026-03-28 14:03:00", 3600, "CET", "Europe/Berlin")
    heads = [plain(fire_lines([fire], NOW, "America/New_York", cells)[0]) for cells in (70, 50, 34)]
    assert ["you (New_York)" in head for head in heads] == [True, True, False]
    assert ["UTC" in head for head in heads] == [True, False, False]


@pytest.mark.parametrize(
    ("field", "key"),
    [
        ("definition.source.schedule.expression", "expression"),
        ("definition.source.schedule.daylightSaving.gap", "gap"),
        ("definition.target.flow.name", "flow"),
        ("definition.input.n", "input"),
        ("metadata.name", "name"),
        ("definition.nothing.known", ""),
    ],
)
def test_a_fault_finds_its_field_of_the_form(field: str, key: str) -> None:
    assert field_of(Fault(field, "is wrong")) == key


@pytest.mark.parametrize("cells", range(40, 130))
def test_the_inbox_and_the_places_never_read_as_one_number(cells: int) -> None:
    status = Status("default", "running", 1.0, 12, 0, None, 0, read_only=False)
    places = tuple((place.number, place.title) for place in PLACES)
    facts = FrameFacts(status, NOW, "America/St_Johns", places, 3, read_only=False)
    told = plain(status_line(facts, cells))
    assert re.search(r"inbox 12(   |\s*$)", told)


def test_columns_that_would_grow_give_way_where_nothing_more_can_go() -> None:
    columns = (Column("key", "", 9), Column("title", "", 14), Column("help", "", 40, grow=1))
    assert layout(columns, 55) == (9, 14, 28)
    assert layout(columns, 10) == (9, 14, 8)
