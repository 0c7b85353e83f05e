"""Whatever an operator does, in whatever order, with crashes anywhere: nothing lost, nothing doubled, nothing moved.

Hypothesis draws the acts and shrinks a failing sequence to the shortest one. The rules speak to the Deck, as people
do; the worker is the real pipeline and execution over the engine of memory, on a real database.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from core import failpoints
from core.clock import from_epoch_us
from core.errors import Invalid, NotFound, Precondition
from core.views import WorkQuery
from tests.simulation.__main__ import fast_folder
from tests.simulation.scenery import FLOWS, SCHEDULES, document
from tests.simulation.world import World, simulated_steps

REFUSALS = (Precondition, Invalid, NotFound)
schedules = st.sampled_from(SCHEDULES)
policies = st.fixed_dictionaries(
    {"misfirePolicy": st.sampled_from(["skip", "fireOnce"]), "concurrencyPolicy": st.sampled_from(["skip", "allow"])}
)
moments = st.one_of(
    st.integers(1, 90).map(lambda n: timedelta(seconds=n)),
    st.integers(1, 90).map(lambda n: timedelta(minutes=n)),
    st.integers(1, 60).map(lambda n: timedelta(hours=n)),
)


class Operating(RuleBasedStateMachine):
    """A workspace, its one operator and its one worker."""

    names: Bundle[str] = Bundle("names")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="triggerdeck-stateful-", dir=fast_folder()))
        self.world = World(0, self.folder, days=1)
        self.loop = self.world.loop
        self.steps = ExitStack()
        self.steps.enter_context(simulated_steps(self.world.outside))
        self.settled = False
        self.made = 0
        self._do(self.world.start())

    @initialize(target=names)
    def furnish(self) -> Any:
        """Store two Triggers; the Flows are there."""
        policy = {"misfirePolicy": "fireOnce", "concurrencyPolicy": "skip"}
        return multiple(self._create(SCHEDULES[3], "asks", policy), self._create(SCHEDULES[0], "slow", policy))

    # -- what an operator does ---------------------------------------------------------------------------------------

    @rule(target=names, schedule=schedules, flow=st.sampled_from(sorted(FLOWS)), policy=policies)
    def create(self, schedule: dict[str, Any], flow: str, policy: dict[str, str]) -> Any:
        try:
            return self._create(schedule, flow, policy)
        except Invalid:  # a rule that can never fire again
            return multiple()

    @rule(name=names, schedule=schedules)
    def edit_the_schedule(self, name: str, schedule: dict[str, Any]) -> None:
        self._edit(name, lambda definition: definition["source"].update(schedule=schedule))

    @rule(name=names, policy=policies, flow=st.sampled_from(sorted(FLOWS)))
    def edit_anything_else(self, name: str, policy: dict[str, str], flow: str) -> None:
        before = self._next(name)
        target = {"target": {"kind": "flow", "flow": {"name": flow}}}
        self._edit(name, lambda definition: definition.update(**policy, **target))
        assert self._next(name) == before, "an edit that leaves the schedule alone moved the next time"

    @rule(name=names, hours=st.one_of(st.none(), st.integers(1, 40)))
    def pause(self, name: str, hours: int | None) -> None:
        until = None if hours is None else self.world.clock.now() + timedelta(hours=hours)
        self._try(lambda: self.world.deck.pause(name, note="drawn", until=until))

    @rule(name=names)
    def resume(self, name: str) -> None:
        self._try(lambda: self.world.deck.resume(name))

    @rule(name=names)
    def enable(self, name: str) -> None:
        self._try(lambda: self.world.deck.enable(name))

    @rule(name=names)
    def disable(self, name: str) -> None:
        self._try(lambda: self.world.deck.disable(name))

    @rule(name=names)
    def run_now(self, name: str) -> None:
        before = self._next(name)
        self._try(lambda: self.world.deck.run(name))
        assert self._next(name) == before, "run now moved the next time"

    @rule(name=consumes(names))
    def delete(self, name: str) -> None:
        self._try(lambda: self.world.deck.delete("Trigger", name))

    @rule(agree=st.booleans(), which=st.integers(0, 20))
    def answer(self, agree: bool, which: int) -> None:
        waiting = self.world.deck.actions()
        if not waiting:
            return
        view = self.world.deck.action(waiting[which % len(waiting)].id)
        decision = view.decisions[0 if agree else -1]
        choices = view.schema.get("properties", {}).get("choice", {}).get("enum")
        values = {"choice": choices[which % len(choices)]} if choices else {"reason": "drawn"}
        if not self._try(lambda: self.world.deck.answer(view.row.id, decision, values)):
            return
        with pytest.raises(Precondition):
            self.world.deck.answer(view.row.id, view.decisions[0], {})

    @rule(which=st.integers(0, 20))
    def cancel(self, which: int) -> None:
        active = self.world.deck.works(WorkQuery(active=True)).rows
        if active:
            self._try(lambda: self.world.deck.cancel(active[which % len(active)].id))

    @rule(which=st.integers(0, 20), status=st.sampled_from(["failed", "cancelled"]))
    def retry(self, which: int, status: str) -> None:
        ended = self.world.deck.works(WorkQuery(status=status)).rows
        if ended:
            chosen = ended[which % len(ended)].id
            if self._try(lambda: self.world.deck.retry(chosen)):
                self.world.outside.retries[chosen] += 1

    @rule(name=names, minutes=st.integers(1, 24 * 60))
    def move_the_mark_back(self, name: str, minutes: int) -> None:
        """By hand, as far as the history is known."""
        look = self.world.ledger.look
        query = "SELECT trigger_uid, mark_at, coalesce(decided_from, 0) FROM trigger_state WHERE name = ?"
        for uid, mark, known_from in look(query, name):
            to = mark - minutes * 60_000_000
            if to > known_from:
                self.settled = False
                self.world.ledger.move_mark(uid, to)
                self.world.deck.move_mark(name, to=from_epoch_us(to), note="drawn")

    @rule()
    def have_the_doctor_repair(self) -> None:
        assert self.world.deck.doctor(repair=True).repaired == (), "the doctor repaired what was sound"

    # -- what time and machine do ------------------------------------------------------------------------------------

    @rule(by=moments)
    def let_time_pass(self, by: timedelta) -> None:
        self.settled = False
        self.world.clock.advance(by)
        self._do(self.world.loop.quiet())

    @rule(name=names)
    def advance_to_the_next_time(self, name: str) -> None:
        due = self.world.deck.trigger(name).row.next_due_at
        if due is not None and due > self.world.clock.now():
            self.settled = False
            self.world.clock.advance(due - self.world.clock.now())
            self._do(self.world.loop.quiet())

    @rule()
    def turn_the_worker(self) -> None:
        self._do(self.world.turn())
        self.settled = True

    @rule(places=st.integers(1, 25))
    def crash_in_a_turn(self, places: int) -> None:
        """Let the process end at the n-th named place that it comes to, and start again."""
        left = [places]

        def strike(place: str) -> None:
            left[0] -= 1
            if left[0] == 0:
                self.world.faults.kill(place)

        failpoints.watch(strike)
        try:
            self._do(self.world.turn())
        finally:
            failpoints.watch(None)

    @rule()
    def crash_between_turns(self) -> None:
        self._do(self.world.restart())

    # -- what always holds -------------------------------------------------------------------------------------------

    @invariant()
    def nothing_is_lost_or_doubled_and_no_mark_moves_back(self) -> None:
        self.world.examine(settled=self.settled)

    def teardown(self) -> None:
        """Let go of the files."""
        self._do(self.world.end_process())
        self.steps.close()
        self.world.close()
        shutil.rmtree(self.folder)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _create(self, schedule: dict[str, Any], flow: str, policy: dict[str, str]) -> str:
        self.made += 1
        definition = {
            "displayName": f"Trigger {self.made}",
            "enabled": True,
            "source": {"kind": "schedule", "schedule": schedule},
            "target": {"kind": "flow", "flow": {"name": flow}},
            **policy,
        }
        self.world.deck.apply(json.dumps(document("Trigger", f"t{self.made}", definition)))
        return f"t{self.made}"

    def _edit(self, name: str, change: Callable[[dict[str, Any]], None]) -> None:
        manifest = self.world.deck.manifest("Trigger", name)
        change(manifest["definition"])
        self._try(lambda: self.world.deck.apply(json.dumps(manifest)))

    def _next(self, name: str) -> object:
        return self.world.deck.trigger(name).row.next_due_at

    def _try(self, act: Callable[[], object]) -> bool:
        """Do something that may be refused in one sentence; return whether it was done."""
        try:
            act()
        except REFUSALS:
            return False
        return True

    def _do(self, what: Coroutine[Any, Any, None]) -> None:
        async def done() -> None:
            await what
            await self.loop.quiet()

        self.loop.run_until_complete(done())


TestOperating = pytest.mark.slow(pytest.mark.timeout(300)(Operating.TestCase))
TestOperating.settings = settings(
    max_examples=20,
    stateful_step_count=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
