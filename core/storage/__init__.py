"""Owns the database: tables, sessions, migrations, the change table. SQLModel and SQLAlchemy stay in this folder."""
