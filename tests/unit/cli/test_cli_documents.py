import io
from pathlib import Path

import pytest

from cli.documents import read_files, read_object, read_pairs
from core.errors import Invalid, NotFound, Usage


def test_a_folder_stands_for_its_manifests_in_order(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.json", "notes.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    assert [text for _, text in read_files([str(tmp_path)])] == ["a.json", "b.yaml"]


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbfkind: Trigger")
    assert read_files([str(tmp_path / "a.yaml")])[0][1] == "kind: Trigger"


def test_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"kind: Flow")))
    assert read_files(["-"]) == [("standard input", "kind: Flow")]


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file nowhere"):
        read_files(["nowhere"])
    with pytest.raises(NotFound, match="holds no manifest"):
        read_files([str(tmp_path)])
    with pytest.raises(Usage, match="no file was named"):
        read_files([])
    (tmp_path / "a.yaml").write_bytes(b"name: \xff")
    with pytest.raises(Invalid, match="byte 7 is not UTF-8"):
        read_files([str(tmp_path / "a.yaml")])


def test_pairs_are_json_where_they_can_be_and_text_otherwise() -> None:
    assert read_pairs(["rows=3", "note=all good", 'tags=["a"]', "empty="]) == {
        "rows": 3,
        "note": "all good",
        "tags": ["a"],
        "empty": "",
    }
    with pytest.raises(Invalid, match="'rows' is not key=value"):
        read_pairs(["rows"])


def test_an_object_is_inline_or_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text('{"rows": 3}', encoding="utf-8")
    assert read_object('{"rows": 3}', "--input") == read_object(f"@{tmp_path / 'v.json'}", "--input") == {"rows": 3}
    with pytest.raises(Invalid, match="--input: this is not JSON"):
        read_object("{", "--input")
    with pytest.raises(Invalid, match="--input: this is JSON but no object"):
        read_object("[]", "--input")
