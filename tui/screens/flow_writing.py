"""Own the way to write a Flow from the deck: as YAML in $EDITOR, stored on return, published when one says so."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from core.errors import Invalid, NotFound, TriggerdeckError, Usage
from core.views import Applied
from tui.present.manifests import bare
from tui.screens.place import Place
from tui.widgets.dialog import Confirm
from tui.yaml_editor import BrokenText, edit_yaml, with_faults

if TYPE_CHECKING:
    from core.deck import Deck

FIRST: dict[str, Any] = {
    "displayName": "My flow",
    "inputSchema": {"type": "object"},
    "steps": [{"id": "hello", "command": {"argv": ["echo", "it fires"]}, "timeout": "PT5M"}],
}


class FlowWriter:
    """Writes one Flow for a place; what was refused is opened again with its faults the next time."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._again: dict[str, str] = {}

    @property
    def refused(self) -> bool:
        """Tell whether a text was refused and not yet mended."""
        return bool(self._again)

    def write(self, name: str, namespace: str) -> None:
        """Open the Flow, or the beginning of a new one where there is none of that name."""
        key = f"{namespace}/{name}"
        self._place.ask(partial(_read, name, namespace), partial(self._edit, key), group="flow.read")

    def _edit(self, key: str, manifest: dict[str, Any]) -> None:
        try:
            edited = edit_yaml(self._place.app, manifest, self._again.get(key, ""))
        except BrokenText as broken:
            self._refused(key, broken.text, broken)
            return
        except TriggerdeckError as refusal:
            self._place.flash(refusal.sentence(), "bad")
            return
        self._again.pop(key, None)
        if edited is None:
            self._place.flash("nothing was changed in $EDITOR")
            return
        document, text = edited
        self._place.ask(
            partial(_store, json.dumps(document)),
            self._stored,
            failed=partial(self._refused, key, text),
            group="flow.write",
        )

    def _refused(self, key: str, text: str, refusal: TriggerdeckError) -> None:
        faults = (
            [fault.sentence() for fault in refusal.faults] if isinstance(refusal, Invalid) else [refusal.sentence()]
        )
        self._again[key] = with_faults(text, faults)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        self._place.flash(f"not stored: {faults[0]}{more} · the same key opens your text again", "bad")

    def _stored(self, answer: tuple[Applied, bool]) -> None:
        flow, differs = answer
        if flow.published_version is not None:
            self._place.flash(f"flow {flow.name} stored, version {flow.published_version} is active", "ok")
        elif differs:
            self._offer(flow)
        else:
            self._place.flash(f"flow {flow.name}: nothing differs from the version that is active")
        self._place.renew()

    def _offer(self, flow: Applied) -> None:
        effects = (
            f"Flow {flow.name} is stored as a draft; what fires still runs the version that is active.",
            "Publishing makes it the next version and active: the next fire runs it.",
        )
        dialog = Confirm(f"Publish {flow.name}?", effects, do="publish")
        self._place.app.push_screen(dialog, partial(self._publish, flow))

    def _publish(self, flow: Applied, yes: bool | None) -> None:
        if not yes:
            self._place.flash(
                f"flow {flow.name} stays a draft; triggerdeck publish {flow.name} --activate publishes it"
            )
            return
        self._place.ask(
            lambda deck: deck.publish(flow.name, activate=True, namespace=flow.namespace),
            lambda done: self._place.flash(f"flow {done.name}: version {done.published_version} is active", "ok"),
            group="flow.publish",
        )


def _read(name: str, namespace: str, deck: Deck) -> dict[str, Any]:
    """Return a Flow's manifest as its writer sees it; where there is none, what a new one begins with."""
    try:
        return bare(deck.manifest("Flow", name, namespace)) if name else _fresh("my-flow", namespace)
    except NotFound:
        return _fresh(name, namespace)


def _store(text: str, deck: Deck) -> tuple[Applied, bool]:
    """Apply a Flow; answer it, and whether it now differs from what is published. Refuse what is no Flow."""
    (applied,) = deck.diff(text)
    if applied.kind != "Flow":
        raise Usage("this is no Flow", "write kind: Flow")
    (applied,) = deck.apply(text)
    return applied, deck.flow(applied.name, applied.namespace).row.draft_differs


def _fresh(name: str, namespace: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "agentstration.io/v1", "kind": "Flow", "metadata": metadata, "definition": FIRST}
