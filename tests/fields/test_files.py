"""Records, schemas and runs from files, or an error that names file and place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from factcheck.errors import InputError
from factcheck.fields import evaluate
from factcheck.fields.files import read_records, read_run, read_schema


def put(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


PROSE = "Sorry, I cannot."


@pytest.mark.parametrize(
    ("name", "content", "values"),
    [
        ("r.json", 'Here you are:\n```json\n{"a": 1}\n```\nDone.', [{"a": 1}]),
        ("r.json", '{"a": 1', ['{"a": 1']), ("r.yaml", "a: [1", ["a: [1"]), ("r", PROSE, [PROSE]),
        ("r", f'{PROSE}\n{{"a": 1}}\n{{"a": 2}}\n', [PROSE, {"a": 1}, {"a": 2}]),
        ("r.json", f'{{"a": 1}}\n\n{PROSE}\n{{"a": 2}}', [{"a": 1}, PROSE, {"a": 2}]),
        ("r.jsonl", "null\n", [None]),
    ],
)  # fmt: skip
def test_what_a_model_wrote_is_read_where_the_file_is_not_in_its_format(
    tmp_path: Path, name: str, content: str, values: list[Any]
) -> None:
    path = put(tmp_path, name, content)
    assert read_records(path, extracted=True) == values
    with pytest.raises(InputError, match=re.escape(str(path))):
        read_records(path)
    broken = put(tmp_path, name.replace("jsonl", "json"), '[{"a": 1}, {"a": ')
    if broken.suffix != ".yaml":  # its records cannot be counted
        with pytest.raises(InputError, match="line 1: not valid JSON"):
            read_records(broken, extracted=True)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.json", '[{"a": 1}, 2]', "r.json, record 2: expected an object, got integer"),
        ("r.jsonl", '{"a": 1}\n[2]', "r.jsonl, line 2: expected an object, got array"),
        ("r.yaml", "just words", "r.yaml: expected an object, got string"),
        ("r.json", '[{"a": 1, "a": 2}]', "r.json, line 1: duplicate key 'a'"),
        ("r.json", "[]", "r.json holds no records"),
        ("r.jsonl", "\n\n", "r.jsonl holds no records"),
        ("r.yaml", "", "r.yaml holds no records"),
        ("r", "", "r, line 1: not valid JSON (it is empty)"),
        ("r.xlsx", "a", "records come from a .yaml, .yml, .json, .jsonl, .csv, .tsv or .parquet"),
    ],
)
def test_invalid_records_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_records(put(tmp_path, name, content))
    assert message in str(caught.value)


def test_a_schema_is_resolved_and_annotated(tmp_path: Path) -> None:
    text = "type: object\nproperties:\n  a: {$ref: '#/$defs/a'}\n$defs:\n  a: {type: integer}\n"
    assert read_schema(put(tmp_path, "s.yaml", text)) == {
        "type": "object",
        "properties": {"a": {"type": "integer", "x-eval-compare": "numeric"}},
    }


def test_an_invalid_schema_is_reported_with_its_file(tmp_path: Path) -> None:
    for content, message in (
        ("[1]", "s.json: a schema must be an object, not array"),
        ('{"properties": {"a": {"$ref": "#/nowhere"}}}', "s.json: a: the reference '#/nowhere'"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            read_schema(put(tmp_path, "s.json", content))


def test_a_saved_run_is_read_back(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    schema["properties"]["a"]["x-eval-compare"] = "numeric"  # type: ignore[index]
    run = evaluate([{"a": 1}], [{"a": 2}], schema)
    path = put(tmp_path, "run.json", run.to_json())

    assert read_run(path) == run
    with pytest.raises(InputError, match=r"other\.json: "):
        read_run(put(tmp_path, "other.json", "{}"))
