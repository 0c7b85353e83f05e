"""Own a Trigger being edited: a manifest of which only what was touched changes, so that nothing else is rewritten."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from tui.present.times import zone

Kind = Literal["text", "number", "options", "flow", "json", "words", "switch"]
SCHEDULE = "definition.source.schedule"
_FLOW = re.compile(r"^(?:(?P<namespace>[^/@]+)/)?(?P<name>[^/@]+)(?:@(?P<version>.+))?$")
KINDS_OF_SCHEDULE = ("cron", "interval", "once")
SHARED = ("timeZone", "startAt", "endAt", "maxOccurrences", "jitter", "daylightSaving")
ONLY: dict[str, tuple[str, ...]] = {
    "cron": ("expression", *SHARED),
    "interval": ("every", *SHARED),
    "once": ("at", "timeZone", "jitter"),
}


@dataclass(frozen=True, slots=True)
class Spec:
    """One field of the form: where it lives in the manifest, and for which kinds of schedule it is shown."""

    key: str
    label: str
    path: str
    kind: Kind = "text"
    options: tuple[tuple[str, str], ...] = ()
    shown_for: tuple[str, ...] = KINDS_OF_SCHEDULE
    hint: str = ""
    new_only: bool = False


SPECS: tuple[Spec, ...] = (
    Spec("name", "Name", "metadata.name", hint="nightly-import", new_only=True),
    Spec("namespace", "Namespace", "metadata.namespace", hint="default", new_only=True),
    Spec("type", "Kind", f"{SCHEDULE}.type", "options", (("cron", "cron"), ("interval", "interval"), ("once", "once"))),
    Spec("expression", "Cron", f"{SCHEDULE}.expression", shown_for=("cron",), hint="0 30 2 * * ?"),
    Spec("every", "Every", f"{SCHEDULE}.every", shown_for=("interval",), hint="PT15M, P1D, P1M"),
    Spec("at", "At", f"{SCHEDULE}.at", shown_for=("once",), hint="2026-12-31T23:00:00+01:00"),
    Spec("timeZone", "Zone", f"{SCHEDULE}.timeZone", hint="enter lists all zones"),
    Spec(
        "gap",
        "DST gap",
        f"{SCHEDULE}.daylightSaving.gap",
        "options",
        (("auto", "auto"), ("shift", "shift"), ("skip", "skip")),
        ("cron", "interval"),
    ),
    Spec(
        "overlapDst",
        "DST twice",
        f"{SCHEDULE}.daylightSaving.overlap",
        "options",
        (("auto", "auto"), ("first", "first"), ("second", "second"), ("both", "both")),
        ("cron", "interval"),
    ),
    Spec("flow", "Flow", "definition.target.flow", "flow", hint="enter lists the flows"),
    Spec("input", "Input", "definition.input", "json"),
    Spec("enabled", "Enabled", "definition.enabled", "switch", (("false", "off"), ("true", "on"))),
    Spec(
        "misfirePolicy", "Missed", "definition.misfirePolicy", "options", (("fireOnce", "fire once"), ("skip", "skip"))
    ),
    Spec("misfireThreshold", "Late after", "definition.misfireThreshold", hint="PT1M"),
    Spec(
        "concurrencyPolicy",
        "Overlap",
        "definition.concurrencyPolicy",
        "options",
        (("skip", "skip"), ("allow", "allow")),
    ),
    Spec("maxActive", "At most", "definition.maxActive", "number", hint="with allow: how many at once"),
    Spec("startAt", "Start", f"{SCHEDULE}.startAt", shown_for=("cron", "interval"), hint="2026-03-28T00:00:00+01:00"),
    Spec("endAt", "End", f"{SCHEDULE}.endAt", shown_for=("cron", "interval"), hint="exclusive"),
    Spec(
        "maxOccurrences",
        "Max times",
        f"{SCHEDULE}.maxOccurrences",
        "number",
        shown_for=("cron", "interval"),
        hint="counted from start",
    ),
    Spec("jitter", "Jitter", f"{SCHEDULE}.jitter", hint="PT10M spreads the load"),
    Spec("displayName", "Title", "definition.displayName"),
    Spec("description", "About", "definition.description"),
    Spec("tags", "Tags", "metadata.tags", "words", hint="words, with blanks between"),
)
BY_KEY = {spec.key: spec for spec in SPECS}
DEFAULTS = {
    "gap": "auto",
    "overlapDst": "auto",
    "misfirePolicy": "fireOnce",
    "concurrencyPolicy": "skip",
    "enabled": "false",
    "type": "cron",
}


def fresh(namespace: str, zone: str) -> dict[str, Any]:
    """Return the manifest with which a new Trigger begins."""
    return {
        "apiVersion": "agentstration.io/v1",
        "kind": "Trigger",
        "metadata": {"namespace": namespace, "name": ""},
        "definition": {
            "enabled": False,
            "source": {
                "kind": "schedule",
                "schedule": {"type": "cron", "expression": "0 30 2 * * ?", "timeZone": zone},
            },
            "target": {"kind": "flow", "flow": {"name": ""}},
        },
    }


def begun(draft: Draft, now: datetime) -> Draft:
    """Give a new interval today's midnight as its anchor and a new once the next full hour, where nothing stands."""
    there = now.astimezone(zone(str(draft.schedule.get("timeZone") or "UTC")))
    if draft.type == "interval" and not draft.text("startAt"):
        return draft.put("startAt", there.replace(hour=0, minute=0, second=0, microsecond=0).isoformat())
    if draft.type == "once" and not draft.text("at"):
        hour = (now + timedelta(hours=1)).replace(minute=0, second=0, microsecond=0)
        return draft.put("at", hour.astimezone(there.tzinfo).isoformat())
    return draft


