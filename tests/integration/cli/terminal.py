"""The command line in this process on a real database, and a worker's machinery beside it."""

from __future__ import annotations

import asyncio
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.__main__ import run
from core.admission.pipeline import Pipeline
from core.clock import SystemClock
from core.deck import Deck
from core.runtime.execution import Execution
from core.runtime.memory import MemoryRuntime
from core.storage.opening import open_store
from core.views import WorkQuery

FLOW = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: greet}
definition:
  inputSchema: {type: object, properties: {who: {type: string}}}
  steps:
    - id: say
      command: {argv: [echo, "hello {{ input.who | default('world') }}"]}
"""
ASKING = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: release}
definition:
  steps:
    - id: release
      ask:
        kind: approvalRequired
        title: Release it?
        schema: {type: object, properties: {size: {type: integer, maximum: 10}}}
    - id: done
      command: {argv: [echo, "size {{ steps.release.output.values.size }}"]}
"""
FAILING = """
apiVersion: agentstration.io/v1
kind: Flow
metadata: {name: broken}
definition:
  steps:
    - id: fall
      command: {argv: ["false"]}
"""
YEARLY = "{type: cron, expression: '0 0 0 1 1 ?', timeZone: Asia/Kathmandu}"


def trigger(name: str, flow: str, *, schedule: str = YEARLY, enabled: bool = True, more: str = "") -> str:
    """Return the manifest of a Trigger."""
    return f"""
apiVersion: agentstration.io/v1
kind: Trigger
metadata: {{name: {name}}}
definition:
  enabled: {str(enabled).lower()}
  source: {{kind: schedule, schedule: {schedule}}}
  target: {{kind: flow, flow: {{name: {flow}}}}}
  {more}
"""


WORKSPACE = "\n---\n".join(
    [FLOW, ASKING, FAILING, trigger("yearly", "greet"), trigger("weekly", "release"), trigger("daily", "broken")]
)


@dataclass(frozen=True)
class Answer:
    """What one command line answered."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Return standard output as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Terminal:
    """Runs command lines on one database."""

    database: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, *words: str, stdin: str | None = None) -> Answer:
        """Run a command line; `stdin` is what it reads."""
        self.monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((stdin or "").encode())))
        self.capsys.readouterr()
        status = run(words)
        captured = self.capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    def done(self, *words: str, stdin: str | None = None) -> Answer:
        """Run a command line that must end well."""
        answer = self(*words, stdin=stdin)
        assert answer.status == 0, answer.err
        return answer

    def work(self) -> None:
        """Let a worker's machinery run until nothing executes any more."""
        asyncio.run(_work(self.database))

    def fire(self, name: str) -> str:
        """Run a Trigger by hand and let it be worked on; return the Work's id."""
        work_id = self.done("run", name).out.strip()
        self.work()
        return work_id


async def _work(database: Path) -> None:
    clock = SystemClock()
    store, deck = open_store(database, clock=clock, read_only=False), Deck.open(database, clock=clock)
    runtime = MemoryRuntime()
    execution = Execution(store, clock, runtime, 2)
    await execution.start()
    for _ in range(20):
        Pipeline(store, clock).pass_once()
        await execution.pass_once()
        await runtime.drain(20)
        active = deck.works(WorkQuery(active=True)).rows
        if not any(row.status in {"pending", "queued", "running"} for row in active):
            break
    await execution.stop()
    store.close()
    deck.close()
