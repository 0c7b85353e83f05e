"""A manifest on its way through $EDITOR: what is not touched comes back as it was, and is read as `apply` reads it."""

from __future__ import annotations

from typing import Any

import pytest

from tui.yaml_editor import BrokenText, from_yaml, to_yaml


@pytest.mark.parametrize(
    "value", ["12:30", "1e3", "0644", "yes", "null", "2026-01-01", "2026-01-01T00:00:00Z", " x ", "a\nb\n", "=", ""]
)
def test_text_that_looks_like_something_else_stays_text(value: str) -> None:
    manifest: dict[str, Any] = {"definition": {"input": {"a": value, value or "empty": [value, 7, 0.5, True, None]}}}
    assert from_yaml(to_yaml(manifest)) == manifest


def test_what_is_written_without_quotes_is_read_as_apply_reads_it() -> None:
    assert from_yaml("at: 12:30\nmode: 0644\non: yes\n") == {"at": "12:30", "mode": "0644", "on": True}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", "line 2: the key 'a' stands twice; keep one of them"),
        ("a: 1\n---\nb: 2\n", "the file must hold one mapping; begin with apiVersion, kind, metadata, definition"),
        ("- 1\n", "the file must hold one mapping; begin with apiVersion, kind, metadata, definition"),
        ("", "the file must hold one mapping; begin with apiVersion, kind, metadata, definition"),
    ],
)
def test_a_text_that_is_no_one_mapping_is_kept_and_told(text: str, message: str) -> None:
    with pytest.raises(BrokenText) as broken:
        from_yaml(text)
    assert (broken.value.sentence(), broken.value.text) == (message, text)
