"""When a rule fires, in times and in words."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from typing import Any

import click

from cli.failures import say
from cli.options import argument, common, output
from cli.render import colours, ics, write
from cli.render.preview import fire_record, preview_record, preview_text
from cli.schedules import Rule, named_or_rule, rule_options, take_rule
from cli.session import session
from core.clock import epoch_seconds
from core.errors import Fault, Invalid, Usage
from core.views import SchedulePreview, Timeline, TriggerQuery


@click.command()
@argument("name", required=False, metavar="[NAME]")
@rule_options
@click.option("--after", metavar="T", help="Fires later than this instant; by default now.")
@click.option("--until", metavar="T", help="Fires up to this instant, inclusive.")
@click.option("--count", type=click.IntRange(1, 10_000), default=10, show_default=True, help="At most so many fires.")
@click.option("--jsonl", is_flag=True, help="Bulk: one JSON request a line on stdin, one answer a line on stdout.")
@output("table", "json", "yaml", "csv", "ics")
@common
def preview(
    name: str | None, after: str | None, until: str | None, count: int, output: str, *, jsonl: bool, **options: Any
) -> None:
    """Show when a Trigger, or a rule that is spelled here, fires next.

    A line of --jsonl is an object with expr and zone, every and startAt, or at; also gap, overlap, endAt,
    maxOccurrences, jitter; and after, until (instants with an offset) and count. Its answer is an object with fires
    and exhausted, or with error: code, field and message. A bad line ends nothing.
    """
    rule = take_rule(options)
    if jsonl:
        if name is not None or rule.is_given():
            raise Usage("--jsonl takes its rules from standard input", "leave out NAME and the rule's options")
        serve_lines()
        return
    named_or_rule(name, rule)
    start = session().instant(after, "--after", toward="past") or session().clock.now()
    end = session().instant(until, "--until", toward="future")
    answer = _preview(name, rule, start, count, end)
    _write_preview(answer, name or "preview", output, start)


def serve_lines() -> None:
    """Answer requests from standard input until it ends."""
    from cli import bulk

    def write_out(data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    bulk.serve(sys.stdin.fileno(), write_out, epoch_seconds(session().clock.now()))


def _preview(name: str | None, rule: Rule, after: datetime, count: int, until: datetime | None) -> SchedulePreview:
    """Return the preview of a saved Trigger, or of a rule for which no database is opened; raises its faults."""
    if name is not None:
        with session().deck() as deck:
            answer = deck.preview_trigger(name, after=after, count=count, until=until)
        if answer.faults:
            raise Invalid(answer.faults).under("definition.source.schedule")
        return answer
    from core.queries.schedules import preview_rule

    answer = preview_rule(rule.schedule(), after, count=count, until=until)
    if answer.faults:
        raise Invalid(rule.named(answer.faults))
    return answer


def _write_preview(answer: SchedulePreview, name: str, output: str, after: datetime) -> None:
    now = session().clock.now()
    if output == "ics":
        fires = [fire.nominal_at for fire in answer.fires if fire.nominal_at is not None]
        click.echo(ics.calendar(fires, name=name, words=answer.words, now=now), nl=False)
    elif output == "csv":
        write.records("csv", answer.fires, record=fire_record, titles=(), cells=lambda _: (), empty="")
    elif output == "table":
        click.echo(preview_text(answer, max(now, after), colour=colours.wanted(sys.stdout)))
    else:
        write.document(output, preview_record(answer), lambda: "")


@click.command()
@argument("name", required=False, metavar="[NAME]")
@rule_options
@output("table", "json", "yaml")
@common
def explain(name: str | None, output: str, **options: Any) -> None:
    """Say in words when a Trigger, or a rule that is spelled here, fires."""
    rule = take_rule(options)
    named_or_rule(name, rule)
    now = session().clock.now()
    answer = _preview(name, rule, now, 1, None)
    told = {"words": answer.words, "notes": list(answer.notes)}
    write.document(output, told, lambda: "\n".join([answer.words, *(f"note: {note}" for note in answer.notes)]))


@click.command()
@click.option(
    "--from",
    "start",
    metavar="T",
    default="now",
    show_default=True,
    help="Start: an instant, or a distance back such as 2h.",
)
@click.option(
    "--to",
    "end",
    metavar="T",
    default="24h",
    show_default=True,
    help="End: an instant, or a distance ahead such as 7d.",
)
@click.option("--slots", type=click.IntRange(1, 2000), default=96, show_default=True, help="Slots of equal length.")
@output("table", "json", "yaml", "csv")
@common
def timeline(start: str, end: str, slots: int, output: str) -> None:
    """Show past and forecast fires of all Triggers, counted into slots."""
    from_at = session().instant(start, "--from", toward="past")
    to_at = session().instant(end, "--to", toward="future")
    if from_at is None or to_at is None:
        raise Usage("the timeline needs a start and an end", "leave out --from and --to, or give both a value")
    _check_window(to_at - from_at, start, end, slots)
    with session().deck() as deck:
        query = TriggerQuery(namespace=session().namespace)
        answer = deck.timeline(from_at, to_at, slots=slots, query=query, limit=None)
    if output == "csv":
        write.records("csv", _lane_records(answer), record=dict, titles=(), cells=lambda _: (), empty="")
    else:
        from cli.render.timeline import timeline_text

        write.document(output, answer, lambda: timeline_text(answer))
    if not answer.lanes:
        say(f"there are no Triggers in {session().place}")


def _check_window(length: timedelta, start: str, end: str, slots: int) -> None:
    """Refuse a window that is empty, ends before it begins, or is too short for its slots."""
    if length < timedelta(seconds=1):
        what = "ends before it begins" if length < timedelta() else "is empty"
        fault = Fault("--to", f"the window from --from {start} to --to {end} {what}", "choose a later --to")
        raise Invalid([fault])
    if length < timedelta(seconds=slots):
        raise Invalid(
            [
                Fault(
                    "--slots",
                    f"{slots} slots would be shorter than a second each",
                    "use fewer slots or a longer window",
                )
            ]
        )


def _lane_records(answer: Timeline) -> list[dict[str, Any]]:
    slot = timedelta(seconds=answer.slot_s)
    return [
        {
            "namespace": lane.namespace,
            "trigger": lane.name,
            "slotFrom": answer.from_at + slot * index,
            "past": past,
            "forecast": forecast,
        }
        for lane in answer.lanes
        for index, (past, forecast) in enumerate(zip(lane.past, lane.forecast, strict=True))
        if past or forecast
    ]
