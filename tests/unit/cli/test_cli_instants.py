from datetime import UTC, datetime

import pytest

from cli.instants import parse_instant
from core.errors import Invalid

NOW = datetime(2026, 3, 28, 13, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "toward", "expected"),
    [
        ("now", "past", NOW),
        ("2h", "past", datetime(2026, 3, 28, 11, 3, tzinfo=UTC)),
        ("2h", "future", datetime(2026, 3, 28, 15, 3, tzinfo=UTC)),
        ("-1d", "future", datetime(2026, 3, 27, 13, 3, tzinfo=UTC)),
        ("+90m", "past", datetime(2026, 3, 28, 14, 33, tzinfo=UTC)),
        ("2026-03-29T02:30:00+01:00", "past", datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),
        ("2026-03-29 02:30z", "past", datetime(2026, 3, 29, 2, 30, tzinfo=UTC)),
    ],
)
def test_an_instant_is_absolute_or_a_distance(text: str, toward: str, expected: datetime) -> None:
    assert parse_instant(text, "--at", NOW, toward=toward) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-03-29T02:30:00", "has no offset; add Z for UTC"),
        ("2026-02-30T00:00:00Z", "is not an instant"),
        ("tomorrow", "is not an instant; write it as"),
        ("999999999w", "outside the calendar"),
        ("", "is not an instant"),
    ],
)
def test_what_is_no_instant_names_option_and_remedy(text: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_instant(text, "--since", NOW, toward="past")
    assert refused.value.faults[0].field == "--since"
    assert said in refused.value.faults[0].sentence()
