"""Questions as people read them: how old, how urgent, what is asked, what an answer is called; pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from core.views import ActionRow, ActionView
from core.words import duration
from tui.present.history import short_id
from tui.present.lines import Line, Piece, clean, line, wrap
from tui.present.times import ago, near, offset, zone

KINDS = {
    "approvalRequired": "approval", "confirmationRequired": "confirmation", "choiceRequired": "choice",
    "inputRequired": "input",
}  # fmt: skip
VERBS = {
    "approved": "approve", "rejected": "reject", "confirmed": "confirm", "declined": "decline", "chosen": "choose",
    "provided": "send",
}  # fmt: skip
SOON = timedelta(hours=4)
OLD = timedelta(days=1)


def in_order(rows: tuple[ActionRow, ...], now: datetime) -> tuple[ActionRow, ...]:
    """Return questions oldest first, the snoozed ones after all others."""
    return tuple(sorted(rows, key=lambda row: (is_snoozed(row, now), row.created_at, row.id)))


def is_snoozed(row: ActionRow, now: datetime) -> bool:
    """Tell whether a question is out of sight until later."""
    return row.snoozed_until is not None and row.snoozed_until > now


def matches(row: ActionRow, text: str) -> bool:
    """Tell whether a question holds every word of a filter."""
    held = f"{row.title} {row.trigger_name} {row.step_id} {KINDS[row.kind]} {row.work_id}".lower()
    return all(word in held for word in text.lower().split())


def age(row: ActionRow, now: datetime) -> Line:
    """Return how long a question has been waiting; a day and more stands out."""
    old = now - row.created_at >= OLD
    return (Piece(ago(row.created_at, now) + ("!" if old else ""), "bad" if old else ""),)


def due(row: ActionRow, now: datetime, zone_name: str) -> Line:
    """Return when a question expires, loud when that is soon, or until when it sleeps."""
    if is_snoozed(row, now):
        return (Piece(f"zz {near(row.snoozed_until, now, zone_name)}", "dim"),)
    soon = row.expires_at - now < SOON
    return (Piece(near(row.expires_at.replace(second=0), now, zone_name), "warn" if soon else "dim"),)


def asks(row: ActionRow) -> Line:
    """Return the question."""
    return line(clean(row.title) or f"{KINDS[row.kind]} wanted")


def head_lines(view: ActionView, now: datetime, zone_name: str, cells: int) -> tuple[Line, ...]:
    """Return the question in full: title, message, who asks, until when, what waits for it."""
    row = view.row
    rows: list[Line] = [*wrap(row.title or f"{KINDS[row.kind]} wanted", cells, "strong")]
    if view.message and view.message != row.title:
        rows += [part for text in view.message.splitlines() for part in wrap(text, cells)]
    left = duration((row.expires_at - now).total_seconds())
    until = f"{near(row.expires_at.replace(second=0), now, zone_name)} {offset(row.expires_at, zone_name)}"
    rows += wrap(f"asked by {asker(view)} {ago(row.created_at, now)} ago · expires in {left} ({until})", cells, "dim")
    if view.holds_up:
        rows += wrap(f"holds up {', '.join(view.holds_up)}", cells, "warn")
    return tuple(rows)


def verb(decision: str) -> str:
    """Return what answering with a decision is called."""
    return VERBS.get(decision, decision)


def plain_keys(view: ActionView) -> str:
    """Return the keys that answer a question without values: `a confirms it, r declines it`."""
    return ", ".join(f"{key} to {verb(decision)}" for key, decision in zip("ar", view.decisions, strict=False))


def answer_keys(view: ActionView, *, refusing: bool = False) -> Line:
    """Return the keys that answer this question, by their own words; while it is refused, those that do it."""
    agree, *refuse = view.decisions
    if refusing:
        return line(Piece(f"write the reason   {verb(refuse[0])} ", "dim"), Piece("^s", "key"),
                    Piece("   back ", "dim"), Piece("esc", "key"))  # fmt: skip
    parts = [Piece(f"{verb(agree)} ", "dim"), Piece("a", "key")]
    if refuse:
        note = ", with a reason" if view.row.kind == "approvalRequired" else ""
        parts += [Piece(f"   {verb(refuse[0])}{note} ", "dim"), Piece("r", "key")]
    if view.schema.get("properties"):
        parts += [Piece("   fill in ", "dim"), Piece("enter", "key"), Piece(" and send ", "dim"), Piece("^s", "key")]
    return line(*parts)


def asker(view: ActionView) -> str:
    """Return who asks as people know it: trigger and step, and the Work's short name."""
    return f"{clean(view.row.trigger_name)} › {clean(view.row.step_id)}" if view.row.trigger_name else view.asked_by


def answered(row: ActionRow) -> str:
    """Return what became of a question that somebody else answered first."""
    if row.status == "expired":
        return f"{clean(row.title)}: it expired before it was answered"
    if row.status == "cancelled":
        return f"{clean(row.title)}: its work was cancelled"
    return f"{clean(row.title)}: {row.answered_by or 'somebody'} was faster and {row.decision or 'answered'} it"


def snooze_choices(now: datetime, zone_name: str) -> tuple[tuple[str, str, datetime], ...]:
    """Return the usual times to sleep until: what each is called, the words that find it, the instant.

    No time of day finds one: `09:00` means the next 09:00, which may be today.
    """
    there = now.astimezone(zone(zone_name))
    morning = (there + timedelta(days=1)).replace(hour=9, minute=0, second=0, microsecond=0)
    return (
        ("15 minutes", "15 minutes", now + timedelta(minutes=15)),
        ("1 hour", "1 hour", now + timedelta(hours=1)),
        ("4 hours", "4 hours", now + timedelta(hours=4)),
        ("tomorrow 09:00", "tomorrow", morning.astimezone(now.tzinfo)),
    )


def title_words(waiting: int) -> str:
    """Return the terminal's title."""
    return f"({waiting}) Triggerdeck" if waiting else "Triggerdeck"


def work_words(row: ActionRow) -> Line:
    """Return the Work that asks."""
    return line(Piece(short_id(row.work_id), "dim"))
