"""Numbers read the same at every door: counted things, spans of time, sizes."""

from __future__ import annotations

import pytest

from core.words import counted, duration, size


@pytest.mark.parametrize(
    ("number", "nouns", "told"),
    [
        (0, ("fault",), "0 faults"),
        (1, ("fault",), "1 fault"),
        (2_130, ("Trigger",), "2,130 Triggers"),
        (1, ("waits for you", "wait for you"), "1 waits for you"),
        (3, ("waits for you", "wait for you"), "3 wait for you"),
    ],
)
def test_a_number_agrees_with_its_noun(number: int, nouns: tuple[str, ...], told: str) -> None:
    assert counted(number, *nouns) == told


@pytest.mark.parametrize(
    ("seconds", "short", "spaced"),
    [
        (-5, "0s", "0s"),
        (0.0142, "0s", "0.014s"),
        (4.25, "4s", "4.2s"),
        (9, "9s", "9s"),
        (109, "1m49s", "1m 49s"),
        (3_600, "1h", "1h"),
        (44_760, "12h26m", "12h 26m"),
        (136_800, "1d14h", "1d 14h"),
        (279 * 86_400 + 70_000, "279d", "279d"),
        (40 * 365 * 86_400 + 86_400, "40y1d", "40y 1d"),
    ],
)
def test_a_span_is_told_in_its_two_largest_units(seconds: float, short: str, spaced: str) -> None:
    assert (duration(seconds), duration(seconds, gap=" ", fine=True)) == (short, spaced)


@pytest.mark.parametrize(
    ("octets", "told"), [(0, "0 B"), (912, "912 B"), (4_120_000, "4.1 MB"), (312_000, "312 kB"), (81.4e9, "81.4 GB")]
)
def test_a_size_is_told_in_the_unit_that_suits(octets: float, told: str) -> None:
    assert size(octets) == told
