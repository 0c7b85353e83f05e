"""Releases of zone data that never were: in each, some of the simulation's zones follow another zone's rules."""

from __future__ import annotations

import random
from collections.abc import Mapping

import tzdata

from core import zones
from core.upkeep import history

OTHERS: dict[str, tuple[str, ...]] = {
    "Europe/Berlin": ("Europe/Lisbon", "Europe/Helsinki", "Europe/Moscow"),
    "America/New_York": ("America/Chicago", "America/Sao_Paulo", "America/Regina"),
    "Asia/Kathmandu": ("Asia/Kolkata", "Asia/Tokyo"),
    "Australia/Lord_Howe": ("Australia/Sydney", "Australia/Brisbane"),
    "Africa/Casablanca": ("Europe/Lisbon", "Africa/Lagos"),
}
_REAL_FILE = zones._package_file
_REAL_VERSION = str(tzdata.IANA_VERSION)


def bring_new(draw: random.Random) -> str:
    """Install a release that changes one to three zones (or none: the real one again); return its name."""
    changed = draw.sample(sorted(OTHERS), draw.randrange(4))
    mapping = {name: draw.choice(OTHERS[name]) for name in changed}
    name = "+".join(f"{zone}={other}" for zone, other in sorted(mapping.items())).replace("/", "_")
    _install(f"2999 {name}" if name else _REAL_VERSION, mapping)
    return name or "the real one"


def restore() -> None:
    """Install the real release."""
    if tzdata.IANA_VERSION != _REAL_VERSION:
        _install(_REAL_VERSION, {})


def _install(version: str, mapping: Mapping[str, str]) -> None:
    def other_file(package: str, name: str) -> bytes:
        return _REAL_FILE(package, mapping.get(name, name))

    zones._package_file = other_file if mapping else _REAL_FILE
    tzdata.IANA_VERSION = version
    for known in (zones.zone, zones.data_version, history._era):
        known.cache_clear()
