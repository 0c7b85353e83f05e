"""Importing this makes a process warm: the one that all others are forked from does so once."""

from __future__ import annotations

from tests.kills import pool, warm
from tests.kills.runs import be_warm

__all__ = ["pool"]

warm.move_in()
be_warm()
