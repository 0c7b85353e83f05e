"""Triggers, admission, Work, Flows and their runtime; `core.Deck` is the public door."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.deck import Deck

__all__ = ["Deck"]


def __getattr__(name: str) -> object:
    if name == "Deck":  # SQLModel costs half a second: loaded when the door is first used
        from core.deck import Deck

        return Deck
    raise AttributeError(f"module 'core' has no attribute {name!r}")
