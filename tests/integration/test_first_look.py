"""The first look answers what the deck answers, or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal, get_args, get_type_hints

import pytest

from core.clock import ManualClock
from core.deck import Deck
from core.first_look import first_look
from core.storage.first_look import STATEMENTS
from core.storage.first_look_statements import statements_text
from core.views import TriggerQuery
from tests.tui import world

Sort = Literal["next", "name", "last", "phase"]
SORTS = get_args(get_type_hints(TriggerQuery)["sort"])


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a workspace with a day behind it."""
    return world.make(tmp_path_factory.mktemp("story"))


@pytest.fixture
def database(story: Path, tmp_path: Path) -> Path:
    """Return a copy of it that may be harmed."""
    return world.copied(story, tmp_path / "deck")


def look(database: Path, **options: object) -> object:
    return first_look(database, user=world.STORY_MAKER, **options)  # type: ignore[arg-type]  # passed on


def change(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement)


def test_its_statements_are_the_decks_own() -> None:
    remedy = "write them anew: python -m core.storage.first_look_statements"
    assert STATEMENTS.read_text(encoding="utf-8") == statements_text(), remedy


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("sort", SORTS)
def test_it_answers_what_the_deck_answers(database: Path, sort: Sort, descending: bool) -> None:
    query = TriggerQuery(sort=sort, descending=descending)
    with world.story_maker():
        deck = Deck.open(database, clock=ManualClock(world.NOW))
    expected = deck.triggers(query, limit=5)
    deck.close()
    assert expected.total > len(expected.rows)
    assert {row.recent for row in expected.rows} != {""}
    assert look(database, query=query, limit=5) == expected


def test_it_writes_nothing(database: Path) -> None:
    before = database.read_bytes()
    assert look(database) is not None
    assert database.read_bytes() == before


def test_a_filter_is_left_to_the_deck(database: Path) -> None:
    assert look(database, query=TriggerQuery(text="nightly")) is None
    assert look(database, query=TriggerQuery(phase="active")) is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE membership SET state = 'suspended'",
        "UPDATE principal SET active = 0",
        "UPDATE principal SET tenant_id = 'another'",
        "UPDATE workspace SET active = 0",
        "UPDATE tenant SET active = 0",
        "DELETE FROM membership",
        "PRAGMA user_version = 999",
        "PRAGMA application_id = 1",
        "DROP TABLE trigger_state",
    ],
)
def test_whatever_is_unusual_is_left_to_the_deck(database: Path, statement: str) -> None:
    assert look(database) is not None
    change(database, statement)
    assert look(database) is None


def test_another_workspace_is_left_to_the_deck(database: Path) -> None:
    assert look(database, workspace="elsewhere") is None


@pytest.mark.parametrize(
    "make",
    [
        lambda _: None,
        lambda path: path.mkdir(),
        lambda path: path.touch(),
        lambda path: path.write_bytes(b"no database at all " * 100),
    ],
    ids=["missing", "a folder", "empty", "not ours"],
)
def test_a_file_that_is_no_deck_is_left_to_the_deck(tmp_path: Path, make: Callable[[Path], object]) -> None:
    path = tmp_path / "deck.sqlite3"
    make(path)
    before = sorted(tmp_path.rglob("*"))
    assert look(path) is None
    assert sorted(tmp_path.rglob("*")) == before


def test_a_location_that_is_none_is_left_to_the_deck() -> None:
    assert first_look("postgresql://somewhere/deck") is None
