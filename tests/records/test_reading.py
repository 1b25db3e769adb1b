"""Reading records: what every format has in common, and JSON lines."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet, SourceDocument
from factcheck.records import Record, as_record, read_records

TRAM = {"id": "tram", "source": "The tram stops at noon.", "summary": "It stops at noon."}
PORT = {"id": "port", "source": "The port closed in May.", "summary": "The port is closed."}


def write(path: Path, *lines: str | bytes | Mapping[str, Any]) -> Path:
    with path.open("wb") as stream:
        for line in lines:
            text = json.dumps(line) if isinstance(line, Mapping) else line
            stream.write((text.encode() if isinstance(text, str) else text) + b"\n")
    return path


def problem_in(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        list(read_records(path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_mapping_becomes_a_record_and_its_number_the_missing_id() -> None:
    record = as_record({"source": "Rain fell.", "summary": "", "page": 3}, 4)

    assert record == Record("4", "Rain fell.", "", None, "record 4")
    assert as_record({**TRAM, "id": 17}, 1).id == "17"


def test_facts_may_be_texts_objects_or_atomic_facts_and_become_a_fact_set() -> None:
    given = ["It stops.", {"text": "At noon.", "must": True}, AtomicFact("x", "It is a tram.")]

    facts = as_record({**TRAM, "facts": given}, 1).facts

    assert isinstance(facts, FactSet)
    assert tuple(facts) == (
        AtomicFact("f1", "It stops."),
        AtomicFact("f2", "At noon.", must=True),
        AtomicFact("x", "It is a tram."),
    )
    made = replace(facts, source_digest="ab" * 32, made_by=(("extractor", "local"),))
    assert as_record({**TRAM, "facts": made}, 1).facts is made
    assert as_record({**TRAM, "facts": made.to_dict()}, 1).facts == made


def test_a_record_is_checked_like_a_mapping_and_keeps_its_place() -> None:
    record = Record("a", "Rain fell.", "Rain.", ("Rain fell.",), "pairs.csv, line 3")

    assert as_record(record, 9) == Record(
        "a", "Rain fell.", "Rain.", FactSet.of(["Rain fell."]), "pairs.csv, line 3"
    )
    with pytest.raises(InputError, match=r"csv, line 3: 'summary': expected a string, got 3$"):
        as_record(Record("a", "Rain fell.", 3, where=record.where), 9)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("text", "expected an object with source and summary"),
        ({"source": "Rain.", "sumary": ""}, "'summary' is missing; found ['source', 'su"),
        (TRAM | {"source": None}, "'source': expected a string or a list of documents, got null"),
        (TRAM | {"summary": ["x"]}, "'summary': expected a string, got a list"),
        (TRAM | {"id": 1.5}, "'id': expected a string or whole number, got 1.5"),
        (TRAM | {"id": " "}, "'id' is blank"),
        (TRAM | {"id": "\ud800"}, r"'id' is not valid Unicode: '\ud800'"),
        (TRAM | {"facts": '["It stops."'}, "'facts' starts like a JSON list but is not valid"),
        (TRAM | {"facts": ["It stops.", 7]}, "fact 2: expected a string, got 7"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(item: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        as_record(item, 5)

    assert str(caught.value).startswith("record 5")
    assert message in str(caught.value)


def test_lines_are_records_in_their_order_blank_ones_aside(tmp_path: Path) -> None:
    without_id = {"source": "Ö, 東 and \u2028.", "summary": "Ö."}
    path = write(tmp_path / "pairs.jsonl", TRAM, "", "  \r", without_id)

    assert list(read_records(path)) == [
        Record("tram", TRAM["source"], TRAM["summary"], None, f"{path}, line 1"),
        Record("2", "Ö, 東 and \u2028.", "Ö.", None, f"{path}, line 4"),
    ]


AROUND: dict[str, tuple[list[Any], list[Any]]] = {
    "jsonl": ([TRAM, ""], [PORT, "{"]),
    "csv": (["id,source,summary", "tram,a,b"], ["port,c,d", "z,e"]),
}
"""Lines 1 and 2 of a file, and its lines 4 and 5, the last of which is bad."""


@pytest.mark.parametrize(
    ("kind", "line", "message"),
    [
        ("jsonl", '{"source": "a", "summary"}', "not valid JSON (expecting ':' delimiter, found"),
        (
            "jsonl",
            '{"source": "a"}',
            "'summary' is missing; found ['source']; name other columns with --source-field and",
        ),
        ("jsonl", b'{"source": "\xe9t\xe9", "summary": ""}', "not UTF-8 (byte 0xe9 at byte 12 of"),
        ("jsonl", TRAM, "the id 'tram' was used before, in line 1"),
        ("csv", "x,only one", "the row has 2 fields, the header 3"),
        ("csv", "x,a\0,b", "NUL byte at byte 3 of the line"),
        ("csv", 'x,"a" b,c', "misplaced quotes"),
        ("csv", "tram,a,b", "the id 'tram' was used before, in line 2"),
    ],
)
def test_a_bad_record_is_named_by_its_line_and_can_be_skipped(
    tmp_path: Path, kind: str, line: str | bytes | Mapping[str, Any], message: str
) -> None:
    before, after = AROUND[kind]
    path = write(tmp_path / f"pairs.{kind}", *before, line, *after)
    errors: list[InputError] = []

    assert problem_in(path).startswith(f"{path}, line 3: ")
    assert message in problem_in(path)
    records = list(read_records(path, skip_bad=errors.append))

    assert [record.id for record in records] == ["tram", "port"]
    assert [str(error).split(":")[0] for error in errors] == [f"{path}, line 3", f"{path}, line 5"]


def test_the_position_stands_in_for_an_id_whether_or_not_others_are_skipped(tmp_path: Path) -> None:
    plain = {"source": "a", "summary": "b"}
    path = write(tmp_path / "pairs.jsonl", "{", plain)
    collision = write(tmp_path / "collision.jsonl", {**TRAM, "id": "2"}, plain)

    assert [r.id for r in read_records(path, skip_bad=lambda error: None)] == ["2"]
    assert "line 2: the id '2' was used before, in line 1" in problem_in(collision)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_a_file_without_records_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(content)

    assert problem_in(path) == f"{path} holds no records"


def test_a_missing_file_and_an_unknown_format_are_told_before_reading(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_records(tmp_path / "pairs.jsonl")
    with pytest.raises(InputError, match=r"records come from a \.yaml"):
        read_records(write(tmp_path / "pairs.xlsx"))


def test_one_record_is_held_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    with path.open("w") as stream:
        for number in range(200):
            stream.write(json.dumps({**TRAM, "id": number, "source": "word " * 20_000}) + "\n")

    tracemalloc.start()
    count = sum(1 for _ in read_records(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert count == 200
    assert peak < path.stat().st_size / 10


def test_a_source_may_be_several_documents(tmp_path: Path) -> None:
    data: list[dict[str, Any]] = [
        {"source": ["Rain fell.", "Snow fell."], "summary": ""},
        {"source": [{"id": "a.txt", "text": "Rain."}, {"text": "Snow."}, {"id": 7, "text": ""}],
         "summary": ""},
    ]  # fmt: skip
    plain, named = (
        (SourceDocument("d1", "Rain fell."), SourceDocument("d2", "Snow fell.")),
        (SourceDocument("a.txt", "Rain."), SourceDocument("d2", "Snow."), SourceDocument("7", "")),
    )
    path = write(tmp_path / "records.jsonl", *data)
    assert [record.source for record in read_records(path)] == [plain, named]
    for name in ("records.json", "records.yaml"):  # YAML reads JSON
        (tmp_path / name).write_text(json.dumps(data))
        records = list(read_records(tmp_path / name))
        assert [record.source for record in records] == [plain, named]
        assert records[1].where == f"{tmp_path / name}, record 2"
        assert as_record(records[0], 1) == records[0]
