"""The schema's history: Alembic's environment and one file per revision, numbered from 0001."""
