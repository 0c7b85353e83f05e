"""The frame around every place: keys, going, palette, zones, copying, exporting, leaving."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from core.clock import ManualClock
from core.deck import Deck
from core.errors import StorageUnusable
from core.views import NotificationRow
from tests.tui.desk import START
from tests.tui.driver import deck_on, opened
from tui.actions import COMMON, SCROLL, TABLE, Action, clashes
from tui.common_actions import CommonActions, exported, notification_lines
from tui.config import Config, PlaceConfig, dump, load, parse
from tui.frame import Crumb, Footer, StatusBar
from tui.navigation import PLACES, History, Location, parse_link
from tui.present.lines import plain, width
from tui.screens.editor import EditorScreen
from tui.screens.place import Place
from tui.screens.table_place import TablePlace
from tui.screens.trigger_screen import TriggerScreen
from tui.widgets.chooser import Chooser

SCREENS: list[type[Place]] = [*(place.load() for place in PLACES), EditorScreen, TriggerScreen]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_no_key_means_two_things_in_one_place(screen: type[Place]) -> None:
    assert clashes(screen.all_actions()) == ()


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_every_action_of_a_place_is_done_by_somebody(screen: type[Place]) -> None:
    common = {name for name, _ in inspect.getmembers(CommonActions, callable)}
    missing = [
        action.id
        for action in screen.all_actions()
        if not action.widget
        and not action.hidden
        and not hasattr(screen, f"do_{action.id}")
        and f"do_{action.id}" not in common
        and not action.id.startswith("place_")
    ]
    assert missing == []


def test_a_clash_is_found_unless_it_is_declared() -> None:
    first, second = Action("a", ("x",), "a", "a"), Action("b", ("x",), "b", "b")
    assert clashes((first, second)) == ("x: a and b",)
    assert clashes((first, Action("b", ("x",), "b", "b", overrides="a"))) == ()


def test_every_action_says_what_it_does() -> None:
    for action in (*COMMON, *TABLE, *SCROLL):
        assert action.title, action.id
        assert action.help[:1].isupper(), action.id


async def test_the_first_line_tells_workspace_worker_zone_clock_and_places(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        line = driver.bar(StatusBar)
        assert line.startswith("default  worker ○ none runs  America/New_York 09:03:11 -04")
        assert line.endswith("6 Health")


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_the_frame_never_outgrows_its_terminal(database: Path, clock: ManualClock, size: tuple[int, int]) -> None:
    async with opened(database, clock, size=size) as driver:
        assert len(driver.lines) == size[1]
        assert "help ?" in driver.lines[-1]
        assert "Triggers" in driver.lines[1]
        assert all(len(row) <= size[0] for row in driver.lines)


async def test_the_clock_in_the_first_line_is_the_core_clock(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        clock.advance(timedelta(seconds=5))
        await driver.beat()
        assert "09:03:16 -04" in driver.bar(StatusBar)


async def test_each_place_keeps_its_own_stack(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        driver.table.move_to_key("default/nightly-import")
        await driver.press("enter")
        driver.screen(TriggerScreen)
        await driver.press("3")
        assert driver.app.current_mode == "occurrences"
        await driver.press("1")
        driver.screen(TriggerScreen)


async def test_back_forward_and_last_view(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        modes = []
        for key in ("3", "4", "left_square_bracket", "right_square_bracket", "minus", "minus"):
            await driver.press(key)
            modes.append(driver.app.current_mode)
        assert modes == ["occurrences", "work", "occurrences", "work", "occurrences", "work"]


async def test_go_to_takes_an_alias_with_a_filter(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("3", "colon")
        await driver.type("t enabled tag:etl")
        await driver.press("enter")
        assert driver.app.current_mode == "triggers"
        assert "filter: enabled tag:etl" in driver.bar(Crumb)
        assert len(driver.table.loaded()) == 2


async def test_go_to_a_place_that_is_none_says_so(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("colon")
        await driver.type("nowhere x")
        await driver.press("enter")
        assert "no place is called 'nowhere'" in driver.flash


async def test_the_palette_runs_what_it_names(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("ctrl+p")
        driver.screen(Chooser)
        await driver.type("read-only")
        await driver.press("enter")
        assert "READ-ONLY" in driver.bar(StatusBar)


async def test_the_palette_says_why_an_action_is_closed(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, read_only=True) as driver:
        await driver.press("ctrl+p")
        await driver.type("delete")
        assert "opened read-only" in driver.prose


async def test_closed_keys_are_faint_in_the_footer(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock, read_only=True) as driver:
        tones = {
            piece.text.split()[0]: piece.tone
            for piece in driver.place.query_one(Footer).line(120)
            if piece.text.strip()
        }
        assert tones["run"] == "faint"
        assert tones["filter"] == "dim"


async def test_any_zone_can_be_picked_for_display(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("Z")
        await driver.type("kathmandu")
        await driver.press("enter")
        assert "Asia/Kathmandu 18:48:11 +0545" in driver.bar(StatusBar)


async def test_copy_offers_name_uid_command_and_link(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        driver.table.move_to_key("default/crm-pull")
        await driver.press("y")
        assert "triggerdeck preview crm-pull --namespace default" in driver.text
        await driver.press("enter")
        assert driver.app.clipboard == "crm-pull"


async def test_export_writes_whole_instants(
    database: Path, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(database, clock) as driver:
        await driver.press("x")
        await driver.type("json")
        await driver.press("enter")
        (file,) = tmp_path.glob("triggers-*.json")
        rows = json.loads(file.read_text())
        assert {row["name"]: row["nextDueAt"] for row in rows}["nightly-import"] == "2026-03-29T01:30:00Z"


def test_a_spreadsheet_is_given_no_formula() -> None:
    assert exported("a.csv", ("name",), [("=1+1",)]).splitlines()[1] == "'=1+1"


async def test_the_theme_changes_with_one_key(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        await driver.press("ctrl+t")
        assert driver.app.theme == "deck-light"


async def test_views_are_remembered_until_the_next_visit(database: Path, clock: ManualClock, tmp_path: Path) -> None:
    file = tmp_path / "config" / "deck.toml"
    async with opened(database, clock, config_file=file) as driver:
        await driver.press("slash")
        await driver.type("tag:etl")
        await driver.press("enter", "s", "S", "ctrl+t", "q")
    assert load(file).theme == "deck-light"
    async with opened(database, clock, config_file=file) as driver:
        assert driver.app.theme == "deck-light"
        assert [row.name for row in driver.table.loaded()] == ["nightly-import", "crm-pull"]


def test_settings_are_strict_and_say_what_is_wrong() -> None:
    config = parse({"theme": "pink", "colour": 1, "places": {"triggers": {"sort": 3, "filter": "x", "odd": 1}}})
    assert config.theme == "deck-dark"
    assert config.places["triggers"] == PlaceConfig(filter="x")
    assert len(config.faults) == 4


def test_settings_come_back_as_they_were_written(tmp_path: Path) -> None:
    config = Config("deck-light", 'odd "zone"', {"triggers": PlaceConfig("tag:ü \\ x", "name", True)})
    file = tmp_path / "deck.toml"
    file.write_text(dump(config), encoding="utf-8")
    assert load(file) == config


def test_links_are_read_as_they_are_written() -> None:
    for location in (Location("work", "7f3a", None), Location("occurrences", "", "state:skipped since:7d")):
        assert parse_link(location.link()) == location
    assert parse_link("3") == Location("occurrences", "", "")
    assert parse_link("nowhere") is None


def test_history_forgets_what_lay_ahead_after_a_new_turn() -> None:
    history = History()
    for place in ("triggers", "work", "inbox"):
        history.visit(Location(place))
    assert history.back() == Location("work")
    history.visit(Location("health"))
    assert history.forward() is None
    assert history.back() == Location("work")


async def test_a_file_that_is_not_ours_ends_the_deck_with_one_sentence_and_status_6(
    tmp_path: Path, clock: ManualClock
) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("dear sir")
    async with opened(file, clock) as driver:
        assert driver.app.return_code == 6
    assert file.read_text() == "dear sir"


def test_an_unusable_storage_is_what_status_6_stands_for() -> None:
    assert StorageUnusable.exit_status == 6


async def test_a_list_that_was_hidden_while_things_changed_is_renewed_on_return(
    database: Path, clock: ManualClock
) -> None:
    async with opened(database, clock) as driver, deck_on(database, clock) as deck:
        await driver.press("3")
        deck.disable("crm-pull")
        await driver.look()
        await driver.press("1")
        row = next(row for row in driver.table.loaded() if row.name == "crm-pull")
        assert row.phase == "disabled"


def test_opening_the_deck_imports_neither_the_database_nor_the_engine_nor_other_places() -> None:
    code = (
        "import sys, tui.app, tui.screens.triggers\n"
        "heavy = {'sqlmodel', 'sqlalchemy', 'dbos', 'pydantic', 'alembic', 'yaml', 'core.deck', 'typer'}\n"
        "heavy |= {'tui.screens.editor', 'tui.screens.timeline', 'tui.screens.work', 'tui.screens.help'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_list_has_a_command_that_shows_the_same() -> None:
    for screen in SCREENS:
        if issubclass(screen, TablePlace):
            assert screen.headless is not Place.headless, screen.__name__


async def test_an_answer_that_takes_long_is_said_to_until_it_comes(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        free = Event()
        driver.place.ask(lambda _: free.wait(30), lambda _: driver.app.flash("done", "ok"), group="held")
        for _ in range(3):
            assert not driver.flash
            driver.app.live.beat()
            await driver.pilot.pause()
        assert driver.flash == "! the database does not answer yet; another program may hold it"
        free.set()
        await driver.settle()
        assert driver.flash == "✓ done"


async def test_a_refusal_takes_the_place_of_the_waiting(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:
        free = Event()

        def refuse(deck: Deck) -> None:
            free.wait(30)
            deck.trigger("nobody")

        driver.place.ask(refuse, lambda _: None, group="held")
        for _ in range(4):
            driver.app.live.beat()
            await driver.pilot.pause()
        assert "does not answer yet" in driver.flash
        free.set()
        await driver.settle()
        assert "nobody" in driver.flash
        await driver.beat()
        assert "does not answer yet" not in driver.flash


async def test_a_database_that_is_held_for_long_does_not_end_the_deck(database: Path, clock: ManualClock) -> None:
    async with opened(database, clock) as driver:

        def held(_: Deck) -> None:
            raise StorageUnusable("the database is held by another program", "wait, then repeat")

        driver.place.ask(held, lambda _: None)
        await driver.settle()
        assert driver.flash == "✗ the database is held by another program; wait, then repeat"
        assert driver.app.return_code is None
        await driver.press("4")
        assert "Work" in driver.bar(Crumb)


async def test_a_database_whose_file_was_taken_away_is_told_and_takes_no_change(
    database: Path, clock: ManualClock
) -> None:
    async with opened(database, clock) as driver:
        aside = database.with_suffix(".aside")
        database.rename(aside)
        await driver.look()
        assert "was removed, or another file was put in its place" in driver.flash
        driver.table.move_to_key("default/crm-pull")
        await driver.press("t")
        assert driver.flash.startswith("✗ crm-pull: the database")
        aside.rename(database)
        await driver.press("t")
        assert driver.flash.startswith("✓ crm-pull is disabled")


def test_a_long_notification_is_read_to_its_end() -> None:
    words = "Release the report over fifty-nine rows, which took longer than ever before, to everybody?"
    note = NotificationRow(1, START, "question", "warning", words, None, None)
    rows = notification_lines(note, START, "UTC", 60)
    assert " ".join(plain(row).strip() for row in rows) == f"13:03:11  {words}"
    assert all(width(row) <= 60 for row in rows)


async def test_an_export_leaves_a_file_that_exists_as_it_is(
    database: Path, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    kept = tmp_path / "kept.csv"
    async with opened(database, clock) as driver:
        for place in ("1", "2"):
            kept.write_text("mine")
            await driver.press(place, "x")
            await driver.type("~/kept.csv")
            await driver.press("enter")
            assert driver.flash == "✗ ~/kept.csv exists already and was left as it is; name another file"
            assert kept.read_text() == "mine"
            kept.unlink()
            await driver.press("x")
            await driver.type("~/kept.csv")
            await driver.press("enter")
            assert f"to {kept}" in driver.flash
            assert kept.read_text()
