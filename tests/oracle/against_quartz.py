"""Compare with a living Quartz: `python -m tests.oracle.against_quartz --classpath quartz2.jar:slf4j-api.jar`.

Needs Java 17 and the jars of Quartz 2.3.2 (Debian: libquartz2-java, libslf4j-java). Random lines are asked of both in
zones whose clocks change on the hour, since Quartz loses times after other gaps. What it takes beyond its documented
grammar is refused here, and counted. Exit 1 where fires differ, or where we take what it refuses.
"""

from __future__ import annotations

import argparse
import base64
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import ScheduleInvalid
from core.triggers import parse_schedule
from core.zones import DAY_S, zone
from tests.oracle.lines import line

PROGRAM = Path(__file__).with_name("Answers.java")
ZONES = (
    "UTC", "America/New_York", "Europe/Berlin", "Europe/London", "America/Los_Angeles", "Asia/Tokyo", "Asia/Kolkata",
    "Australia/Sydney", "America/Sao_Paulo", "Asia/Kathmandu", "Europe/Dublin", "America/Chicago", "Asia/Tehran",
    "Pacific/Auckland", "Europe/Moscow", "America/Denver", "Asia/Singapore", "Europe/Madrid", "America/Mexico_City",
    "Africa/Cairo", "Asia/Jerusalem", "Europe/Paris",
)  # fmt: skip
YEAR_S = 31_556_952
NEAR_TRANSITIONS = 0.3


@dataclass(frozen=True, slots=True)
class Question:
    """A line in a zone, an instant in epoch seconds after which fires are asked for, and how many."""

    line: str
    zone: str
    after: int
    count: int

    @property
    def in_first_pass(self) -> bool:
        """Say whether the instant lies in the first pass of an overlap, which Quartz takes for the second."""
        place = zone(self.zone)
        instants = place.instants(place.wall_at(self.after))
        return len(instants) == 2 and self.after == instants[0]


def questions(draw: random.Random, number: int) -> list[Question]:
    """Return so many questions, a third of them within two days before a change of the clocks."""
    asked: list[Question] = []
    while len(asked) < number:
        name, after = draw.choice(ZONES), draw.randint(20 * YEAR_S, 66 * YEAR_S)
        following = zone(name).next_transition(after) if draw.random() < NEAR_TRANSITIONS else None
        if following is not None and following.at < 67 * YEAR_S:
            after = following.at - draw.randint(0, 2 * DAY_S)
        question = Question(line(draw), name, after, draw.choice([1, 5, 20, 60]))
        if not question.in_first_pass:
            asked.append(question)
    return asked


def quartz(classpath: str, asked: Sequence[Question]) -> list[str]:
    """Return what Quartz answers: `fires` or `ended` with the fires, `refused`, or `hang`."""
    rows = ("\t".join((_encoded(it.line), it.zone, str(it.after * 1000), str(it.count))) for it in asked)
    command = ["java", "-Xmx1g", "-cp", classpath, str(PROGRAM)]
    told = subprocess.run(command, input="\n".join(rows) + "\n", capture_output=True, text=True, check=True)
    return told.stdout.splitlines()


def ours(question: Question) -> str:
    """Return our own answer in the same words."""
    rule = {"type": "cron", "expression": question.line, "timeZone": question.zone}
    try:
        schedule = parse_schedule({**rule, "daylightSaving": {"gap": "skip", "overlap": "second"}})
    except ScheduleInvalid:
        return "refused"
    fires, at = list[int](), schedule.next(question.after)
    while at is not None and len(fires) < question.count:
        fires.append(at)
        at = schedule.next(at) if len(fires) < question.count else at
    ended = len(fires) < question.count
    return f"{'ended' if ended else 'fires'}\t{','.join(map(str, fires))}"


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def main() -> int:
    """Ask and compare; return 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.against_quartz", description=__doc__)
    parser.add_argument("--classpath", required=True, help="the jars of Quartz and SLF4J")
    parser.add_argument("--lines", type=int, default=100_000, help="how many lines to ask for")
    parser.add_argument("--seed", type=int, default=0, help="of which lines are drawn")
    options = parser.parse_args()
    asked = questions(random.Random(options.seed), options.lines)
    found: Counter[str] = Counter()
    for question, theirs in zip(asked, quartz(options.classpath, asked), strict=True):
        mine = ours(question)
        if mine == theirs:
            found["refused by both" if mine == "refused" else "the same fires"] += 1
        elif theirs == "hang":
            found["searched by Quartz without end"] += 1
        elif mine == "refused":
            found["taken by Quartz beyond its grammar"] += 1
        else:
            found["different"] += 1
            print(f"{question}\n  Quartz {theirs[:300]}\n  ours   {mine[:300]}", file=sys.stderr)
    print(f"{len(asked):,} lines: " + ", ".join(f"{count:,} {what}" for what, count in sorted(found.items())))
    return int(found["different"] > 0)


if __name__ == "__main__":
    sys.exit(main())
