"""JSON, YAML and JSON lines become values that know their lines, or an error with its line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from factcheck.documents import json_text, parse_json
from factcheck.documents.reading import read_document, read_entries
from factcheck.documents.yaml_documents import parse_yaml, yaml_text
from factcheck.errors import InputError

# A text with control characters, or with half of a surrogate pair, has no plain YAML form.
TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"], exclude_characters="\ufeff"))
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
KEYS = st.text("ab01 .-:#'no{}[],\"\\", max_size=5)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=12
)
EXPLODING = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n" + "\n".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)
)


def lines_by_hand(value: Any, line: int = 1) -> tuple[dict[tuple[Any, ...], int], int]:
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
    document = parse_json(json_text(value, indent=1), "x.json")

    assert document.value == value
    expected, _ = lines_by_hand(value)
    assert {path: document.line_of(path) for path in expected} == expected


@given(VALUES)
def test_yaml_is_read_alike_by_every_reader_and_json_is_yaml(value: Any) -> None:
    text = yaml_text(value)
    document = parse_yaml(text, "x.yaml")

    assert document.value == value
    assert yaml.safe_load(text) == value
    lines, last = lines_by_hand(value)[0], len(text.splitlines())
    assert all(1 <= document.line_of(path) <= last for path in lines)
    if isinstance(value, (dict, list)):
        document = parse_yaml(json_text(value, indent=1), "x.yaml")
        assert document.value == value
        assert {path: document.line_of(path) for path in lines} == lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.json, line 1: not valid JSON (it is empty)"),
        ('{"a": 1,\n "b": }', "x.json, line 2: not valid JSON"),
        ('{"a": 1}\n{"a": 2}', "line 2: not valid JSON (extra data after the end"),
        ('{"a": 1, b: 2}', "property name"),
        ('{"a": "cut', "not valid JSON (the text ends inside a string; it may be cut off)"),
        ('{"a": "cut\n', "not valid JSON (the text ends inside a string; it may be cut off)"),
        ('{"a": "one\ntwo"}', r"(a string holds the control character '\n'; escape it)"),
        ('{"a": \n', "not valid JSON (expecting value, but the text ends)"),
        ('{"a": 1,\n"b": {"c": 1, "c": 2}}', "x.json, line 2: duplicate key 'c'; keep one"),
        ('{"b": {"a": 1},\n "c": {"a": 1},\n "b": 2}', "line 3: duplicate key 'b'"),
        ('{"\\u0061": 1, "a": 2}', "line 1: duplicate key 'a'"),
        ("[1,\n\nNaN]", "x.json, line 3: NaN is not a JSON value; write null"),
        ('["NaN", -Infinity]', "-Infinity is not a JSON value"),
        ('["1e999",\n1e999]', "line 2: 1e999 is not a JSON value"),
        (f'["{"9" * 5000}",\n{"9" * 5000}]', "line 2: 9999"),
        ("[" * 200_000, "x.json, line 1: nested more than 300 levels deep"),
        ("[" * 400 + "]" * 400, "x.json, line 1: nested more than 300 levels deep"),
        ('{"' + "k" * 10**6 + '": 1, "' + "k" * 10**6 + '": 2}', "duplicate key 'kkk"),
        (b'"\xe9"', "x.json, line 1: not UTF-8"),
    ],
)
def test_what_json_would_change_silently_is_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(text, "x.json")
    assert message in str(caught.value)
    assert len(str(caught.value)) <= 300


@pytest.mark.parametrize(
    "text", ["no", "on", "Yes", "12:30", "007", "2024-05-01", "0x1F", "1_000", "=", ".5.1", "1e"]
)
def test_a_string_in_yaml_stays_a_string(text: str) -> None:
    assert parse_yaml(f"- {text}", "x.yaml").value == [text]
    assert parse_yaml(f"{text}: 1", "x.yaml").value == {text: 1}


def test_a_plain_value_in_yaml_is_that_of_json() -> None:
    texts = ("true", "False", "~", "", "-12", "1.50", "1e3", "-.5E-1", "'12'", "!!str 12", "! 12")
    values = [True, False, None, None, -12, 1.5, 1000.0, -0.05, "12", "12", "12", 12]

    found = parse_yaml("\n".join(f"- {text}" for text in (*texts, "!!int '12'")), "x.yaml").value

    assert repr(found) == repr(values)  # equal, and of the same types


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", "x.yaml, line 3: duplicate key 'a'; keep one"),
        ("a: 1\n2: 3", "x.yaml, line 2: the key 2 is not a string; put it in quotes"),
        ("a: 1\n? [b]\n: 2", "x.yaml, line 2: the key a list is not a string"),
        ("a: [1,\n&", "x.yaml, line 2: not valid YAML"),
        ("a: 1\nb: \x07", "x.yaml, line 2: not valid YAML"),
        ("a: 1\n---\nb: 2", "x.yaml, line 2: a second document begins here"),
        ("a: &x 1\nb: *x", "x.yaml, line 2: the alias *x is not JSON; write it out"),
        ("a: &x b\n*x : 1", "x.yaml, line 2: the alias *x is not JSON"),
        ("- .nan", ".nan is not a JSON value"),
        ("- .inf", ".inf is not a JSON value"),
        ("- 1e999", "1e999 is not a JSON value"),
        ("- !!binary aGk=", "is not a JSON value"),
        ("- !!bool yes", "is not a JSON value"),
        ("- !!set {a, b}", "the tag 'tag:yaml.org,2002:set' is not a JSON type"),
        ("- !!python/object/apply:os.system [ls]", "is not a JSON type"),
        ("a: 1\n<<: {b: 2}", "x.yaml, line 2: the merge key '<<' is not JSON"),
        ("[" * 400 + "]" * 400, "nested more than 300 levels deep"),
        ("[" * 10_000, "nested more than 300 levels deep"),
        (EXPLODING, "line 2: the alias *a0 is not JSON"),
        ("[" + "1," * 1_000_000 + "1]", "more than 1,000,000 values"),
        ("a\ud800", "not valid Unicode"),
    ],
)
def test_yaml_that_is_not_json_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "x.yaml")
    assert message in str(caught.value)
    assert len(str(caught.value)) <= 300


def test_parts_of_yaml_know_their_lines() -> None:
    text = "name: {}\nversion: []\nlist:\n  - &x 007\n  - {a: 1, b: {}}\nempty:\nlast: [1]"
    lines = {(): 1, ("version",): 2, ("list",): 3, ("list", 1): 5, ("last", 0): 7}
    lines |= {("list", 99): 3, ("list", 1, "deeper"): 5, ("unknown",): 1}  # the nearest part

    document = parse_yaml(text, "x.yaml")

    assert {path: document.line_of(path) for path in lines} == lines


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("r.jsonl", '{"a": 1}\n\n{"a": 2}\n', ["line 1", "line 3"]),
        ("r.ndjson", '\ufeff{"a": 1}\r\n{"a": 2}', ["line 1", "line 2"]),
        ("r.jsonl.gz", gzip.compress(b'{"a": 1}\n{"a": 2}', mtime=0), ["line 1", "line 2"]),
        ("r.json", '\ufeff[{"a": 1},\n{"a": 2}]', ["record 1", "record 2"]),
        ("r.yaml", "- a: 1\n- a: 2\n", ["record 1", "record 2"]),
        ("r", '\n{"a": 1}\n{"a": 2}\n', ["line 2", "line 3"]),
        ("r", '\n[{"a": 1},\n\n{"a": 2}]\n', ["record 1", "record 2"]),
    ],
)
def test_entries_of_every_format_come_with_their_places(
    tmp_path: Path, name: str, content: str | bytes, places: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    entries = [(str(place), value) for place, value in read_entries(path)]

    assert entries == [(f"{path}, {place}", {"a": n}) for n, place in enumerate(places, 1)]


@pytest.mark.parametrize("content", ['{"a": 1}', '{\n"a": 1\n}', '[{"a": 1}]'])
@pytest.mark.parametrize("name", ["r.json", "r"])
def test_one_entry_needs_no_list(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert [value for _, value in read_entries(path)] == [{"a": 1}]


@pytest.mark.parametrize("content", ['{"a": 1}\n{"a": 2}\n', '[{"a": 1},\n {"a": 2}]'])
def test_standard_input_is_json_or_json_lines(
    monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))

    assert [value for _, value in read_entries("-")] == [{"a": 1}, {"a": 2}]


def test_broken_entries_and_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text('\n[{"a": 1},\n\n{"a": 2]\n')

    with pytest.raises(InputError, match="r, line 4: not valid JSON"):
        list(read_entries(path))
    with pytest.raises(InputError, match=r"expected a \.yaml, \.yml, \.json or \.jsonl file"):
        read_document(tmp_path / "x.csv")
