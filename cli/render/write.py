"""Writes answers to standard output in the format that was asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import click

from cli.failures import say
from cli.render import colours, plain
from cli.render.describe import describe_work
from cli.render.table import table
from core.errors import page
from core.views import Effect, WorkView

Row = TypeVar("Row")


def document(output: str, value: Any, text: Callable[[], str]) -> None:
    """Write one value: `text` makes what people read."""
    if output == "json":
        click.echo(to_json(plain.plain(value)))
    elif output == "yaml":
        click.echo(to_yaml(plain.plain(value)), nl=False)
    else:
        click.echo(page(text()))


def records(
    output: str,
    rows: Iterable[Row],
    *,
    record: Callable[[Row], Mapping[str, Any]],
    titles: Sequence[str],
    cells: Callable[[Row], Sequence[object]],
    empty: str | Callable[[], str],
) -> None:
    """Write rows; JSON and CSV go out while they are read. `empty` tells people that there were none."""
    if output == "json":
        _stream_json(record(row) for row in rows)
    elif output == "yaml":
        click.echo(to_yaml([plain.plain(record(row)) for row in rows]), nl=False)
    elif output == "csv":
        _stream_csv(record(row) for row in rows)
    else:
        grid = [cells(row) for row in rows]
        if grid:
            click.echo(table(titles, grid, colour=colours.wanted(sys.stdout)))
        else:
            say(empty if isinstance(empty, str) else empty())


def effect(done: Effect, output: str) -> None:
    """Write what a command did: sentences for people and the identity of what it made, or the whole as data."""
    if output != "table":
        document(output, done, lambda: done.message)
        return
    say(done.message)
    for notice in done.notices:
        say(f"note: {notice}")
    if done.work_id:
        click.echo(done.work_id)


def work(view: WorkView, output: str, now: datetime) -> None:
    """Write one Work: its record with steps and questions, its row as CSV, or a page for people."""
    row = plain.work(view.row)
    if output == "csv":
        records("csv", [row], record=dict, titles=(), cells=lambda _: (), empty="")
        return
    parts = {"input": view.input, "runs": view.runs, "steps": view.steps, "actions": view.actions}
    document(output, {**row, **plain.plain(parts)}, lambda: describe_work(view, now))


def to_json(value: Any) -> str:
    """Return a value as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def to_yaml(value: Any) -> str:
    """Return a value as YAML in the order of its keys, as `apply` reads it back: no text becomes a number."""
    from core.resources.text import write_documents

    return write_documents([value])


def _stream_json(rows: Iterator[Mapping[str, Any]]) -> None:
    lead = "[\n"
    for row in rows:
        sys.stdout.write(f"{lead}  {json.dumps(plain.plain(row), ensure_ascii=False)}")
        lead = ",\n"
    sys.stdout.write("\n]\n" if lead != "[\n" else "[]\n")


def _stream_csv(rows: Iterator[Mapping[str, Any]]) -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    titles: list[str] = []
    for row in rows:
        flat = flatten(plain.plain(row))
        if not titles:
            titles = list(flat)
            writer.writerow(titles)
        writer.writerow([flat.get(title) for title in titles])


def flatten(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested objects as dotted columns; lists are joined by blanks."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = _csv_cell(value)
    return flat


def _csv_cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(map(str, value)) if isinstance(value, list) else value
