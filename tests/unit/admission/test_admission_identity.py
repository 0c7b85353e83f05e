"""The identity of a decision."""

from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from core.admission.identity import NAMESPACE, occurrence_id, pause_range_id, range_id
from core.clock import format_instant, from_epoch

INSTANT_S = 1_774_747_800


def test_the_documented_vector_holds() -> None:
    made = occurrence_id("default", "0190f2a4-7c1e-4b7a-9a51-3d0a6f1c2b3d", INSTANT_S)
    assert made == "ba3a742a-779f-5a66-9e49-df284c1d71c4"


@given(st.text(max_size=40), st.text(max_size=40), st.integers(-(10**9), 7_258_118_400))
def test_the_identity_is_the_standard_uuid5(workspace: str, uid: str, nominal_s: int) -> None:
    text = f"{workspace}/{uid}/{format_instant(from_epoch(nominal_s))}"
    assert occurrence_id(workspace, uid, nominal_s) == str(uuid.uuid5(NAMESPACE, text))


def test_times_ranges_and_pauses_that_begin_together_differ() -> None:
    made = {
        occurrence_id("w", "t", INSTANT_S),
        range_id("w", "t", "missed", INSTANT_S),
        range_id("w", "t", "definition_changed", INSTANT_S),
        pause_range_id("w", "t", "p"),
        range_id("w", "t", "missed", INSTANT_S, mark_moves=1),
        range_id("w", "t", "missed", INSTANT_S, mark_moves=2),
        pause_range_id("w", "t", "p", mark_moves=1),
    }
    assert len(made) == 7
