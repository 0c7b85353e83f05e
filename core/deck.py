"""The one door: everything that a screen, a command or a script may do.

Each call is one transaction of its own and may come from any thread. Answers are frozen values of `core.views`;
refusals are `core.errors`. Writing calls check the acting principal's permissions below this door and record an
audit event; under `read_only` they are refused.

    deck = Deck.open("triggerdeck.sqlite3")
    deck.apply(open("nightly.yaml").read())
    for row in deck.triggers().rows:
        print(row.name, row.next_due_at)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import views
from core.access import audit
from core.access import scope as scopes
from core.access.service import open_scope
from core.clock import Clock, SystemClock
from core.deferred import deferred
from core.errors import Denied, Fault, Invalid
from core.queries import machinery, triggers
from core.queries.context import Reading
from core.settings import database_path
from core.storage import read_machinery
from core.storage.opening import open_store, schema_version
from core.storage.store import Store, Transaction

if TYPE_CHECKING:
    from core.admission import control, marks
    from core.flows import publishing
    from core.queries import flows, occurrences, schedules, timeline, work
    from core.resources import credentials, manifests, service
    from core.upkeep import commands as upkeep
    from core.work import service as works
else:
    control, marks = deferred("core.admission.control"), deferred("core.admission.marks")
    publishing, works = deferred("core.flows.publishing"), deferred("core.work.service")
    flows, occurrences = deferred("core.queries.flows"), deferred("core.queries.occurrences")
    schedules, timeline = deferred("core.queries.schedules"), deferred("core.queries.timeline")
    work, upkeep = deferred("core.queries.work"), deferred("core.upkeep.commands")
    manifests, service = deferred("core.resources.manifests"), deferred("core.resources.service")
    credentials = deferred("core.resources.credentials")


class Deck:
    """One workspace on one database, seen and steered by one principal."""

    def __init__(self, store: Store, scope: scopes.Scope, namespace: str, clock: Clock) -> None:
        self._store = store
        self._scope = scope
        self._namespace = namespace
        self._clock = clock

    @classmethod
    def open(
        cls,
        database: str | Path | None = None,
        *,
        workspace: str = "default",
        namespace: str = "default",
        read_only: bool = False,
        clock: Clock | None = None,
    ) -> Deck:
        """Open the database, making it at a first start, as the operating system's user."""
        clock = clock or SystemClock()
        store = open_store(database_path(database), clock=clock, read_only=read_only)
        try:
            scope = open_scope(store, workspace=workspace, read_only=read_only, now=clock.now())
        except BaseException:
            store.close()
            raise
        return cls(store, scope, namespace, clock)

    def close(self) -> None:
        """Close the database; the worker goes on."""
        self._store.close()

    @property
    def database(self) -> Path:
        """Return the file that this deck looks at."""
        return self._store.path

    @property
    def clock(self) -> Clock:
        """Return the clock that this deck reads."""
        return self._clock

    # -- who and what changed ----------------------------------------------------------------------------------------

    def whoami(self) -> views.Who:
        """Return the acting principal, its role and its permissions."""
        return self._scope.who()

    def status(self) -> views.Status:
        """Return what the frame shows; cheap enough for once a second."""
        with self._reading() as reading:
            return machinery.status(reading, workspace=self._scope.workspace, read_only=self._scope.read_only)

    def changes(self, after: int) -> views.Changes:
        """Return what changed after a sequence number."""
        with self._reading() as reading:
            return machinery.changes_after(reading, after)

    def data_version(self) -> int:
        """Return a number that moves with every commit of another connection; costs microseconds."""
        return self._store.data_version()

    def health(self) -> views.Health:
        """Return the state of worker, queue, projection and database."""
        with self._reading() as reading:
            return machinery.health(reading, self._store.path, schema_version(reading.tx))

    def notifications(self, *, after: int = 0, limit: int = 200) -> tuple[views.NotificationRow, ...]:
        """Return the newest notifications, newest first."""
        with self._reading() as reading:
            return tuple(read_machinery.notifications(reading.tx, reading.workspace_id, after=after, limit=limit))

    def away(self) -> views.Away:
        """Return what happened since this principal's last visit, and begin a new visit unless read-only."""
        key = f"visit:{self._scope.workspace_id}:{self._scope.principal_id}"
        with self._reading() as reading:
            last = read_machinery.fact(reading.tx, key)
            summary = machinery.away(reading, datetime.fromisoformat(last) if last else None)
        if not self._scope.read_only:
            with self._store.write(durable=False) as tx:
                read_machinery.put_fact(tx, key, self._clock.now().isoformat())
        return summary

    def audit(self, *, limit: int = 200) -> tuple[dict[str, Any], ...]:
        """Return the newest audit events, newest first."""
        with self._reading("authorization/read") as reading:
            return tuple(read_machinery.audit_events(reading.tx, reading.workspace_id, limit))

    # -- resources ---------------------------------------------------------------------------------------------------

    def apply(
        self,
        text: str | Mapping[str, str],
        *,
        dry_run: bool = False,
        prune: bool = False,
        confirm_scope: bool = False,
    ) -> tuple[views.Applied, ...]:
        """Create or change the resources of a YAML or JSON text, or of several by the name of their file: all or none.

        Raises `Invalid` with every fault of every document, `StaleETag` where `metadata.eTag` is not the stored one.
        """
        file = manifests.parse_file(text, namespace=self._namespace)
        with self._writing() as tx:
            return service.apply(
                tx,
                self._scope,
                file,
                hooks=control,
                now=self._clock.now(),
                dry_run=dry_run,
                prune=prune,
                confirm_scope=confirm_scope,
            )

    def diff(self, text: str | Mapping[str, str], *, prune: bool = False) -> tuple[views.Applied, ...]:
        """Return what `apply` would do, and do nothing."""
        if self._scope.read_only:
            documents = manifests.parse_documents(text, namespace=self._namespace)
            with self._reading("resources/read") as reading:
                return service.diff(reading.tx, self._scope, documents)
        return self.apply(text, dry_run=True, prune=prune, confirm_scope=True)

    def validate(self, text: str) -> tuple[Fault, ...]:
        """Return every fault that `apply` would find in a text, none where it would be taken."""
        try:
            self.diff(text)
        except Invalid as broken:
            return broken.faults
        return ()

    def manifest(self, kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
        """Return a resource as its full envelope, server-owned fields and status included."""
        with self._reading("resources/read") as reading:
            return service.manifest(reading.tx, self._scope, kind, self._in(namespace), name)

    def manifests(self, kind: str, namespace: str | None = None) -> tuple[dict[str, Any], ...]:
        """Return every resource of a kind as full envelopes, by name; without a namespace those of all."""
        with self._reading("resources/read") as reading:
            return tuple(service.manifests(reading.tx, self._scope, kind, namespace))

    def revisions(self, kind: str, name: str, namespace: str | None = None) -> tuple[views.RevisionView, ...]:
        """Return the kept generations of a definition, newest first."""
        with self._reading("resources/read") as reading:
            return tuple(service.revisions(reading.tx, self._scope, kind, self._in(namespace), name))

    def delete(self, kind: str, name: str, namespace: str | None = None) -> views.Applied:
        """Delete a resource; its history stays, reachable under its name."""
        with self._writing() as tx:
            now = self._clock.now()
            return service.delete(tx, self._scope, kind, self._in(namespace), name, hooks=control, now=now)

    # -- Triggers ----------------------------------------------------------------------------------------------------

    def triggers(
        self, query: views.TriggerQuery | None = None, *, offset: int = 0, limit: int | None = 100
    ) -> views.Page[views.TriggerRow]:
        """Return one stretch of Triggers; `limit` None gives all."""
        with self._reading("resources/read") as reading:
            return triggers.page(reading, query or views.TriggerQuery(), offset=offset, limit=limit)

    def trigger(self, name: str, namespace: str | None = None) -> views.TriggerView:
        """Return all about one Trigger."""
        with self._reading("resources/read") as reading:
            stored = service.get(reading.tx, self._scope, "Trigger", self._in(namespace), name)
            manifest = service.manifest(reading.tx, self._scope, "Trigger", stored.namespace, name)
            return triggers.view(reading, stored.uid, manifest, stored.etag)

    def enable(self, name: str, namespace: str | None = None) -> views.Effect:
        """Enable a Trigger; what was due before is never fired."""
        with self._writing() as tx:
            return control.enable(tx, self._scope, self._in(namespace), name, self._clock.now())

    def disable(self, name: str, namespace: str | None = None) -> views.Effect:
        """Disable a Trigger; active Work goes on and is named."""
        with self._writing() as tx:
            return control.disable(tx, self._scope, self._in(namespace), name, self._clock.now())

    def pause(
        self, name: str, *, note: str, until: datetime | None = None, namespace: str | None = None
    ) -> views.Effect:
        """Pause a Trigger, for good or until an instant; its nominal times are recorded as paused."""
        with self._writing() as tx:
            now = self._clock.now()
            return control.pause(tx, self._scope, self._in(namespace), name, note=note, until=until, now=now)

    def resume(self, name: str, namespace: str | None = None) -> views.Effect:
        """End a pause; what it covered does not fire."""
        with self._writing() as tx:
            return control.resume(tx, self._scope, self._in(namespace), name, self._clock.now())

    def run(self, name: str, *, input: Mapping[str, Any] | None = None, namespace: str | None = None) -> views.Effect:  # noqa: A002 - the word of the resource
        """Fire a Trigger now: a manual occurrence; schedule and mark do not move."""
        credentials.refuse_credentials(input, "input")
        with self._writing() as tx:
            now = self._clock.now()
            return control.run_now(tx, self._scope, self._in(namespace), name, values=input, now=now)

    def move_mark(self, name: str, *, to: datetime, note: str, namespace: str | None = None) -> views.Effect:
        """Move a Trigger's mark back, with a reason; what lies above it is decided anew, with no second Work."""
        with self._writing() as tx:
            where, now = self._in(namespace), self._clock.now()
            return marks.move_mark(tx, self._scope, where, name, to=to, note=note, now=now)

    # -- schedules ---------------------------------------------------------------------------------------------------

    def preview(
        self,
        schedule: Mapping[str, Any],
        *,
        after: datetime | None = None,
        count: int | None = 10,
        until: datetime | None = None,
    ) -> views.SchedulePreview:
        """Return the next fires of a rule in a definition's spelling; a bad rule answers its faults."""
        return schedules.preview_rule(schedule, after or self._clock.now(), count=count, until=until)

    def preview_trigger(
        self,
        name: str,
        *,
        after: datetime | None = None,
        count: int | None = 10,
        until: datetime | None = None,
        namespace: str | None = None,
    ) -> views.SchedulePreview:
        """Return the next fires of a saved Trigger."""
        with self._reading("resources/read") as reading:
            stored = service.get(reading.tx, self._scope, "Trigger", self._in(namespace), name)
        return self.preview(schedules.rule_of(stored.definition), after=after, count=count, until=until)

    def fire_change(
        self, before: Mapping[str, Any] | None, after: Mapping[str, Any], *, days: int = 14
    ) -> views.FireChange:
        """Return the fires that an edit of a schedule adds, removes and moves in the coming days."""
        return schedules.fire_change(before, after, self._clock.now(), days)

    def timeline(
        self,
        from_at: datetime,
        to_at: datetime,
        *,
        slots: int = 96,
        query: views.TriggerQuery | None = None,
        offset: int = 0,
        limit: int | None = 200,
    ) -> views.Timeline:
        """Return past and forecast fires per slot, one lane per Trigger."""
        with self._reading("resources/read") as reading:
            wanted = query or views.TriggerQuery()
            return timeline.timeline(reading, from_at, to_at, slots=slots, query=wanted, offset=offset, limit=limit)

    # -- history -----------------------------------------------------------------------------------------------------

    def occurrences(
        self,
        query: views.OccurrenceQuery | None = None,
        *,
        offset: int = 0,
        cursor: str | None = None,
        limit: int | None = 100,
    ) -> views.Page[views.OccurrenceRow]:
        """Return one stretch of the history, newest first; `cursor` of the page before costs no scan."""
        with self._reading("runs/read") as reading:
            wanted = query or views.OccurrenceQuery()
            return occurrences.page(reading, wanted, offset=offset, cursor=cursor, limit=limit)

    def occurrence(self, occurrence_id: str) -> views.OccurrenceView:
        """Return the chain of one decision; the beginning of an id is enough."""
        with self._reading("runs/read") as reading:
            return occurrences.view(reading, occurrence_id)

    def why_not(self, name: str, at: datetime, namespace: str | None = None) -> views.WhyNot:
        """Explain an instant of a Trigger at which nothing fired, or what did."""
        with self._reading("runs/read") as reading:
            stored = service.get(reading.tx, self._scope, "Trigger", self._in(namespace), name)
            return occurrences.why_not(reading, stored.uid, at)

    # -- Work --------------------------------------------------------------------------------------------------------

    def works(
        self,
        query: views.WorkQuery | None = None,
        *,
        offset: int = 0,
        cursor: str | None = None,
        limit: int | None = 100,
    ) -> views.Page[views.WorkRow]:
        """Return one stretch of Work, newest first."""
        with self._reading("runs/read") as reading:
            return work.page(reading, query or views.WorkQuery(), offset=offset, cursor=cursor, limit=limit)

    def work(self, work_id: str) -> views.WorkView:
        """Return one Work with runs, steps and questions; the beginning of an id is enough."""
        with self._reading("runs/read") as reading:
            return work.view(reading, work_id)

    def logs(self, work_id: str, *, after: int = 0, limit: int = 1000) -> tuple[views.LogRow, ...]:
        """Return log lines after a line's id, oldest first."""
        with self._reading("runs/read") as reading:
            return work.logs(reading, work_id, after=after, limit=limit)

    def cancel(self, work_id: str) -> views.Effect:
        """Ask a Work to end; what its steps did outside is not undone."""
        with self._writing() as tx:
            found = work.find(self._reading_in(tx), work_id)
            return works.cancel(tx, self._scope, found.id, self._clock.now())

    def retry(self, work_id: str) -> views.Effect:
        """Run a Work that failed or was cancelled once more, as a new run of the same Work."""
        with self._writing() as tx:
            found = work.find(self._reading_in(tx), work_id)
            return works.retry(tx, self._scope, found.id, self._clock.now())

    # -- inbox -------------------------------------------------------------------------------------------------------

    def actions(self, status: str | None = "pending", namespace: str | None = None) -> tuple[views.ActionRow, ...]:
        """Return questions, oldest first; status None gives all, namespace None those of all."""
        with self._reading("runs/read") as reading:
            return work.actions(reading, status, namespace)

    def action(self, action_id: str) -> views.ActionView:
        """Return one question with its form; the beginning of an id is enough."""
        with self._reading("runs/read") as reading:
            return work.action(reading, action_id)

    def answer(self, action_id: str, decision: str, values: Mapping[str, Any] | None = None) -> views.ActionRow:
        """Answer a question; the first answer wins, a later one raises `Precondition` saying whose."""
        with self._writing() as tx:
            found = work.action(self._reading_in(tx), action_id)
            works.answer(tx, self._scope, found.row.id, decision, dict(values or {}), self._clock.now())
            return work.action(self._reading_in(tx), found.row.id).row

    def snooze(self, action_id: str, until: datetime) -> views.ActionRow:
        """Take a question out of the count until an instant; it still expires."""
        with self._writing() as tx:
            found = work.action(self._reading_in(tx), action_id)
            works.snooze(tx, self._scope, found.row.id, until, self._clock.now())
            return work.action(self._reading_in(tx), found.row.id).row

    # -- Flows -------------------------------------------------------------------------------------------------------

    def flows(self, namespace: str | None = None) -> tuple[views.FlowRow, ...]:
        """Return the Flows with their active and newest versions, by name."""
        with self._reading("resources/read") as reading:
            return flows.rows(reading, self._scope, namespace)

    def flow(self, name: str, namespace: str | None = None) -> views.FlowView:
        """Return one Flow with its versions."""
        with self._reading("resources/read") as reading:
            return flows.view(reading, self._scope, self._in(namespace), name)

    def flow_runtimes(self, name: str, namespace: str | None = None) -> views.Runtimes | None:
        """Return how long a Flow's newest completed runs took, None where there are none."""
        with self._reading("runs/read") as reading:
            return flows.how_long(reading, self._in(namespace), name)

    def publish(self, name: str, *, activate: bool = False, namespace: str | None = None) -> views.Applied:
        """Make the draft of a Flow its next immutable version, and active where asked."""
        with self._writing() as tx:
            where = self._in(namespace)
            version = publishing.publish(tx, self._scope, where, name, activate=activate, now=self._clock.now())
            stored = service.get(tx, self._scope, "Flow", where, name)
            return views.Applied(
                "Flow", where, name, "configured", stored.generation, stored.etag, published_version=version
            )

    def test_fire(
        self,
        flow: str,
        input: Mapping[str, Any] | None = None,  # noqa: A002 - the word of the resource
        namespace: str | None = None,
    ) -> views.Effect:
        """Run a Flow once without a Trigger; the Work is marked as a test."""
        credentials.refuse_credentials(input, "input")
        with self._writing() as tx:
            where = self._in(namespace)
            return works.test_fire(tx, self._scope, where, flow, dict(input or {}), self._clock.now())

    # -- upkeep ------------------------------------------------------------------------------------------------------

    def doctor(self, *, repair: bool = False) -> views.DoctorReport:
        """Examine history, machinery and file, reading all of it; with `repair` put right what is safe to."""
        if not repair:
            return upkeep.examine(self._store, self._scope, self._clock)
        with self._changing():
            return upkeep.repair(self._store, self._scope, self._clock)

    def prune(self, *, older_than: timedelta | None = None, dry_run: bool = False) -> views.PruneReport:
        """Delete old history now, in short transactions: by the usual policy, or all that is older than an age."""
        with self._changing():
            return upkeep.prune(self._store, self._scope, self._clock, older_than, dry_run=dry_run)

    def backup(self, path: str | Path) -> views.BackupReport:
        """Copy the database to a new file while everything goes on; `core.upkeep.restore` puts it in place."""
        with self._changing():
            return upkeep.backup(self._store, self._scope, self._clock, path)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _in(self, namespace: str | None) -> str:
        return self._namespace if namespace is None else namespace

    def _reading_in(self, tx: Transaction) -> Reading:
        return Reading(tx, self._scope.workspace_id, self._clock.now())

    @contextmanager
    def _reading(self, permission: str | None = None) -> Iterator[Reading]:
        if permission is not None:
            self._scope.require(permission)
        with self._store.read() as tx:
            yield self._reading_in(tx)

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        """Open a writing transaction; a denial inside is audited in a transaction of its own."""
        with self._changing(), self._store.write() as tx:
            yield tx

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Refuse changes of a read-only deck; audit a denial inside."""
        if self._scope.read_only:
            raise Denied("this deck is open read-only", "open it without --read-only to change anything")
        try:
            yield
        except Denied as denied:
            audit.denied(self._store, self._scope, denied, self._clock.now())
            raise
