"""Own the editor of a Trigger: a form that edits losslessly, with words, fires and faults as one types."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from textual.app import ComposeResult
from textual.containers import Horizontal

from core.errors import Fault, TriggerdeckError
from core.views import FireChange, FlowRow, Runtimes, SchedulePreview
from tui.actions import Action
from tui.present.columns import Column
from tui.present.diff import fire_counts
from tui.present.draft import Draft, begun, fresh, placed
from tui.present.field_hints import flow_hint, json_hint, zone_hint
from tui.present.fire_preview import preview_lines
from tui.present.lines import Line, Piece, line, wrap
from tui.present.manifests import bare
from tui.present.overlap import overlap_lines
from tui.present.times import full
from tui.screens.editor_outside import Outside
from tui.screens.panes import Panes
from tui.widgets.chooser import Choice, Chooser, plain_choice
from tui.widgets.dialog import Confirm, Sheet
from tui.widgets.lines_view import LinesView
from tui.widgets.schedule_fields import DraftForm, field_of
from tui.widgets.zone_picker import zone_picker

if TYPE_CHECKING:
    from core.deck import Deck

FILLED_IN = frozenset({"name", "flow", "every", "at"})
LIVE_DELAY_S = 0.08
CHECK_DELAY_S = 0.3

EDITING: tuple[Action, ...] = (
    Action("save", ("ctrl+s",), "save", "Show what changes, then save", "do", writes=True, foot=1),
    Action("editor", ("f4", "E"), "$EDITOR", "Edit as YAML in $EDITOR; checked on return", "do", foot=2),
    Action("revert", ("f8",), "revert", "Go back to what is stored", "do", foot=4),
    Action("fires", ("f5", "p"), "fires", "Show fifty fires of the expression", "view", foot=3),
    Action("transition", ("f6", "T"), "clocks", "Show the fires around the next clock change", "view", foot=5),
    Action("test_flow", ("f7",), "test run", "Run the Flow once with this input, as a test", "do",
           writes=True, foot=6),
    Action("write_flow", ("f9",), "flow", "Write the Flow in $EDITOR, or a new one", "do",
           writes=True, foot=7),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LiveAnswer:
    """What the deck says about the rule as it stands."""

    preview: SchedulePreview
    change: FireChange
    runtimes: Runtimes | None = None


class EditorScreen(Outside):
    """One Trigger being written; nothing is stored before the change was seen and confirmed."""

    place_id = "editor"
    live_kinds = frozenset({"flow"})
    heading = "Trigger"
    ACTIONS = EDITING
    CSS_PATH = "editor.tcss"
    AUTO_FOCUS = None

    def __init__(self, namespace: str = "", name: str = "", *, clone: bool = False, yaml: bool = False) -> None:
        super().__init__()
        self._namespace, self._trigger, self._clone, self._yaml = namespace, name, clone, yaml
        self.draft: Draft | None = None
        self.generation = 0
        self.flows: tuple[FlowRow, ...] = ()
        self.live: LiveAnswer | None = None
        self._after: datetime | None = None
        self._faults: tuple[Fault, ...] = ()
        self._touched: set[str] = set()

    @property
    def is_new(self) -> bool:
        """Tell whether the Trigger does not exist yet."""
        return not self._trigger or self._clone

    # -- the frame ------------------------------------------------------------------------------------------------

    def body(self) -> ComposeResult:
        """Yield form and preview."""
        with Horizontal(id="editor"):
            yield DraftForm(is_new=self.is_new)
            yield LinesView(id="fires")

    def crumbs(self) -> tuple[str, ...]:
        """Return where this is."""
        return ("Triggers", "new") if self.is_new else ("Triggers", self._trigger, "edit")

    def crumb_filter(self) -> Line:
        """Return whether something is unsaved, and on what it is based."""
        if self.draft is None:
            return (Piece("reading …", "dim"),)
        unsaved = (Piece("unsaved ●  ", "warn"),) if self.unsaved() else ()
        return line(*unsaved, Piece("" if self.is_new else f"base gen {self.generation}", "dim"))

    @property
    def form(self) -> DraftForm:
        """Return the form."""
        return self.query_one(DraftForm)

    # -- beginning ------------------------------------------------------------------------------------------------

    def renew(self) -> None:
        """Read what is edited, once; later changes elsewhere are told when saving. A new Trigger waits for nothing."""
        self.ask(lambda deck: deck.flows(), self._know_flows, group="editor.flows")
        if self.draft is not None:
            return
        if self._trigger:
            name, namespace = self._trigger, self._namespace
            self.ask(
                lambda deck: deck.manifest("Trigger", name, namespace),
                self._begin,
                failed=self._cannot,
                group="editor.read",
            )
        else:
            self._begin(fresh(self._namespace or self.deck_app.door.namespace, self.deck_app.mine))

    def _know_flows(self, flows: tuple[FlowRow, ...]) -> None:
        self.flows = flows
        self._show_hints()

    def _cannot(self, refusal: TriggerdeckError) -> None:
        self.deck_app.flash(refusal.sentence(), "bad")
        self.dismiss()

    def _begin(self, manifest: dict[str, Any]) -> None:
        self.generation = int((manifest.get("metadata") or {}).get("generation") or 0)
        if self._clone:
            manifest = placed(
                placed(bare(manifest), "metadata.name", f"{self._trigger}-copy"), "definition.enabled", False
            )
        self.base_manifest = manifest
        self.draft = Draft.of(manifest)
        self.form.show(self.draft)
        self.form.begin()
        self._think()
        self.redraw_frame()
        if self._yaml:
            self._yaml = False
            self.call_after_refresh(self.do_editor)

    # -- editing --------------------------------------------------------------------------------------------------

    def on_draft_form_edited(self, message: DraftForm.Edited) -> None:
        """Take an edit and think about it."""
        self._touched.add(message.key)
        if self.draft is not None:
            draft = self.draft.put(message.key, message.text)
            if self.is_new and message.key == "type":
                draft = begun(draft, self.now)
            self.take(draft)

    def go_to_fault(self, faults: Iterable[Fault]) -> None:
        """Give the keys to the first field that has a fault."""
        self.form.go_to_fault(faults)

    def take(self, draft: Draft, *, show: bool = False) -> None:
        """Go on with another draft; `show` puts it into the fields."""
        if draft == self.draft:
            return
        kind_changed = self.draft is None or draft.type != self.draft.type
        self.draft = draft
        self._after = None
        if show or kind_changed:
            self.form.show(draft)
        self._think()
        self.redraw_frame()

    def _think(self) -> None:
        self._show_hints()
        self.soon("live", LIVE_DELAY_S, self._ask_live)
        self.soon("check", CHECK_DELAY_S, self._ask_check)

    def _show_hints(self) -> None:
        if self.draft is not None:
            self.form.hint("timeZone", zone_hint(self.draft.text("timeZone"), self.now))
            self.form.hint("flow", flow_hint(self.draft.text("flow"), self.draft.text("namespace"), self.flows))
            self.form.hint("input", json_hint(self.draft.text("input"), broken="input" in self.draft.texts))

    def _ask_live(self) -> None:
        if self.draft is not None:
            schedule, before, after = dict(self.draft.schedule), self.schedule_before(), self._after
            flow = self.flow_named()
            self.ask(partial(_live, schedule, before, after, flow), self._show_live, group="editor.live")

    def _show_live(self, answer: LiveAnswer) -> None:
        self.live = answer
        self._show_faults()
        self.query_one("#fires", LinesView).show(self._live_lines)

    def _live_lines(self, cells: int) -> list[Line]:
        if self.live is None:
            return []
        preview, now = self.live.preview, self.now
        if preview.faults:
            rows = [line(Piece("the rule says no time yet", "dim")), line()]
            return rows + [
                row for fault in preview.faults for row in wrap(f"✗ {fault.sentence()}", cells - 1, "bad", "  ")
            ]
        overlap, narrow = self._overlap(cells - 1), self.has_class("narrow")
        rows = preview_lines(preview, now, self.deck_app.mine, cells - 1, overlap, notes_last=narrow)
        rows.append(line())
        if preview.next_transition is not None:
            zone = str(self.draft.schedule.get("timeZone") or "UTC") if self.draft else "UTC"
            rows.append(
                line(
                    Piece("clocks change ", "dim"), full(preview.next_transition, zone), Piece("  f6 shows it", "faint")
                )
            )
        if not self.is_new:
            change, zone = self.live.change, str((self.draft.schedule if self.draft else {}).get("timeZone") or "UTC")
            span = f"until {full(change.until_at, zone)}" if change.until_at else "14 days"
            rows.append(line(Piece(f"against gen {self.generation}, {span}: ", "dim"), *fire_counts(change)))
        return rows

    def _overlap(self, cells: int) -> list[Line]:
        """Return how the Flow's runs stand against the rule, a warning or a quiet line."""
        if self.live is None or self.draft is None:
            return []
        most, fires = self.draft.text("maxActive"), self.live.preview.fires
        limit = int(most) if most.isdecimal() else None
        return overlap_lines(self.live.runtimes, fires, self.draft.text("concurrencyPolicy"), limit, cells)

    def _ask_check(self) -> None:
        if self.draft is not None and not self.draft.texts:
            text = json.dumps(bare(dict(self.draft.manifest)))
            self.ask(lambda deck: deck.validate(text), self.checked, failed=self._unchecked, group="editor.check")

    def checked(self, faults: tuple[Fault, ...]) -> None:
        """Show faults at their fields."""
        self._faults = faults
        self._show_faults()

    def _unchecked(self, refusal: TriggerdeckError) -> None:
        self._faults = ()
        self.flash(refusal.sentence(), "warn")

    def _show_faults(self) -> None:
        if self.draft is not None:
            rule = self.live.preview.faults if self.live is not None else ()
            found = (*(fault.under("definition.source.schedule") for fault in rule), *self._faults)
            self.form.show_faults(filter(self._is_told, found), self.draft.faults())

    def _is_told(self, fault: Fault) -> bool:
        """Tell whether a fault is shown: nobody is blamed for a field of a new Trigger that waits to be filled in."""
        key = field_of(fault)
        waits = self.is_new and key in FILLED_IN and not self._refused_once
        return not (waits and key not in self._touched and self.draft is not None and not self.draft.text(key))

    # -- pickers --------------------------------------------------------------------------------------------------

    def on_draft_form_pick(self, message: DraftForm.Pick) -> None:
        """Open the list of zones or of flows."""
        if message.key == "timeZone":
            self.app.push_screen(zone_picker(self.now, message.text), partial(self._picked, message.key))
            return
        columns = (
            Column("flow", "flow", 24, grow=1),
            Column("active", "active", 8),
            Column("steps", "steps", 6),
            Column("used", "used by", 8),
        )
        rows = [self._flow_choice(flow) for flow in self.flows]
        empty = "nothing matches" if rows else "no Flow yet: esc, then f9 writes the first one"
        chooser = Chooser("Flow", columns, rows, current=message.text, empty=empty)
        self.app.push_screen(chooser, partial(self._picked, message.key))

    def _flow_choice(self, flow: FlowRow) -> Choice:
        name, active = self._flow_name(flow), f"v{flow.active_version}" if flow.active_version else "none"
        words = f"{flow.namespace} {flow.name} {flow.display_name}"
        return plain_choice(name, name, active, str(flow.step_count), str(flow.used_by), words=words)

    def _flow_name(self, flow: FlowRow) -> str:
        here = self.draft.text("namespace") if self.draft else ""
        return flow.name if flow.namespace == here else f"{flow.namespace}/{flow.name}"

    def _picked(self, key: str, text: str | None) -> None:
        if text is not None and self.draft is not None:
            self.take(self.draft.put(key, text), show=True)

    # -- actions --------------------------------------------------------------------------------------------------

    def action_do(self, action_id: str) -> None:
        """Do an action, with all that was typed so far."""
        if self.draft is not None:
            self.take(self.form.collect(self.draft))
        super().action_do(action_id)

    def why_closed(self, action: Action) -> str:
        """Return why an editor's action cannot work now."""
        if self.draft is None:
            return f"{action.title}: still reading" if action in EDITING else ""
        if action.id in {"save", "revert"} and not self.draft.changed and not self.is_new:
            return f"{action.title}: nothing has changed"
        return ""

    def worded(self, action: Action) -> Action:
        """Call the way out what it is here."""
        return replace(super().worded(action), title="cancel") if action.id == "down_up" else super().worded(action)

    @property
    def typing(self) -> bool:
        """Say that fields hold the keys here."""
        return True

    def panes(self) -> Panes:
        """Return the fires and the form, side by side where there is room."""
        side: Literal["width", "height"] = "width" if self.has_class("wide") else "height"
        return Panes(self.query_one("#fires"), self.form, side)

    def do_revert(self) -> None:
        """Go back to what is stored."""
        if self.draft is not None:
            self.take(Draft.of(self.draft.base), show=True)
            self.flash("back to what is stored")

    def do_fires(self) -> None:
        """Show fifty fires."""
        self._sheet(None, 50, "The coming fires")

    def do_transition(self) -> None:
        """Show the fires around the next change of the clocks; again: the one after."""
        at = self.live.preview.next_transition if self.live is not None else None
        if at is None:
            self.flash("the clocks of this zone do not change", "warn")
            return
        self._after = at - timedelta(hours=25)
        self._sheet(self._after, 12, "Around the change of the clocks")

    def _sheet(self, after: datetime | None, count: int, title: str) -> None:
        schedule, mine, now = dict(self.draft.schedule) if self.draft else {}, self.deck_app.mine, self.now

        def show(preview: SchedulePreview) -> None:
            self.app.push_screen(Sheet(title, lambda cells: preview_lines(preview, now, mine, cells)))

        self.ask(lambda deck: deck.preview(schedule, after=after, count=count), show, group="editor.fires")

    def unsaved(self) -> bool:
        """Tell whether leaving would lose something."""
        return self.draft is not None and (self.draft.changed or self.holds_refused)

    def do_down_up(self) -> None:
        """Leave; ask where something is unsaved."""
        if not self.unsaved():
            self.dismiss()
            return
        self.app.push_screen(
            Confirm("Leave without saving?", ["What you changed here is lost."], do="leave", danger=True),
            self._leave,
        )

    def _leave(self, yes: bool | None) -> None:
        if yes:
            self.dismiss()


def _live(
    schedule: dict[str, Any],
    before: Mapping[str, Any] | None,
    after: datetime | None,
    flow: tuple[str, str] | None,
    deck: Deck,
) -> LiveAnswer:
    preview, change = deck.preview(schedule, after=after, count=10), deck.fire_change(before, schedule)
    return LiveAnswer(preview, change, deck.flow_runtimes(*flow) if flow else None)
