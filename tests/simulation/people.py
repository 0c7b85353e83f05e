"""The people of a simulated workspace: two of them, each with commands of their own, at any moment."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from core.access.scope import Scope
from core.access.service import open_scope
from core.clock import Clock, ManualClock, from_epoch_us
from core.deck import Deck
from core.errors import Denied, Invalid, NotFound, Precondition, StorageUnusable
from core.storage import access
from core.storage.store import Store
from tests.simulation.faults import Crash, Faults, FaultyStore, Process
from tests.simulation.ledger import Ledger
from tests.simulation.outside import Outside
from tests.simulation.scenery import DOUBTFUL, FLOWS, SCHEDULES, document

OPERATOR, COLLEAGUE = "operator", "colleague"
ACTIVE = "('pending', 'queued', 'running', 'waitingForInput', 'waitingForApproval')"
NEVER_ANSWERED = 0.25
REFUSALS = (Precondition, Invalid, NotFound, Denied)
Say = Callable[[str], None]


def found(store: Store, clock: Clock) -> tuple[Deck, Scope]:
    """Make a workspace with an Owner and a colleague; return the Owner's deck and scope."""
    scope = open_scope(store, user=OPERATOR, now=clock.now())
    with store.write() as tx:
        colleague = tx.clock.new_id()
        access.add_principal(tx, colleague, scope.tenant_id, COLLEAGUE)
        access.add_member(tx, scope.workspace_id, colleague, "Admin")
    return Deck(store, scope, "default", clock), scope


