"""Make the pictures from the scenes of the snapshot tests: `python screenshots/make.py [--all] [name …]`.

Each scene once, in its largest size up to 120x36, and the light ones; `--all` makes every size. Writes SVG beside this
file, and PNG where a headless Chromium is found (nothing else draws the SVG right).
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from core.clock import ManualClock  # noqa: E402  the project's root is on the path from here on
from core.deck import Deck  # noqa: E402
from tests.tui import world  # noqa: E402
from tests.tui.scenes import LARGE, SCENES, Scene, Size  # noqa: E402
from tests.tui.stage import held_still, stage  # noqa: E402

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--force-device-scale-factor=1",
)  # fmt: skip


async def picture(scene: Scene, size: Size, theme: str, database: Path) -> str:
    """Return a scene as SVG."""
    shown = stage(database, read_only=scene.read_only, theme=theme)
    async with shown.app.run_test(size=size) as pilot:
        await shown.begin(pilot)
        await scene.act(shown)
        svg = shown.app.export_screenshot(title="Triggerdeck")
    shown.app.gateway.close()
    return svg


def to_png(browser: str, svg: Path) -> None:
    """Draw an SVG with a headless browser."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg.read_text(encoding="utf-8"))
    wide, high = (int(float(number)) + 1 for number in found.groups()) if found else (1200, 800)
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(  # noqa: S603  the browser found above, on a file of our own
            [browser, *FLAGS, f"--user-data-dir={profile}", f"--screenshot={svg.with_suffix('.png')}",
             f"--window-size={wide},{high}", svg.as_uri()],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip


def shots(scene: Scene, *, every: bool) -> list[tuple[Size, str]]:
    """Return the sizes and themes in which a scene is drawn."""
    if every:
        return [(size, "dark") for size in scene.sizes] + [(size, "light") for size in scene.light]
    fitting = [size for size in scene.sizes if size <= LARGE]
    return [(max(fitting), "dark")] + [(size, "light") for size in scene.light if size == LARGE]


def main(arguments: list[str]) -> int:
    """Make the pictures of the named scenes, or of all."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    every, names = "--all" in arguments, [name for name in arguments if name != "--all"]
    wanted = [scene for scene in SCENES if not names or scene.name in names]
    with tempfile.TemporaryDirectory() as folder, held_still():
        story = world.make(Path(folder))
        nothing = Path(folder, "nothing.sqlite3")
        Deck.open(nothing, clock=ManualClock(world.NOW)).close()
        for scene in wanted:
            for size, theme in shots(scene, every=every):
                name = f"{scene.name}-{size[0]}x{size[1]}" + ("-light" if theme == "light" else "")
                copy = world.copied(nothing if scene.empty else story, Path(folder, name))
                svg = HERE / f"{name}.svg"
                svg.write_text(asyncio.run(picture(scene, size, f"deck-{theme}", copy)), encoding="utf-8")
                if browser:
                    to_png(browser, svg)
                print(name, flush=True)
    if not browser:
        sys.stderr.write("no Chromium found: only SVG was written\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
