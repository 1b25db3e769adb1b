"""Records, schemas and runs from files: values as they stand, or an error that says where."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.fields import evaluate
from factcheck.fields.reading import (
    id_problems,
    iter_records,
    read_records,
    read_run,
    read_schema,
)
from factcheck.fields.strict_json import lines_of, parse_json
from factcheck.fields.strict_yaml import parse_yaml, yaml_text

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # A text with control characters, or with half of a surrogate pair, has no plain YAML form.
    | st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"], exclude_characters="\ufeff")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab01 .-:#'no", max_size=5), inner),
    max_leaves=12,
)


def put(folder: Path, name: str, content: str | bytes) -> Path:
    """A new file."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parsed(text: str) -> Any:
    """The value of a JSON text in `x.json`."""
    return parse_json(text, lines_of("x.json", text))


@given(JSON_VALUES)
def test_json_is_read_as_it_was_written(value: Any) -> None:
    assert parsed(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,\n"b": {"c": 1, "c": 2}}', "x.json, line 2: the key 'c' is there twice"),
        ('{"\\u0061": 1, "a": 2}', "line 1: the key 'a' is there twice"),
        ("[1,\n\nNaN]", "x.json, line 3: NaN is not valid JSON; write null"),
        ('["NaN", -Infinity]', "-Infinity is not valid JSON"),
        ('["1e999",\n1e999]', "line 2: the number 1e999 is too large"),
        (f'["{"9" * 5000}",\n{"9" * 5000}]', "line 2: the number 9999"),
        ("", "it is empty"),
        ('{"a": 1}\n{"a": 2}', "line 2: not valid JSON (more follows after its end"),
        ('{"a": 1,}', "expecting property name"),
        ("[" * 200_000, "nested too deeply"),
    ],
)
def test_what_json_would_change_in_silence_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(text)
    assert message in str(caught.value)


@given(JSON_VALUES)
def test_yaml_that_is_written_is_read_alike_by_every_reader(value: Any) -> None:
    text = yaml_text(value)

    assert parse_yaml(text, "x.yaml") == value
    assert yaml.safe_load(text) == value


@pytest.mark.parametrize(
    "text", ["no", "on", "Yes", "12:30", "007", "2024-05-01", "0x1F", "1_000", "=", ".5.1", "1e"]
)
def test_a_text_in_yaml_stays_a_text(text: str) -> None:
    """What YAML 1.1 took for a truth value, a number or a date, JSON has as a text."""
    assert parse_yaml(f"- {text}", "x.yaml") == [text]
    assert parse_yaml(f"{text}: 1", "x.yaml") == {text: 1}


@pytest.mark.parametrize("text", ["no", "1e3", "12", "~", "null", "12:30", "<<", "", "true", "="])
def test_a_text_that_looks_like_something_else_is_written_in_quotes(text: str) -> None:
    written = yaml_text([text])

    assert parse_yaml(written, "x.yaml") == [text]
    assert yaml.safe_load(written) == [text]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("-12", -12),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ("-.5E-1", -0.05),
        ("'12'", "12"),
        ("!!str 12", "12"),
    ],
)
def test_a_plain_value_in_yaml_is_that_of_json(text: str, value: Any) -> None:
    found = parse_yaml(f"- {text}", "x.yaml")[0]

    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", "x.yaml, line 3: the key 'a' is there twice"),
        ("a: 1\n2: 3", "x.yaml, line 2: the key 2 is no text; put it in quotes"),
        ("[1]: 3", "the key a sequence is no text"),
        ("a: [1", "not valid YAML"),
        ("a: 1\n---\nb: 2", "line 2: not valid YAML"),
        ("- &a [*a]", "it contains itself"),
        ("- .nan", ".nan is no JSON value"),
        ("- .inf", ".inf is no JSON value"),
        ("- 1e999", "1e999 is no JSON value"),
        ("- !!binary aGk=", "is no JSON value"),
        ("- !!bool yes", "yes is no JSON value"),
        ("- !!set {a, b}", "is no JSON value"),
        ("<<: 3", "'<<' needs another mapping"),
        ("[" * 600 + "]" * 600, "nested"),
        (
            "\n".join(
                ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
                + [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
            ),
            "it becomes too large",
        ),
    ],
)
def test_yaml_that_is_no_json_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "x.yaml")
    assert message in str(caught.value)


