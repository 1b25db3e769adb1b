"""Files become values that know on which line they stand."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.keywords.documents import plain_document, read_document
from factcheck.keywords.json_documents import json_document
from factcheck.keywords.yaml_documents import yaml_document

LETTERS = st.characters(
    exclude_categories=["Cc", "Cs", "Cn", "Zl", "Zp"], exclude_characters="\ufeff"
)
LEAVES = st.none() | st.text(LETTERS, max_size=6)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text('ab:{}[],"\\ ', max_size=4), inner, max_size=4)
    ),
    max_leaves=15,
)


def paths(value: Any) -> list[tuple[Any, ...]]:
    """The paths of all parts of a value."""
    found: list[tuple[Any, ...]] = [()]
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in members:
        found += [(key, *rest) for rest in paths(inner)]
    return found


def lines_by_hand(value: Any, line: int = 1) -> tuple[dict[tuple[Any, ...], int], int]:
    """The line of every part of `json.dumps(value, indent=1)`, and the last line."""
    found: dict[tuple[Any, ...], int] = {(): line}
    if isinstance(value, (dict, list)) and value:
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in members:
            own, line = lines_by_hand(inner, line + 1)
            found |= {(key, *path): at for path, at in own.items()}
        line += 1
    return found, line


@given(VALUES)
def test_json_is_read_as_it_was_written_and_every_part_knows_its_line(value: Any) -> None:
    document = json_document(json.dumps(value, indent=1, ensure_ascii=False), "x.json")

    assert document.value == value
    expected, _ = lines_by_hand(value)
    assert {path: document.line_of(path) for path in paths(value)} == expected


@given(VALUES)
def test_json_on_one_line_is_yaml_with_the_same_value(value: Any) -> None:
    document = yaml_document(json.dumps(value, ensure_ascii=False), "x.yaml")

    assert document.value == value
    assert {document.line_of(path) for path in paths(value)} == {1}


@given(VALUES)
def test_yaml_is_read_as_it_was_written(value: Any) -> None:
    text = yaml.safe_dump(value, allow_unicode=True)

    assert yaml_document(text, "x.yaml").value == value


YAML = """\
name: no
version: 1.0
list:
  - 007
  - 12:30
  - ~
  - ""
  - "null"
  - &x 2024-05-01
  - *x
empty:
"""


def test_in_yaml_what_has_no_quotes_is_the_text_it_looks_like() -> None:
    assert yaml_document(YAML, "x.yaml").value == {
        "name": "no",
        "version": "1.0",
        "list": ["007", "12:30", None, "", "null", "2024-05-01", "2024-05-01"],
        "empty": None,
    }


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("version",), 2),
        (("list",), 3),
        (("list", 1), 5),
        (("list", 99), 3),
        (("list", 1, "deeper"), 5),
        (("unknown",), 1),
    ],
)
def test_parts_of_yaml_know_their_lines(path: tuple[Any, ...], line: int) -> None:
    assert yaml_document(YAML, "x.yaml").line_of(path) == line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.json, line 1: not valid JSON .it is empty"),
        ('{"a": 1,\n "b": }', "x.json, line 2: not valid JSON"),
        ('[\n{"a": 1,\n "a": 2}]', "x.json, line 3: the key 'a' is there twice"),
        ('{"b": {"a": 1},\n "c": {"a": 1},\n "b": 2}', "line 3: the key 'b' is there twice"),
        ("[1,\n NaN]", "x.json, line 2: NaN is not valid JSON; write null"),
        ("[1,\n -Infinity]", "x.json, line 2: -Infinity is not valid JSON; write null"),
        ("[" * 100_000, "x.json: nested too deeply"),
    ],
)
def test_json_that_says_nothing_or_two_things_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        json_document(text, "x.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "x.yaml, line [12]: not valid YAML"),
        ("a: 1\nb: 2\na: 3", "x.yaml, line 3: the key 'a' is there twice"),
        ("a: 1\n? [b]\n: 2", "x.yaml, line 2: a sequence is no key"),
        ("a: &x\n  b: *x", "x.yaml, line [12]: it contains itself"),
        ("[" * 200 + "]" * 200, "nested too deeply"),
        (
            "a0: &a0 [x]\n"
            + "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 9)),
            "values by its aliases",
        ),
    ],
)
def test_yaml_that_is_none_or_too_much_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        yaml_document(text, "x.yaml")


def test_json_lines_are_a_list_and_know_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n\n{"a": 2}\n'))
    document = read_document(path)

    assert document.value == [{"a": 1}, {"a": 2}]
    assert document.line_of((1, "a")) == 3
    assert document.place((1,)) == f"{path}, line 3"
    assert document.place(()) == str(path)


@pytest.mark.parametrize("line", ['{"a": 1', '{"a": 1, "a": 2}', "NaN", "[" * 100_000])
def test_a_line_that_is_not_json_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"a": 0}}\n{line}\n')

    with pytest.raises(InputError, match=r"x\.jsonl, line 2: not valid JSON"):
        read_document(path)


def test_a_dash_is_json_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a": null}')))

    assert read_document("-").value == {"a": None}


@pytest.mark.parametrize("name", ["x.txt", "x", "x.csv"])
def test_other_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("{}")

    with pytest.raises(InputError, match=r"expected a \.yaml, \.yml, \.json or \.jsonl file"):
        read_document(path)


def test_a_value_without_a_file_has_no_lines() -> None:
    assert str(plain_document([1], "case 3").error((0,), "wrong")) == "case 3: wrong"
