"""Alembic's environment: runs on the transaction that `core.storage.schema` has open."""

from alembic import context
from sqlmodel import SQLModel

from core.storage import tables  # noqa: F401 - declares the tables


def include(thing: object, name: str | None, kind: str, *_: object) -> bool:  # noqa: ARG001 - Alembic's signature
    """Leave Alembic's own table alone."""
    return not (kind == "table" and name == "alembic_version")


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    transaction_per_migration=False,
    render_as_batch=True,
    compare_type=True,
    include_object=include,
)
context.run_migrations()
