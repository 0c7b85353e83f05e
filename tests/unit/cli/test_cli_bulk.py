import json
import os
from typing import Any

import pytest

from cli import bulk

NOW = 1_774_569_600  # 2026-03-27T00:00:00Z


def ask(**request: Any) -> dict[str, Any]:
    return answer_to(json.dumps(request))


def answer_to(line: str | bytes) -> dict[str, Any]:
    answer = json.loads(bulk.answer(line.encode() if isinstance(line, str) else line, NOW))
    assert isinstance(answer, dict)
    return answer


def test_a_daily_rule_in_a_gap_is_shifted() -> None:
    answer = ask(expr="0 30 2 * * ?", zone="Europe/Berlin", after="2026-03-28T12:00:00Z", count=2)
    assert answer == {"fires": ["2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"], "exhausted": False}


def test_gap_and_overlap_are_policies_of_the_rule() -> None:
    skipped = ask(expr="0 30 2 * * ?", zone="Europe/Berlin", after="2026-03-28T12:00:00Z", count=1, gap="skip")
    assert skipped["fires"] == ["2026-03-30T00:30:00Z"]
    both = ask(expr="0 30 2 * * ?", zone="Europe/Berlin", after="2026-10-24T12:00:00Z", count=2, overlap="both")
    assert both["fires"] == ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]


def test_the_spelling_of_a_definition_means_the_same() -> None:
    definition = ask(
        type="cron",
        expression="0 30 2 * * ?",
        timeZone="Europe/Berlin",
        daylightSaving={"gap": "skip", "overlap": "second"},
        after="2026-03-28T12:00:00Z",
        count=3,
    )
    short = ask(
        expr="0 30 2 * * ?", zone="Europe/Berlin", gap="skip", overlap="second", after="2026-03-28T12:00:00Z", count=3
    )
    assert definition == short


def test_intervals_and_single_instants_need_no_type() -> None:
    assert ask(every="PT1H", startAt="2026-03-27T00:30:00Z", count=1)["fires"] == ["2026-03-27T00:30:00Z"]
    assert ask(at="2026-05-01T09:00:00+02:00") == {"fires": ["2026-05-01T07:00:00Z"], "exhausted": True}


def test_after_is_exclusive_and_its_fraction_is_cut() -> None:
    rule = {"expr": "* * * * * ?", "zone": "UTC", "count": 1}
    assert ask(**rule, after="2026-03-27T00:00:00Z")["fires"] == ["2026-03-27T00:00:01Z"]
    assert ask(**rule, after="2026-03-27T00:00:00.999Z")["fires"] == ["2026-03-27T00:00:01Z"]


def test_without_after_the_present_counts() -> None:
    assert ask(expr="0 0 0 * * ?", zone="UTC", count=1)["fires"] == ["2026-03-28T00:00:00Z"]


def test_until_is_inclusive_and_does_not_exhaust_the_rule() -> None:
    answer = ask(expr="0 0 * * * ?", zone="UTC", after="2026-03-27T00:00:00Z", until="2026-03-27T02:00:00Z")
    assert answer == {"fires": ["2026-03-27T01:00:00Z", "2026-03-27T02:00:00Z"], "exhausted": False}


def test_a_rule_is_exhausted_where_fewer_fires_came_back_than_were_asked_for() -> None:
    rule = {"every": "PT1H", "startAt": "2026-03-27T00:00:00Z", "maxOccurrences": 3, "after": "2026-03-26T00:00:00Z"}
    assert ask(**rule, count=3)["exhausted"] is False
    assert ask(**rule, count=2)["exhausted"] is False
    assert ask(**rule, count=9) == {
        "fires": ["2026-03-27T00:00:00Z", "2026-03-27T01:00:00Z", "2026-03-27T02:00:00Z"],
        "exhausted": True,
    }


