"""Own the filter language of the Triggers: `enabled flow~import tag:nightly phase:degraded words`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal, get_args

from core.errors import Fault
from core.views import Phase, TriggerQuery

PHASES: tuple[str, ...] = get_args(Phase)
SWITCHES: dict[str, bool] = {"enabled": True, "on": True, "disabled": False, "off": False}
FIELDS = ("flow", "tag", "phase", "namespace")
SHORT = {"ns": "namespace", "state": "phase", "st": "phase"}
Sort = Literal["next", "name", "last", "phase"]
_PAIR = re.compile(r"^([a-z]+)([:~=])(.*)$", re.IGNORECASE)


def parse_filter(text: str, *, sort: Sort = "next", descending: bool = False) -> tuple[TriggerQuery, tuple[Fault, ...]]:
    """Read a filter into the deck's query; what cannot be read is told, the rest holds."""
    query, faults, words = TriggerQuery(sort=sort, descending=descending), [], []
    for word in text.split():
        pair = _PAIR.match(word)
        if pair is None:
            if word.lower() in SWITCHES:
                query = replace(query, enabled=SWITCHES[word.lower()])
            else:
                words.append(word)
            continue
        key, value = SHORT.get(pair[1].lower(), pair[1].lower()), pair[3]
        fault = _check(key, value)
        if fault is not None:
            faults.append(fault)
        elif value:
            query = _with(query, key, value)
    return replace(query, text=" ".join(words)), tuple(faults)


def _with(query: TriggerQuery, key: str, value: str) -> TriggerQuery:
    parts: dict[str, Any] = {key: value.lower() if key == "phase" else value}
    return replace(query, **parts)


def _check(key: str, value: str) -> Fault | None:
    if key not in FIELDS:
        return Fault(
            key, "is not something to filter by", "use flow, tag, phase, namespace, the words enabled and disabled"
        )
    if key == "phase" and value and value.lower() not in PHASES:
        return Fault(key, f"does not know {value!r}", f"use one of {', '.join(PHASES)}")
    return None
