"""Reading records and facts: what is accepted, errors that say where, and lock files."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.documents import Document
from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet, SourceDocument, Span
from factcheck.records import Record, as_record, facts_of, read_facts, read_records, write_lock

TRAM = {"id": "tram", "source": "The tram stops at noon.", "summary": "It stops at noon."}


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


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("text", "expected an object with source and summary"),
        ({"source": "Rain.", "sumary": ""}, "'summary' is missing; found ['source', 'su"),
        (TRAM | {"source": None}, "'source': expected a string or a list of documents, got null"),
        (TRAM | {"summary": ["x"]}, "'summary': expected a string, got a list"),
        (TRAM | {"id": 1.5}, "'id': expected a string or whole number, got 1.5"),
        (TRAM | {"id": " "}, "'id' is blank"),
        (
            TRAM | {"source": [{"id": " ", "text": "It ran."}]},
            "the id of a document is",
        ),
        (TRAM | {"id": "\ud800"}, r"'id' is not valid Unicode: '\ud800'"),
        (TRAM | {"facts": '["It stops."'}, "'facts' starts like a JSON list but is not valid"),
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


BEFORE: dict[str, list[Any]] = {"jsonl": [TRAM, ""], "csv": ["id,source,summary", "tram,a,b"]}
"""Lines 1 and 2 of a file."""


@pytest.mark.parametrize(
    ("kind", "line", "message"),
    [
        ("jsonl", '{"source": "a", "summary"}', "not valid JSON (expecting ':' delimiter, found"),
        ("jsonl", '{"source": "a"}', "missing; found ['source']; name other columns with --sour"),
        ("jsonl", b'{"source": "\xe9t\xe9", "summary": ""}', "not UTF-8 (byte 0xe9 at byte 12 of"),
        ("jsonl", TRAM, "the id 'tram' was used before, in line 1"),
        ("csv", "x,only one", "the row has 2 fields, the header 3"),
        ("csv", "x,a\0,b", "NUL byte at byte 3 of the line"),
        ("csv", 'x,"a" b,c', "misplaced quotes"),
        ("csv", "tram,a,b", "the id 'tram' was used before, in line 2"),
    ],
)
def test_a_bad_record_is_named_by_its_line(
    tmp_path: Path, kind: str, line: str | bytes | Mapping[str, Any], message: str
) -> None:
    path = write(tmp_path / f"pairs.{kind}", *BEFORE[kind], line)

    assert problem_in(path).startswith(f"{path}, line 3: ")
    assert message in problem_in(path)
    assert next(read_records(path)).id == "tram"


def test_the_position_that_stands_in_for_an_id_may_not_be_the_id_of_another(tmp_path: Path) -> None:
    plain = {"source": "a", "summary": "b"}
    collision = write(tmp_path / "collision.jsonl", {**TRAM, "id": "2"}, plain)

    assert "line 2: the id '2' was used before, in line 1" in problem_in(collision)
    twice = write(tmp_path / "twice.jsonl", TRAM)
    with pytest.raises(InputError, match="line 1: the id 'tram' was used before, in line 1"):
        list(read_records(twice, twice))


def test_a_missing_file_and_an_unknown_format_are_told_before_reading(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_records(tmp_path / "pairs.jsonl")
    with pytest.raises(InputError, match=r"records come from a \.yaml"):
        read_records(write(tmp_path / "pairs.xlsx"))


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


words = st.text(
    st.sampled_from("a0 \n\t\r:#-'\"[]{}!&*%@`|>?,=é東🌉\x00\x1b\x7f\x85\xa0\u2028\ufeff"),
    min_size=1,
    max_size=12,
).filter(lambda text: text.strip())
spans = st.none() | st.integers(0, 99).map(lambda start: Span(start, start + 5))
tags = st.lists(words, max_size=2).map(tuple)
fact_sets = st.lists(
    st.tuples(words, spans, st.floats(0, 1e6), st.booleans(), tags), min_size=1, max_size=5
).map(lambda rows: FactSet(tuple(AtomicFact(f"f{n}", *row) for n, row in enumerate(rows, 1))))


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("data", [b' ["One.", "Two: #2."]', b"# mine\n\n One.  \n\n#x\nTwo: #2.\n"])
def test_facts_are_lines_or_on_standard_input_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    assert read_facts("-") == FactSet.of(["One.", "Two: #2."])
    if data.startswith(b"#"):
        assert read_facts(put(tmp_path / "facts.txt", data)) == FactSet.of(["One.", "Two: #2."])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "# nothing\n\n", "holds no facts"),
        ("a.csv", "One.", "facts come from a .txt, .json, .yaml or .yml file"),
        ("a.yaml", "- One.\n- Price: 5 euros\n", "fact 2: 'Price' is not one of id, text"),
        ("a.yaml", "facts:\n- One.\n- true\n", "line 3: fact 2: expected a string, got true"),
        ("a.json", '["One.", " "]', "fact 2: fact 'f2' has no text"),
        ("a.json", '[{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]', "two facts have the id"),
        (
            "a.json",
            '[{"id": "a", "text": "x", "core": "a"}]',
            "item 1: fact 1: its core leads in a",
        ),
        (
            "a.yaml",
            "- {id: a, text: x}\n- {id: b, text: y, core: c}\n- {id: c, text: z, core: b}\n",
            "line 2: fact 2: its core leads in a circle, b → c → b; name another fact",
        ),
        ("a.json", '{"facts": ["x"], "made_by": 3}', "'made_by': expected an object"),
    ],
)
def test_errors_name_file_and_entry(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = put(tmp_path / name, content)

    with pytest.raises(InputError) as caught:
        read_facts(path)

    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(facts=fact_sets)
def test_the_lock_file_reads_back_equal(
    tmp_path_factory: pytest.TempPathFactory, facts: FactSet
) -> None:
    path = tmp_path_factory.mktemp("lock") / "facts.yaml"

    write_lock(facts, path)
    first = path.read_bytes()

    assert read_facts(path).facts == facts.facts
    write_lock(facts, path)
    assert path.read_bytes() == first


def test_a_lock_is_merged_with_what_changed_in_the_source(tmp_path: Path) -> None:
    """Reworded, removed, marked and hand-made facts stay so; the rest follows the source."""
    path = tmp_path / "facts.yaml"
    old = [AtomicFact(f"f{n}", f"Fact {n}.", Span(n, n + 1)) for n in range(1, 8)]
    assert write_lock(FactSet(tuple(old), source_digest="old"), path).existed is False
    text = path.read_text().replace("text: Fact 1.", "text: Reworded.")
    text = text.replace("- id: f2\n  text: Fact 2.\n  span: [2, 3]\n", "")
    text = text.replace("text: Fact 3.", "text: Fact 3.\n  must: true")
    text = text.replace("text: Fact 4.", "text: Fact 4.\n  weight: 2.0")
    path.write_text(text + "- id: f2\n  text: By hand.\n")
    edited = path.read_bytes()

    same = write_lock(FactSet(tuple(old), source_digest="old"), path)
    assert (same.added, same.removed, same.lost, same.unchanged) == ((), (), (), 7)
    assert read_facts(path).facts == read_facts(put(tmp_path / "edited.yaml", edited)).facts

    new = [AtomicFact(f"f{n}", f"Fact {n}.", Span(n, n + 2)) for n in (1, 2, 4, 5, 8, 9)]
    change = write_lock(FactSet(tuple(new), source_digest="new"), path)

    assert [fact.text for fact in change.added] == ["Fact 8.", "Fact 9."]
    assert [fact.text for fact in change.removed] == ["Fact 6.", "Fact 7."]
    assert [fact.text for fact in change.lost] == ["Fact 3."]
    assert [(fact.text, fact.span, fact.must, fact.weight) for fact in read_facts(path)] == [
        ("Reworded.", (1, 3), False, 1.0),
        ("Fact 3.", None, True, 1.0),
        ("Fact 4.", (4, 6), False, 2.0),
        ("Fact 5.", (5, 7), False, 1.0),
        ("By hand.", None, False, 1.0),
        ("Fact 8.", (8, 10), False, 1.0),
        ("Fact 9.", (9, 11), False, 1.0),
    ]
    again = write_lock(FactSet(tuple(new), source_digest="new"), path)
    assert (again.added, again.removed, again.lost, again.unchanged) == ((), (), (), 7)
    last = write_lock(FactSet(tuple(new[1:]), source_digest="newer"), path)
    assert [fact.text for fact in last.lost] == ["Reworded."]
    assert read_facts(path)[0].span is None


def test_details_follow_their_core_through_a_merge(tmp_path: Path) -> None:
    path = tmp_path / "facts.yaml"
    sank, owner = AtomicFact("f1", "It sank."), AtomicFact("f3", "Ann owns it.")
    in_may = AtomicFact("f2", "It sank in May.", core="f1")
    write_lock(FactSet((sank, in_may, owner), "one"), path)

    before = FactSet.of(["It was built in Rostock.", sank.text, in_may.text, "It sank off Crete."])
    places = (None, None, "f2", "f2")
    linked = (replace(fact, core=core) for fact, core in zip(before, places, strict=True))
    write_lock(FactSet(tuple(linked), "two"), path)

    merged = {fact.text: fact for fact in read_facts(path)}
    assert merged["It sank in May."].core == merged["It sank."].id
    assert merged["It sank off Crete."].core == merged["It sank."].id
    assert merged["It was built in Rostock."].core is None

    change = write_lock(FactSet.of([in_may.text]), path)
    assert [fact.text for fact in change.alone] == [in_may.text]
    assert [fact.core for fact in read_facts(path)] == [None]


def test_a_detail_without_its_core_does_not_add_to_a_new_fact_with_that_id(tmp_path: Path) -> None:
    path = tmp_path / "facts.yaml"
    path.write_text("facts: [{id: f2, text: It sank in May., core: f1}]\n")

    change = write_lock(FactSet((AtomicFact("f1", "Ann owns it."),), "new"), path)

    assert [(fact.id, fact.core) for fact in change.alone] == [("f2", "f1")]
    assert [fact.core for fact in read_facts(path)] == [None, None]


@pytest.mark.parametrize(
    ("items", "ids"),
    [
        (["a", "b"], ["f1", "f2"]),
        (["a", {"id": "x", "text": "b"}, "c"], ["f1", "x", "f3"]),
        (["a", {"id": "f1", "text": "b"}], ["f2", "f1"]),
        ([{"id": "f7", "text": "a"}, AtomicFact("f9", "b"), {"text": "c"}, "d"], "f7 f9 f10 f11"),
    ],
)
def test_a_fact_without_id_gets_a_free_number(items: Sequence[Any], ids: Sequence[str]) -> None:
    expected = ids.split() if isinstance(ids, str) else ids

    assert [fact.id for fact in facts_of(Document("facts", items))] == expected


def test_a_file_that_is_no_lock_is_not_overwritten(tmp_path: Path) -> None:
    path = put(tmp_path / "settings.yaml", "colour: red\n")

    with pytest.raises(InputError, match="'colour' is not one of"):
        write_lock(FactSet.of(["One."]), path)
    with pytest.raises(InputError, match="a lock file is YAML"):
        write_lock(FactSet.of(["One."]), tmp_path / "facts.txt")

    assert path.read_text() == "colour: red\n"


@pytest.mark.parametrize(("name", "delimiter"), [("pairs.csv", ","), ("pairs.tsv", "\t")])
def test_rows_are_records_whatever_they_hold(tmp_path: Path, name: str, delimiter: str) -> None:
    rows = [
        ["note", "summary", "source", "id"],
        ["x", 'He said: "no,\tno".', "Line one.\nLine two,\r\nand three.", "a"],
        ["", "", " Ö 東 \u2028 " * 50_000, "b"],
    ]
    path = tmp_path / name
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)

    assert list(read_records(path)) == [
        Record("a", rows[1][2], rows[1][1], None, f"{path}, line 2"),
        Record("b", rows[2][2], "", None, f"{path}, line 5"),
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (b'x,"one\ntwo \xff\nthree",b\ny,c,d\n', "line 3: not UTF-8 (byte 0xff at byte 4"),
        (b'x,a,b\ny,"open,\nc,d\n', "line 3: misplaced quotes (unexpected"),
    ],
)
def test_a_fault_in_a_field_of_several_lines_is_named_by_its_line(
    tmp_path: Path, rows: bytes, message: str
) -> None:
    path = put(tmp_path / "pairs.csv", b"id,source,summary\n" + rows)

    assert problem_in(path).startswith(f"{path}, {message}")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *(("a.jsonl", empty, "holds no records") for empty in ("", "\n \n", "\ufeff")),
        ("a.csv", "source,summary\n", "holds no records"),
        ("a.csv", "id;source;summary\n1;a;b\n", "','): no column 'source'; found ['id;sou"),
        ("a.csv", "source,summary,source\na,b,c\n", "duplicate column 'source'"),
        ("a.csv", 'source,"summary', "misplaced quotes"),
    ],
)
def test_a_file_without_records_is_an_error(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    path = put(tmp_path / name, content)

    assert str(path) in problem_in(path)
    assert message in problem_in(path)
