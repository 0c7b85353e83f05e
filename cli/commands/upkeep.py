"""Upkeep of the database: examine and repair, let old history go, copy, restore, move a mark back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import click

from cli.failures import NO, say
from cli.options import argument, check_note, common, exactly_one, output
from cli.render import write
from cli.render.plain import plain, spelled
from cli.session import session
from core.views import BackupReport, DoctorReport, Finding, PruneReport
from core.words import counted, size

MARKS = {"error": "✗", "warning": "!", "information": "·"}
FIGURES: dict[str, Callable[[float], str]] = {
    "triggers": lambda number: counted(int(number), "Trigger"),
    "active_work": lambda number: f"{number:,.0f} active Work",
    "occurrences_at_most": lambda number: f"at most {counted(int(number), 'occurrence')}",
    "database_bytes": lambda octets: f"{size(octets)} database",
    "wal_bytes": lambda octets: f"{size(octets)} write-ahead log",
    "free_bytes": lambda octets: f"{size(octets)} free",
}


@click.command(short_help="Prove that nothing was lost or doubled; exit 1 where something is wrong.")
@click.option("--repair", is_flag=True, help="Put right what is safe to; never decisions, never Work.")
@output("table", "json", "yaml")
@common
def doctor(output: str, *, repair: bool) -> int:
    """Prove that nothing was lost or doubled, look at machinery and file; exit 1 where something is wrong."""
    with session().deck() as deck:
        report = deck.doctor(repair=repair)
    faults = sum(finding.severity != "information" for finding in report.findings)
    record = {"faults": faults, **plain(report), "figures": spelled(report.figures)}
    write.document(output, record, lambda: _doctor_text(report))
    _tell_examination(report, faults, repair=repair)
    return NO if faults else 0


def _doctor_text(report: DoctorReport) -> str:
    repaired = [f"✓ repaired: {sentence}" for sentence in report.repaired]
    return "\n".join([*repaired, *map(_finding_line, report.findings)]) or "✓ everything is in order"


def _finding_line(finding: Finding) -> str:
    return f"{MARKS[finding.severity]} {finding.subject}: {finding.message}; {finding.remedy}  [{finding.code}]"


def _tell_examination(report: DoctorReport, faults: int, *, repair: bool) -> None:
    told = [words(float(report.figures[name])) for name, words in FIGURES.items() if name in report.figures]
    say(f"looked at {report.database}: {', '.join(told)}")
    repairable = sum(finding.repairable for finding in report.findings)
    if repairable and not repair:
        say(f"{repairable} can be repaired: triggerdeck doctor --repair")
    say("no fault found" if not faults else f"{counted(faults, 'fault')} found")


@click.command(short_help="Delete old history, by the usual policy or by an age.")
@click.option("--older-than", "age", metavar="AGE", help="Only keep what is younger: an ISO-8601 duration, P90D.")
@click.option("--dry-run", is_flag=True, help="Delete nothing; say what would go.")
@output("table", "json", "yaml")
@common
def prune(age: str | None, output: str, *, dry_run: bool) -> None:
    """Delete old history: what the worker would let go in idle time, or all that is older than an age.

    Active Work, every Trigger's newest decision and its mark always stay; the audit trail is kept for two years.
    """
    older_than = None if age is None else _read_age(age)
    with session().deck() as deck:
        report = deck.prune(older_than=older_than, dry_run=dry_run)
    if report.total or output != "table":
        write.document(output, {**plain(report), "total": report.total}, lambda: _pruned_text(report))
    verb = "would go" if dry_run else "are gone"
    if not report.total:
        say("nothing is old enough to go")
    else:
        batches = f"{counted(report.batches, 'transaction')}, the longest {report.longest_ms:.0f} ms"
        say(f"{counted(report.total, 'row')} {verb} ({batches})")


def _pruned_text(report: PruneReport) -> str:
    return "\n".join(f"{count:>10}  {name}" for name, count in report.deleted.items())


def _read_age(text: str) -> timedelta:
    from core.errors import Fault, Invalid
    from core.flows.durations import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise Invalid([Fault("--older-than", str(error), "write P90D or PT12H")]) from None


@click.command()
@argument("file")
@output("table", "json", "yaml")
@common
def backup(file: str, output: str) -> None:
    """Copy the database to a new FILE, checked, while everything goes on; prints its path."""
    exactly_one([("FILE", file or None)])
    with session().deck() as deck:
        report = deck.backup(file)
    write.document(output, report, lambda: report.path)
    say(f"{size(report.size_bytes)} backed up; put it in place with: triggerdeck restore {report.path}")


@click.command(short_help="Put a backup in the place of the database; a new life begins.")
@argument("file", required=False)
@click.option("--in-place", is_flag=True, help="Accept the database as it lies, an older copy of itself.")
@output("table", "json", "yaml")
@common
def restore(file: str | None, output: str, *, in_place: bool) -> None:
    """Put a backup in the place of the database, which is kept aside; stop the worker and close decks first.

    A new life begins: nothing of the past fires, and Work that had not ended is failed, since nobody knows whether it
    ran to its end.
    """
    from core.errors import Denied
    from core.settings import database_location
    from core.upkeep import restore as restoring

    exactly_one([("FILE", file), ("--in-place", in_place)])
    if session().read_only:
        raise Denied("a restore changes the database", "repeat it without --read-only")
    database = database_location(session().database)
    report = restoring.adopt(database) if file is None else restoring.restore(file, database)
    write.document(output, report, lambda: report.path)
    _tell_restored(report)


def _tell_restored(report: BackupReport) -> None:
    say(f"a new life of {report.path} begins")
    if report.replaced is not None:
        say(f"what it was is kept aside: {report.replaced}")
    if report.ended_work:
        say(f"{report.ended_work} Work had not ended and is failed as outcome_unknown; retry what has to run again")
    if report.ranges:
        say(f"what fell due meanwhile is recorded as {counted(report.ranges, 'restored range')}; nothing of it fires")
    say("start a worker: triggerdeck worker start")


@click.command(short_help="Move a Trigger's mark back, where a wrong clock took it ahead.")
@argument("name")
@click.option("--to", required=True, metavar="T", help="Where it shall stand: an instant, or a distance back from now.")
@click.option("--note", required=True, metavar="TEXT", help="Why; kept on the audit trail.")
@output("table", "json", "yaml")
@common
def mark(name: str, to: str, note: str, output: str) -> None:
    """Move a Trigger's mark back, where a wrong clock took it ahead; what lies above it is decided anew."""
    from core.errors import Usage

    check_note(note)
    at = session().instant(to, "--to", toward="past")
    if at is None:
        raise Usage("--to names no instant", "write it as 2026-03-29T02:30:00Z, or now")
    with session().deck() as deck:
        write.effect(deck.move_mark(name, to=at, note=note), output)
