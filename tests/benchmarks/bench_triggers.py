"""Fire times a second: this evaluator beside croniter and cronsim, in one run, on one core.

    python tests/benchmarks/bench_triggers.py

Every library answers "the next time after this one" one at a time, walking on from its own last answer. For croniter
the faster of two uses is taken: one object asked again with `get_next(float)` from a number, and from an aware
datetime (the only one that knows the zone). "fresh" reads the expression again for every answer (ours keeps the fields
that it has read before); "at random" asks a read schedule about unordered instants. Figures are medians of rounds.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.triggers import Schedule, parse_schedule

CASES = (
    ("0 0/5 * * * ?", "*/5 * * * *", "UTC"),
    ("0 0 9 * * ?", "0 9 * * *", "America/New_York"),
    ("0 0 0 29 2 ?", "0 0 29 2 *", "UTC"),
    ("0 0 12 L * ?", "0 12 L * *", "UTC"),
)
START = datetime(2026, 1, 1, tzinfo=UTC)
ROUNDS = 7
FLOOR = 20.0


def microseconds(work: Callable[[int], None], calls: int) -> float:
    """Return the time of one call."""
    begun = time.perf_counter()
    work(calls)
    return (time.perf_counter() - begun) / calls * 1e6


def schedule(expression: str, zone: str) -> Schedule:
    return parse_schedule({"type": "cron", "expression": expression, "timeZone": zone})


def ours(expression: str, zone: str) -> Callable[[int], None]:
    rule = schedule(expression, zone)

    def walk(calls: int) -> None:
        start = instant = int(START.timestamp())
        for _ in range(calls):
            later = rule.next(instant)
            instant = start if later is None else later

    return walk


def ours_at_random(expression: str, zone: str) -> Callable[[int], None]:
    rule = schedule(expression, zone)
    draw = random.Random(1)
    instants = [int(START.timestamp()) + draw.randrange(10 * 365 * 86_400) for _ in range(2_000)]

    def jump(calls: int) -> None:
        for index in range(calls):
            rule.next(instants[index % 2_000])

    return jump


def ours_fresh(expression: str, zone: str) -> Callable[[int], None]:
    instant = int(START.timestamp())

    def read_and_ask(calls: int) -> None:
        for _ in range(calls):
            schedule(expression, zone).next(instant)

    return read_and_ask


def croniter_walk(expression: str, start: float | datetime) -> Callable[[int], None]:
    def walk(calls: int) -> None:
        iterator = croniter(expression, start)
        for index in range(calls):
            if index % 20 == 19:  # it refuses to look beyond some years: begin again
                iterator.set_current(start)
            iterator.get_next(float)

    return walk


def croniter_fresh(expression: str, start: datetime) -> Callable[[int], None]:
    def read_and_ask(calls: int) -> None:
        for _ in range(calls):
            croniter(expression, start).get_next(float)

    return read_and_ask


def cronsim_walk(expression: str, start: datetime) -> Callable[[int], None]:
    def walk(calls: int) -> None:
        iterator = CronSim(expression, start)
        for index in range(calls):
            if index % 10 == 9:
                iterator = CronSim(expression, start)
            next(iterator)

    return walk


def measure(case: tuple[str, str, str]) -> dict[str, float]:
    """Return medians in microseconds, all contenders taking turns in every round."""
    quartz, unix, zone = case
    local = START.astimezone(ZoneInfo(zone))
    numeric = croniter_walk(unix, START.timestamp()) if zone == "UTC" else None
    contenders: dict[str, tuple[Callable[[int], None], int]] = {
        "ours": (ours(quartz, zone), 20_000),
        "at random": (ours_at_random(quartz, zone), 4_000),
        "fresh": (ours_fresh(quartz, zone), 200),
        "croniter": (croniter_walk(unix, local), 300),
        "croniter fresh": (croniter_fresh(unix, local), 100),
        "cronsim": (cronsim_walk(unix, local), 200),
    }
    if numeric is not None:
        contenders["croniter numbers"] = (numeric, 300)
    rounds = [{name: microseconds(*contender) for name, contender in contenders.items()} for _ in range(ROUNDS)]
    found = {name: statistics.median(row[name] for row in rounds) for name in contenders}
    found["croniter"] = min(found["croniter"], found.pop("croniter numbers", found["croniter"]))
    return found


def batch(expression: str, zone: str, fires: int = 100_000) -> float:
    """Return the milliseconds that `between` takes for that many fires."""
    rule = schedule(expression, zone)
    start = int(START.timestamp())
    until = rule.between(start, 1 << 40, fires)[-1]

    def work(_: int) -> None:
        if len(rule.between(start, until)) != fires:
            raise SystemExit("between lost fires")

    return statistics.median(microseconds(work, 1) for _ in range(ROUNDS)) / 1000


def count_of_a_year(expression: str, zone: str) -> float:
    """Return the microseconds that counting a year takes."""
    start = int(START.timestamp())
    times = []
    for _ in range(ROUNDS):
        rule = schedule(expression, zone)
        times.append(microseconds(lambda _, rule=rule: rule.count(start, start + 365 * 86_400), 1))  # type: ignore[misc]
    return statistics.median(times)


def main() -> int:
    """Print the table; exit 1 where a ratio to croniter is below the floor."""
    print(
        f"{'rule':<16}{'zone':<18}{'ours':>9}{'random':>9}{'fresh':>9}{'croniter':>10}{'fresh':>9}{'cronsim':>9}",
        end="",
    )
    print(f"{'ratio':>9}{'random':>9}{'cronsim':>9}   (microseconds each)")
    worst = float("inf")
    for case in CASES:
        row = measure(case)
        ratio = row["croniter"] / row["ours"]
        worst = min(worst, ratio)
        print(f"{case[0]:<16}{case[2]:<18}{row['ours']:9.2f}{row['at random']:9.2f}{row['fresh']:9.1f}", end="")
        print(f"{row['croniter']:10.1f}{row['croniter fresh']:9.1f}{row['cronsim']:9.1f}", end="")
        print(f"{ratio:8.0f}x{row['croniter'] / row['at random']:8.0f}x{row['cronsim'] / row['ours']:8.0f}x")
    for expression, zone in (
        ("0 * * * * ?", "Europe/Berlin"),
        ("0 0 9 * * ?", "America/New_York"),
        ("* * * * * ?", "UTC"),
    ):
        fires = 100_000 if expression != "0 0 9 * * ?" else 36_000
        print(f"between, {fires:,} fires of {expression} {zone}: {batch(expression, zone, fires):.1f} ms")
    print(f"count, a year of * * * * * ? Europe/Berlin: {count_of_a_year('* * * * * ?', 'Europe/Berlin'):.0f} µs")
    print(f"smallest ratio to croniter: {worst:.0f}x (at least {FLOOR:.0f}x wanted)")
    return 0 if worst >= FLOOR else 1


if __name__ == "__main__":
    raise SystemExit(main())
