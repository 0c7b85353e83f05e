"""Every screen as it stands on a small, a large and a wide terminal, dark and light."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.scenes import SCENES, Scene, Size
from tests.tui.stage import stage

PICTURES = [
    pytest.param(scene, size, theme, id=f"{scene.name}-{size[0]}x{size[1]}-{theme.removeprefix('deck-')}")
    for scene in SCENES
    for theme, sizes in (("deck-dark", scene.sizes), ("deck-light", scene.light))
    for size in sizes
]


@pytest.mark.parametrize(("scene", "size", "theme"), PICTURES)
def test_a_scene_looks_as_it_did(
    scene: Scene, size: Size, theme: str, copy_of: Callable[[bool], Path], snap_compare: Callable[..., bool]
) -> None:
    shown = stage(copy_of(scene.empty), read_only=scene.read_only, theme=theme)

    async def act(pilot: Pilot[Any]) -> None:
        await shown.begin(pilot)
        await scene.act(shown)

    try:
        assert snap_compare(shown.app, terminal_size=size, run_before=act)
    finally:
        shown.app.gateway.close()
    assert not shown.app.gateway.faults
