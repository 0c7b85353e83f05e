"""The evaluator against thousands of answers of the real Quartz; README.md beside says how they were made."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from core.errors import ScheduleInvalid
from core.triggers import Schedule, parse_schedule
from core.zones import DAY_S, zone

ORACLE = Path(__file__).with_name("quartz_fire_times.jsonl.gz")
QUARTZ = {"gap": "skip", "overlap": "second"}
AUTO = {"gap": "auto", "overlap": "auto"}


def load() -> list[dict[str, Any]]:
    with gzip.open(ORACLE, "rt", encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


ROWS = load()
PLAIN = [row for row in ROWS if "fires" in row and not {"lenient", "defect", "afterFirstPass"} & set(row)]


def epoch(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() // 1)


def schedule(row: dict[str, Any], daylight_saving: dict[str, str]) -> Schedule:
    text = {"type": "cron", "expression": row["expr"], "timeZone": row["zone"]}
    return parse_schedule({**text, "daylightSaving": daylight_saving})


def walk(rule: Schedule, row: dict[str, Any]) -> tuple[list[int], bool]:
    """Return the fires asked for one after another, and whether the rule ended before."""
    instant, found = epoch(row["after"]), []
    while len(found) < row["asked"]:
        later = rule.next(instant)
        if later is None:
            return found, True
        found.append(later)
        instant = later
    return found, False


def expected(row: dict[str, Any]) -> tuple[list[int], bool]:
    return [epoch(fire) for fire in row["fires"]], bool(row.get("exhausted"))


def far_from_transitions(row: dict[str, Any]) -> bool:
    """Say whether the zone keeps one offset from two days before `after` to two days after the last fire.

    Within that stretch no wall time is missing or doubled, so every policy must give the same fires. A row that ends
    (`exhausted`) is searched to the end of time and has no such stretch unless its zone never changes.
    """
    if not row["fires"] or row.get("exhausted"):
        return zone(row["zone"]).next_transition(epoch(row["after"]) - 2 * DAY_S) is None
    last = epoch(row["fires"][-1])
    return not list(zone(row["zone"]).transitions(epoch(row["after"]) - 2 * DAY_S, last + 2 * DAY_S))


def report(wrong: list[dict[str, Any]], total: int) -> str:
    lines = [f"{len(wrong)} of {total} rows differ"]
    return "\n".join(lines + [json.dumps(row, ensure_ascii=False) for row in wrong[:10]])


def test_the_oracle_is_whole() -> None:
    assert len(ROWS) == 5547
    assert len(PLAIN) == 4743


def test_every_plain_row_fires_exactly_as_quartz_does() -> None:
    wrong = [row for row in PLAIN if walk(schedule(row, QUARTZ), row) != expected(row)]
    assert not wrong, report(wrong, len(PLAIN))


def test_the_batch_gives_what_one_at_a_time_gives() -> None:
    wrong = []
    for row in PLAIN:
        rule, after = schedule(row, QUARTZ), epoch(row["after"])
        if rule.between(after, epoch("2200-01-01T00:00:00Z"), row["asked"]) != expected(row)[0]:
            wrong.append(row)
    assert not wrong, report(wrong, len(PLAIN))


def test_counting_and_looking_back_agree_with_quartz() -> None:
    for row in PLAIN:
        fires = expected(row)[0]
        if not fires:
            continue
        rule = schedule(row, QUARTZ)
        assert rule.count(epoch(row["after"]), fires[-1]) == len(fires), row
        assert rule.previous(fires[-1]) == fires[-1], row
        assert rule.previous(fires[-1] - 1) == (fires[-2] if len(fires) > 1 else rule.previous(fires[0] - 1)), row


def test_rows_far_from_transitions_are_the_same_under_every_policy() -> None:
    rows = [row for row in PLAIN if far_from_transitions(row)]
    assert len(rows) == 2018
    for policies in (AUTO, {"gap": "shift", "overlap": "both"}, {"gap": "skip", "overlap": "first"}):
        wrong = [row for row in rows if walk(schedule(row, policies), row) != expected(row)]
        assert not wrong, report(wrong, len(rows))


def quiet(row: dict[str, Any], instants: list[int]) -> list[int]:
    """Return the instants that lie more than two days from every transition of the row's zone."""
    place = zone(row["zone"])
    return [t for t in instants if not list(place.transitions(t - 2 * DAY_S, t + 2 * DAY_S))]


def test_away_from_transitions_auto_fires_in_every_row_as_quartz_does() -> None:
    compared = 0
    for row in PLAIN:
        fires, exhausted = expected(row)
        until = epoch("2200-01-01T00:00:00Z") if exhausted else fires[-1]
        ours = schedule(row, AUTO).between(epoch(row["after"]), until)
        assert quiet(row, ours) == quiet(row, fires), row
        compared += len(quiet(row, fires))
    assert compared > 20_000


@pytest.mark.parametrize("why", ["parse", "eval"])
def test_text_that_quartz_refuses_is_refused_with_a_position(why: str) -> None:
    rows = [row for row in ROWS if row.get("stage") == why]
    assert rows
    for row in rows:
        with pytest.raises(ScheduleInvalid) as caught:
            schedule(row, QUARTZ)
        for fault in caught.value.faults:
            assert fault.field == "expression", row
            assert fault.position is not None, row
            assert 0 <= fault.position <= len(row["expr"]), row
            assert fault.message, row


def test_text_outside_the_documented_grammar_is_refused_though_quartz_takes_it() -> None:
    rows = [row for row in ROWS if row.get("lenient")]
    assert len(rows) == 127
    for row in rows:
        with pytest.raises(ScheduleInvalid):
            schedule(row, QUARTZ)


def test_nearest_weekday_lists_and_short_months_fire_as_the_later_quartz_line_does() -> None:
    rows = [row for row in ROWS if row.get("defect") and "W" in row["expr"].upper().split()[3]]
    rows = [row for row in rows if "fires" in row.get("net", {}) and far_from_transitions(row | row["net"])]
    assert len(rows) >= 10
    for row in rows:
        assert walk(schedule(row, QUARTZ), row)[0] == [epoch(fire) for fire in row["net"]["fires"]], row


def test_lines_on_which_quartz_never_comes_back_have_an_answer() -> None:
    rows = [row for row in ROWS if row.get("stage") == "hang" and "0W" not in row["expr"].replace("30W", "")]
    assert rows
    for row in rows:
        assert schedule(row, QUARTZ).next(epoch(row["after"])) is not None, row
