"""The plain subset against croniter, away from clock changes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from croniter import croniter
from hypothesis import given, settings
from hypothesis import strategies as st

from core.triggers import parse_schedule, unix_to_quartz


def plain(low: int, high: int) -> st.SearchStrategy[str]:
    value = st.integers(low, high)
    ordered = st.tuples(value, value).map(lambda pair: tuple(sorted(pair))).filter(lambda pair: pair[0] < pair[1])
    return st.one_of(
        value.map(str),
        st.lists(value, min_size=2, max_size=4, unique=True).map(lambda values: ",".join(map(str, sorted(values)))),
        ordered.map(lambda pair: f"{pair[0]}-{pair[1]}"),
        st.integers(2, max(2, (high - low) // 2)).map(lambda step: f"*/{step}"),
        st.just("*"),
    )


weekdays = st.one_of(
    st.integers(0, 7).map(str),
    st.sampled_from(["1-5", "0,6", "MON-FRI", "sun", "5-7", "2-4", "0-2", "*/2", "1-5/2", "MON,WED,FRI", "0-6", "0-7"]),
)


@st.composite
def unix_lines(draw: st.DrawFn) -> str:
    minute, hour, month = draw(plain(0, 59)), draw(plain(0, 23)), draw(plain(1, 12))
    by_weekday = draw(st.booleans())
    day, weekday = ("*", draw(weekdays)) if by_weekday else (draw(plain(1, 28)), "*")
    return f"{minute} {hour} {day} {month} {weekday}"


@settings(max_examples=250, deadline=None, derandomize=True)
@given(unix_lines(), st.integers(946_684_800, 2_000_000_000))
def test_a_unix_line_said_in_quartz_fires_when_croniter_says(line: str, after: int) -> None:
    rule: dict[str, Any] = {"type": "cron", "expression": unix_to_quartz(line), "timeZone": "UTC"}
    peer = croniter(line, datetime.fromtimestamp(after, UTC))
    wanted = [int(peer.get_next(float)) for _ in range(12)]
    assert parse_schedule(rule).between(after, 1 << 40, 12) == wanted, rule
