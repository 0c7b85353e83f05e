"""Apply, compare, read, edit, delete and publish resources."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cli.documents import read_files
from cli.failures import say, say_error
from cli.options import KIND, argument, common, output
from cli.render import write
from cli.render.plain import plain
from cli.render.times import relative, utc
from cli.session import session
from core.errors import Invalid, Usage
from core.views import Applied, FlowRow, TriggerQuery, TriggerRow, TriggerView

if TYPE_CHECKING:
    from core.deck import Deck

FILES = click.option(
    "-f", "--filename", "named", multiple=True, metavar="FILE", help="Manifest, folder, or - for stdin."
)


@click.command()
@FILES
@argument("files", nargs=-1, required=False, metavar="[FILE]...")
@click.option("--dry-run", is_flag=True, help="Check and compare everything, store nothing.")
@click.option(
    "--prune", is_flag=True, help="Also delete what the files leave out, of the kinds and namespaces that they hold."
)
@click.option("--confirm-scope", is_flag=True, help="Let enabled Triggers that fired as somebody else fire as you.")
@output("table", "json", "yaml")
@common
def apply(named: Sequence[str], files: Sequence[str], output: str, **flags: bool) -> None:
    """Create and change resources as manifests say; all of them or none."""
    _each_applied(
        (*named, *files),
        output,
        lambda deck, texts: deck.apply(texts, **flags),
        suffix=" (dry run)" if flags["dry_run"] else "",
    )


@click.command()
@FILES
@argument("files", nargs=-1, required=False, metavar="[FILE]...")
@output("table", "json", "yaml")
@common
def diff(named: Sequence[str], files: Sequence[str], output: str) -> None:
    """Show what applying manifests would change, field by field."""
    _each_applied((*named, *files), output, lambda deck, texts: deck.diff(texts), details=True)


def _each_applied(
    names: Sequence[str],
    output: str,
    act: Callable[[Deck, Mapping[str, str]], tuple[Applied, ...]],
    *,
    suffix: str = "",
    details: bool = False,
) -> None:
    texts = dict(read_files(names))
    with session().deck() as deck:
        done = act(deck, texts)
    for item in done:
        _say_notes(item)
    write.document(output, list(done), lambda: "\n".join(_applied_lines(done, suffix, details=details)))


def _say_notes(item: Applied) -> None:
    for note in item.notes:
        say(f"note: {item.kind.lower()} {item.namespace}/{item.name}: {note}")


def _applied_lines(done: Sequence[Applied], suffix: str, *, details: bool) -> list[str]:
    lines = []
    for item in done:
        version = f", version {item.published_version} published" if item.published_version else ""
        lines.append(f"{item.kind.lower()} {item.namespace}/{item.name} {item.action}{version}{suffix}")
        if details:
            lines += [f"  {c.path}: {_short(c.before)} → {_short(c.after)}" for c in item.changes]
    return lines


def _short(value: Any) -> str:
    import json

    if value is None:
        return "(none)"
    text = json.dumps(plain(value), ensure_ascii=False)
    return text if len(text) <= 200 else text[:199] + "…"


@click.command()
@argument("kind", type=KIND)
@argument("name", required=False, metavar="[NAME]")
@output("table", "json", "yaml", "csv")
@common
def get(kind: str, name: str | None, output: str) -> None:
    """List the resources of a kind, or show one; YAML and JSON are what `apply` takes."""
    with session().deck() as deck:
        if output in {"json", "yaml"}:
            manifests = [deck.manifest(kind, name)] if name else list(deck.manifests(kind, session().namespace))
            _write_manifests(output, manifests, single=name is not None)
        elif kind == "Flow":
            _write_flows(output, [deck.flow(name).row] if name else deck.flows(session().namespace))
        else:
            _write_triggers(output, [deck.trigger(name).row] if name else _all_triggers(deck))


def _write_manifests(output: str, manifests: Sequence[dict[str, Any]], *, single: bool) -> None:
    if output == "yaml":
        click.echo("---\n".join(write.to_yaml(plain(manifest)) for manifest in manifests), nl=False)
    else:
        click.echo(write.to_json(plain(manifests[0] if single else list(manifests))))


def _all_triggers(deck: Deck) -> Sequence[TriggerRow]:
    return deck.triggers(TriggerQuery(sort="name", namespace=session().namespace), limit=None).rows


def _write_triggers(output: str, rows: Sequence[TriggerRow]) -> None:
    now = session().clock.now()
    write.records(
        output,
        rows,
        record=plain,
        titles=("NAMESPACE", "NAME", "PHASE", "SCHEDULE", "NEXT (UTC)", "IN", "LAST", "FLOW"),
        cells=lambda row: (
            row.namespace,
            row.name,
            row.phase,
            row.words,
            utc(row.next_due_at),
            relative(row.next_due_at, now),
            row.last_outcome,
            row.flow,
        ),
        empty=f"there are no Triggers in {session().place}; see: triggerdeck apply --help",
    )


def _write_flows(output: str, rows: Sequence[FlowRow]) -> None:
    write.records(
        output,
        rows,
        record=plain,
        titles=("NAMESPACE", "NAME", "ACTIVE", "NEWEST", "DRAFT", "STEPS", "USED BY", "DISPLAY NAME"),
        cells=lambda row: (
            row.namespace,
            row.name,
            row.active_version and f"v{row.active_version}",
            row.newest_version and f"v{row.newest_version}",
            "differs" if row.draft_differs else "published",
            row.step_count,
            row.used_by,
            row.display_name,
        ),
        empty=f"there are no Flows in {session().place}; see: triggerdeck apply --help",
    )


@click.command()
@argument("kind", type=KIND)
@argument("name")
@output("table", "json", "yaml")
@common
def describe(kind: str, name: str, output: str) -> None:
    """Tell all about one resource: state, rule in words, next fires, history, generations."""
    from cli.render.describe import describe_flow, describe_trigger

    now = session().clock.now()
    with session().deck() as deck:
        revisions = deck.revisions(kind, name)
        view = deck.trigger(name) if kind == "Trigger" else deck.flow(name)

    def text() -> str:
        if isinstance(view, TriggerView):
            return describe_trigger(view, revisions, now)
        return describe_flow(view, revisions)

    write.document(output, {**plain(view), "revisions": plain(revisions)}, text)


@click.command()
@argument("kind", type=KIND)
@argument("name")
@common
def delete(kind: str, name: str) -> None:
    """Delete a resource; its history stays and is found under its name."""
    with session().deck() as deck:
        done = deck.delete(kind, name)
    _say_notes(done)
    click.echo("\n".join(_applied_lines([done], "", details=False)))


@click.command()
@argument("flow")
@click.option("--activate", is_flag=True, help="Make the new version the active one at once.")
@common
def publish(flow: str, *, activate: bool) -> None:
    """Make a Flow's draft its next immutable version."""
    with session().deck() as deck:
        done = deck.publish(flow, activate=activate)
    state = "published and active" if activate else "published"
    click.echo(f"flow {done.namespace}/{done.name} version {done.published_version} {state}")


