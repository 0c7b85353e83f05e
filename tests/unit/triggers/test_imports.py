"""The evaluator is loaded by every command and screen, so loading it must cost next to nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import core.triggers

ROOT = Path(__file__).parents[3]


def test_importing_the_evaluator_loads_only_what_computes() -> None:
    later = ["isodate", "tzdata", "difflib", "core.triggers.words", "core.triggers.forecast", "core.triggers.unix"]
    code = f"import sys, core.triggers; print([name for name in {later!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_every_public_name_is_there_and_others_are_not() -> None:
    for name in core.triggers.__all__:
        assert getattr(core.triggers, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'tomorrow'"):
        core.triggers.__getattr__("tomorrow")
