"""Own what undoing needs: a sentence, and the call that takes a change back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.deck import Deck


@dataclass(frozen=True, slots=True)
class Undo:
    """How to take the last change back: what it was, and the call that does it and says so."""

    what: str
    call: Callable[[Deck], str]
