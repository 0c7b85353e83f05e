"""Options that commands share, spelled the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from cli.session import Session

Command = TypeVar("Command", bound=Callable[..., Any])
NOTE_LENGTH = 500
KINDS = {"trigger": "Trigger", "triggers": "Trigger", "flow": "Flow", "flows": "Flow"}


def common(command: Command) -> Command:
    """Add --database, --workspace and --namespace; they may stand before or after the command's name."""
    for option in (_namespace, _workspace, _database):
        command = option(command)
    return command


def _keep(attribute: str) -> Callable[[click.Context, click.Parameter, str | None], None]:
    def keep(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
        if value is not None:
            setattr(context.find_root().ensure_object(Session), attribute, value)

    return keep


def _keep_namespace(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    from core.errors import Invalid
    from core.resources.names import namespace_faults

    if faults := namespace_faults("--namespace", value):
        raise Invalid(faults)
    context.find_root().ensure_object(Session).namespace = value


_database = click.option(
    "--database",
    metavar="URL",
    expose_value=False,
    callback=_keep("database"),
    help="Database file or URL; by default the user's data folder.  [env: TRIGGERDECK_DATABASE]",
)
_workspace = click.option(
    "--workspace", metavar="NAME", expose_value=False, callback=_keep("workspace"), help="Workspace to act in."
)
_namespace = click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    expose_value=False,
    callback=_keep_namespace,
    help="Namespace of names, by default `default`; lists are of all namespaces without it.",
)


def output(*formats: str) -> Callable[[Command], Command]:
    """Add -o with the formats that the command can write; the first one is the default."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="Format of the answer.",
    )


def limit(default: int) -> Callable[[Command], Command]:
    """Add --limit; 0 gives all."""
    return click.option(
        "--limit",
        type=click.IntRange(min=0),
        default=default,
        show_default=True,
        help="At most so many rows; 0 is all.",
    )


class KindType(click.ParamType[str]):
    """The kind of a resource, in the singular or the plural, in any case."""

    name = "kind"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the kind as manifests spell it."""
        kind = KINDS.get(str(value).lower())
        if kind is None and str(value).lower() in {"calendar", "calendars"}:
            self.fail("calendars come in a later version; use trigger or flow", param, ctx)
        if kind is None:
            self.fail(f"{value!r} is not a kind of resource; use trigger or flow", param, ctx)
        return kind

    def shell_complete(  # the unused arguments are click's own signature
        self,
        ctx: click.Context,  # noqa: ARG002 as above
        param: click.Parameter,  # noqa: ARG002 as above
        incomplete: str,
    ) -> list[Any]:
        """Offer the kinds in the singular."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(kind) for kind in ("trigger", "flow") if kind.startswith(incomplete.lower())]


KIND = KindType()


def argument(name: str, **attributes: Any) -> Callable[[Command], Command]:
    """Add a positional argument that is shown in capitals."""
    return click.argument(name, metavar=attributes.pop("metavar", name.upper()), **attributes)


def check_note(note: str) -> None:
    """Refuse a reason that says nothing, or is more than one plain line."""
    from core.errors import Fault, Invalid
    from core.flows.reading import is_one_line

    if not note.strip():
        raise Invalid([Fault("--note", "is empty", "say why")])
    if len(note) > NOTE_LENGTH or not is_one_line(note):
        raise Invalid([Fault("--note", f"must be one plain line of at most {NOTE_LENGTH} characters", "shorten it")])


def exactly_one(given: Sequence[tuple[str, object]]) -> None:
    """Refuse a request that gives none or several of the options that exclude each other."""
    from core.errors import Usage

    chosen = [name for name, value in given if value is not None and value is not False]
    names = ", ".join(name for name, _ in given)
    if not chosen and len(given) == 1:
        raise Usage(f"{names} is empty", "give it a value")
    if not chosen:
        raise Usage(f"one of {names} is needed", "give exactly one of them")
    if len(chosen) > 1:
        raise Usage(f"{' and '.join(chosen)} exclude each other", "give exactly one of them")
