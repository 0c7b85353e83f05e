"""Own the save of an edited Trigger: the change first, then the store, and what to do when somebody was faster."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from core.errors import Fault, Invalid, Precondition, StaleETag, TriggerdeckError
from core.views import Applied, FireChange
from tui.present.diff import three_way
from tui.present.draft import Draft, look, placed
from tui.present.lines import clean
from tui.present.manifests import bare
from tui.screens.change_dialog import ChangeDialog, ConflictDialog
from tui.screens.place import Place
from tui.undo import Undo
from tui.widgets.dialog import Confirm

if TYPE_CHECKING:
    from core.deck import Deck


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a save would do."""

    applied: Applied
    change: FireChange


class Saving(Place):
    """A screen that holds a draft and saves it."""

    draft: Draft | None = None
    generation = 0
    base_manifest: Mapping[str, Any] = {}
    _refused_once = False

    @property
    def is_new(self) -> bool:
        """Tell whether the Trigger does not exist yet."""
        raise NotImplementedError

    def take(self, draft: Draft, *, show: bool = False) -> None:
        """Go on with another draft; `show` puts it into the fields."""
        raise NotImplementedError

    def checked(self, faults: tuple[Fault, ...]) -> None:
        """Show faults at their fields."""
        raise NotImplementedError

    def go_to_fault(self, faults: Iterable[Fault]) -> None:
        """Give the keys to the first field that has a fault."""
        raise NotImplementedError

    def schedule_before(self) -> Mapping[str, Any] | None:
        """Return the stored schedule, None for a new Trigger."""
        return None if self.draft is None or self.is_new else look(self.draft.base, "definition.source.schedule")

    def do_save(self) -> None:
        """Ask what the save would change, and show it."""
        if self.draft is None:
            return
        self._refused_once = True
        if self.draft.texts:
            self.flash("; ".join(f"{key} {fault}" for key, fault in self.draft.faults().items()), "bad")
            return
        self.ask(
            partial(_prepare, sent(self.draft.manifest), self.schedule_before()),
            self._prepared,
            failed=self._refused,
            group="editor.save",
        )

    def _prepared(self, prepared: Prepared) -> None:
        zone = self.zone_for(str(self.draft.schedule.get("timeZone") or "UTC") if self.draft else None)
        what = f"Create {prepared.applied.name}" if self.is_new else f"Save {prepared.applied.name}"
        dialog = ChangeDialog(what, prepared.applied, prepared.change, zone)
        self.app.push_screen(dialog, lambda yes: self._store() if yes else None)

    def _store(self, *, confirm_scope: bool = False) -> None:
        if self.draft is not None:
            text = json.dumps(sent(self.draft.manifest))
            self.ask(
                lambda deck: deck.apply(text, confirm_scope=confirm_scope),
                self._stored,
                failed=self._refused,
                group="editor.save",
            )

    def _stored(self, applied: tuple[Applied, ...]) -> None:
        saved = applied[0]
        word = "created" if saved.action == "created" else "saved"
        enabled = bool(look(self.draft.manifest, "definition.enabled")) if self.draft else True
        off = "" if enabled else "; it is off, t turns it on"
        told = f"{saved.name} {word}, gen {saved.generation}{off} · u undoes"
        self.deck_app.offer_undo(Undo(word, partial(_undo_save, saved, None if self.is_new else self.base_manifest)))
        self.dismiss()
        self.deck_app.saved(saved, told)

    def _refused(self, refusal: TriggerdeckError) -> None:
        if isinstance(refusal, Invalid):
            self.checked(refusal.faults)
            more = f" (and {len(refusal.faults) - 1} more)" if len(refusal.faults) > 1 else ""
            self.flash(f"not saved: {refusal.faults[0].sentence()}{more}", "bad")
            self.go_to_fault(refusal.faults)
        elif isinstance(refusal, StaleETag):
            self._conflict(refusal.stored)
        elif isinstance(refusal, Precondition):
            dialog = Confirm("Whose identity?", [clean(refusal.message)], do="save as me", danger=True)
            self.app.push_screen(dialog, lambda yes: self._store(confirm_scope=True) if yes else None)
        else:
            self.flash(refusal.sentence(), "bad")

    def _conflict(self, stored: Mapping[str, Any]) -> None:
        if self.draft is not None:
            rows = three_way(self.draft.base, stored, self.draft.manifest)
            self.app.push_screen(ConflictDialog(rows), partial(self._resolve, stored))

    def _resolve(self, stored: Mapping[str, Any], choice: str | None) -> None:
        if choice is None or self.draft is None:
            return
        mine = Draft.of(stored)
        merged: Mapping[str, Any] = stored
        if choice == "mine":
            for row in three_way(self.draft.base, stored, self.draft.manifest):
                if row.mine != row.base:
                    merged = placed(merged, row.path, row.mine)
            mine = Draft(stored, merged)
        self.generation = int((stored.get("metadata") or {}).get("generation") or self.generation)
        self.base_manifest = dict(stored)
        self.take(mine, show=True)
        self.flash(
            "yours now stands on what is stored; ctrl+s shows it" if choice == "mine" else "this is what is stored",
            "ok",
        )


def sent(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a save sends: what a person may write, and the ETag against which it was written."""
    document = bare(dict(manifest))
    tag = look(manifest, "metadata.eTag")
    return document if tag is None else placed(document, "metadata.eTag", tag)


def _prepare(manifest: dict[str, Any], before: Mapping[str, Any] | None, deck: Deck) -> Prepared:
    applied = deck.diff(json.dumps(manifest))[0]
    return Prepared(applied, deck.fire_change(before, look(manifest, "definition.source.schedule") or {}))


def _undo_save(saved: Applied, before: Mapping[str, Any] | None, deck: Deck) -> str:
    if before is None:
        deck.delete("Trigger", saved.name, saved.namespace)
        return f"{saved.name} is gone again"
    deck.apply(json.dumps(bare(dict(before))))
    return f"{saved.name} is as it was"
