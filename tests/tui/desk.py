"""A real database with Flows and Triggers in it, on a clock that stands at Sat 28 Mar 2026, 14:03:11 Berlin."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.clock import ManualClock
from core.deck import Deck

START = datetime(2026, 3, 28, 13, 3, 11, tzinfo=UTC)
FLOW = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {{name: {name}}}
definition:
  displayName: {name}
  inputSchema: {{type: object}}
  steps:
    - {{id: go, command: {{argv: [python3, -c, "print(1)"]}}}}
"""
TRIGGER = """
apiVersion: agentstration.io/v1
kind: Trigger
metadata: {{name: {name}, tags: [{tags}]}}
definition:
  displayName: {name}
  enabled: {enabled}
  source: {{kind: schedule, schedule: {schedule}}}
  target: {{kind: flow, flow: {{name: {flow}}}}}
  input: {{}}
"""
NIGHTLY = '{type: cron, expression: "0 30 2 * * ?", timeZone: Europe/Berlin}'
ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    ("nightly-import", "etl, nightly", "true", NIGHTLY, "load"),
    (
        "ledger-close",
        "finance",
        "true",
        '{type: cron, expression: "0 0 6 ? * MON-FRI", timeZone: Europe/Berlin}',
        "load",
    ),
    ("crm-pull", "etl", "true", '{type: interval, every: PT15M, startAt: "2026-03-28T00:05:00Z"}', "pull"),
    ("us-digest", "", "true", '{type: cron, expression: "0 0 8 * * ?", timeZone: America/New_York}', "pull"),
    ("disk-usage", "", "false", '{type: interval, every: PT10S, startAt: "2026-03-28T00:00:00Z"}', "pull"),
)


def trigger_yaml(
    name: str, schedule: str = NIGHTLY, *, flow: str = "load", enabled: str = "true", tags: str = ""
) -> str:
    """Return a Trigger's manifest."""
    return TRIGGER.format(name=name, schedule=schedule, flow=flow, enabled=enabled, tags=tags)


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing on the screen move by itself, and leave the person's own settings out."""
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr("textual.widgets.Input.cursor_blink", False)
    monkeypatch.setenv("TZ", "America/New_York")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)


@pytest.fixture
def clock(quiet: None) -> ManualClock:
    """Return the clock that the whole test lives on."""
    return ManualClock(START)


@pytest.fixture
def database(tmp_path: Path, clock: ManualClock) -> Path:
    """Return a database with two Flows and five Triggers."""
    file = tmp_path / "deck.sqlite3"
    deck = Deck.open(file, clock=clock)
    texts = [FLOW.format(name=name) for name in ("load", "pull")]
    texts += [trigger_yaml(name, schedule, flow=flow, enabled=on, tags=tags) for name, tags, on, schedule, flow in ROWS]
    deck.apply("---".join(texts))
    deck.close()
    return file


@pytest.fixture
def many(database: Path, clock: ManualClock) -> Callable[[int], Path]:
    """Return a function that adds Triggers called bulk-000 and so on."""

    def add(count: int) -> Path:
        deck = Deck.open(database, clock=clock)
        deck.apply("---".join(trigger_yaml(f"bulk-{number:03}", tags="bulk") for number in range(count)))
        deck.close()
        return database

    return add
