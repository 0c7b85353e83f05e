"""The database's location: argument, then environment, then the user's data folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import settings
from core.errors import StorageUnusable


def test_an_argument_wins_over_the_environment() -> None:
    assert settings.database_location("here.db", {settings.DATABASE_VARIABLE: "there.db"}) == "here.db"


def test_the_environment_wins_over_the_data_folder() -> None:
    assert settings.database_location(None, {settings.DATABASE_VARIABLE: "there.db"}) == "there.db"


def test_the_data_folder_is_made_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "data_folder", lambda: tmp_path / "share" / "triggerdeck")
    found = Path(settings.database_location(None, {}))
    assert found == tmp_path / "share" / "triggerdeck" / settings.DATABASE_NAME
    assert found.parent.stat().st_mode & 0o777 == 0o700


def test_a_data_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(settings, "data_folder", lambda: tmp_path / "file" / "triggerdeck")
    with pytest.raises(StorageUnusable) as caught:
        settings.database_location(None, {})
    assert caught.value.remedy == "name a database with --database"


def test_an_empty_variable_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "data_folder", lambda: tmp_path)
    assert settings.database_location(None, {settings.DATABASE_VARIABLE: ""}).startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("deck.db", "{cwd}/deck.db"),
        ("sqlite:///deck.db", "{cwd}/deck.db"),
        ("sqlite:////var/deck.db", "/var/deck.db"),
        ("sqlite:///a%20b.db?mode=ro", "{cwd}/a b.db"),
        ("~/deck.db", "{home}/deck.db"),
    ],
)
def test_a_location_names_a_file(location: str, path: str) -> None:
    expected = path.format(cwd=Path.cwd(), home=Path.home())
    assert str(settings.database_path(location)) == expected