@dataclass(frozen=True, slots=True)
class Draft:
    """A manifest with edits; `texts` holds what was typed where it is no value yet: broken JSON, words for numbers."""

    base: Mapping[str, Any]
    manifest: Mapping[str, Any]
    texts: Mapping[str, str] = field(default_factory=dict)
    shelf: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Draft:
        """Begin to edit a manifest."""
        return cls(manifest, manifest)

    @property
    def changed(self) -> bool:
        """Tell whether anything differs from the base."""
        return self.manifest != self.base or bool(self.texts)

    @property
    def schedule(self) -> Mapping[str, Any]:
        """Return the schedule as it stands."""
        found = look(self.manifest, SCHEDULE)
        return found if isinstance(found, Mapping) else {}

    @property
    def type(self) -> str:
        """Return the kind of the schedule."""
        kind = self.schedule.get("type")
        return kind if kind in KINDS_OF_SCHEDULE else "cron"

    def text(self, key: str) -> str:
        """Return what a field shows."""
        if key in self.texts:
            return self.texts[key]
        spec = BY_KEY[key]
        return shown(spec, look(self.manifest, spec.path))

    def put(self, key: str, text: str) -> Draft:
        """Take what was typed into a field; a text that the field showed before changes nothing."""
        if text == self.text(key):
            return self
        spec = BY_KEY[key]
        if key == "type":
            return self._switch(text)
        texts = {other: typed for other, typed in self.texts.items() if other != key}
        try:
            value = read(spec, text, look(self.manifest, spec.path))
        except ValueError:
            return replace(self, texts=texts | {key: text})
        if text == shown(spec, look(self.base, spec.path)):
            value = look(self.base, spec.path)
        manifest = ordered_like(placed(self.manifest, spec.path, value), self.base)
        return replace(self, manifest=manifest, texts=texts)

    def _switch(self, kind: str) -> Draft:
        """Change the kind of the schedule; what belongs to another kind is put on a shelf and comes back."""
        pool = dict(self.shelf) | dict(self.schedule)
        kept = {name: value for name, value in pool.items() if name in ONLY.get(kind, ())}
        schedule = {"type": kind} | kept
        base = look(self.base, SCHEDULE)
        if isinstance(base, Mapping) and base.get("type") == kind and dict(base) == schedule:
            schedule = dict(base)
        return replace(self, manifest=placed(self.manifest, SCHEDULE, schedule), shelf=pool)

    def faults(self) -> dict[str, str]:
        """Return what is wrong with fields before anybody else needs to look."""
        return {key: _fault(BY_KEY[key].kind, text) for key, text in self.texts.items()}


