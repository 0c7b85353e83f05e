"""The grammar: what is refused points at its place and says what to write; what is read lists its values."""

from __future__ import annotations

import pytest

from core.errors import Fault, ScheduleInvalid
from core.triggers import field_at, parse_schedule, unix_to_quartz
from core.triggers.cron import Cron, read_cron


def faults(expression: str) -> tuple[Fault, ...]:
    with pytest.raises(ScheduleInvalid) as caught:
        parse_schedule({"type": "cron", "expression": expression, "timeZone": "UTC"})
    return caught.value.faults


@pytest.mark.parametrize(
    ("expression", "at", "sentence", "remedy"),
    [
        ("0 61 12 * * ?", "61", "61 is out of range for minute", "0 to 59"),
        ("0 0 12 32 * ?", "32", "32 is out of range for day of month", "1 to 31"),
        ("0 0 12 ? * 8", "8", "8 is out of range for day of week", "1 to 7"),
        ("0 0 12 1 1 ? 1969", "1969", "1969 is out of range for year", "1970 to 2126"),
        ("0 0 12 1 1 ? 2127", "2127", "2127 is out of range for year", "1970 to 2126"),
        ("0 5,,10 * * * ?", ",10", "empty item", "extra comma"),
        ("0 5-*/2 * * * ?", "-*/2", "cannot be read as minute", "allowed"),
        ("0 0/60 * * * ?", "60", "the step 60 is larger than 59", "single minute"),
        ("0 */0 * * * ?", "0 * * * ?", "0 is out of range for the step", "at least 1"),
        ("0 5/ * * * ?", "/ *", "cannot be read as minute", "a number must follow"),
        ("0 0 12 1 JANUARY ?", "JANUARY", "JANUARY is not a month", "did you mean JAN?"),
        ("0 0 12 ? * MOO", "MOO", "MOO is not a day of week", "did you mean MON?"),
        ("0 0 12 1 1-JAN ?", "JAN", "mixes a name and a number", "two names or two numbers"),
        ("0 0 12 ? * MON-FRI/2", "/2", "a step cannot follow a name", "2 instead of MON"),
        ("0 0 12 1 1 ? 2030-2020", "2030-2020", "runs backwards", "2020-2030"),
        ("0 0 12 1,L * ?", "L", "L cannot be combined", "two Triggers"),
        ("0 0 12 ? * 2#1,4", "2#1", "2#1 cannot be combined", "two Triggers"),
        ("0 0 12 L-31 * ?", "31", "31 is out of range for the offset", "0 to 30"),
        ("0 0 12 ? * 6#6", "#6", "6 is out of range for the week", "1 to 5"),
        ("? 0 12 * * ?", "? 0", "? is not possible for second", "write *"),
        ("0 0 12 ? * ?", "?", "are both ?", "write * in one"),
        ("0 0 12 * * *", "*", "neither day of month nor day of week", "write ? for day of week"),
        ("0 0 12 * * MON", "* * MON", "neither day of month nor day of week", "write ? for day of month"),
        ("0 0 12 1 * MON", "MON", "are both set", "two Triggers"),
        ("0 0 12 5C * ?", "C *", "cannot be read", "calendar"),
        ("0 0 H * * ?", "H", "H is not an hour", "jitter"),
        ("0 0 １２ * * ?", "１２", "cannot be read as hour", "allowed"),
        ("0 0 12 * * ? # noon", "# noon", "8 fields; Quartz cron has 6 or 7", "order"),
        ("0 0 12 * * ?\n", "?\n", "cannot be read", "?"),
        ("0 99999999999999999999 * * * ?", "9999", "out of range for minute", "0 to 59"),
        ("", "", "is empty", "0 30 2"),
    ],
)
def test_a_fault_points_at_its_place(expression: str, at: str, sentence: str, remedy: str) -> None:
    found = faults(expression)
    assert len(found) == 1, found
    assert sentence in found[0].message
    assert remedy in found[0].remedy or remedy == "?"
    place = found[0].position
    assert place is not None
    if "fields" not in sentence:
        expected = expression.rfind(at) if sentence == "are both ?" or at in {"*", "L"} else expression.find(at)
        assert place in {expected, expected + 1}, (place, expected)


def test_every_faulty_field_and_item_is_named_in_order() -> None:
    found = faults("60 0,99,x 25 99 FOO 9 1900")
    assert [fault.position for fault in found] == [0, 5, 8, 10, 13, 16, 20, 22]


def test_a_very_long_line_is_refused_without_being_read() -> None:
    assert "longer than" in faults("0 " + ",".join(["5"] * 5000) + " * * * ?")[0].message


