"""Where things are kept: the user's data folder and the database's location.

The location comes from an argument, else from `TRIGGERDECK_DATABASE`, else it is a SQLite file in the user's data
folder. It is a path or a URL `sqlite:///path` (three slashes are relative to the working folder, four are absolute).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from core.errors import StorageUnusable, Usage

DATABASE_VARIABLE = "TRIGGERDECK_DATABASE"
DATABASE_NAME = "triggerdeck.sqlite3"
_SQLITE_URL = "sqlite://"


def data_folder() -> Path:
    """Return the user's data folder for Triggerdeck; it may not exist yet."""
    import platformdirs

    return platformdirs.user_data_path("triggerdeck", appauthor=False)


def make_data_folder() -> Path:
    """Return the user's data folder, made readable by its owner alone where there was none."""
    folder = data_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StorageUnusable(
            f"the data folder {folder} cannot be made: {reason}", "name a database with --database"
        ) from error
    return folder


def database_location(argument: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None) -> str:
    """Return where the database is, making the user's data folder only where that is the answer."""
    if argument is not None:
        return os.fspath(argument)
    named = (os.environ if environ is None else environ).get(DATABASE_VARIABLE, "")
    return named or str(make_data_folder() / DATABASE_NAME)


def database_path(location: str | os.PathLike[str] | None = None) -> Path:
    """Return the absolute path of the SQLite file that a location names, by default the configured one."""
    text = database_location(location)
    scheme, mark, _ = text.partition("://")
    if not mark:
        return _absolute(text)
    if scheme.startswith("postgres"):
        raise StorageUnusable("PostgreSQL is not supported yet", "name a SQLite file: a path or sqlite:///path")
    if not text.startswith(f"{_SQLITE_URL}/"):
        raise Usage(f"{text} is not a database location", "name a SQLite file: a path or sqlite:///path")
    return _absolute(unquote(text.removeprefix(f"{_SQLITE_URL}/").partition("?")[0]))


def _absolute(text: str) -> Path:
    if not text or text == ":memory:" or "\0" in text:
        raise Usage("a database needs a file", "name a SQLite file: a path or sqlite:///path")
    return Path(text).expanduser().absolute()