@pytest.mark.parametrize(
    ("request_", "code", "field"),
    [
        ({"expr": "61 * * * * ?", "zone": "UTC"}, "schedule_invalid", "expression"),
        ({"expr": "0 0 9 * * ?", "zone": "Europe/Nowhere"}, "schedule_invalid", "timeZone"),
        ({"expr": "0 0 9 * * ?"}, "schedule_invalid", "timeZone"),
        ({"expr": "0 0 9 * * ?", "zone": "UTC", "gap": "jump"}, "schedule_invalid", "daylightSaving.gap"),
        ({"expr": "0 0 9 * * ?", "expression": "0 0 9 * * ?", "zone": "UTC"}, "schedule_invalid", "expression"),
        ({"zone": "UTC"}, "schedule_invalid", "expression"),
        ({"every": "PT0S", "startAt": "2026-01-01T00:00:00Z"}, "schedule_invalid", "every"),
        ({"expr": "0 0 9 * * ?", "zone": "UTC", "unknown": 1}, "schedule_invalid", "unknown"),
        ({"expr": 7, "zone": "UTC"}, "schedule_invalid", "expression"),
        ({"expr": "0 0 9 * * ?", "zone": "UTC", "after": "2026-03-27T00:00:00"}, "request_invalid", "after"),
        ({"expr": "0 0 9 * * ?", "zone": "UTC", "until": 7}, "request_invalid", "until"),
        ({"expr": "0 0 9 * * ?", "zone": "UTC", "count": 0}, "request_invalid", "count"),
        ({"expr": "0 0 9 * * ?", "zone": "UTC", "count": True}, "request_invalid", "count"),
        (
            {"expr": "0 0 9 * * ?", "zone": "UTC", "daylightSaving": [], "gap": "skip"},
            "schedule_invalid",
            "daylightSaving",
        ),
    ],
)
def test_an_error_names_code_and_field(request_: dict[str, Any], code: str, field: str) -> None:
    answer = ask(**request_)
    assert set(answer) == {"error"}
    assert (answer["error"]["code"], answer["error"]["field"]) == (code, field)
    assert answer["error"]["message"]


def test_several_faults_are_told_at_once() -> None:
    message = ask(expr="61 * * * * ?", zone="Europe/Nowhere")["error"]["message"]
    assert "61" in message
    assert "Europe/Nowhere" in message


@pytest.mark.parametrize("line", ["", "{", "[1]", "null", "7", b"\xff\xfe", "[" * 100_000, '{"expr": NaN}'])
def test_a_bad_line_gives_an_error_line(line: str | bytes) -> None:
    assert set(answer_to(line)) == {"error"}


def test_a_rule_is_not_confused_with_one_that_compares_equal() -> None:
    rule = {"every": "PT1H", "startAt": "2026-03-27T00:00:00Z"}
    assert "fires" in ask(**rule, maxOccurrences=1)
    assert ask(**rule, maxOccurrences=True)["error"]["field"] == "maxOccurrences"


def test_lines_are_answered_as_they_arrive_and_in_order() -> None:
    reader, writer = os.pipe()
    written: list[bytes] = []
    first = b'{"expr": "0 0 9 * * ?", "zone": "UTC", "count": 1}\n'
    os.write(writer, first + b"broken\n" + first[:10])
    os.write(writer, first[10:] + b'{"at": "2026-05-01T00:00:00Z"}')
    os.close(writer)
    bulk.serve(reader, written.append, NOW)
    os.close(reader)
    answers = [json.loads(line) for line in b"".join(written).splitlines()]
    assert ["error" in answer for answer in answers] == [False, True, False, False]
    assert answers[3]["fires"] == ["2026-05-01T00:00:00Z"]


def test_a_caller_that_waits_for_each_answer_gets_it() -> None:
    reader, writer = os.pipe()
    answers: list[bytes] = []

    def answered(data: bytes) -> None:
        answers.append(data)
        if len(answers) == 3:
            os.close(writer)
        else:
            os.write(writer, b'{"at": "2026-05-01T00:00:00Z"}\n')

    os.write(writer, b'{"at": "2026-05-01T00:00:00Z"}\n')
    bulk.serve(reader, answered, NOW)
    os.close(reader)
    assert len(answers) == 3