@pytest.mark.parametrize(
    ("line", "quartz"),
    [
        ("30 2 * * *", "0 30 2 * * ?"),
        ("*/5 * * * *", "0 */5 * * * ?"),
        ("0 9 * * 1-5", "0 0 9 ? * MON-FRI"),
        ("0 9 * * 0", "0 0 9 ? * SUN"),
        ("0 9 * * 7", "0 0 9 ? * SUN"),
        ("0 9 * * 6,0", "0 0 9 ? * SAT,SUN"),
        ("0 9 * * 5-7", "0 0 9 ? * FRI-SUN"),
        ("0 9 * * 1-5/2", "0 0 9 ? * MON,WED,FRI"),
        ("0 9 * * */2", "0 0 9 ? * TUE,THU,SAT,SUN"),
        ("0 9 * * 0-7", "0 0 9 * * ?"),
        ("0 9 * jan-mar sun", "0 0 9 ? JAN-MAR SUN"),
        ("0 0 1,15 * *", "0 0 0 1,15 * ?"),
        ("*/90 */30 * * *", "0 0 0 * * ?"),
        ("  15 14 1 * *  ", "0 15 14 1 * ?"),
        ("@daily", "0 0 0 * * ?"),
        ("@Weekly", "0 0 0 ? * SUN"),
    ],
)
def test_a_unix_line_is_refused_with_its_quartz_form(line: str, quartz: str) -> None:
    assert unix_to_quartz(line) == quartz
    (fault,) = faults(line)
    assert fault.remedy == f"write {quartz}"
    assert "Unix" in fault.message or "crontab" in fault.message
    assert read_cron(quartz)


def test_a_unix_line_that_joins_two_day_fields_has_no_quartz_form() -> None:
    (fault,) = faults("0 9 1,15 * 5")
    assert "Unix" in fault.message
    assert "or; Quartz cannot" in fault.remedy
    with pytest.raises(ScheduleInvalid, match="two Triggers"):
        unix_to_quartz("0 9 1,15 * 5")


@pytest.mark.parametrize("line", ["61 * * * *", "* * * * 8", "a b c d e", "5-1 * * * *", "*/0 * * * *", "* * *", ""])
def test_what_is_no_unix_line_either_is_refused(line: str) -> None:
    with pytest.raises(ScheduleInvalid):
        unix_to_quartz(line)


@pytest.mark.parametrize("line", ["@reboot", "@every 5m"])
def test_macros_without_a_quartz_form_are_said_to_have_none(line: str) -> None:
    assert faults(line)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("*", tuple(range(60))),
        ("5", (5,)),
        ("005", (5,)),
        ("7,3,3", (3, 7)),
        ("10-12", (10, 11, 12)),
        ("58-1", (0, 1, 58, 59)),
        ("55-5/3", (1, 4, 55, 58)),
        ("50/5", (50, 55)),
        ("*/25", (0, 25, 50)),
        ("/25", (0, 25, 50)),
        ("10-20/99", (10,)),
        ("7-7", (7,)),
    ],
)
def test_minutes_mean_these_values(text: str, values: tuple[int, ...]) -> None:
    assert read_cron(f"0 {text} * * * ?").minute.values == values


def test_days_of_a_wrapping_range_are_taken_modulo_31() -> None:
    assert read_cron("0 0 0 26-24/10 * ?").day.values == (5, 15, 26)
    assert read_cron("0 0 0 ? * FRI-MON").weekday.values == (1, 2, 6, 7)
    assert read_cron("0 0 0 1 NOV-FEB ?").month.values == (1, 2, 11, 12)


@pytest.mark.parametrize(
    ("hours", "follows"),
    [
        ("*", True),
        ("0-23", True),
        ("0/1", True),
        ("*/1", True),
        ("/1", True),
        ("9-17", True),
        ("9-17/1", True),
        ("3,9-17", True),
        ("9-17/2", False),
        ("22-3", False),
        ("1,2,3", False),
        ("2", False),
        ("*/2", False),
        ("1/1", False),
        ("5-5", False),
    ],
)
def test_rules_that_follow_the_clock_are_known_by_their_hour_field(hours: str, follows: bool) -> None:
    cron: Cron = read_cron(f"0 0 {hours} * * ?")
    assert cron.follows_clock is follows


@pytest.mark.parametrize(
    ("cursor", "name", "text"),
    [
        (0, "second", "0"),
        (1, "second", "0"),
        (2, "minute", "30"),
        (4, "minute", "30"),
        (5, "hour", "2"),
        (7, "day of month", "*"),
        (9, "month", "*"),
        (11, "day of week", "?"),
        (12, "day of week", "?"),
        (13, "year", ""),
    ],
)
def test_the_field_under_the_cursor_is_named(cursor: int, name: str, text: str) -> None:
    found = field_at("0 30 2 * * ? ", cursor)
    assert found[:2] == (name, text)
    assert found[2]


def test_an_empty_line_begins_with_seconds_and_nothing_follows_the_year() -> None:
    assert field_at("", 0)[:2] == ("second", "")
    assert field_at("0 30 2 * * ? 2030 7", 19)[:2] == ("", "")
