from __future__ import annotations

from pathlib import Path

from core.runtime.secrets import MASK, Secrets, mask


def test_a_secret_is_read_from_the_environment_and_then_from_the_folders(tmp_path: Path) -> None:
    (tmp_path / "FILE_TOKEN").write_text("from a file\n", encoding="utf-8")
    (tmp_path / "BOTH").write_text("from a file", encoding="utf-8")
    secrets = Secrets({"BOTH": "from the environment", "CREDENTIALS_DIRECTORY": str(tmp_path)})
    assert secrets.read("FILE_TOKEN") == "from a file"
    assert secrets.read("BOTH") == "from the environment"
    assert secrets.read("NOWHERE") is None


def test_masking_covers_escaped_forms_and_single_lines_of_a_secret() -> None:
    secret = 'first "line"\nsecond line'  # noqa: S105 - the text that has to disappear
    assert mask(f"<{secret}>", [secret]) == f"<{MASK}>"
    assert mask('{"t": "first \\"line\\"\\nsecond line"}', [secret]) == f'{{"t": "{MASK}"}}'
    assert mask("only second line here", [secret]) == f"only {MASK} here"


def test_the_longest_secret_is_masked_first() -> None:
    assert mask("abcdef abc", ["abc", "abcdef"]) == f"{MASK} {MASK}"


def test_what_is_too_short_to_be_a_secret_leaves_the_text_readable() -> None:
    assert mask("a line with a", ["a", ""]) == "a line with a"