def test_yaml_may_refer_to_what_it_has_said() -> None:
    text = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [{x: 9}, *a], z: 4}\nd: *a"

    assert parse_yaml(text, "x.yaml") == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 1, "y": 3},
        "c": {"x": 9, "y": 2, "z": 4},
        "d": {"x": 1, "y": 2},
    }


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("r.jsonl", '{"a": 1}\n\n{"a": 2}\n', ["line 1", "line 3"]),
        ("r.ndjson", '\ufeff{"a": 1}\r\n{"a": 2}', ["line 1", "line 2"]),
        ("r.jsonl.gz", gzip.compress(b'{"a": 1}\n{"a": 2}'), ["line 1", "line 2"]),
        ("r.json", '\ufeff[{"a": 1},\n{"a": 2}]', ["record 1", "record 2"]),
        ("r.yaml", "- a: 1\n- a: 2\n", ["record 1", "record 2"]),
        ("r", '{"a": 1}\n{"a": 2}\n', ["line 1", "line 2"]),
        ("r", '\n[{"a": 1},\n{"a": 2}]\n', ["record 1", "record 2"]),
    ],
)
def test_records_come_with_their_places(
    tmp_path: Path, name: str, content: str | bytes, places: list[str]
) -> None:
    path = put(tmp_path, name, content)

    records = read_records(path)

    assert records.values == [{"a": 1}, {"a": 2}]
    assert [str(place) for place in records.places] == [f"{path}, {place}" for place in places]


@pytest.mark.parametrize("content", ['{"a": 1}', '{\n"a": 1\n}', '[{"a": 1}]'])
@pytest.mark.parametrize("name", ["r.json", "r"])
def test_one_record_needs_no_list(tmp_path: Path, name: str, content: str) -> None:
    assert read_records(put(tmp_path, name, content)).values == [{"a": 1}]


@pytest.mark.parametrize("content", ['{"a": 1}\n{"a": 2}\n', '[{"a": 1}, {"a": 2}]'])
def test_standard_input_is_json_or_json_lines(
    monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))

    assert read_records("-").values == [{"a": 1}, {"a": 2}]


def test_json_lines_are_read_one_at_a_time(tmp_path: Path) -> None:
    """What stands after the line in hand has not been looked at."""
    records = iter_records(put(tmp_path, "r.jsonl", '{"a": 1}\nno JSON\n'))

    assert next(records)[1] == {"a": 1}
    with pytest.raises(InputError, match="line 2"):
        next(records)


def test_null_stands_for_a_record_where_gaps_are_allowed(tmp_path: Path) -> None:
    path = put(tmp_path, "r.jsonl", "null\n")

    assert read_records(path, gaps=True).values == [None]
    with pytest.raises(InputError, match="line 1: expected an object, found null"):
        read_records(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.json", '[{"a": 1}, 2]', "r.json, record 2: expected an object, found a number"),
        ("r.jsonl", '{"a": 1}\n[2]', "r.jsonl, line 2: expected an object, found a list"),
        ("r.yaml", "just words", "expected a list of records, or one record; found a text"),
        ("r.json", "[]", "r.json holds no records"),
        ("r.jsonl", "\n\n", "r.jsonl holds no records"),
        ("r.yaml", "", "r.yaml holds no records"),
        ("r", "", "r holds no records"),
        ("r.csv", "a\n1", "records come from a .json, .jsonl or .yaml file"),
        ("r.jsonl", b'{"a": "\xff"}', "line 1: not UTF-8"),
        ("r.json", b"\x00\x01", "not a text file"),
        ("r.json", '[{"a": 1}]'.encode("utf-16"), "is UTF-16 text"),
    ],
)
def test_records_that_cannot_be_used_are_refused(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_records(put(tmp_path, name, content))
    assert message in str(caught.value)


def test_ids_that_cannot_be_used_are_told_by_position(tmp_path: Path) -> None:
    lines = ['{"id": 1}', "{}", '{"id": true}', '{"id": 1}', "null"]
    records = read_records(put(tmp_path, "r.jsonl", "\n".join(lines)), gaps=True)

    problems = dict(id_problems(records, "id", unique=True))

    assert list(problems) == [1, 2, 3, 4]
    assert problems[3] == "the id 1 was used before, in line 1; ids must be unique"
    assert 3 not in dict(id_problems(records, "id", unique=False))


def test_a_schema_is_resolved_and_annotated(tmp_path: Path) -> None:
    text = "type: object\nproperties:\n  a: {$ref: '#/$defs/a'}\n$defs:\n  a: {type: integer}\n"

    assert read_schema(put(tmp_path, "s.yaml", text)) == {
        "type": "object",
        "properties": {"a": {"type": "integer", "x-eval-compare": "numeric"}},
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1]", "s.json: a schema is an object, this is a list"),
        ('{"properties": {"a": {"$ref": "#/nowhere"}}}', "s.json: a: the reference '#/nowhere'"),
    ],
)
def test_a_schema_that_cannot_be_used_is_told_with_its_file(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_schema(put(tmp_path, "s.json", content))
    assert message in str(caught.value)


def test_a_saved_run_is_read_back(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    schema["properties"]["a"]["x-eval-compare"] = "numeric"  # type: ignore[index]
    run = evaluate([{"a": 1}], [{"a": 2}], schema)
    path = put(tmp_path, "run.json", run.to_json())

    assert read_run(path) == run
    with pytest.raises(InputError, match=r"other\.json: "):
        read_run(put(tmp_path, "other.json", "{}"))
