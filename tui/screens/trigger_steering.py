"""Own what may be done to Triggers, one or many: run, switch, pause, resume, delete, with effects and undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from core.errors import TriggerdeckError
from core.words import counted
from tui.actions import Action
from tui.navigation import Location
from tui.present.manifests import bare
from tui.present.times import full
from tui.screens.place import Place
from tui.undo import Undo

if TYPE_CHECKING:
    from core.deck import Deck
    from core.views import Effect, PauseView, SchedulePreview

STEERING: tuple[Action, ...] = (
    Action("run", ("r",), "run", "Run the Trigger now; its schedule does not move", "do", writes=True, foot=1),
    Action("edit", ("e",), "edit", "Edit the Trigger with a live preview", "do", writes=True, foot=2),
    Action("toggle", ("t",), "on/off", "Enable, with its effects shown, or disable", "do", writes=True, foot=3),
    Action("preview", ("p",), "preview", "Show the coming fires in three zones", "view", foot=4),
    Action(
        "pause",
        ("P",),
        "pause",
        "Pause with a note, or resume what is paused",
        "do",
        writes=True,
        foot=7,
    ),
    Action("delete", ("D",), "delete", "Delete the Trigger; its history stays", "do", writes=True, danger=True),
    Action("history", ("o",), "occurrences", "Go to the occurrences of the Trigger", "go", foot=8),
    Action("its_work", ("W",), "its work", "Go to the Work of the Trigger", "go"),
    Action("yaml", ("E",), "yaml", "Edit the manifest in $EDITOR", "do", writes=True),
)


@dataclass(frozen=True, slots=True)
class Target:
    """A Trigger that something is done to."""

    namespace: str
    name: str
    enabled: bool
    phase: str

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What was done to many: sentences of what went, refusals of what did not."""

    done: tuple[tuple[Target, Effect], ...]
    refused: tuple[str, ...]


def each(targets: Sequence[Target], call: Callable[[Target], Effect]) -> BulkResult:
    """Do one thing to each target; a refusal stops nobody else."""
    done, refused = [], []
    for target in targets:
        try:
            done.append((target, call(target)))
        except TriggerdeckError as refusal:
            refused.append(f"{target.name}: {refusal.sentence()}")
    return BulkResult(tuple(done), tuple(refused))


