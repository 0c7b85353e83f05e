"""Schedules that were parsed before: equal rules are one object, however many Triggers have them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from core.triggers.parse import parse_schedule
from core.triggers.schedule import Schedule
from core.zones import data_version

KEPT = 4_096


def known_schedule(rule: Mapping[str, Any]) -> Schedule:
    """Return the schedule of a rule, parsed once for each zone data; raise what `parse_schedule` raises."""
    return _parsed(json.dumps(rule), data_version())


@lru_cache(maxsize=KEPT)
def _parsed(rule: str, _zone_data: str) -> Schedule:
    return parse_schedule(json.loads(rule))
