"""The wait step: an instant at which the run goes on; until then it is a row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from core.flows.definition import parse_instant
from core.flows.expressions import ExpressionError, render
from core.flows.steps import Wait


def resume_instant(wait: Wait, values: Mapping[str, Any], now: datetime) -> datetime:
    """Return when the run goes on; raises ExpressionError where an expression yields no instant."""
    if wait.for_ is not None:
        return now + wait.for_
    try:
        return parse_instant(render(wait.until or "", values)).astimezone(UTC)
    except ExpressionError:
        raise
    except (ValueError, OverflowError) as error:
        raise ExpressionError(f"until: {error}") from None
