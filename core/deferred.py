"""Modules that are imported when something of them is first used: a start pays only for what it needs."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class DeferredModule(ModuleType):
    """Stands for a module; the first look at any of its names imports it."""

    def __getattr__(self, name: str) -> Any:
        """Return what the real module has under this name."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


def deferred(name: str) -> Any:
    """Return a stand-in for the module with this full name."""
    return DeferredModule(name)
