from __future__ import annotations

from core.views import ACTIVE_WORK
from core.work.statuses import ENDED, RETRYABLE, TRANSITIONS, may, sources_of


def test_every_status_is_active_or_ended() -> None:
    assert set(TRANSITIONS) == set(ACTIVE_WORK) | ENDED


def test_every_active_status_can_be_cancelled_and_no_ended_one_can() -> None:
    assert set(sources_of("cancelled")) == set(ACTIVE_WORK)


def test_only_failed_and_cancelled_work_starts_again() -> None:
    assert set(sources_of("pending")) == RETRYABLE


def test_waiting_comes_from_running_and_goes_back_to_it() -> None:
    for waiting in ("waitingForInput", "waitingForApproval"):
        assert sources_of(waiting) == ("running",)
        assert may(waiting, "running")
        assert not may(waiting, "completed")


def test_completed_is_final() -> None:
    assert not any(may("completed", status) for status in TRANSITIONS)