@click.command(short_help="Open a resource in $EDITOR; what is invalid is opened again, nothing is lost.")
@argument("kind", type=KIND)
@argument("name")
@common
def edit(kind: str, name: str) -> None:
    """Open a resource in $EDITOR; what is invalid on return is opened again with its faults, nothing is lost."""
    with session().deck() as deck:
        before = write.to_yaml(_editable(plain(deck.manifest(kind, name))))
        done = _edit_until_stored(deck, before, f"{kind.lower()}-{name}")
    if done is None:
        say("nothing was changed")
    else:
        click.echo("\n".join(_applied_lines(done, "", details=True)))


def _edit_until_stored(deck: Deck, before: str, stem: str) -> tuple[Applied, ...] | None:
    text = before
    while True:
        try:
            changed = click.edit(text, extension=".yaml", require_save=True)
        except click.ClickException as broken:
            if text is not before:
                _keep(text, stem)
            message = f"the text could not be edited: {broken.format_message()}"
            raise Usage(message, "set EDITOR to an editor that starts and ends well") from None
        if changed is None and text is not before:
            _keep(text, stem)
        if changed is None or _without_remarks(changed) == before:
            return None
        try:
            return deck.apply({"the edited text": _without_remarks(changed)})
        except Invalid as error:
            text = _with_remarks(changed, [fault.sentence() for fault in error.faults])
            _ask_again(error, changed, stem)
        except Exception:
            _keep(changed, stem)
            raise


def _editable(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest without what the server owns, except the ETag that guards the save."""
    owned = {"uid", "tenantId", "workspaceId", "generation"}
    definition = {key: value for key, value in manifest["definition"].items() if key != "executionScope"}
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in owned}
    rest = {key: value for key, value in manifest.items() if key not in owned | {"status"}}
    return {**rest, "metadata": metadata, "definition": definition}


def _ask_again(error: Invalid, changed: str, stem: str) -> None:
    """Let the person go back to the text; raises the error, with the text kept, where nobody can."""
    if can_ask():
        for fault in error.faults:
            say_error(fault.sentence())
        if click.confirm("Edit again?", default=True, err=True):
            return
    _keep(changed, stem)
    raise error


def can_ask() -> bool:
    """Return whether somebody sits at the other end."""
    return sys.stdin.isatty()


def _keep(changed: str, stem: str) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile("w", prefix=f"{stem}-", suffix=".yaml", delete=False, encoding="utf-8") as file:
        file.write(_without_remarks(changed))
    say(f"your text is kept in {file.name}")


def _with_remarks(text: str, sentences: Sequence[str]) -> str:
    return "".join(f"#! {sentence}\n" for sentence in sentences) + _without_remarks(text)


def _without_remarks(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#! "))
