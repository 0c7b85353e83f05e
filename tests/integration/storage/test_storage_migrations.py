"""The migrations lead to exactly the tables, and an older file is brought there in one transaction."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlmodel import SQLModel

from core.clock import ManualClock, from_epoch
from core.storage import schema
from core.storage.opening import open_store
from tests.integration.storage.looking import unusable

HINT = "run: python -m core.storage.migrations --first"


def migrated(path: Path) -> None:
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        schema.migrate(connection)
    engine.dispose()


def schema_of(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE name <> 'alembic_version'").fetchall()
    return {name: " ".join((sql or "").split()) for name, sql in rows}


def test_the_migrations_and_the_tables_make_the_same_schema(tmp_path: Path) -> None:
    migrated(tmp_path / "migrated.sqlite3")
    open_store(tmp_path / "made.sqlite3").close()
    assert schema_of(tmp_path / "migrated.sqlite3") == schema_of(tmp_path / "made.sqlite3"), HINT


def test_alembic_finds_no_difference_between_migrations_and_tables(tmp_path: Path) -> None:
    migrated(tmp_path / "migrated.sqlite3")
    engine = create_engine(f"sqlite:///{tmp_path / 'migrated.sqlite3'}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, SQLModel.metadata) == [], HINT
    engine.dispose()


def test_the_newest_revision_is_the_one_that_files_are_stamped_with(path: Path) -> None:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        scripts = ScriptDirectory.from_config(schema.alembic_config(connection))
        assert scripts.get_current_head() == schema.schema_text()
        assert [one.revision for one in scripts.walk_revisions()] == [
            schema.schema_text(number) for number in range(schema.SCHEMA, 0, -1)
        ]
    engine.dispose()


ADD_COLUMN = '''"""Add a column."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.add_column("fact", sa.Column("note", sa.String(), nullable=True))
    {more}
'''


@pytest.fixture
def next_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Put one more revision behind the real ones, as a later release will."""
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    for name in ("env.py", "script.py.mako", *(f"versions/{one.name}" for one in _revisions())):
        (folder / name).write_text((schema.MIGRATIONS / name).read_text())
    (folder / "versions" / "0002_next.py").write_text(ADD_COLUMN.format(more=request.param))
    monkeypatch.setattr(schema, "MIGRATIONS", folder)
    monkeypatch.setattr(schema, "SCHEMA", 2)
    monkeypatch.setattr("core.storage.opening.SCHEMA", 2)
    monkeypatch.setattr("core.storage.opening.schema_text", lambda number=2: f"{number:04d}")


def _revisions() -> list[Path]:
    return sorted((schema.MIGRATIONS / "versions").glob("[0-9]*.py"))


def columns(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[1] for row in connection.execute("PRAGMA table_info(fact)")]


@pytest.fixture
def older(tmp_path: Path) -> Path:
    path = tmp_path / "older.sqlite3"
    store = open_store(path, clock=ManualClock(from_epoch(0)))
    store.close()
    return path


@pytest.mark.parametrize("next_schema", ["pass"], indirect=True)
def test_an_older_file_is_migrated_when_it_is_opened(older: Path, next_schema: None) -> None:
    store = open_store(older)
    with store.read() as tx:
        assert tx.connection.exec_driver_sql("PRAGMA user_version").scalar() == 2
        assert tx.connection.exec_driver_sql("SELECT name FROM fact").scalar() == "incarnation"
    store.close()
    assert "note" in columns(older)
    assert int.from_bytes(older.read_bytes()[60:64], "big") == 2


@pytest.mark.parametrize("next_schema", ["raise ValueError('power cut')"], indirect=True)
def test_a_migration_that_fails_leaves_the_older_file_whole(older: Path, next_schema: None) -> None:
    with pytest.raises(ValueError, match="power cut"):
        open_store(older)
    assert "note" not in columns(older)
    assert int.from_bytes(older.read_bytes()[60:64], "big") == 1


@pytest.mark.parametrize("next_schema", ["pass"], indirect=True)
def test_an_older_file_is_not_migrated_for_reading_only(older: Path, next_schema: None) -> None:
    before = older.read_bytes()
    with unusable("has an older schema; open it once for writing"):
        open_store(older, read_only=True)
    assert older.read_bytes() == before
