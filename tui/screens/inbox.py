"""Own the inbox: what running work asks, the oldest first, answered in a form made from its schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Container, Vertical

from core.errors import Fault, Invalid, TriggerdeckError, Usage
from core.views import ActionRow, ActionView, Page
from tui import copies
from tui.actions import Action
from tui.navigation import Location
from tui.present import inbox
from tui.present.columns import Column
from tui.present.filters import later
from tui.present.history import short_id, stamp
from tui.present.lines import Line, Piece, line
from tui.present.times import localised
from tui.screens.panes import Panes
from tui.screens.table_place import TablePlace
from tui.widgets.chooser import Chooser, plain_choice
from tui.widgets.lines_view import LinesView
from tui.widgets.row_table import RowTable
from tui.widgets.schema_form import SchemaForm

if TYPE_CHECKING:
    from core.deck import Deck

LIST_MOST = 7


class InboxPlace(TablePlace[ActionRow]):
    """Every question that waits."""

    CSS_PATH = "inbox.tcss"
    place_id = "inbox"
    heading = "Inbox"
    live_kinds = frozenset({"action", "work"})
    ORDER = "oldest first"
    EMPTY = "nobody waits for you: the question of a Flow's ask step comes here"
    FILTER_HELP = "words of the question, a trigger, or: approval confirmation choice input"
    COLUMNS = (
        Column("age", "age", 6, align="right"),
        Column("asks", "asks", 18, grow=3, most=80),
        Column("trigger", "trigger", 12, drop=2, grow=1, most=24),
        Column("due", "due", 12, drop=1),
        Column("work", "work", 8, drop=3),
    )
    ACTIONS = (
        Action("approve", ("a",), "approve", "Approve, confirm, choose or send the form", "do",
               writes=True, foot=10),
        Action("send", ("ctrl+s",), "send", "Send from inside the form what was begun", "do", writes=True),
        Action("reject", ("r",), "reject", "Refuse; an approval wants a reason", "do", writes=True, foot=12),
        Action("snooze", ("s",), "snooze", "Hide the question for a while; it still expires", "do",
               writes=True, foot=14, overrides="sort"),
        Action("raw", ("E",), "raw JSON", "Write the values as JSON in $EDITOR", "do", writes=True, foot=16),
        Action("open_work", ("o",), "work", "Go to the Work that asks", "go", foot=20),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._view: ActionView | None = None
        self._drafts: dict[str, Mapping[str, Any]] = {}
        self._refusing = ""
        """The question that is being refused while its reason is written."""

    def body(self) -> ComposeResult:
        """Yield the list, and the question with its form."""
        with Container(id="body"):
            yield RowTable[ActionRow](self.COLUMNS, self.cells, self.row_key, id="rows", empty=self.EMPTY)
            with Vertical(id="question"):
                yield LinesView(id="head", heights=lambda: (2, max(8, self.size.height // 3)))
                yield SchemaForm(id="form")
                yield LinesView(id="keys")

    def panes(self) -> Panes:
        """Return the question and the list, side by side where there is room."""
        return Panes(self.query_one("#question"), self.table, "width" if self.has_class("wide") else "height")

    # -- the list -------------------------------------------------------------------------------------------------

    def fetch(self, deck: Deck, offset: int, limit: int) -> Page[ActionRow]:
        """Return the questions that wait and match."""
        rows = inbox.in_order(deck.actions(), self.now)
        found = tuple(row for row in rows if inbox.matches(row, self.filter_text))
        return Page(found[offset : offset + limit], len(found), offset)

    def row_key(self, row: ActionRow) -> str:
        """Return the question's identity."""
        return row.id

    def cells(self, row: ActionRow) -> tuple[Line, ...]:
        """Return one line per column."""
        return (
            inbox.age(row, self.now),
            inbox.asks(row),
            line(row.trigger_name),
            inbox.due(row, self.now, self.zone_for(None)),
            inbox.work_words(row),
        )

    def beat(self, now: datetime) -> None:  # noqa: ARG002  ages ask for the time themselves
        """Let the ages grow."""
        self.table.refresh()
        self._draw_head()

    def rows_came(self) -> None:
        """Show the question under the cursor."""
        self._fit_list()
        self.on_row_table_cursor_moved()

    def on_resize(self) -> None:
        """Give the list the room that suits the new size."""
        super().on_resize()
        self._fit_list()

    def _fit_list(self) -> None:
        """Where the list stands above the question, let it be no higher than its rows."""
        if not self.pane_share:
            narrow, rows = not self.has_class("wide"), self.table.total or 0
            self.table.styles.height = min(max(rows, 1) + 2, LIST_MOST) if narrow else "1fr"

    def on_row_table_cursor_moved(self) -> None:
        """Fetch the question under the cursor."""
        row, shown = self.current, self._view
        self._keep_draft()
        if shown is not None and (row is None or row.id != shown.row.id):
            self._look_back(shown.row.id)
        if row is None:
            self._clear()
        elif shown is None or shown.row.id != row.id:
            self.ask(lambda deck: deck.action(row.id), self._got_action, group="inbox.action")
        self.redraw_frame()

    def _look_back(self, identity: str) -> None:
        """Tell what became of a question that went from the list, unless it is still there."""
        if self._drafts.get(identity) and all(row.id != identity for row in self.table.loaded()):
            self.ask(lambda deck: deck.action(identity), self._tell_fate, group="inbox.fate")

    def _tell_fate(self, view: ActionView) -> None:
        self._drafts.pop(view.row.id, None)
        if view.row.status != "pending":
            self.flash(inbox.answered(view.row), "warn")

    def _clear(self) -> None:
        self._view = None
        self.remove_class("asked")

    def _got_action(self, view: ActionView) -> None:
        self._view = view
        self.add_class("asked")
        self._draw_head()
        self._draw_keys()
        start = {**view.values, **self._drafts.get(view.row.id, {})}
        self.run_worker(self._form.ask(view.schema, start), group="inbox.form")
        self.redraw_frame()

    def _draw_head(self) -> None:
        view = self._view
        if view is not None:
            zone = self.zone_for(None)
            self.query_one("#head", LinesView).show(lambda cells: inbox.head_lines(view, self.now, zone, cells))

    def _draw_keys(self) -> None:
        if view := self._view:
            refusing = self._refusing == view.row.id
            self.query_one("#keys", LinesView).show((inbox.answer_keys(view, refusing=refusing),))

    def _refuse(self, identity: str) -> None:
        """Begin to refuse a question, or (empty) refuse none any more."""
        if identity != self._refusing:
            self._refusing = identity
            self._draw_keys()
            self.redraw_frame()

    @property
    def _form(self) -> SchemaForm:
        return self.query_one(SchemaForm)

    def on_schema_form_edited(self) -> None:
        """Take an older refusal off the screen."""
        self.flash("")

    def _keep_draft(self) -> None:
        if self._view is not None and self._form.edited:
            self._drafts[self._view.row.id] = self._form.read()[0]

    def unsaved(self) -> bool:
        """Tell whether an answer was begun and not sent."""
        return self.is_mounted and (bool(self._drafts) or (self._view is not None and self._form.edited))

    @property
    def typing(self) -> bool:
        """Tell whether the form has the keys."""
        return self.is_mounted and self._form.has_focus_within

    def on_descendant_focus(self) -> None:
        """Name the keys that work where the focus went."""
        self.call_after_refresh(self.redraw_frame)

    # -- keys -----------------------------------------------------------------------------------------------------

    def worded(self, action: Action) -> Action:
        """Name the keys by what they do with this question; what its kind does not take is not offered in the foot."""
        if action.id == "down_up" and self.typing:
            return replace(action, title="back", foot=3)
        if self._view is None or action.id not in {"approve", "send", "reject", "enter_row"}:
            return super().worded(action)
        agree, *refuse = self._view.decisions
        if action.id == "send":
            refusing = self._refusing == self._view.row.id
            return replace(action, title=inbox.verb(refuse[0] if refusing else agree), foot=1 if self.typing else 0)
        if action.id == "enter_row":
            return replace(action, title="fill in", foot=9 if self._view.schema.get("properties") else 0)
        if action.id == "reject":
            return replace(action, title=inbox.verb(refuse[0])) if refuse else replace(action, foot=0, hidden=True)
        return replace(action, title=inbox.verb(agree))

    def why_closed(self, action: Action) -> str:
        """Say why a key cannot work on this question."""
        own = {each.id for each in self.ACTIONS}
        if action.id in {"sort", "sort_reverse"}:
            return "the inbox has one order: the oldest first"
        if action.id in own and self._view is None:
            return f"{action.title}: no question is under the cursor"
        if action.id == "reject" and self._view is not None and len(self._view.decisions) < 2:
            return "reject: this question can only be answered"
        return ""

    def do_down_up(self) -> None:
        """Go from the form back to the list."""
        if self._form.has_focus_within:
            self._refuse("")
            self.table.focus()
        else:
            super().do_down_up()

    def on_row_table_opened(self) -> None:
        """Go into the form."""
        fields = self._form.form_fields
        if fields:
            fields[0].entry.focus()
        elif self._view is not None:
            self.flash(f"this question needs no values: {inbox.plain_keys(self._view)}")

    def do_send(self) -> None:
        """Send from inside the form: refuse where that was begun, agree otherwise."""
        if self._view is not None and self._refusing == self._view.row.id:
            self.do_reject()
        else:
            self.do_approve()

    def do_approve(self) -> None:
        """Agree with the form's values, if they have no fault."""
        if self._view is None:
            return
        self._refuse("")
        values, faults = self._form.read()
        if faults:
            self._tell(faults)
        else:
            self._answer(self._view.decisions[0], values)

    def do_reject(self) -> None:
        """Refuse; where a reason is wanted and missing, go to its field."""
        if self._view is None:
            return
        reason = str(self._form.read()[0].get("reason", "")).strip()
        if not reason and self._view.row.kind == "approvalRequired":
            self._refuse(self._view.row.id)
            self._tell((Fault("reason", "is required when rejecting", "write it, ctrl+s rejects; esc goes back"),))
            return
        self._answer(self._view.decisions[1], {"reason": reason} if reason else {})

    def _answer(self, decision: str, values: Mapping[str, Any]) -> None:
        if self._view is not None:
            identity = self._view.row.id
            self.ask(
                lambda deck: deck.answer(identity, decision, values),
                self._answered,
                failed=partial(self._refused, identity),
                group="inbox.answer",
                exclusive=False,
            )

    def _answered(self, row: ActionRow) -> None:
        self._refuse("")
        self._drafts.pop(row.id, None)
        self._form.edited = False
        self.table.focus()
        self.flash(f"{row.decision}: work {short_id(row.work_id)} goes on", "ok")
        self.renew()

    def _refused(self, identity: str, refusal: TriggerdeckError) -> None:
        if isinstance(refusal, Invalid) and self._view is not None and self._view.row.id == identity:
            self._tell(refusal.faults)
            return
        self._form.edited = False
        self._drafts.pop(identity, None)
        self.flash(localised(refusal.sentence(), self.zone_for(None)), "bad")
        self.renew()

    def _tell(self, faults: tuple[Fault, ...]) -> None:
        elsewhere = self._form.tell(faults, focus=True)
        first = (elsewhere or faults)[0]
        self.flash(first.sentence(), "bad")

    def do_snooze(self) -> None:
        """Ask until when."""
        zone = self.zone_for(None)
        columns = (Column("until", "until", 20, grow=1), Column("at", "at", 20))
        rows = [plain_choice(at.isoformat(), words, (Piece(f"{stamp(at, self.now, zone)}", "dim"),), words=found_by)
                for words, found_by, at in inbox.snooze_choices(self.now, zone)]  # fmt: skip
        chooser = Chooser("Snooze", columns, rows, free=True, hint="or type 90m, 3h, 2d, 16:00 · enter")
        self.app.push_screen(chooser, self._snooze)

    def _snooze(self, text: str | None) -> None:
        if text is None or self._view is None:
            return
        until = later(text, self.now, self.zone_for(None))
        if until is None or until <= self.now + timedelta(seconds=1):
            self.flash(f"cannot read {text!r} as a later time; write 90m, 3h, 2d or 16:00", "bad")
            return
        identity = self._view.row.id
        self.ask(lambda deck: deck.snooze(identity, until), self._snoozed, group="inbox.snooze")

    def _snoozed(self, row: ActionRow) -> None:
        until = stamp(row.snoozed_until, self.now, self.zone_for(None)) if row.snoozed_until else ""
        self.flash(f"out of sight until {until.strip()}", "ok")
        self.renew()

    def do_raw(self) -> None:
        """Write the values as JSON in the editor, then show them in the form."""
        from tui.external import edit_text

        if self._view is None:
            return
        values, _ = self._form.read()
        try:
            text = edit_text(self.app, json.dumps(values, indent=2, ensure_ascii=False) + "\n", suffix=".json")
        except Usage as refusal:
            self.flash(refusal.sentence(), "bad")
            return
        if text is None:
            self.flash("the editor could not be started; set $EDITOR", "bad")
            return
        try:
            read = json.loads(text)
        except json.JSONDecodeError as fault:
            self.flash(f"not JSON at line {fault.lineno}: {fault.msg}; nothing was taken", "bad")
            return
        if not isinstance(read, dict):
            self.flash("the values must be a JSON object; nothing was taken", "bad")
            return
        self.run_worker(self._take(read), group="inbox.form")

    async def _take(self, values: dict[str, Any]) -> None:
        if self._view is not None:
            await self._form.ask(self._view.schema, values)
            self._form.edited = True
            self._form.tell(self._form.read()[1])
            self.flash("values taken from the editor; a sends them", "ok")

    def do_open_work(self) -> None:
        """Go to the Work that asks."""
        if row := self.current:
            self.deck_app.go(Location("work", row.work_id))

    def copies(self) -> Iterable[tuple[str, str]]:
        """Offer the question under the cursor, then the list."""
        if row := self.current:
            yield from copies.of_question(row)
        yield from super().copies()

    def headless(self) -> str:
        """Return the command that shows the same."""
        return "triggerdeck actions"
