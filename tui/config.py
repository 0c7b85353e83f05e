"""Own what the deck remembers between visits: theme, zone, and each list's filter and order. Strict TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

THEMES = ("deck-dark", "deck-light")
LEAST_PANE, MOST_PANE = 20, 80


@dataclass(frozen=True, slots=True)
class PlaceConfig:
    """What is remembered of one list."""

    filter: str = ""
    sort: str = ""
    descending: bool = False
    pane: int = 0
    """The percent that the second pane takes; 0: as it comes."""


@dataclass(frozen=True, slots=True)
class Config:
    """What is remembered; `faults` are sentences about what could not be read."""

    theme: str = "deck-dark"
    zone: str = "trigger"
    places: Mapping[str, PlaceConfig] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


def default_path() -> Path:
    """Return the file in the user's configuration folder."""
    from platformdirs import user_config_path

    return user_config_path("triggerdeck", appauthor=False) / "deck.toml"


def load(file: Path) -> Config:
    """Read the file; what it does not say, and what is wrong in it, stays at its default."""
    if not file.exists():
        return Config()
    import tomllib

    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        return Config(faults=(f"{file.name} cannot be read ({' '.join(str(fault).split())}); defaults are used",))
    return parse(data)


def parse(data: Mapping[str, Any]) -> Config:
    """Check what was read, key by key."""
    faults = [f"deck.toml: {key!r} is not a setting" for key in data if key not in {"theme", "zone", "places"}]
    theme = data.get("theme", "deck-dark")
    if theme not in THEMES:
        faults.append(f"deck.toml: theme {theme!r} is unknown; use one of {', '.join(THEMES)}")
        theme = THEMES[0]
    zone = data.get("zone", "trigger")
    if not isinstance(zone, str):
        faults.append("deck.toml: zone must be a text")
        zone = "trigger"
    places: dict[str, PlaceConfig] = {}
    told = data.get("places", {})
    for name, said in (told if isinstance(told, Mapping) else {}).items():
        found, wrong = _place(name, said)
        places[name] = found
        faults += wrong
    return Config(theme, zone, places, tuple(faults))


def _place(name: str, said: Any) -> tuple[PlaceConfig, list[str]]:
    kinds: dict[str, type] = {"filter": str, "sort": str, "descending": bool, "pane": int}
    if not isinstance(said, Mapping):
        return PlaceConfig(), [f"deck.toml: places.{name} must be a table"]
    wrong = [f"deck.toml: places.{name}.{key} is not a setting" for key in said if key not in kinds]
    good: dict[str, Any] = {key: value for key, value in said.items() if key in kinds and type(value) is kinds[key]}
    wrong += [f"deck.toml: places.{name}.{key} has the wrong kind" for key in said if key in kinds and key not in good]
    if good.get("pane", 0) and not LEAST_PANE <= good["pane"] <= MOST_PANE:
        wrong.append(f"deck.toml: places.{name}.pane must lie between {LEAST_PANE} and {MOST_PANE}")
        del good["pane"]
    return PlaceConfig(**good), wrong


def dump(config: Config) -> str:
    """Return the file's text."""
    rows = [f"theme = {_text(config.theme)}", f"zone = {_text(config.zone)}"]
    for name, place in sorted(config.places.items()):
        rows += ["", f"[places.{name}]", f"filter = {_text(place.filter)}", f"sort = {_text(place.sort)}",
                 f"descending = {str(place.descending).lower()}"]  # fmt: skip
        rows += [f"pane = {place.pane}"] if place.pane else []
    return "\n".join(rows) + "\n"


def save(file: Path, config: Config) -> str:
    """Write the file whole or not at all; return what went wrong, empty where nothing did."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_suffix(".new")
        beside.write_text(dump(config), encoding="utf-8")
        beside.replace(file)
    except OSError as fault:
        return f"{file} cannot be written: {fault.strerror}"
    return ""


def _text(value: str) -> str:
    """Return a basic TOML string; JSON's escapes are TOML's."""
    import json

    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
