"""The named states of the app, shared by the snapshot tests and the pictures in screenshots/."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.tui.stage import Act, Stage

SMALL, LARGE, WIDE = (80, 24), (120, 36), (200, 50)
Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Scene:
    """One state: how it is reached, over which database, at which sizes and in which themes it is kept."""

    name: str
    act: Act
    empty: bool = False
    read_only: bool = False
    sizes: tuple[Size, ...] = (SMALL, LARGE)
    light: tuple[Size, ...] = ()


def followed(act: Act) -> Act:
    """Return an act that ends when the log stands at its last line."""

    async def followed_act(stage: Stage) -> None:
        await act(stage)
        for _ in range(100):
            if "60/60" in stage.text:
                return
            await stage.settle()

    return followed_act


def keys(*pressed: str) -> Act:
    """Return an act that presses keys."""

    async def act(stage: Stage) -> None:
        await stage.press(*pressed)

    return act


def typed(opened_by: tuple[str, ...], text: str, *then: str) -> Act:
    """Return an act that opens something with keys, types a text and presses more keys."""

    async def act(stage: Stage) -> None:
        await stage.press(*opened_by)
        await stage.type(text)
        await stage.press(*then)

    return act


def row(mode: str, wanted: Callable[[str], bool], *then: str) -> Act:
    """Return an act that goes to a place, puts the cursor on the first row that shows what is wanted, presses keys."""

    async def act(stage: Stage) -> None:
        await stage.press(mode)
        table = stage.table
        cells = [table._cells(shown) for shown in table.loaded()]
        texts = ["".join(piece.text for cell in each for piece in cell) for each in cells]
        table.move(next(index for index, text in enumerate(texts) if wanted(text)))
        await stage.settle()
        await stage.press(*then)

    return act


def _is(text: str) -> Callable[[str], bool]:
    return lambda shown: text in shown


async def _edited(stage: Stage) -> None:
    await row("1", _is("nightly-import"), "e")(stage)
    stage.place.query_one("#row-expression Input").focus()
    await stage.press("end", "ctrl+u")
    await stage.type("0 30 2 * * MON-FRI")


async def _changed(stage: Stage) -> None:
    await _edited(stage)
    await stage.press("ctrl+u")
    await stage.type("0 45 2 * * ?")
    await stage.press("ctrl+s")


async def _faults(stage: Stage) -> None:
    await row("5", lambda text: "Numbers" in text, "a")(stage)
    await stage.type("90")


async def _raced(stage: Stage) -> None:
    await row("5", lambda text: "Release" in text)(stage)
    action = next(action for action in stage.deck.actions() if action.title.startswith("Release"))
    stage.deck.answer(action.id, "approved", {"batch": 10, "notify": False})
    await stage.press("a")


SCENES: tuple[Scene, ...] = (
    Scene("triggers", keys("1"), sizes=(SMALL, LARGE, WIDE), light=(LARGE,)),
    Scene("trigger", row("1", _is("nightly-import"), "enter"), sizes=(SMALL,)),
    Scene("triggers-empty", keys("1"), empty=True, sizes=(SMALL,)),
    Scene("editor", row("1", _is("nightly-import"), "e"), sizes=(SMALL, LARGE, WIDE), light=(LARGE,)),
    Scene("editor-fault", _edited, sizes=(LARGE,)),
    Scene("editor-change", _changed),
    Scene("zones", keys("1", "Z"), sizes=(SMALL,)),
    Scene("palette", keys("1", "ctrl+p"), sizes=(SMALL,)),
    Scene("go-to", keys("1", "colon"), sizes=(SMALL,)),
    Scene("notifications", keys("1", "N"), sizes=(SMALL,)),
    Scene("timeline-day", keys("2"), sizes=(SMALL, LARGE, WIDE), light=(LARGE,)),
    Scene("timeline-busiest", keys("2", "."), sizes=(LARGE,)),
    Scene("timeline-hours", keys("2", "+"), sizes=(SMALL,)),
    Scene("timeline-week", keys("2", "-"), light=(SMALL,)),
    Scene("timeline-month", keys("2", "-", "-"), sizes=(LARGE,)),
    Scene("timeline-list", keys("2", ".", "enter"), sizes=(SMALL,)),
    Scene("timeline-empty", keys("2"), empty=True, sizes=(SMALL,)),
    Scene("occurrences", keys("3"), sizes=(SMALL, LARGE, WIDE), light=(LARGE,)),
    Scene("occurrences-skipped", typed(("3", "slash"), "state:skipped since:30d", "enter"), light=(SMALL,)),
    Scene("occurrences-empty", keys("3"), empty=True, sizes=(SMALL,)),
    Scene("occurrence-why", typed(("3", "slash"), "reason:coalesced", "enter", "enter"), sizes=(SMALL,)),
    Scene("occurrence-range", row("3", _is("missed"), "enter")),
    Scene("work", keys("4"), sizes=(SMALL, LARGE, WIDE), light=(LARGE,)),
    Scene("work-empty", keys("4"), empty=True, sizes=(SMALL,)),
    Scene("work-cancel", row("4", _is("approval"), "c"), sizes=(SMALL,)),
    Scene("run-steps", followed(row("4", _is("approval"), "enter")), sizes=(SMALL, LARGE, WIDE), light=(LARGE,)),
    Scene("run-log", row("4", _is("approval"), "enter", "tab", "w"), sizes=(SMALL,)),
    Scene("run-values", row("4", _is("approval"), "enter", "tab", "tab"), sizes=(SMALL,)),
    Scene("run-events", row("4", _is("approval"), "enter", "tab", "tab", "tab"), sizes=(SMALL,)),
    Scene("run-failed", row("4", _is("us-digest"), "enter"), sizes=(SMALL, LARGE)),
    Scene("inbox", row("5", _is("Release")), sizes=(SMALL, LARGE, WIDE), light=(LARGE, SMALL)),
    Scene("inbox-form", _faults),
    Scene("inbox-raced", _raced, sizes=(SMALL,)),
    Scene("inbox-empty", keys("5"), empty=True, sizes=(SMALL,)),
    Scene("health", keys("6"), light=(SMALL,)),
    Scene("health-empty", keys("6"), empty=True, sizes=(SMALL,)),
    Scene("help", typed(("3", "question_mark"), "why"), sizes=(SMALL,)),
    Scene("help-all", keys("4", "question_mark")),
    Scene("read-only", keys("5"), read_only=True, sizes=(SMALL,)),
)
BY_NAME = {scene.name: scene for scene in SCENES}
Made = Callable[[Scene], Awaitable[Stage]]
