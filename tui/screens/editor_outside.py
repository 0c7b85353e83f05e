"""Own what the editor does beyond its form: the manifest in $EDITOR, the Flow in $EDITOR, one test of the Flow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from core.errors import TriggerdeckError
from core.views import Effect
from tui.present.draft import Draft, look
from tui.present.manifests import bare
from tui.screens.editor_saving import Saving
from tui.screens.flow_writing import FlowWriter
from tui.widgets.dialog import Confirm
from tui.yaml_editor import BrokenText, edit_yaml, with_faults


class Outside(Saving):
    """A draft that may leave the form and come back."""

    _again = ""

    @cached_property
    def _writer(self) -> FlowWriter:
        return FlowWriter(self)

    @property
    def holds_refused(self) -> bool:
        """Tell whether a text from $EDITOR was refused and waits to be mended."""
        return bool(self._again) or self._writer.refused

    def flow_named(self) -> tuple[str, str] | None:
        """Return name and namespace of the Flow that the draft names, None where it names none."""
        target = look(self.draft.manifest, "definition.target.flow") if self.draft else None
        if not isinstance(target, Mapping) or not target.get("name"):
            return None
        return str(target["name"]), str(target.get("namespace") or self._here())

    def _here(self) -> str:
        return (self.draft.text("namespace") if self.draft else "") or self.deck_app.door.namespace

    def do_editor(self) -> None:
        """Edit as YAML in $EDITOR and take the result; a text with a fault is opened again the next time."""
        if self.draft is None:
            return
        manifest: dict[str, Any] = json.loads(json.dumps(bare(dict(self.draft.manifest))))
        try:
            edited = edit_yaml(self.app, manifest, self._again)
        except BrokenText as broken:
            self._again = with_faults(broken.text, [broken.sentence()])
            self.flash(f"{broken.sentence()} · f4 opens your text again", "bad")
            self.redraw_frame()
            return
        except TriggerdeckError as refusal:
            self.flash(refusal.sentence(), "bad")
            return
        self._again = ""
        if edited is None:
            self.flash("nothing was changed in $EDITOR")
        else:
            self._take_back(edited[0], manifest)

    def _take_back(self, edited: dict[str, Any], given: dict[str, Any]) -> None:
        """Put what came back into the draft; what the server owns was not given away and stays."""
        if self.draft is None:
            return
        stored = self.draft.base.get("metadata") or {}
        owned = {key: value for key, value in stored.items() if key not in given["metadata"]}
        merged = {**self.draft.manifest, **edited, "metadata": {**owned, **(edited.get("metadata") or {})}}
        self.take(Draft(self.draft.base, merged), show=True)
        self.flash("taken from $EDITOR; ctrl+s shows the change and saves", "ok")

    def do_write_flow(self) -> None:
        """Write the Flow that the draft names in $EDITOR, or a new one."""
        named = self.flow_named()
        self._writer.write(named[0] if named else "", named[1] if named else self._here())

    def do_test_flow(self) -> None:
        """Ask once, then run the Flow with the draft's input."""
        named = self.flow_named()
        if named is None or self.draft is None:
            self.flash("test run: name a Flow first", "warn")
            return
        if "input" in self.draft.texts:
            self.flash("test run: the input is not a JSON object", "bad")
            return
        given = look(self.draft.manifest, "definition.input") or {}
        effects = (
            f"Flow {named[0]} runs once now, for real, with the input written here.",
            "It is marked as a test and counts for no Trigger. Nothing is saved.",
        )
        dialog = Confirm(f"Test {named[0]}?", effects, do="run it")
        self.app.push_screen(dialog, lambda yes: self._test(named, given) if yes else None)

    def _test(self, named: tuple[str, str], given: Mapping[str, Any]) -> None:
        name, namespace = named
        self.ask(lambda deck: deck.test_fire(name, given, namespace), self._tested, group="editor.test")

    def _tested(self, effect: Effect) -> None:
        self.flash(f"{effect.message}: Work {(effect.work_id or '')[:8]}, place 4 shows it", "ok")
