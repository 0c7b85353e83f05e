"""Write the next revision from what the tables have and the migrations lack: `python -m core.storage.migrations TEXT`.

The first revision is a frozen copy of the tables; until it is released it is written anew with `--first`. Later ones
are Alembic's own difference, to be read and completed by hand, and raise `core.storage.schema.SCHEMA`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from core.storage.schema import MIGRATIONS, alembic_config, migrate, our_tables

VERSIONS = MIGRATIONS / "versions"
FIRST = VERSIONS / "0001_make_the_first_tables.py"
_HEAD = '''"""Make the first tables: a frozen copy, independent of the tables as they are today."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

METADATA = sa.MetaData()
'''
_FOOT = '''

def upgrade() -> None:
    """Bring the schema to this revision."""
    METADATA.create_all(op.get_bind())
'''


def main(arguments: list[str]) -> None:
    """Write the file that the arguments ask for."""
    if arguments == ["--first"]:
        FIRST.write_text(_HEAD + "\n".join(map(_table, our_tables())) + _FOOT)
    else:
        _next(" ".join(arguments) or "Change")


def _next(message: str) -> None:
    from alembic import command

    number = 1 + sum(1 for _ in VERSIONS.glob("[0-9]*.py"))
    with tempfile.TemporaryDirectory() as folder:
        engine = sa.create_engine(f"sqlite:///{Path(folder) / 'empty.sqlite3'}")
        with engine.begin() as connection:
            migrate(connection)
            command.revision(alembic_config(connection), message, autogenerate=True, rev_id=f"{number:04d}")
        engine.dispose()


def _table(table: sa.Table) -> str:
    parts = [*map(_column, table.columns), *map(_index, sorted(table.indexes, key=lambda index: str(index.name)))]
    parts += [f"sa.UniqueConstraint({_names(one)})" for one in _uniques(table)]
    parts += [f'sa.CheckConstraint("{one.sqltext}", name="{one.name}")' for one in _checks(table)]
    return f'sa.Table(\n    "{table.name}",\n    METADATA,\n' + "".join(f"    {part},\n" for part in parts) + ")"


def _uniques(table: sa.Table) -> Iterator[sa.UniqueConstraint]:
    return (one for one in table.constraints if isinstance(one, sa.UniqueConstraint) and len(one.columns) > 1)


def _checks(table: sa.Table) -> list[sa.CheckConstraint]:
    return [one for one in table.constraints if isinstance(one, sa.CheckConstraint)]


def _column(column: sa.Column[object]) -> str:
    kind = column.type.dialect_impl(sa.create_engine("sqlite://").dialect)
    while isinstance(kind, sa.types.TypeDecorator):
        kind = kind.impl_instance
    words = [f'"{column.name}"', f"sa.{_generic(kind)}()"]
    words += [f'sa.ForeignKey("{key.target_fullname}")' for key in column.foreign_keys]
    words += ["primary_key=True"] if column.primary_key else [f"nullable={column.nullable}"]
    words += ["unique=True"] if column.unique and not column.index else []
    return f"sa.Column({', '.join(words)})"


def _generic(kind: object) -> str:
    names = [cls.__name__ for cls in type(kind).__mro__]
    return next(name for name in ("BigInteger", "Boolean", "Float", "Integer", "Text", "String") if name in names)


def _index(index: sa.Index) -> str:
    where = index.dialect_options["sqlite"]["where"]
    words = [f'"{index.name}"', _names(index)]
    words += ["unique=True"] if index.unique else []
    words += [f'{name}_where=sa.text("{where}")' for name in ("sqlite", "postgresql") if where is not None]
    return f"sa.Index({', '.join(words)})"


def _names(of: sa.Index | sa.UniqueConstraint) -> str:
    return ", ".join(f'"{column.name}"' for column in of.columns)


if __name__ == "__main__":
    main(sys.argv[1:])
