"""Short ways to live through what people reported: instants, rules, policies, and time that passes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.integration.admission.world import World

MakeWorld = Callable[[datetime], World]

EVERY_POLICY = ("skip", "fireOnce")


def at(text: str) -> datetime:
    """Return an instant of UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def cron(expression: str, zone: str = "UTC", **fields: Any) -> dict[str, Any]:
    """Return a cron rule."""
    return {"type": "cron", "expression": expression, "timeZone": zone, **fields}


def live(world: World, until: datetime, *, step: timedelta = timedelta(minutes=10)) -> list[datetime]:
    """Make a pass every ten minutes; return the nominal times for which there is Work, in the order of the passes."""
    while world.clock.now() < until:
        world.clock.advance(step)
        world.pass_once()
    return fired(world)


def fired(world: World) -> list[datetime]:
    """Return the nominal times for which there is Work, in the order of the passes."""
    rows = world.rows("SELECT nominal_at FROM occurrence WHERE work_id IS NOT NULL ORDER BY admitted_at, rowid")
    return [instant for row in rows if (instant := world.at(row["nominal_at"])) is not None]


def next_due(world: World, name: str) -> datetime | None:
    """Return when a Trigger is projected to fire."""
    return world.at(world.state(name)["next_due_at"])
