"""Rules in English, long and short, and what changes of the clock do to them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from core.triggers import Schedule, daylight_notes, explain, parse_schedule, preview, short_words

BERLIN = "Europe/Berlin"


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def cron(expression: str, zone: str = BERLIN, **more: Any) -> Schedule:
    return parse_schedule({"type": "cron", "expression": expression, "timeZone": zone, **more})


@pytest.mark.parametrize(
    ("expression", "words", "short"),
    [
        ("0 30 2 * * ?", "at 02:30:00 every day", "02:30 daily · Berlin"),
        ("0 0/5 * * * ?", "every 5 minutes", "every 5 min · Berlin"),
        ("0 */5 * * * ?", "every 5 minutes", "every 5 min · Berlin"),
        ("* * * * * ?", "every second", "every second · Berlin"),
        ("0/10 * * * * ?", "every 10 seconds", "every 10 s · Berlin"),
        ("0 * * * * ?", "every minute", "every minute · Berlin"),
        ("15 * * * * ?", "every minute at second 15", "15 * * * * ?"),
        ("0 0 * * * ?", "every hour", "hourly · Berlin"),
        ("0 30 * * * ?", "every hour at minute 30", "hourly at :30 · Berlin"),
        ("0 0 0/2 * * ?", "every 2 hours", "every 2 h · Berlin"),
        ("0 3/15 * * * ?", "every 15 minutes from minute 3", "0 3/15 * * * ?"),
        ("0 0 9 ? * MON-FRI", "at 09:00:00 on weekdays", "weekdays 09:00 · Berlin"),
        ("0 0 9 ? * 2-6", "at 09:00:00 on weekdays", "weekdays 09:00 · Berlin"),
        ("0 0 9 ? * SAT,SUN", "at 09:00:00 on weekends", "weekends 09:00 · Berlin"),
        ("0 0 4 ? * SUN", "at 04:00:00 on Sunday", "Sun 04:00 · Berlin"),
        ("0 0 4 ? * FRI-MON", "at 04:00:00 on Friday through Monday", "0 0 4 ? * FRI-MON"),
        ("0 0 4 ? * 2/2", "at 04:00:00 on Monday, Wednesday and Friday", "Mon,Wed,Fri 04:00"),
        ("0 0 4 ? * L", "at 04:00:00 on Saturday", "Sat 04:00 · Berlin"),
        ("0 0 6,18 * * ?", "at 06:00:00 and 18:00:00 every day", "06:00,18:00 daily"),
        ("0 0 12 L * ?", "at 12:00:00 on the last day of the month", "last day 12:00 · Berlin"),
        ("0 0 12 LW * ?", "at 12:00:00 on the last weekday of the month", "last weekday 12:00"),
        ("0 0 12 L-3 * ?", "at 12:00:00 3 days before the last day of the month", "0 0 12 L-3 * ?"),
        ("0 0 12 L-1 * ?", "at 12:00:00 1 day before the last day of the month", "0 0 12 L-1 * ?"),
        (
            "0 0 12 L-3W 3,6 ?",
            "at 12:00:00 on the weekday nearest to 3 days before the last day of March and June",
            "0 0 12 L-3W 3,6 ?",
        ),
        ("0 0 12 15W * ?", "at 12:00:00 on the weekday nearest to the 15th of the month", "0 0 12 15W * ?"),
        ("0 0 12 1 * ?", "at 12:00:00 on the 1st of the month", "1st 12:00 · Berlin"),
        ("0 0 12 1,22 * ?", "at 12:00:00 on the 1st and 22nd of the month", "1st,22nd 12:00 · Berlin"),
        ("0 0 12 */5 * ?", "at 12:00:00 every 5th day from the 1st of the month", "0 0 12 */5 * ?"),
        (
            "0 0 12 10-20/3 * ?",
            "at 12:00:00 every 3rd day from the 10th through the 20th of the month",
            "0 0 12 10-20/3 * ?",
        ),
        ("0 0 0 29 2 ?", "at 00:00:00 on the 29th of February", "29th Feb 00:00 · Berlin"),
        ("0 0 12 ? * 6L", "at 12:00:00 on the last Friday of the month", "last Fri 12:00 · Berlin"),
        ("0 0 12 ? * FRI#3", "at 12:00:00 on the third Friday of the month", "3rd Fri 12:00 · Berlin"),
        ("0 0 12 1 1/3 ?", "at 12:00:00 on the 1st of every 3rd month from January", "0 0 12 1 1/3 ?"),
        ("0 0 12 1 JUN-AUG ?", "at 12:00:00 on the 1st of June through August", "0 0 12 1 JUN-AUG ?"),
        ("0 0 12 * DEC ?", "at 12:00:00 every day in December", "0 0 12 * DEC ?"),
        ("0 0 12 1 1 ? 2027-2030", "at 12:00:00 on the 1st of January in 2027 through 2030", "0 0 12 1 1 ? 2027-2030"),
        ("0 0 12 1 1 ? 2028/4", "at 12:00:00 on the 1st of January in every 4th year from 2028", "0 0 12 1 1 ? 2028/4"),
        ("0 0/10 9 * * ?", "every 10 minutes between 09:00 and 09:59 every day", "0 0/10 9 * * ?"),
        ("0 0/10 9-17 * * ?", "every 10 minutes between 09:00 and 17:59 every day", "0 0/10 9-17 * * ?"),
        ("30 0/10 9,12 * * ?", "every 10 minutes at second 30 in hours 9 and 12 every day", "30 0/10 9,12 * * ?"),
        ("0 15,45 9-17 * * ?", "every hour from 9 through 17 at minutes 15 and 45 every day", "0 15,45 9-17 * * ?"),
        (
            "10-20 5-10 1-3/2 * * ?",
            "every second from 10 through 20 in minutes 5 to 10 in hours 1 to 3 by 2 every day",
            "10-20 5-10 1-3/2 * * ?",
        ),
    ],
)
def test_every_form_of_the_grammar_has_words(expression: str, words: str, short: str) -> None:
    schedule = cron(expression)
    assert explain(schedule).words == f"{words}, {BERLIN}"
    assert short_words(schedule) == short
    assert len(short) <= 24


def test_a_line_too_long_for_the_column_is_cut() -> None:
    text = short_words(cron("*/20 0,30 0-6,20/2 ? JAN,MAR-MAY MON#5"))
    assert len(text) == 24
    assert text.endswith("…")


@pytest.mark.parametrize(
    ("rule", "words", "short"),
    [
        (
            {"type": "interval", "every": "PT15M", "startAt": "2026-01-01T00:05:00Z"},
            "every 15 minutes, from 2026-01-01 00:05:00 UTC",
            "every 15 min from 00:05",
        ),
        (
            {"type": "interval", "every": "P1M", "startAt": "2026-01-31T09:00:00+01:00", "timeZone": BERLIN},
            "every month, Europe/Berlin, from 2026-01-31 09:00:00 +01:00",
            "every month from 09:00",
        ),
        (
            {
                "type": "interval",
                "every": "P1Y2M3D",
                "startAt": "2026-01-31T09:00:00+01:00",
                "timeZone": BERLIN,
                "maxOccurrences": 1,
            },
            "every 1 year, 2 months and 3 days, Europe/Berlin, from 2026-01-31 09:00:00 +01:00, 1 time at most",
            "every 1 y 2 mo 3 d from…",
        ),
        (
            {"type": "once", "at": "2025-12-31T23:00:00Z", "timeZone": "Asia/Tokyo"},
            "once, on 2026-01-01 08:00:00 +09:00",
            "once 2025-12-31 23:00Z",
        ),
    ],
)
def test_intervals_and_single_times_have_words(rule: dict[str, Any], words: str, short: str) -> None:
    schedule = parse_schedule(rule)
    assert explain(schedule).words == words
    assert short_words(schedule) == short
    assert len(short) <= 24


def test_an_end_is_said_to_be_exclusive() -> None:
    assert explain(cron("0 0 9 * * ?", endAt="2030-01-01T00:00:00Z")).words == (
        "at 09:00:00 every day, Europe/Berlin, until before 2030-01-01 01:00:00 +01:00"
    )


@pytest.mark.parametrize(
    ("expression", "note"),
    [
        ("0 0/7 * * * ?", "the step of 7 minutes begins again every hour"),
        ("0 0 0/5 * * ?", "the step of 5 hours begins again every day"),
        ("0 0 0 29 2 ?", "in leap years only"),
        ("0 0 0 31 * ?", "no time in a month without a 31st"),
        ("0 0 0 30 * ?", "no time in a month without a 30th"),
        ("0 0 0 ? * FRI#5", "no time in a month without a fifth such day"),
        ("0 0 0 L-30 * ?", "no time in a month of 30 days or fewer"),
        ("0 0 0 31W * ?", "in a shorter month its last day takes the place"),
    ],
)
def test_what_is_easily_overlooked_is_said(expression: str, note: str) -> None:
    assert note in explain(cron(expression, "UTC")).notes


def test_plain_rules_in_quiet_zones_need_no_notes() -> None:
    assert explain(cron("0 0 0/2 1 * ?", "UTC")).notes == ()


def test_policies_and_jitter_are_said() -> None:
    policies = {"gap": "skip", "overlap": "second"}
    notes = explain(cron("0 30 2 * * ?", daylightSaving=policies, jitter="PT1M30S")).notes
    assert notes == (
        "a wall time that does not exist is skipped",
        "a wall time that happens twice fires at the second",
        "each time up to 1 minute and 30 seconds later, never as late as the next",
    )


def test_24_hours_are_said_not_to_be_a_day() -> None:
    rule = {"type": "interval", "every": "PT24H", "startAt": "2026-01-01T00:00:00Z"}
    assert "P1D keeps the time on the wall clock" in explain(parse_schedule(rule)).notes[0]


def test_fields_are_explained_one_by_one() -> None:
    fields = explain(cron("0 30 2 ? * MON-FRI")).fields
    assert [name for name, _, _ in fields] == [
        "second",
        "minute",
        "hour",
        "day of month",
        "month",
        "day of week",
        "year",
    ]
    assert fields[2] == ("hour", "2", "at hour 2")
    assert fields[5] == ("day of week", "MON-FRI", "on weekdays")


def test_the_preview_says_where_a_missing_time_went() -> None:
    fires = preview(cron("0 30 2 * * ?"), at("2026-03-28T12:00:00Z"), 2)
    assert (fires[0].wall, fires[0].offset_s, fires[0].abbreviation) == ("2026-03-29 03:30:00", 7200, "CEST")
    assert fires[0].notes == ("02:30 does not exist; shifted to 03:30",)
    assert fires[1].notes == ()
    assert fires[1].nominal == at("2026-03-30T00:30:00Z")
    assert fires[1].zone == BERLIN


def test_a_missing_time_that_meets_another_is_told() -> None:
    fires = preview(cron("0 30 2,3 * * ?"), at("2026-03-28T12:00:00Z"), 1)
    assert fires[0].notes == ("02:30 does not exist; falls together with 03:30",)


def test_skipped_wall_times_are_listed_in_their_place_when_asked_for() -> None:
    skipping = cron("0 0/20 2,12 * * ?", daylightSaving={"gap": "skip"})
    after = at("2026-03-28T20:00:00Z")
    plain, full = preview(skipping, after, 2), preview(skipping, after, 2, skipped=True)
    assert [fire.nominal for fire in plain] == [fire.nominal for fire in full if fire.nominal is not None]
    assert full[0].nominal is None
    assert full[0].wall == "2026-03-29 02:00:00"
    assert full[0].notes == ("3 times from 02:00 to 02:40 do not exist; skipped",)
    assert len(full) == 3


def test_the_preview_says_which_of_two_passes_is_used() -> None:
    after = at("2026-10-24T12:00:00Z")
    assert preview(cron("0 30 2 * * ?"), after, 1)[0].notes == ("02:30 happens twice; the first is used, at +02:00",)
    second = preview(cron("0 30 2 * * ?", daylightSaving={"overlap": "second"}), after, 1)[0]
    assert second.notes == ("02:30 happens twice; the second is used, at +01:00",)
    both = preview(cron("0 30 2 * * ?", daylightSaving={"overlap": "both"}), after, 2)
    assert [fire.notes[0] for fire in both] == [
        "02:30 happens twice; this is the first, at +02:00",
        "02:30 happens twice; this is the second, at +01:00",
    ]


def test_the_preview_ends_with_until_and_knows_due_times() -> None:
    hourly = cron("0 0 * * * ?", "UTC", jitter="PT10M")
    start = at("2026-01-01T00:00:00Z")
    fires = preview(hourly, start, None, start + 3 * 3600, due=lambda nominal: nominal + 7)
    assert [(fire.nominal, fire.due) for fire in fires] == [(start + k * 3600, start + k * 3600 + 7) for k in (1, 2, 3)]
    assert preview(hourly, start, 1)[0].due is None
    assert preview(cron("0 0 * * * ?", "UTC"), start, 1)[0].due == start + 3600


def test_the_preview_is_what_fires() -> None:
    rule = cron("0 0/20 * * * ?", "America/St_Johns")
    after = at("2026-03-07T00:00:00Z")
    assert [fire.nominal for fire in preview(rule, after, 500)] == rule.between(after, 1 << 40, 500)


def test_a_rule_without_a_zone_is_shown_in_utc() -> None:
    fires = preview(
        parse_schedule({"type": "interval", "every": "PT1H", "startAt": "2026-01-01T00:00:00Z"}),
        at("2026-01-01T00:00:00Z"),
        1,
    )
    assert (fires[0].wall, fires[0].zone, fires[0].abbreviation) == ("2026-01-01 01:00:00", "UTC", "UTC")


def test_coming_changes_of_the_clock_are_told_with_their_effect() -> None:
    start = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
    notes = daylight_notes(cron("0 30 2 * * ?"), start, start + 365 * 86_400)
    assert [(note.kind, note.wall, note.text) for note in notes] == [
        ("gap", "2026-03-29 02:30:00", "02:30 does not exist; shifted to 03:30"),
        ("overlap", "2026-10-25 02:30:00", "02:30 happens twice; the first fires"),
    ]
    many = daylight_notes(cron("0 0/20 * * * ?"), start, start + 365 * 86_400)
    assert [note.text for note in many] == [
        "3 times from 02:00 to 02:40 do not exist; shifted by 1 hour",
        "3 times from 02:00 to 02:40 happen twice; both fire",
    ]
    assert daylight_notes(cron("0 0 12 * * ?"), start, start + 365 * 86_400) == ()
    assert daylight_notes(cron("0 30 2 * * ?", "UTC"), start, start + 365 * 86_400) == ()