class People:
    """An operator who owns the workspace, and a colleague with a role; each command is a process of its own."""

    def __init__(  # noqa: PLR0917 - what a world is made of
        self, draw: random.Random, clock: ManualClock, faults: Faults, ledger: Ledger, outside: Outside, say: Say
    ) -> None:
        self._draw = draw
        self._clock = clock
        self._faults = faults
        self._ledger = ledger
        self._outside = outside
        self._say = say
        self._ignored: set[str] = set()
        self._met: set[str] = set()
        self.did: Counter[str] = Counter()
        self.harm: list[str] = []
        self.acts: list[Callable[[Deck], None]] = [
            self.edit, self.edit, self.toggle, self.pause, self.resume, self.run_now, self.answer, self.answer,
            self.answer, self.cancel, self.retry, self.set_rights, self.recreate, self.change_flow, self.move_mark,
            self.repair,
        ]  # fmt: skip

    def settle_in(self, store: FaultyStore) -> None:
        """Open a deck for each of them, as a shell that stays open would."""
        self._store = store
        self._scope, self._colleague = (open_scope(store, user=user) for user in (OPERATOR, COLLEAGUE))
        self.deck, self.other = self._deck(self._scope), self._deck(self._colleague)

    def _deck(self, scope: Scope) -> Deck:
        return Deck(self._store, scope, "default", self._clock)

    def act(self) -> None:
        """Let somebody do something, as the seed says; a command may be refused, fail, or die."""
        action = self._draw.choice(self.acts)
        deck = self.deck if self._draw.random() < 0.7 else self.other
        try:
            with self._faults.acting_as(Process()):
                action(deck)
            self.did[action.__name__] += 1
        except REFUSALS as refusal:
            self.did[f"{action.__name__} refused"] += 1
            self._say(f"  {refusal}")
        except StorageUnusable as error:
            self._say(f"  {error.message}")
        except Crash as crash:
            self._say(f"  the command died at {crash}")
        self._ledger.note_rights()

    def edit(self, deck: Deck) -> None:
        """Change a schedule, a policy, or only a name."""
        name = self._name()
        manifest = deck.manifest("Trigger", name)
        definition = manifest["definition"]
        kind = self._draw.randrange(3)
        if kind == 0:
            definition["source"]["schedule"] = self._draw.choice(SCHEDULES)
        elif kind == 1:
            definition["misfirePolicy"] = self._draw.choice(["skip", "fireOnce"])
            definition["concurrencyPolicy"] = self._draw.choice(["skip", "allow"])
            definition["target"]["flow"]["name"] = self._draw.choice(list(FLOWS))
        else:
            definition["displayName"] = f"{name} {self._draw.randrange(100)}"
        self._say(f"edit {name} ({kind})")
        deck.apply(json.dumps(manifest), confirm_scope=True)

    def toggle(self, deck: Deck) -> None:
        """Enable what is disabled, and now and then the other way round."""
        known = self._look("SELECT name, enabled FROM trigger_state ORDER BY name")
        if not known:
            return
        name, enabled = self._draw.choice(known)
        if enabled and self._draw.random() < 0.5:
            disabled = self._look("SELECT name FROM trigger_state WHERE NOT enabled ORDER BY name")
            name, enabled = (disabled[0][0], False) if disabled else (name, enabled)
        self._say(f"{'disable' if enabled else 'enable'} {name}")
        (deck.disable if enabled else deck.enable)(name)

    def pause(self, deck: Deck) -> None:
        """Pause for some hours or until resumed."""
        until = None if self._draw.random() < 0.3 else self._clock.now() + timedelta(hours=self._draw.randrange(1, 60))
        name = self._name()
        self._say(f"pause {name} until {until}")
        deck.pause(name, note="simulated", until=until)

    def resume(self, deck: Deck) -> None:
        """End a pause."""
        paused = self._look("SELECT name FROM trigger_state WHERE phase = 'paused' ORDER BY name")
        name = self._draw.choice(paused)[0] if paused else self._name()
        self._say(f"resume {name}")
        deck.resume(name)

    def run_now(self, deck: Deck) -> None:
        """Fire by hand; what comes next must not move."""
        name = self._name()
        query = "SELECT next_nominal_at, next_due_at, mark_at, phase FROM trigger_state WHERE name = ?"
        before = self._look(query, name)
        self._say(f"run {name}")
        try:
            deck.run(name)
        finally:
            if self._look(query, name) != before:
                self.harm.append(f"run now moved the next time of {name}")

    def answer(self, deck: Deck) -> None:
        """Answer some question, unless it is one of those that nobody ever answers; a second answer is refused."""
        waiting = [row[0] for row in self._look("SELECT id FROM pending_action WHERE status = 'pending' ORDER BY id")]
        for question in waiting:
            if question not in self._met and self._draw.random() < NEVER_ANSWERED:
                self._ignored.add(question)
            self._met.add(question)
        left = [question for question in waiting if question not in self._ignored]
        if not left:
            return
        doubts = {row[0] for row in self._look("SELECT id FROM pending_action WHERE json_extract(form, '$.attempt')")}
        doubtful = [question for question in left if question in doubts]
        view = deck.action(self._draw.choice(doubtful or left))
        decision, values = self._draw.choice(view.decisions), self._values(view.schema)
        if decision == "rejected":
            values = {"reason": "simulated"}
        self._say(f"answer {view.row.id[-4:]} {decision} {values}")
        deck.answer(view.row.id, decision, values)
        try:
            deck.answer(view.row.id, decision, values)
        except Precondition:
            return
        self.harm.append(f"question {view.row.id} was answered twice")

    def _values(self, schema: dict[str, Any]) -> dict[str, Any]:
        choices = schema.get("properties", {}).get("choice", {}).get("enum")
        if not choices:
            return {}
        choice = self._draw.choice(choices)
        output = {"output": {"rows": self._draw.randrange(100)}} if choice == "finished" else {}
        self.did[f"{DOUBTFUL}: {choice}"] += 1
        return {"choice": choice, **output}

    def cancel(self, deck: Deck) -> None:
        """Cancel some active Work, rather some that has a step in flight."""
        active = self._look(f"SELECT id, status FROM work WHERE status IN {ACTIVE} ORDER BY created_at, id")  # noqa: S608 - a constant
        if active:
            running = [one for one in active if one[1] == "running"]
            work, status = self._draw.choice(running if running and self._draw.random() < 0.6 else active)
            self._say(f"cancel {work[:8]} ({status})")
            deck.cancel(work)

    def retry(self, deck: Deck) -> None:
        """Run something that failed or was cancelled once more."""
        ended = self._look(
            "SELECT id FROM work WHERE status IN ('failed', 'cancelled') ORDER BY ended_at DESC, id LIMIT 9"
        )
        if ended:
            work = self._draw.choice(ended)[0]
            self._say(f"retry {work[:8]}")
            self._outside.retries[work] += 1  # also where the answer is lost; a refusal leaves the bound too high
            deck.retry(work)

    def set_rights(self, _deck: Deck) -> None:
        """Take a right from somebody or give it back; open decks keep the scope that they took."""
        scope = self._draw.choice([self._scope, self._colleague])
        kind = self._draw.randrange(3)
        workspace, principal = scope.workspace_id, scope.principal_id
        with self._store.write() as tx:
            if kind == 0:
                access.set_principal_active(tx, principal, active=self._draw.random() < 0.6)
            elif kind == 1 and scope is self._colleague:
                access.set_member(tx, workspace, principal, role=self._draw.choice(["Viewer", "Member", "Admin"]))
            else:
                access.set_member(tx, workspace, principal, state=self._draw.choice(["suspended", "active", "active"]))
        self._say(f"rights of {scope.principal} ({kind})")

    def recreate(self, deck: Deck) -> None:
        """Delete a Trigger and make another of the same name."""
        name = self._name()
        manifest = deck.manifest("Trigger", name)
        self._say(f"recreate {name}")
        deck.delete("Trigger", name)
        manifest["metadata"].pop("eTag", None)
        for _ in range(3):
            try:
                deck.apply(json.dumps(manifest))
            except StorageUnusable:
                continue
            return

    def move_mark(self, deck: Deck) -> None:
        """Move a mark back by up to a day, as far as its history is known."""
        query = "SELECT trigger_uid, mark_at, coalesce(decided_from, 0) FROM trigger_state WHERE name = ?"
        name = self._name()
        for uid, mark, known_from in self._look(query, name):
            to = mark - self._draw.randrange(1, 24 * 60) * 60_000_000
            if to > known_from:
                self._say(f"move the mark of {name} to {from_epoch_us(to)}")
                self._ledger.move_mark(uid, to)
                deck.move_mark(name, to=from_epoch_us(to), note="simulated")
                self.did["marks moved back"] += 1

    def repair(self, deck: Deck) -> None:
        """Have the doctor look and repair, now and then; where nothing is wrong, nothing may be repaired."""
        if self._draw.random() < 0.6:
            return
        self._say("doctor --repair")
        if repaired := deck.doctor(repair=True).repaired:
            self.harm.append(f"the doctor repaired what was sound: {repaired}")
        self.did["repairs"] += 1

    def change_flow(self, deck: Deck) -> None:
        """Publish another version of a Flow, delete one that Triggers point at, or bring it back."""
        name = self._draw.choice(list(FLOWS))
        if self._draw.random() < 0.3 and self._flow_exists(name):
            self._say(f"delete flow {name}")
            deck.delete("Flow", name)
            return
        self._say(f"publish flow {name}")
        body = {"displayName": f"{name} {self._draw.randrange(100)}", **FLOWS[name]}
        deck.apply(json.dumps(document("Flow", name, body)))
        deck.publish(name, activate=True)

    def _flow_exists(self, name: str) -> bool:
        query = "SELECT 1 FROM resource WHERE kind = 'Flow' AND name = ? AND deleted_at IS NULL"
        return bool(self._look(query, name))

    def _name(self) -> str:
        names = self._look("SELECT name FROM trigger_state ORDER BY name")
        return str(self._draw.choice(names)[0]) if names else "t0"

    def _look(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._ledger.look(query, *values)