def _fault(kind: str, text: str) -> str:
    """Return why a text is none of its kind, and what to write."""
    if kind == "number":
        return "must be a whole number"
    if kind != "json":
        return "cannot be read; write it anew"
    try:
        json.loads(text)
    except json.JSONDecodeError as fault:
        return f'is not JSON from line {fault.lineno}, column {fault.colno} on; write it like {{"key": 1}}'
    return 'is not a JSON object; write it like {"key": 1}'


def look(manifest: Any, path: str) -> Any:
    """Return what stands at a dotted path, None where nothing does."""
    for step in path.split("."):
        if not isinstance(manifest, Mapping):
            return None
        manifest = manifest.get(step)
    return manifest


def placed(manifest: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy with `value` at a dotted path; None takes the key away, and a mapping that it leaves empty."""
    result: dict[str, Any] = copy.deepcopy(dict(manifest))
    *steps, last = path.split(".")
    trail = [result]
    for step in steps:
        below = trail[-1].get(step)
        if not isinstance(below, dict):
            if value is None:
                return result
            below = trail[-1][step] = {}
        trail.append(below)
    if value is not None:
        trail[-1][last] = value
        return result
    trail[-1].pop(last, None)
    if steps and not trail[-1] and steps[-1] == "daylightSaving":
        trail[-2].pop(steps[-1], None)
    return result


def ordered_like(value: Any, model: Any) -> Any:
    """Return the same value with keys in the model's order; keys that the model lacks stand last."""
    if not isinstance(value, Mapping) or not isinstance(model, Mapping):
        return value
    keys = [key for key in model if key in value] + [key for key in value if key not in model]
    return {key: ordered_like(value[key], model.get(key)) for key in keys}


def shown(spec: Spec, value: Any) -> str:
    """Return a value as the form's text."""
    if spec.kind == "flow":
        return flow_text(value)
    if spec.kind == "json":
        return (
            ""
            if not value
            else json.dumps(value, ensure_ascii=False, indent=1 if len(json.dumps(value)) > 60 else None)
        )
    if value is None:
        return DEFAULTS.get(spec.key, "")
    if spec.kind == "words":
        return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    if spec.kind == "switch":
        return "true" if value is True else "false"
    return str(value)


def json_text(value: Any) -> str:
    """Return JSON on one line where it is short, else indented."""
    short = json.dumps(value, ensure_ascii=False)
    return short if len(short) <= 60 else json.dumps(value, ensure_ascii=False, indent=1)


def read(spec: Spec, text: str, now: Any) -> Any:
    """Return a text as the manifest's value; raise ValueError where it is none. `now` stands there."""
    text = text.strip()
    if not text and spec.kind != "switch":
        return "" if spec.path == "metadata.name" else None
    if spec.kind == "options" and now is None and text == DEFAULTS.get(spec.key):
        return None
    readers: dict[str, Callable[[str], Any]] = {
        "switch": lambda said: said == "true",
        "json": json_object,
        "number": int,
        "words": str.split,
        "flow": lambda said: flow_value(said, now),
    }
    return readers.get(spec.kind, str)(text)


def json_object(text: str) -> dict[str, Any]:
    """Read a JSON object."""
    value: Any = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(text)  # noqa: TRY004  one error for all that is no object
    return value


def flow_text(value: Any) -> str:
    """Return a target as `namespace/name@version`."""
    if not isinstance(value, Mapping):
        return ""
    namespace, version = value.get("namespace"), value.get("version")
    return (
        (f"{namespace}/" if namespace else "")
        + str(value.get("name") or "")
        + (f"@{version}" if version is not None else "")
    )


def flow_value(text: str, now: Any) -> dict[str, Any]:
    """Read `namespace/name@version`; keys that the text does not say stay as they are written now."""
    match = _FLOW.match(text)
    if match is None:
        raise ValueError(text)
    value: dict[str, Any] = dict(now) if isinstance(now, Mapping) else {}
    value["name"] = match["name"]
    for key, said in (("namespace", match["namespace"]), ("version", _version(match["version"]))):
        if said is not None:
            value[key] = said
        elif value.get(key) is not None:
            del value[key]
    return value


def _version(text: str | None) -> int | None:
    if text is None or text == "active":
        return None
    return int(text.removeprefix("v"))
