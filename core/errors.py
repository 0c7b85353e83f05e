"""The one tree of errors that a user may meet.

    TriggerdeckError            code, message (one sentence), remedy
    ├─ Invalid                  exit 3: a list of faults, each with its field
    ├─ NotFound                 exit 1
    ├─ Precondition             exit 4: stale ETag, disabled, already answered
    │  └─ StaleETag             carries the stored document for a three-way view
    ├─ Denied                   exit 5
    ├─ Usage                    exit 2: the request itself makes no sense
    └─ StorageUnusable          exit 6: not ours, newer, read-only, corrupt, full

Nothing below the doors prints or exits; a door turns one of these into a sentence and a status.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

# Line ends and control characters that an input brings along are shown by their escapes: a sentence is one line.
_VISIBLE = {code: ascii(chr(code))[1:-1] for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)}
_VISIBLE_ON_A_PAGE = {code: shown for code, shown in _VISIBLE.items() if chr(code) not in "\n\t"}


LONGEST_FIELD = 250  # characters


def one_line(text: str) -> str:
    """Return a text with line ends and control characters as visible escapes."""
    return text.translate(_VISIBLE)


def page(text: str) -> str:
    """Return a text of many lines with every other control character as a visible escape; tabs stay."""
    return text.translate(_VISIBLE_ON_A_PAGE)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with one field of an input.

    `field` is a dotted path in the document's own spelling (`definition.source.schedule.expression`);
    `position` is a zero-based character offset inside that field's text where one is known.
    """

    field: str
    message: str
    remedy: str = ""
    position: int | None = None
    code: str = "invalid"

    def under(self, prefix: str) -> Fault:
        """Return the same fault with its field placed below `prefix`."""
        path = f"{prefix}.{self.field}" if self.field else prefix
        return Fault(path, self.message, self.remedy, self.position, self.code)

    def at_place(self, place: str) -> Fault:
        """Return the same fault with its field in a place of a file: `a.yaml, document 2 (Flow import), …`."""
        if not place:
            return self
        field = f"{place}, {self.field}" if self.field else place
        return Fault(field, self.message, self.remedy, self.position, self.code)

    def sentence(self) -> str:
        """Return field, fault and remedy as one line for people."""
        field = self.field if len(self.field) <= LONGEST_FIELD else f"{self.field[:150]}…{self.field[-60:]}"
        where = f"{field}: " if field else ""
        at = f" (at character {self.position + 1})" if self.position is not None else ""
        said = f"{where}{self.message}{at}" + (f"; {self.remedy}" if self.remedy else "")
        return one_line(said)


class TriggerdeckError(Exception):
    """Any refusal that a user may see: a stable code, one sentence, one remedy."""

    code: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def sentence(self) -> str:
        """Return message and remedy as one line for people."""
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


class Invalid(TriggerdeckError):
    """The input has faults; all of them are here, nothing was stored."""

    code = "invalid"
    exit_status = 3

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(fault.sentence() for fault in self.faults))

    def under(self, prefix: str) -> Invalid:
        """Return the same error with every field placed below `prefix`."""
        return type(self)(fault.under(prefix) for fault in self.faults)


class ScheduleInvalid(Invalid):
    """A schedule that says no set of instants; raised by `core.triggers` and `core.zones`."""

    code = "schedule_invalid"


class NotFound(TriggerdeckError):
    """What was named does not exist in this workspace."""

    code = "not_found"
    exit_status = 1


class Precondition(TriggerdeckError):
    """The resource is not in the state that the request needs."""

    code = "precondition_failed"
    exit_status = 4


class StaleETag(Precondition):
    """Somebody else saved first; `stored` is the document as it is now."""

    def __init__(self, message: str, stored: dict[str, Any]) -> None:
        super().__init__(message, "read it again and repeat the change")
        self.stored = stored


class Denied(TriggerdeckError):
    """The principal lacks the permission that the request needs."""

    code = "denied"
    exit_status = 5


class Usage(TriggerdeckError):
    """The request contradicts itself or names an unknown option."""

    code = "usage"
    exit_status = 2


class StorageUnusable(TriggerdeckError):
    """The database cannot be used; nothing in it was touched."""

    code = "storage_unusable"
    exit_status = 6
