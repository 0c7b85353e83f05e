"""Makes a schedule, in the spelling of a manifest, from options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click

from cli.options import exactly_one
from core.errors import Fault, Usage

Command = TypeVar("Command", bound=Callable[..., Any])

#: option, key of the schedule, metavar, help
RULE_OPTIONS = (
    ("--cron", "expression", "E", "Quartz cron, 6 or 7 fields, seconds first: '0 30 2 * * ?'."),
    ("--every", "every", "D", "Interval as an ISO-8601 duration: PT15M, P1D."),
    ("--at", "at", "T", "Once, at an instant with an offset."),
    ("--zone", "timeZone", "Z", "IANA time zone: Europe/Berlin."),
    ("--start-at", "startAt", "T", "First nominal time, inclusive; the anchor of an interval."),
    ("--end-at", "endAt", "T", "End of the nominal times, exclusive."),
    ("--max-occurrences", "maxOccurrences", "N", "So many nominal times from --start-at."),
    ("--jitter", "jitter", "D", "Deterministic delay of at most so long: PT5M."),
    ("--gap", "gap", "POLICY", "Wall times that do not exist: auto, shift or skip."),
    ("--overlap", "overlap", "POLICY", "Wall times that exist twice: auto, first, second or both."),
)


_FLAGS = {key: flag for flag, key, _, _ in RULE_OPTIONS}


@dataclass(frozen=True, slots=True)
class Rule:
    """What the rule options said."""

    values: Mapping[str, Any]

    def schedule(self) -> dict[str, Any]:
        """Return the schedule as a manifest spells it; Usage where not exactly one kind of rule is given."""
        given = {key: value for key, value in self.values.items() if value is not None}
        exactly_one([("--cron", given.get("expression")), ("--every", given.get("every")), ("--at", given.get("at"))])
        kind = "cron" if "expression" in given else "interval" if "every" in given else "once"
        saving = {key: given.pop(key) for key in ("gap", "overlap") if key in given}
        return {"type": kind, **given, **({"daylightSaving": saving} if saving else {})}

    def named(self, faults: Iterable[Fault]) -> list[Fault]:
        """Return a schedule's faults with the option that each is about in the place of the field."""
        return [replace(fault, field=_FLAGS.get(fault.field.rpartition(".")[2], fault.field)) for fault in faults]

    def is_given(self) -> bool:
        """Return whether any rule option was used."""
        return any(value is not None for value in self.values.values())


def rule_options(command: Command) -> Command:
    """Add the options that spell a rule; the command takes them as keyword `rule_…` for `take_rule`."""
    for flag, key, metavar, text in reversed(RULE_OPTIONS):
        kind: Any = int if key == "maxOccurrences" else str
        command = click.option(flag, f"rule_{key.lower()}", type=kind, metavar=metavar, help=text)(command)
    return command


def take_rule(options: dict[str, Any]) -> Rule:
    """Take the rule out of a command's keywords."""
    return Rule({key: options.pop(f"rule_{key.lower()}") for _, key, _, _ in RULE_OPTIONS})


def named_or_rule(name: str | None, rule: Rule) -> None:
    """Refuse a request that names a Trigger and spells a rule, or does neither."""
    if name is not None and rule.is_given():
        raise Usage("a Trigger's name and a rule exclude each other", "give NAME, or one of --cron, --every, --at")
    if name is None and not rule.is_given():
        raise Usage("nothing to look at was named", "give a Trigger's NAME, or one of --cron, --every, --at")
