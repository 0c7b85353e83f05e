"""What a definition's schedule may say: every fault at once, each with its field, sentence and remedy."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from core.errors import Fault, ScheduleInvalid
from core.triggers import EVALUATOR_VERSION, Schedule, parse_schedule
from core.zones import data_version

CRON = {"type": "cron", "expression": "0 30 2 * * ?", "timeZone": "Europe/Berlin"}
HOURLY = {"type": "interval", "every": "PT1H", "startAt": "2026-01-01T00:00:00Z"}
DAILY = {"type": "interval", "every": "P1D", "startAt": "2026-01-01T09:00:00+01:00", "timeZone": "Europe/Berlin"}
ONCE = {"type": "once", "at": "2027-01-01T09:00:00+01:00"}
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def faults(rule: Any, **options: Any) -> tuple[Fault, ...]:
    with pytest.raises(ScheduleInvalid) as caught:
        parse_schedule(rule, **options)
    return caught.value.faults


def only(rule: Any, **options: Any) -> Fault:
    found = faults(rule, **options)
    assert len(found) == 1, [fault.sentence() for fault in found]
    return found[0]


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


@pytest.mark.parametrize("rule", [CRON, HOURLY, DAILY, ONCE])
def test_the_plain_examples_are_read(rule: dict[str, Any]) -> None:
    schedule = parse_schedule(rule)
    assert schedule.kind == rule["type"]
    assert schedule.canonical() == rule


def test_all_faults_come_at_once_below_the_prefix() -> None:
    rule = {
        "type": "cron",
        "expression": "0 61 25 * * MON",
        "timeZone": "Europe/Berln",
        "startAt": "2026-01-01T00:00:00",
        "maxOccurrences": True,
        "jitter": "P1M",
        "daylightSaving": {"gap": "jump", "overlap": 3, "fold": 1},
        "excludes": ["holidays"],
        "timezone": "UTC",
    }
    found = faults(rule, prefix="definition.source.schedule")
    below = [fault.field.removeprefix("definition.source.schedule.") for fault in found]
    assert set(below) == {
        "expression",
        "timeZone",
        "startAt",
        "maxOccurrences",
        "jitter",
        "daylightSaving.gap",
        "daylightSaving.overlap",
        "daylightSaving.fold",
        "excludes",
        "timezone",
    }
    assert below.count("expression") == 3
    assert all(fault.field.startswith("definition.source.schedule.") for fault in found)
    assert all(fault.message and fault.remedy for fault in found)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("rule", [None, [], "0 0 * * * ?", 5, True])
def test_what_is_no_mapping_is_refused(rule: Any) -> None:
    assert "mapping" in only(rule).message


@pytest.mark.parametrize(
    ("change", "field", "sentence", "remedy"),
    [
        ({"type": "crom"}, "type", "not a type of schedule", "did you mean cron?"),
        ({"type": None}, "type", "missing", "once, cron or interval"),
        ({"type": 5}, "type", "must be a text, not a number", "quotes"),
        ({"expression": None}, "expression", "missing", "0 30 2"),
        ({"expression": 5}, "expression", "must be a text, not a number", "quotes"),
        ({"expression": ["0 0 0 * * ?"]}, "expression", "must be a text, not a list", "quotes"),
        ({"timeZone": None}, "timeZone", "missing", "Europe/Berlin"),
        ({"timeZone": 1}, "timeZone", "must be a text", "quotes"),
        ({"timeZone": "Mars/Olympus"}, "timeZone", "not a time zone", "IANA"),
        ({"expresion": "x"}, "expresion", "not a field", "did you mean expression"),
        ({"time_zone": "UTC"}, "time_zone", "not a field", "did you mean timeZone"),
        ({"colour": "red"}, "colour", "not a field", "remove it"),
        ({"every": "PT1H"}, "every", "does not belong to a schedule of type cron", "interval"),
        ({"at": "2027-01-01T00:00:00Z"}, "at", "does not belong", "once"),
        ({"daylightSaving": "auto"}, "daylightSaving", "must be a mapping, not a text", "{gap: auto"),
        ({"daylightSaving": {"gap": "both"}}, "daylightSaving.gap", "'both' is not one", "auto, shift or skip"),
        ({"daylightSaving": {"overlap": "shift"}}, "daylightSaving.overlap", "is not one", "first, second or both"),
        ({"excludes": ["x"]}, "excludes", "not supported yet", "remove"),
        ({"maxOccurrences": 3}, "maxOccurrences", "needs startAt", "add startAt"),
        ({"startAt": "2026-01-01T00:00:00Z", "maxOccurrences": 0}, "maxOccurrences", "out of range", "1 to"),
        ({"startAt": "2026-01-01T00:00:00Z", "maxOccurrences": 1.0}, "maxOccurrences", "whole number", "1 or more"),
        ({"startAt": "2026-01-01T00:00:00Z", "maxOccurrences": True}, "maxOccurrences", "not true or false", "1 or"),
        ({"startAt": "2026-01-01T00:00:00Z", "maxOccurrences": "3"}, "maxOccurrences", "not a text", "1 or more"),
        ({"startAt": "2026-01-01T00:00:00Z", "maxOccurrences": 10**30}, "maxOccurrences", "out of range", "1 to"),
        ({"startAt": "2026-01-01T00:00:00"}, "startAt", "has no offset", "2026-01-01T00:00:00Z"),
        ({"startAt": datetime(2026, 1, 1)}, "startAt", "has no offset", "Z"),  # noqa: DTZ001 - the fault itself
        ({"startAt": 1767225600}, "startAt", "must be a text", "quotes"),
        ({"startAt": "2026-02-30T00:00:00Z"}, "startAt", "does not exist", "check day"),
        ({"startAt": "2026-01-01T24:30:00Z"}, "startAt", "does not exist", "check"),
        ({"startAt": "2026-01-01T00:00:60Z"}, "startAt", "does not exist", "check"),
        ({"startAt": "2026-01-01T00:00:00.5Z"}, "startAt", "fraction", "whole seconds"),
        ({"startAt": "tomorrow"}, "startAt", "is not an instant", "write it like"),
        ({"startAt": "2026-01-01"}, "startAt", "is not an instant", "write it like"),
        ({"startAt": "0001-01-01T00:00:00Z"}, "startAt", "out of range", "1970"),
        ({"startAt": "2500-01-01T00:00:00Z"}, "startAt", "out of range", "2126"),
        ({"startAt": "2026-01-02T00:00:00Z", "endAt": "2026-01-02T00:00:00Z"}, "endAt", "not later", "exclusive"),
        ({"jitter": 60}, "jitter", "must be a text", "quotes"),
        ({"jitter": "P2D"}, "jitter", "longer than PT24H", "PT10M"),
        ({"jitter": "PT1.5S"}, "jitter", "fraction", "whole units"),
        ({"jitter": "ten minutes"}, "jitter", "not an ISO-8601 duration", "PT15M"),
    ],
)
def test_each_fault_of_a_cron_schedule_names_field_and_remedy(
    change: dict[str, Any], field: str, sentence: str, remedy: str
) -> None:
    fault = only(CRON | change)
    assert fault.field == field
    assert sentence in fault.message
    assert remedy in fault.remedy


@pytest.mark.parametrize(
    ("every", "sentence"),
    [
        ("PT0S", "no time at all"),
        ("P0D", "no time at all"),
        ("P0Y0M", "no time at all"),
        ("P1DT1H", "mixes"),
        ("P1MT0.5S", "fraction"),
        ("PT0,5H", "fraction"),
        ("P0.5D", "fraction"),
        ("-PT5M", "sign"),
        ("P-1D", "sign"),
        ("PT", "not an ISO-8601 duration"),
        ("P", "not an ISO-8601 duration"),
        ("", "not an ISO-8601 duration"),
        ("5m", "not an ISO-8601 duration"),
        ("P1H", "not an ISO-8601 duration"),
        ("PT1D", "not an ISO-8601 duration"),
        ("pt15m", "not an ISO-8601 duration"),
        ("PT١H", "not an ISO-8601 duration"),
        ("P101Y", "longer than 100 years"),
        ("P1201M", "longer than 100 years"),
        ("P9999999999D", "longer than 100 years"),
        ("PT9999999999H", "longer than 100 years"),
        ("PT99999999999999999999S", "too large"),
        ("P" + "1" * 100 + "D", "too large"),
    ],
)
def test_durations_that_are_not_whole_sane_and_unmixed_are_refused(every: str, sentence: str) -> None:
    fault = only(DAILY | {"every": every})
    assert fault.field == "every"
    assert sentence in fault.message
    assert fault.remedy


@pytest.mark.parametrize("every", [True, 5, 5.0, ["PT5M"]])
def test_a_duration_that_is_no_text_is_refused(every: Any) -> None:
    assert "must be a text" in only(DAILY | {"every": every}).message


def test_an_interval_needs_its_anchor_and_a_calendar_interval_its_zone() -> None:
    assert only({"type": "interval", "every": "PT1H"}).field == "startAt"
    assert only({key: DAILY[key] for key in ("type", "every", "startAt")}).field == "timeZone"
    assert parse_schedule({key: HOURLY[key] for key in ("type", "every", "startAt")}).zone is None


def test_an_anchor_whose_offset_is_not_the_zone_s_is_refused() -> None:
    fault = only(DAILY | {"startAt": "2026-07-01T09:00:00+01:00"})
    assert fault.field == "startAt"
    assert "+01:00 is not that of Europe/Berlin" in fault.message
    assert "+02:00" in fault.remedy


def test_policies_have_no_meaning_for_elapsed_time() -> None:
    assert only(HOURLY | {"daylightSaving": {"gap": "skip"}}).field == "daylightSaving"
    assert parse_schedule(HOURLY | {"daylightSaving": {"gap": "auto", "overlap": "auto"}}).gap is None


@pytest.mark.parametrize("key", ["startAt", "endAt", "maxOccurrences", "every", "expression", "daylightSaving"])
def test_once_has_one_time_and_no_bounds(key: str) -> None:
    value = {"gap": "skip"} if key == "daylightSaving" else "2026-01-01T00:00:00Z"
    fault = only(ONCE | {key: value})
    assert fault.field == key
    assert "does not belong" in fault.message


def test_empty_values_count_as_left_out() -> None:
    rule = CRON | {"startAt": None, "endAt": None, "maxOccurrences": None, "jitter": None, "excludes": []}
    assert parse_schedule(rule) == parse_schedule(CRON)
    assert parse_schedule(rule).canonical() == CRON


def test_instants_that_yaml_already_read_are_taken() -> None:
    rule = HOURLY | {"startAt": datetime(2026, 1, 1, tzinfo=UTC)}
    assert parse_schedule(rule).start_at == at("2026-01-01T00:00:00Z")


def test_an_end_that_means_never_is_taken() -> None:
    schedule = parse_schedule(CRON | {"endAt": "9999-12-31T23:59:59Z"})
    assert schedule.next(at("2100-01-01T00:00:00Z")) is not None


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        (ONCE | {"at": "2020-01-01T00:00:00Z"}, "at"),
        (CRON | {"expression": "0 0 0 30 2 ?"}, "expression"),
        (CRON | {"expression": "0 0 0 1 1 ? 2020"}, "expression"),
        (CRON | {"endAt": "2026-05-31T00:00:00Z"}, "endAt"),
        (HOURLY | {"maxOccurrences": 3}, "maxOccurrences"),
        (HOURLY | {"endAt": "2026-05-31T00:00:00Z"}, "endAt"),
    ],
)
def test_a_rule_that_can_never_fire_again_is_refused_only_when_now_is_given(rule: dict[str, Any], field: str) -> None:
    assert isinstance(parse_schedule(rule), Schedule)
    fault = only(rule, now=NOW)
    assert (fault.field, fault.code) == (field, "never_fires")
    assert fault.remedy


def test_now_does_not_trouble_a_rule_that_goes_on() -> None:
    assert parse_schedule(CRON, now=NOW) == parse_schedule(CRON)


def test_the_fingerprint_holds_rule_evaluator_and_zone_data() -> None:
    text = parse_schedule(CRON).fingerprint()
    assert "0 30 2 * * ?" in text
    assert f"evaluator={EVALUATOR_VERSION}" in text
    assert f"tzdata={data_version()}" in text
    changed = [CRON | {"expression": "0 30 3 * * ?"}, CRON | {"timeZone": "Europe/Paris"}, CRON | {"jitter": "PT1M"}]
    assert len({parse_schedule(rule).fingerprint() for rule in [CRON, *changed]}) == 4
    reordered = dict(reversed(CRON.items()))
    assert parse_schedule(reordered).fingerprint() == text


def test_equal_rules_are_equal_schedules() -> None:
    assert parse_schedule(CRON) == parse_schedule(dict(CRON))
    assert hash(parse_schedule(CRON)) == hash(parse_schedule(dict(CRON)))
    assert parse_schedule(CRON) != parse_schedule(HOURLY)
    assert parse_schedule(CRON) != "0 30 2 * * ?"


@pytest.mark.parametrize("policy", [["a"], {"a": "b"}, 5, "never"])
def test_a_policy_of_daylight_saving_where_none_belongs_is_refused_whatever_it_is(policy: object) -> None:
    rules: tuple[dict[str, object], ...] = (
        {"type": "once", "at": "2027-01-01T00:00:00Z"},
        {"type": "interval", "every": "PT1H", "startAt": "2027-01-01T00:00:00Z"},
    )
    for rule in rules:
        with pytest.raises(ScheduleInvalid) as caught:
            parse_schedule(rule | {"daylightSaving": {"gap": policy}})
        assert caught.value.faults[0].field.startswith("daylightSaving")


def test_only_spaces_and_tabs_make_a_line_a_unix_one() -> None:
    with pytest.raises(ScheduleInvalid) as caught:
        parse_schedule({"type": "cron", "expression": "0\u20030 12 1 * ?", "timeZone": "UTC"})
    assert [fault.code for fault in caught.value.faults] == ["invalid"]
    assert "5 fields" in caught.value.faults[0].message
