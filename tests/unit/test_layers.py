"""The layers are rules that run: who may import whom, and what a start must not load."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_import_contracts_hold() -> None:
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    result = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


HEAVY = ["sqlmodel", "sqlalchemy", "dbos", "alembic", "httpx", "jsonschema", "pydantic"]


@pytest.mark.parametrize(
    ("module", "banned"),
    [
        ("core", [*HEAVY, "textual"]),
        ("core.views", [*HEAVY, "textual"]),
        ("core.triggers", [*HEAVY, "textual"]),
        ("core.first_look", [*HEAVY, "textual"]),
        ("core.deck", ["textual", "dbos", "alembic"]),
        ("tui.app", [*HEAVY, "core.deck"]),
        ("cli.__main__", [*HEAVY, "textual", "core.deck"]),
    ],
)
def test_importing_a_module_stays_light(module: str, banned: list[str]) -> None:
    code = f"import sys, {module}; print([name for name in {banned!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("folder", ["core", "tui", "cli"])
def test_no_module_is_longer_than_500_lines(folder: str) -> None:
    long = {str(p.relative_to(ROOT)): n for p in (ROOT / folder).rglob("*.py") if (n := _lines(p)) > 500}
    assert not long


def test_types_are_complete() -> None:
    result = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_the_code_passes_its_lint() -> None:
    for command in (["check"], ["format", "--check"]):
        result = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "."], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stdout + result.stderr


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())
