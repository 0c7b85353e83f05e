"""Files are read losslessly, and what cannot be read says where and why."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.errors import Invalid
from core.resources.text import decode, read_documents, write_documents


def value(text: str) -> Any:
    (raw,) = read_documents(text)
    assert raw.faults == ()
    return raw.value


def fault(text: str) -> str:
    (raw,) = read_documents(text)
    (found,) = raw.faults
    return found.sentence()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", True), ("no", False), ("~", None), ("12", 12), ("-3", -3), ("1.5", 1.5), ("1e3", 1000.0),
        ("0644", "0644"), ("12:30", "12:30"), ("12:30:00", "12:30:00"), ("1_000", "1_000"), ("0x1f", "0x1f"),
        ("2026-03-29T02:30:00+01:00", "2026-03-29T02:30:00+01:00"), ("2026-03-29", "2026-03-29"), ("PT30S", "PT30S"),
        ("'yes'", "yes"), ('"12"', "12"), ("!!str 12", "12"), ("=", "="), ("1.2.3", "1.2.3"), ("+", "+"),
    ],
)  # fmt: skip
def test_a_scalar_means_no_more_than_is_customary(written: str, meant: Any) -> None:
    found = value(f"a: {written}")["a"]
    assert found == meant
    assert type(found) is type(meant)


def test_keys_are_text_whatever_they_look_like() -> None:
    assert value("on: 1\n12: 2\nnull: 3\n") == {"on": 1, "12": 2, "null": 3}


def test_json_is_read_as_json() -> None:
    assert value('{"a": [1, 2.0, "x", null, true], "b": "2026-01-01"}') == {
        "a": [1, 2.0, "x", None, True],
        "b": "2026-01-01",
    }


def test_an_array_of_json_is_many_documents() -> None:
    assert [raw.value for raw in read_documents('[{"a": 1}, {"a": 2}]')] == [{"a": 1}, {"a": 2}]


def test_documents_are_cut_at_their_marks_and_empty_ones_left_out() -> None:
    raws = read_documents("# only a comment\n---\na: 1\n---\n---\nb: |\n  text\n  ---\n--- \nc: 3\n...\n")
    assert [raw.value for raw in raws] == [{"a": 1}, {"b": "text\n---\n"}, {"c": 3}]
    assert [raw.number for raw in raws] == [1, 2, 3]


def test_one_broken_document_does_not_hide_the_others() -> None:
    first, second, third = read_documents("a: [\n---\nb: 2\n---\nc: 'open\n")
    assert second.value == {"b": 2}
    assert "line 2" in first.faults[0].message or "line 1" in first.faults[0].message
    assert third.faults


@pytest.mark.parametrize("text", ["a: 1\na: 2", '{"a": 1, "a": 2}', "x: {a: 1, 'a': 2}"])
def test_a_key_that_stands_twice_is_refused(text: str) -> None:
    assert "the key 'a' stands twice" in fault(text)


def test_a_fault_names_its_line_in_the_file() -> None:
    *_, last = read_documents("a: 1\n---\nb: 2\nc: 3\nb: 4\n")
    assert last.faults[0].message.startswith("line 5: ")


def test_tabs_say_to_indent_with_spaces() -> None:
    assert "indent with spaces" in fault("a:\n\tb: 1")


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system [x]", "!!set {a}", "!mine x", "!!binary aGk="])
def test_tags_are_not_carried_out(tag: str) -> None:
    assert "tags such as" in fault(f"a: {tag}")


def test_aliases_and_merges_stand_for_their_anchor() -> None:
    text = "base: &b {x: 1, y: 2}\nsame: *b\nmore: {<<: *b, y: 3}\n"
    assert value(text) == {"base": {"x": 1, "y": 2}, "same": {"x": 1, "y": 2}, "more": {"x": 1, "y": 3}}


def test_aliases_that_blow_up_are_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert "50,000 values" in fault("\n".join(lines))


def test_an_alias_inside_its_own_anchor_is_refused() -> None:
    assert "no complete anchor" in fault("a: &a [*a]")


@pytest.mark.parametrize("text", ["[" * 100_000, "a: " + "[" * 300 + "]" * 300, '{"a":' * 60 + "1" + "}" * 60])
def test_deep_nesting_is_refused(text: str) -> None:
    assert "nested deeper" in fault(text) or "exceeded" in fault(text)


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf", "1e999", "9" * 5_000])
def test_numbers_that_json_does_not_know_are_refused(number: str) -> None:
    assert "quotes" in fault(f"a: {number}")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5_000])
def test_such_numbers_are_refused_in_json_too(number: str) -> None:
    assert "quotes" in fault(f'{{"a": {number}}}')


def test_a_large_document_is_refused_by_its_bytes() -> None:
    assert "bytes" in fault("a: " + "ü" * 140_000)


def test_too_many_documents_are_refused() -> None:
    *_, last = read_documents("---\na: 1\n" * 6_000)
    assert "more than 5,000 documents" in last.faults[0].message


def test_half_a_character_is_refused() -> None:
    assert "UTF-8" in fault("a: \ud800")
    assert "half of a character" in fault('{"a": "\\ud800"}')


def test_bytes_that_are_no_utf8_name_the_line() -> None:
    with pytest.raises(Invalid, match="line 2 is not UTF-8"):
        decode(b"a: 1\nb: \xff\xfe\n")


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert value(decode(b"\xef\xbb\xbfa: 1")) == {"a": 1}


LOOKALIKES = [
    *("yes", "0644", "1e3", "12:30", "~", "-", "-a", "a:", "#", "|", "2026-01-01", ".5", "5.", "=", "<<", "---"),
    *(".inf", "0x1", "0o7", "1_0", "+", "", " ", "a: b", "- a", "\x85", "a\nb", "\n", " a\n b \n"),
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(LOOKALIKES)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=5))
@example({"a": "1e3", "b": "0o17", "c": "off", "d": "\u2028", "e": "\ufeff"})
@example({"<<": {"a": 1}})
def test_what_is_written_reads_back_exactly(content: dict[str, Any]) -> None:
    found = value(write_documents([content]))
    assert json.dumps(found) == json.dumps(content)


@given(st.lists(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=2), min_size=2, max_size=3))
def test_many_documents_read_back_exactly(contents: list[dict[str, Any]]) -> None:
    found = [raw.value for raw in read_documents(write_documents(contents))]
    assert json.dumps(found) == json.dumps(contents)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=3))
def test_json_reads_back_exactly(content: dict[str, Any]) -> None:
    assert json.dumps(value(json.dumps(content))) == json.dumps(content)


@given(st.text(max_size=200) | st.text("ab:-[]{}&*!|>'\"#%@`\n\t ,?0", max_size=80))
def test_no_text_breaks_the_reader(text: str) -> None:
    for raw in read_documents(text):
        assert raw.faults or raw.value is not None