class Steering(Place):
    """A place whose keys steer Triggers; it says which (`targets`)."""

    def targets(self) -> tuple[Target, ...]:
        """Return what the keys are about: the marked Triggers, or the one under the cursor."""
        raise NotImplementedError

    def why_closed(self, action: Action) -> str:
        """Return why a steering action cannot work now."""
        if action in STEERING and not self.targets():
            return f"{action.title}: no Trigger is chosen"
        if action.id in {"edit", "preview", "yaml", "history", "its_work"} and len(self.targets()) > 1:
            return f"{action.title}: works on one Trigger; escape takes the marks away"
        if action.id == "run" and all(target.phase == "disabled" for target in self.targets()):
            return "run: a disabled Trigger does not run; t enables it"
        return ""

    # -- looking and editing --------------------------------------------------------------------------------------

    def do_preview(self) -> None:
        """Show the coming fires in three zones."""
        target = self.targets()[0]
        self.ask(
            lambda deck: deck.preview_trigger(target.name, count=50, namespace=target.namespace),
            partial(self._show_fires, target.name),
            group="preview",
        )

    def _show_fires(self, name: str, preview: SchedulePreview) -> None:
        from tui.present.fire_preview import preview_lines
        from tui.widgets.dialog import Sheet

        mine, now = self.deck_app.mine, self.now
        self.app.push_screen(Sheet(f"{name}: the coming fires", lambda cells: preview_lines(preview, now, mine, cells)))

    def do_edit(self) -> None:
        """Edit the Trigger with a live preview."""
        self._open_editor()

    def do_yaml(self) -> None:
        """Edit the manifest in $EDITOR, then see it in the editor."""
        self._open_editor(yaml=True)

    def _open_editor(self, *, yaml: bool = False, clone: bool = False) -> None:
        from tui.screens.editor import EditorScreen

        target = self.targets()[0]
        self.app.push_screen(EditorScreen(target.namespace, target.name, yaml=yaml, clone=clone))

    def do_history(self) -> None:
        """Go to the occurrences of the Trigger."""
        self.deck_app.go(Location("occurrences", "", f"trigger:{self.targets()[0].name}"))

    def do_its_work(self) -> None:
        """Go to the Work of the Trigger."""
        self.deck_app.go(Location("work", "", f"trigger:{self.targets()[0].name}"))

    # -- run and switch -------------------------------------------------------------------------------------------

    def do_run(self) -> None:
        """Run now; many ask first."""
        targets = self.targets()
        act = partial(self._bulk, targets, "started", lambda deck, t: deck.run(t.name, namespace=t.namespace), None)
        self._sure(targets, f"Run {len(targets)} Triggers now?", "Each starts one Work now.", "run", act)

    def do_toggle(self) -> None:
        """Disable what is on, at once; otherwise show what enabling does and ask."""
        targets = self.targets()
        on = tuple(target for target in targets if target.enabled)
        if on:
            act = partial(
                self._bulk,
                on,
                "disabled",
                lambda deck, t: deck.disable(t.name, t.namespace),
                ("enabled again", lambda deck, t: deck.enable(t.name, t.namespace)),
            )
            self._sure(
                on,
                f"Disable {len(on)} Triggers?",
                "Nothing of them fires until they are enabled; active Work goes on.",
                "disable",
                act,
            )
        else:
            self.ask(partial(_next_fires, targets), partial(self._confirm_enable, targets), group="enable.effects")

    def _confirm_enable(self, targets: tuple[Target, ...], effects: list[str]) -> None:
        act = partial(
            self._bulk,
            targets,
            "enabled",
            lambda deck, t: deck.enable(t.name, t.namespace),
            ("disabled again", lambda deck, t: deck.disable(t.name, t.namespace)),
        )
        from tui.widgets.dialog import Confirm

        what = targets[0].name if len(targets) == 1 else f"{len(targets)} Triggers"
        self.app.push_screen(Confirm(f"Enable {what}?", effects, do="enable"), lambda yes: act() if yes else None)

    # -- pause ----------------------------------------------------------------------------------------------------

    def do_pause(self) -> None:
        """Resume what is paused; otherwise ask for a note and an end."""
        from tui.widgets.dialog import Blank, ShortForm

        targets = self.targets()
        if all(target.phase == "paused" for target in targets):
            held: dict[str, PauseView] = {}
            again = ("paused again", partial(_pause_again, held))
            self._bulk(targets, "resumed", partial(_resume, held), again)
            return
        what = targets[0].name if len(targets) == 1 else f"{len(targets)} Triggers"
        blanks = (  # the zone in which a bare time is read stands in the first line of the screen
            Blank("note", "Note: why, for whoever sees it later", hint="storage is being moved", check=_check_note),
            Blank(
                "until",
                "Until: empty for open, or 90m, 12h, 16:00, 2026-03-29T06:00Z",
                hint="open",
                check=self._check_until,
            ),
        )
        self.app.push_screen(ShortForm(f"Pause {what}", blanks, do="pause"), partial(self._paused, targets))

    def _check_until(self, text: str) -> str:
        from tui.present.filters import later

        if not text:
            return ""
        at = later(text, self.now, self.zone_for(None))
        if at is None:
            return "cannot be read; write 90m, 12h, 3d, 16:00 or an instant"
        return "" if at > self.now else "lies in the past"

    def _paused(self, targets: tuple[Target, ...], values: dict[str, str] | None) -> None:
        from tui.present.filters import later

        if values is None:
            return
        end = later(values["until"], self.now, self.zone_for(None)) if values["until"] else None
        note = values["note"]
        self._bulk(targets, "paused", lambda deck, t: deck.pause(t.name, note=note, until=end, namespace=t.namespace),
                   ("resumed", lambda deck, t: deck.resume(t.name, t.namespace)))  # fmt: skip

    # -- delete ---------------------------------------------------------------------------------------------------

    def do_delete(self) -> None:
        """Show what deleting means, ask, and keep the manifests for undoing."""
        from tui.widgets.dialog import Confirm

        targets = self.targets()
        what = targets[0].name if len(targets) == 1 else f"{len(targets)} Triggers"
        effects = [
            f"They fire no more: {names_of(targets)}.",
            "Their history stays, and active Work goes on. u brings the definition back.",
        ]
        self.app.push_screen(
            Confirm(f"Delete {what}?", effects, do="delete", danger=True), partial(self._deleted, targets)
        )

    def _deleted(self, targets: tuple[Target, ...], yes: bool | None) -> None:
        if yes:
            self.ask(partial(_delete_all, targets), self._told_deleted, group="steer", exclusive=False)

    def _told_deleted(self, result: tuple[BulkResult, tuple[str, ...]]) -> None:
        bulk, manifests = result
        self._tell("deleted", bulk, undo=True)
        if bulk.done:
            self.deck_app.offer_undo(Undo("delete", partial(_apply_all, manifests)))
        self.renew()

    # -- doing it -------------------------------------------------------------------------------------------------

    def _sure(self, targets: tuple[Target, ...], title: str, effect: str, do: str, act: Callable[[], None]) -> None:
        if len(targets) < 2:
            act()
            return
        from tui.widgets.dialog import Confirm

        names = names_of(targets)
        self.app.push_screen(Confirm(title, [effect, names], do=do), lambda yes: act() if yes else None)

    def _bulk(
        self,
        targets: tuple[Target, ...],
        word: str,
        call: Callable[[Deck, Target], Effect],
        undo: tuple[str, Callable[[Deck, Target], Effect]] | None,
    ) -> None:
        self.ask(
            lambda deck: each(targets, partial(call, deck)),
            partial(self._done, word, undo),
            group="steer",
            exclusive=False,
        )

    def _done(self, word: str, undo: tuple[str, Callable[[Deck, Target], Effect]] | None, result: BulkResult) -> None:
        self._tell(word, result, undo=undo is not None)
        if undo is not None and result.done:
            targets = tuple(target for target, _ in result.done)
            self.deck_app.offer_undo(Undo(word, partial(_undo_all, targets, *undo)))
        self.renew()

    def _tell(self, word: str, result: BulkResult, *, undo: bool) -> None:
        if result.refused:
            done = f"{counted(len(result.done), 'Trigger')} {word}; " if result.done else ""
            more = f" and {len(result.refused) - 3} more" if len(result.refused) > 3 else ""
            self.flash(done + "; ".join(result.refused[:3]) + more, "bad")
        elif len(result.done) == 1:
            _, effect = result.done[0]
            self.flash(". ".join(text.rstrip(".") for text in (effect.message, *effect.notices)), "ok")
        else:
            self.flash(f"{counted(len(result.done), 'Trigger')} {word}{' · u undoes' if undo else ''}", "ok")


