"""What examination and upkeep found and did."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or will be: a stable code, whom it is about, one sentence, and what to do.

    `error` contradicts a promise, `warning` will hurt if nothing is done, `information` is worth knowing.
    """

    code: str
    severity: Literal["error", "warning", "information"]
    subject: str
    message: str
    remedy: str
    repairable: bool = False


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """What an examination found, what it repaired (in sentences), and how much it looked at."""

    at: datetime
    database: str
    findings: tuple[Finding, ...]
    repaired: tuple[str, ...] = ()
    figures: dict[str, int | str] = field(default_factory=dict)

    @property
    def healthy(self) -> bool:
        """Say whether nothing is wrong that somebody has to do something about."""
        return not any(finding.severity in {"error", "warning"} for finding in self.findings)


@dataclass(frozen=True, slots=True)
class PruneReport:
    """How many rows went, by table; `more` says that a bounded call left some for the next."""

    deleted: dict[str, int] = field(default_factory=dict)
    batches: int = 0
    longest_ms: float = 0.0
    more: bool = False

    @property
    def total(self) -> int:
        """Return how many rows went in all."""
        return sum(self.deleted.values())


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A copy that was made, or one that was restored: where it is, how large, from which life of the database."""

    path: str
    size_bytes: int
    incarnation: str
    made_at: datetime
    replaced: str | None = None
    ranges: int = 0
    ended_work: int = 0