def _resume(held: dict[str, PauseView], deck: Deck, target: Target) -> Effect:
    """End a pause and keep what it was, for undoing."""
    pause = deck.trigger(target.name, target.namespace).pause
    effect = deck.resume(target.name, target.namespace)
    if pause is not None:
        held[target.key] = pause
    return effect


def _pause_again(held: dict[str, PauseView], deck: Deck, target: Target) -> Effect:
    pause = held[target.key]
    return deck.pause(target.name, note=pause.note, until=pause.until_at, namespace=target.namespace)


def names_of(targets: Sequence[Target]) -> str:
    """Return the first names of many."""
    return ", ".join(target.name for target in targets[:8]) + (" …" if len(targets) > 8 else "")


def _check_note(text: str) -> str:
    return "" if text else "say why"


def _next_fires(targets: tuple[Target, ...], deck: Deck) -> list[str]:
    rows: list[str] = []
    for target in targets[:8]:
        preview = deck.preview_trigger(target.name, count=3, namespace=target.namespace)
        if preview.faults:
            rows.append(f"{target.name}: it cannot be enabled. {preview.faults[0].sentence()}")
            continue
        fires = [fire for fire in preview.fires if fire.nominal_at is not None]
        times = ", ".join(full(fire.nominal_at, fire.zone) for fire in fires[:2])
        rows.append(f"{target.name}: {preview.words}. " + (f"Fires next {times}." if times else "It has no time left."))
    if len(targets) > 8:
        rows.append(f"and {len(targets) - 8} more")
    return [*rows, "What was due while it was off is not fired."]


def _undo_all(targets: tuple[Target, ...], word: str, call: Callable[[Deck, Target], Effect], deck: Deck) -> str:
    result = each(targets, partial(call, deck))
    names = targets[0].name if len(targets) == 1 else f"{len(result.done)} Triggers"
    return f"{names} {word}" + (f"; {'; '.join(result.refused[:2])}" if result.refused else "")


def _delete_all(targets: tuple[Target, ...], deck: Deck) -> tuple[BulkResult, tuple[str, ...]]:
    import json

    from core.views import Effect

    kept: list[str] = []

    def delete(target: Target) -> Effect:
        manifest = deck.manifest("Trigger", target.name, target.namespace)
        deck.delete("Trigger", target.name, target.namespace)
        kept.append(json.dumps(bare(manifest)))
        return Effect(target.name, f"{target.name} deleted; u brings it back.")

    return each(targets, delete), tuple(kept)


def _apply_all(manifests: tuple[str, ...], deck: Deck) -> str:
    for text in manifests:
        deck.apply(text)
    return f"{len(manifests)} brought back" if len(manifests) > 1 else "brought back"
